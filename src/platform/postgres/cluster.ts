import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, statfsSync } from 'node:fs'
import { chmod, chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { MigrationRefused } from '../migrate.ts'
import type { Place } from './place.ts'

/**
 * The files and processes of one embedded cluster. `cluster` is renamed when it is complete: if two processes run
 * initdb at once, one of them wins; a killed initdb leaves a folder that the next start removes. postmaster.pid
 * prevents two servers on the same data.
 *
 *   <home>/cluster/data       created by initdb
 *   <home>/cluster/password   password of the superuser, mode 0600
 *   <home>/port               the last port, so that addresses survive a restart
 *   <home>/postgres.log       output of the server
 */
export const superuser = 'berth'

const run = promisify(execFile)
/** Our variables (PGDATA, PGPORT, LC_*, secrets) would change the behaviour of PostgreSQL or leak into it. */
const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' }
const logBytesMax = 10 * 1024 * 1024
const logTailBytes = 2_000
const roomBytesMin = 1024 * 1024
const writtenAfterMs = 500
const connectionsMin = 200
/** Maximum number of processes that use a data directory at the same time. */
const sharersMax = 4

interface Starting {
  durable: boolean
  connections: number
}

/**
 * false: the cluster is missing, because the data directory was moved or unmounted. This process never creates another
 * cluster in its place.
 */
export const hasCluster = (place: Place) => existsSync(clusterOf(place))

const clusterOf = (place: Place) => join(place.home, 'cluster')
const dataOf = (place: Place) => join(clusterOf(place), 'data')
const logOf = (place: Place) => join(place.home, 'postgres.log')

export const readPassword = (place: Place) => readFile(join(clusterOf(place), 'password'), 'utf8')

export async function ensureCluster(place: Place, { durable }: { durable: boolean }): Promise<void> {
  if (existsSync(clusterOf(place))) return refuseOtherMajor(place)
  await removeAbandoned(place)
  const making = `${clusterOf(place)}.new-${process.pid}`
  await rm(making, { recursive: true, force: true })
  await mkdir(making, { mode: 0o700 })
  const password = join(making, 'password')
  await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true })
  const { uid, gid } = place.account ?? {}
  if (uid !== undefined && gid !== undefined) for (const path of [making, password]) await chown(path, uid, gid)
  const options = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', '--no-instructions']
  if (!durable) options.push('--no-sync')
  const owner = [`--username=${superuser}`, `--pwfile=${password}`, `--pgdata=${join(making, 'data')}`]
  await run(join(place.bin, 'initdb'), [...options, ...owner], { ...place.account, env: environment, cwd: '/' })
  await rename(making, clusterOf(place)).catch(async (error: NodeJS.ErrnoException) => {
    await rm(making, { recursive: true, force: true })
    if (!existsSync(clusterOf(place))) throw error // Another process was faster.
  })
}

/** PostgreSQL cannot open files of another major version. */
async function refuseOtherMajor(place: Place): Promise<void> {
  const stored = (await readFile(join(dataOf(place), 'PG_VERSION'), 'utf8').catch(absent))?.trim()
  if (stored === undefined || stored === place.major) return
  throw new MigrationRefused(
    `The database in ${place.home} is of PostgreSQL ${stored}, and this version of Berth brings PostgreSQL ${place.major}. ` +
      `Move the data: run "berth backup move.tar" with the version of Berth before, rename ${place.home}, ` +
      'and run "berth restore move.tar" with this one',
  )
}

async function removeAbandoned(place: Place) {
  for (const name of await readdir(place.home)) {
    const pid = /^cluster\.new-(\d+)$/.exec(name)?.[1]
    if (pid && !isProcessAlive(Number(pid))) await rm(join(place.home, name), { recursive: true, force: true })
  }
}

export interface Postmaster {
  pid: number
  port: number
}

export async function findPostmaster(place: Place): Promise<Postmaster | null> {
  const lines = await readPidFile(place)
  const [pid, port] = [Number(lines?.[0]), Number(lines?.[3])]
  return lines && (await isPostmaster(pid, place)) ? { pid, port } : null
}

async function readPidFile(place: Place): Promise<string[] | null> {
  const text = await readFile(join(dataOf(place), 'postmaster.pid'), 'utf8').catch(absent)
  return text === null ? null : text.split('\n')
}

/**
 * Whether process `pid` is the server of this place. Pids are reused, and paths mislead: a copied directory names the
 * server of the original, and the server of a moved directory has the old path. So the working directory of the process
 * decides, or, where the kernel hides it (a container), the directory in its arguments.
 */
export async function isPostmaster(pid: number, place: Place): Promise<boolean> {
  if (!isProcessAlive(pid)) return false
  if (process.platform !== 'linux') {
    const { stdout } = await run('/bin/ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
    return stdout.includes(`/postgres -D ${dataOf(place)} -c `)
  }
  const workplace = `/proc/${pid}/cwd`
  return isOurData((await isReadable(workplace)) ? workplace : await givenData(pid), place)
}

/** Whether SIGSTOP prevents the server or one of its processes from ending; Linux only. */
export async function isFrozen(pid: number): Promise<boolean> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(absent)
  const states = [String(pid), ...(children?.match(/\d+/g) ?? [])].map(async (each) => {
    const status = await readFile(`/proc/${each}/stat`, 'utf8').catch(absent)
    return /^\d+ \(.*\) [Tt] /s.test(status ?? '')
  })
  return (await Promise.all(states)).includes(true)
}

const isReadable = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

async function givenData(pid: number): Promise<string> {
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(absent))?.split('\0') ?? []
  return words[words.indexOf('-D') + 1] ?? ''
}

export async function isOurData(path: string, place: Place): Promise<boolean> {
  const [theirs, ours] = await Promise.all([path, dataOf(place)].map((each) => stat(each).catch(() => null)))
  return theirs != null && ours != null && theirs.dev === ours.dev && theirs.ino === ours.ino
}

export function isProcessAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const absent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT' || error.code === 'ESRCH') return null
  throw error
}

/**
 * PostgreSQL refuses to start if another process now has the pid in postmaster.pid, and if a crash of the machine left
 * that file empty. Such a file is renamed and read again. If another process started a server meanwhile, the file is
 * renamed back.
 */
async function putStalePidFileAside(place: Place) {
  const lines = await readPidFile(place)
  if (!lines || !(await isInTheWay(lines, place))) return
  const path = join(dataOf(place), 'postmaster.pid')
  const aside = `${path}.stale-${process.pid}`
  await rename(path, aside).catch(absent)
  const moved = await readFile(aside, 'utf8').catch(absent)
  if (moved !== null && moved !== lines.join('\n')) await rename(aside, path)
  else await rm(aside, { force: true })
}

async function isInTheWay(lines: readonly string[], place: Place): Promise<boolean> {
  const pid = Number(lines[0])
  if (Number.isInteger(pid) && pid > 0) return isProcessAlive(pid) && !(await isPostmaster(pid, place))
  // A starting server writes the file a moment after it creates it.
  await setTimeout(writtenAfterMs)
  return (await readPidFile(place))?.join('\n') === lines.join('\n')
}

/** Starts the server in its own session, so that neither the end of this process nor Ctrl-C ends it. */
export async function startPostmaster(place: Place, { durable, connections }: Starting): Promise<ChildProcess> {
  await putStalePidFileAside(place)
  const port = await choosePort(place)
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: Math.max(connectionsMin, sharersMax * connections),
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    fsync: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = await openServerLog(place)
  try {
    const child = spawn(join(place.bin, 'postgres'), ['-D', dataOf(place), ...flags], {
      ...place.account,
      env: environment,
      cwd: '/',
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    })
    child.unref()
    return child
  } finally {
    await log.close()
  }
}

async function openServerLog(place: Place) {
  const path = logOf(place)
  const size = await stat(path).then((found) => found.size, absent)
  if ((size ?? 0) > logBytesMax) await rename(path, `${path}.1`)
  const file = await open(path, 'a', 0o600)
  await chmod(path, 0o600)
  return file
}

export async function readServerLogTail(place: Place): Promise<string> {
  return (await readServerLog(place)).slice(-logTailBytes).trim()
}

const readServerLog = async (place: Place): Promise<string> =>
  (await readFile(logOf(place), 'utf8').catch(absent)) ?? ''

export async function reportsDiskFull(place: Place): Promise<boolean> {
  const text = await readServerLog(place)
  return /No space left on device|Disk quota exceeded/.test(text.slice(text.lastIndexOf('ready to accept connections')))
}

/** true: the disk has no space for postmaster.pid and the end of the WAL. */
export function isDiskFull({ home }: Place): boolean {
  // The directory may be missing for a while.
  if (!existsSync(home)) return false
  const { bavail, bsize } = statfsSync(home)
  return bavail * bsize < roomBytesMin
}

export async function rememberPort(place: Place, port: number): Promise<void> {
  if (port !== (await lastPort(place)) && !isDiskFull(place))
    await writeFile(join(place.home, 'port'), `${port}\n`, { mode: 0o600 })
}

const lastPort = async (place: Place): Promise<number> =>
  Number(await readFile(join(place.home, 'port'), 'utf8').catch(absent))

async function choosePort(place: Place): Promise<number> {
  const last = await lastPort(place)
  return (last > 0 && (await freePort(last))) || (await freePort(0)) || 0
}

/** Returns the port, or a free port if `port` is 0. Returns null if a process listens on the port. */
function freePort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? null) : null))
    })
  })
}
