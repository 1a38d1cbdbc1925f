import { stat } from 'node:fs/promises'
import { findAccountEntry } from './account-table.ts'

/** An account that owns files of the server. A job under this account could change the server or read its secrets. */
export interface Owner {
  uid: number
  name: string
  /** The path that the account owns, for messages. */
  path: string
}

/** Returns the owners of these files, and the account `postgres` if it exists, because it may own a database. */
export async function findOwners(paths: readonly string[]): Promise<Owner[]> {
  const found = await Promise.all(paths.map(async (path) => ({ path, uid: await readOwner(path) })))
  const uids = new Map(found.flatMap(({ path, uid }) => (uid === null ? [] : [[uid, path] as const])))
  const named = await Promise.all([...uids].map(async ([uid, path]) => ({ uid, path, name: await readName(uid) })))
  const postgres = await findAccountEntry('postgres')
  return postgres ? [...named, { uid: Number(postgres[2]), name: 'postgres', path: 'the files of PostgreSQL' }] : named
}

async function readOwner(path: string): Promise<number | null> {
  try {
    return (await stat(path)).uid
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Returns the name of the account, or its number if the account was removed. */
const readName = async (uid: number) => (await findAccountEntry(String(uid)))?.[0] ?? String(uid)
