import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

/** An account that owns files of the server: a job that ran as it could change the server, or read its secrets. */
export interface Owner {
  uid: number
  name: string
  /** The path that it owns, for people. */
  path: string
}

const run = promisify(execFile)

/** The owners of these files, and the account named `postgres` if it exists, because it may own a database. */
export async function ownersOf(paths: readonly string[]): Promise<Owner[]> {
  const found = await Promise.all(paths.map(async (path) => ({ path, uid: await ownerOf(path) })))
  const uids = new Map(found.flatMap(({ path, uid }) => (uid === null ? [] : [[uid, path] as const])))
  const named = await Promise.all([...uids].map(async ([uid, path]) => ({ uid, path, name: await nameOf(uid) })))
  const postgres = await entryOf('postgres')
  return postgres ? [...named, { uid: Number(postgres[2]), name: 'postgres', path: 'the files of PostgreSQL' }] : named
}

async function ownerOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).uid
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** An account may be removed while its files are left. */
const nameOf = async (uid: number) => (await entryOf(String(uid)))?.[0] ?? String(uid)

/** A line of the system's table of accounts; null: there is none. `getent` exits with 2 then; macOS has no `getent`. */
export async function entryOf(account: string): Promise<string[] | null> {
  try {
    const { stdout } = await run('getent', ['passwd', account])
    return stdout.trimEnd().split(':')
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 2 || code === 'ENOENT') return null
    throw error
  }
}
