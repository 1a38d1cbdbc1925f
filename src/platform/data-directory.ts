import { randomUUID } from 'node:crypto'
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Identity of a data directory: an id stored in it, which copies share, and its place (boot, device and inode), which
 * is unique. Moving it within a file system keeps the place.
 */

export async function identify(path: string, bootId: string): Promise<{ id: string; place: string }> {
  const { dev, ino } = await stat(path)
  return { id: await readOrMakeId(join(path, 'id')), place: `${bootId}:${dev}:${ino}` }
}

/** null: the directory is missing, or no server has used it. */
export const readDirectoryId = (path: string): Promise<string | null> => read(join(path, 'id'))

/** Stores `id` in the directory unless it has an id. Returns the id that the directory has then. */
export async function adoptDirectoryId(path: string, id: string): Promise<string> {
  return readOrMakeId(join(path, 'id'), id)
}

/** If two processes create the id at the same time, one of them wins, and both read the same complete id. */
async function readOrMakeId(path: string, id: string = randomUUID()): Promise<string> {
  const known = await read(path)
  if (known !== null) return known
  const made = `${path}.${id}`
  await writeFile(made, `${id}\n`, { mode: 0o600, flush: true })
  await link(made, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(made)
  return (await read(path)) ?? readOrMakeId(path)
}

async function read(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  const id = text?.trim()
  if (id === '') throw new Error(`${path} is empty: write the id of this data directory into it, or remove it`)
  return id ?? null
}
