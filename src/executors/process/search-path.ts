import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The directories that are searched for commands if the job's environment has no PATH. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** PATH of a login, unless the system defines another one. */
const loginPathDefault = '/usr/local/bin:/usr/bin:/bin'

const root = join(import.meta.dirname, '../..', '..')
/**
 * The directory of this installation that contains the command `berth` and no other program. In a package, code is in
 * `dist`.
 */
export const commandFolder = existsSync(join(root, 'berth')) ? root : dirname(root)

/** Reads the PATH of a login of an account that is not root. */
export async function readLoginPath(definitions = '/etc/login.defs'): Promise<string> {
  const text = await readFile(definitions, 'utf8').catch(() => '')
  return text.match(/^ENV_PATH\s+(?:PATH=)?(\S+)/m)?.[1] ?? loginPathDefault
}

/**
 * Returns the PATH with which npm was started. npm prepends node_modules/.bin of every directory up to the root and its
 * node-gyp-bin, repeatedly if it is nested. Jobs would find the packages and the Node version of the server there.
 */
export function removeNpmFolders(path: string): string {
  const entries = path.split(':')
  const others = entries.findIndex((entry) => !entry.endsWith('/node_modules/.bin'))
  if (others < 1 || !entries[others]?.endsWith('/node-gyp-bin')) return path
  return removeNpmFolders(entries.slice(others + 1).join(':'))
}
