import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from './value.ts'

/** Makes the data directory if it is missing, and refuses one in which the server cannot write. */
export function makeDataDirectory(path: string, mode: number): void {
  try {
    makeFolder(path, mode)
    // Of a link that leads nowhere, or of a file, this fails as well.
    statSync(`${path}/`)
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = `${JSON.stringify(path)} cannot be used (${error instanceof Error ? error.message : error})`
    const remedy = 'set a directory in which the account of the server may write (BERTH_DATA_DIR)'
    throw new ConfigError([{ path: 'dataDir', reason, remedy }])
  }
}

/** With `recursive`, Node never returns from a file system such as /proc, where a folder exists and takes no other. */
function makeFolder(path: string, mode: number): void {
  if (existsSync(path)) return
  makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another server that starts has made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
