import { randomBytes } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * If the server's account cannot reach the data directory, the database is in a folder of the system directory. The
 * data directory and this folder name each other: a moved directory finds its database again, and a copy of a directory
 * that still exists gets a database of its own.
 */
export async function findHomeElsewhere(dataDir: string, systemDir: string): Promise<string> {
  const name = (await knownName(dataDir, systemDir)) ?? randomBytes(8).toString('hex')
  await writeFile(join(dataDir, nameFile), `${name}\n`, { mode: 0o600, flush: true })
  return join(systemDir, name)
}

export async function rememberOwner(dataDir: string, home: string): Promise<void> {
  const { dev, ino } = await stat(dataDir)
  await writeFile(join(home, ownerFile), JSON.stringify({ path: dataDir, dev, ino }), { mode: 0o600 })
}

interface Owner {
  path: string
  dev: number
  ino: number
}

const nameFile = 'postgres-home'
const ownerFile = 'data-dir'

async function knownName(dataDir: string, systemDir: string): Promise<string | null> {
  const name = (await read(join(dataDir, nameFile)))?.trim() ?? ''
  if (!/^[0-9a-f]{16}$/.test(name)) return null
  const owner = await read(join(systemDir, name, ownerFile))
  return owner === null || (await isOurs(JSON.parse(owner) as Owner, dataDir)) ? name : null
}

/** Whether the record names this directory, or one that no longer exists. */
async function isOurs(owner: Owner, dataDir: string): Promise<boolean> {
  const [ours, theirs] = await Promise.all([dataDir, owner.path].map((path) => stat(path).catch(() => null)))
  const isOwner = (found: typeof ours) => found?.dev === owner.dev && found?.ino === owner.ino
  return isOwner(ours) || !isOwner(theirs)
}

const read = (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
