import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, type ConfigProblem } from './value.ts'

/** Creates the data directory. Throws if the server cannot write in it, or if another account could change it. */
export function makeDataDirectory(path: string, mode: number): void {
  try {
    makeFolder(path, mode)
    statSync(`${path}/`) // Fails for a file, and for a link without a target.
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = `${JSON.stringify(path)} cannot be used (${error instanceof Error ? error.message : error})`
    const remedy = 'set a directory in which the account of the server may write (BERTH_DATA_DIR)'
    throw new ConfigError([{ path: 'dataDir', reason, remedy }])
  }
  const open = process.getuid && findOpen(path, process.getuid())
  if (open) throw new ConfigError([{ path: 'dataDir', ...open }])
}

/** With `recursive`, Node never returns from a file system that takes no new folders, such as /proc. */
function makeFolder(path: string, mode: number): void {
  if (existsSync(path)) return
  makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another server that starts has created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const groupWrite = 0o020
const othersWrite = 0o002
const groupEnter = 0o010
const othersEnter = 0o001
const sticky = 0o1000

function findOpen(path: string, account: number): Omit<ConfigProblem, 'path'> | null {
  const { uid, mode } = statSync(path)
  const name = JSON.stringify(path)
  if (uid !== account)
    return {
      reason: `${name} belongs to the account ${uid}, and the server runs as ${account}: that account could change it`,
      remedy: `chown ${account} ${path}, or set another directory (BERTH_DATA_DIR)`,
    }
  if ((mode & (groupWrite | othersWrite)) !== 0)
    return {
      reason: `other accounts may write in ${name} (mode ${modeOf(mode)})`,
      remedy: `chmod go-w ${path}`,
    }
  const folders = [...foldersAbove(resolve(path)), ...foldersAbove(realpathSync(path))]
  const above = folders.find((each) => isOpenToAll(each, account))
  if (above === undefined) return null
  return {
    reason: `every account may rename ${name}, because all may write in ${above} (mode ${modeOf(statSync(above).mode)})`,
    remedy: `chmod o-w ${above}, or set another directory (BERTH_DATA_DIR)`,
  }
}

const modeOf = (mode: number) => (mode & 0o7777).toString(8)

/**
 * Whether another account can rename entries of `path`. The sticky bit, as on /tmp, prevents it. No other account
 * reaches a folder inside of a private one: the image of Berth mounts its volume there, because volumes of Kubernetes
 * have mode 0777.
 */
function isOpenToAll(path: string, account: number): boolean {
  const { mode } = statSync(path)
  if ((mode & othersWrite) === 0 || (mode & sticky) !== 0) return false
  return !foldersAbove(path).some((each) => isPrivate(each, account))
}

/** Whether only the account, and root, may enter the folder. */
function isPrivate(path: string, account: number): boolean {
  const { uid, mode } = statSync(path)
  return (uid === account || uid === 0) && (mode & (groupEnter | othersEnter)) === 0
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...foldersAbove(parent)]
}
