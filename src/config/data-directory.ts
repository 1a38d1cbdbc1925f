import { accessSync, constants, mkdirSync } from 'node:fs'
import { ConfigError } from './value.ts'

/** Makes the data directory if it is missing, and refuses one in which the server cannot write. */
export function makeDataDirectory(path: string, mode: number): void {
  try {
    mkdirSync(path, { recursive: true, mode })
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = `${JSON.stringify(path)} cannot be used (${error instanceof Error ? error.message : error})`
    const remedy = 'set a directory in which the account of the server may write (BERTH_DATA_DIR)'
    throw new ConfigError([{ path: 'dataDir', reason, remedy }])
  }
}
