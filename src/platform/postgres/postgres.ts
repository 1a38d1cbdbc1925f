import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import type pg from 'pg'
import { advisoryLocks } from '../advisory-locks.ts'
import type { Clock } from '../clock.ts'
import { type Address, createPgClient, cutOff, DiskFull, disconnect } from '../connection.ts'
import type { Log } from '../log.ts'
import { isUnavailable, readSqlState, Unavailable } from '../tx.ts'
import {
  ensureCluster,
  findPostmaster,
  hasCluster,
  isDiskFull,
  isFrozen,
  isOurData,
  isPostmaster,
  readPassword,
  readServerLogTail,
  rememberPort,
  reportsDiskFull,
  startPostmaster,
  superuser,
} from './cluster.ts'
import { findPlace, type Place } from './place.ts'

/**
 * The embedded PostgreSQL of a data directory: one server, used by every process of that directory. Each process keeps
 * a session open with a *shared* advisory lock, which is released when the process is killed.
 *
 * To enter, a process connects, starts the server if none runs, and takes the lock. If the lock is not available, the
 * last process is stopping the server, and the process tries again.
 *
 * To leave, a process releases the lock and tries to take it *exclusively*. If that succeeds, no other process uses the
 * server, and the process stops it (SIGINT: sessions end, all data is written).
 *
 * A process whose session breaks enters again, which starts the server if needed, on the same port unless another
 * process has taken the port.
 */
export interface Postgres extends Address {
  stop(): Promise<void>
}

export interface PostgresOptions {
  dataDir: string
  log: Log
  clock: Clock
  connections?: number
  /** For tests: false makes writes faster and loses data in a crash. */
  durable?: boolean
  /** For tests: replaces /var/lib/berth. */
  systemDir?: string
  /** Whether the database may be outside of the data directory. If not, the start fails where it would have to be. */
  mayMove?: boolean
}

const database = 'berth'
/** Long, because recovery after a crash may have to read much WAL. */
const startMsMax = 300_000
const stopMsMax = 60_000
const pollMs = 20
const reenterMs = 500
const startsMax = 5
/** Long, because creating the database copies files. */
const enterStatementMsMax = 60_000
/** Time limit of a statement when leaving. If the server is frozen, the next process stops it. */
const leaveMsMax = 2_000

export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { log, clock, durable = true, connections = 0 } = options
  const stopping = new AbortController()
  const entrance: Entrance = {
    place: await findPlace(options),
    clock,
    log,
    durable,
    connections,
    signal: stopping.signal,
  }
  let isFull = false
  let session = await ensureCluster(entrance.place, { durable })
    .then(() => enter(entrance))
    .catch(async (error: unknown) => Promise.reject((await findOutOfRoom()) ?? error))
  const watching = watch()

  async function watch() {
    while (!stopping.signal.aborted) {
      await Promise.race([session.ended, aborted(stopping.signal)])
      if (stopping.signal.aborted) return
      const full = await findOutOfRoom()
      if (full) log.error({ err: full }, 'the embedded PostgreSQL has stopped')
      else log.warn('the embedded PostgreSQL ended; checking it')
      await comeBack()
    }
  }

  async function findOutOfRoom(): Promise<DiskFull | null> {
    isFull = await reportsDiskFull(entrance.place)
    return outOfRoom()
  }

  function outOfRoom(): DiskFull | null {
    return isFull || isDiskFull(entrance.place) ? new DiskFull(entrance.place.home) : null
  }

  async function comeBack() {
    while (!stopping.signal.aborted) {
      try {
        if (!hasCluster(entrance.place)) throw new Unavailable(`${entrance.place.home} is missing: put it back`)
        session = await enter(entrance)
        isFull = false
        return log.warn({ port: session.port }, 'the embedded PostgreSQL is back')
      } catch (error) {
        const full = await findOutOfRoom()
        if (!stopping.signal.aborted) log.error({ err: full ?? error }, 'the embedded PostgreSQL does not come back')
        await clock.sleep(reenterMs, stopping.signal)
      }
    }
  }

  let stopped: Promise<void> | undefined
  return {
    get url() {
      return addressOf(session)
    },
    get outOfRoom() {
      return outOfRoom()
    },
    stop() {
      stopping.abort()
      stopped ??= watching.then(() => leave(session, entrance))
      return stopped
    },
  }
}

interface Entrance {
  place: Place
  clock: Clock
  log: Log
  durable: boolean
  connections: number
  signal: AbortSignal
}

interface Session {
  client: pg.Client
  ended: Promise<void>
  port: number
  password: string
}

const addressOf = ({ port, password }: Pick<Session, 'port' | 'password'>, name = database) =>
  `postgresql://${superuser}:${password}@127.0.0.1:${port}/${name}`

async function enter({ place, clock, durable, connections, log, signal }: Entrance): Promise<Session> {
  const password = await readPassword(place)
  const deadline = clock.monotonicMs() + startMsMax
  let server: ChildProcess | undefined
  // If our server exited, another server runs on this data, or the port was taken. Look again.
  for (let starts = 0; starts <= startsMax && clock.monotonicMs() < deadline && !signal.aborted; ) {
    const postmaster = await findPostmaster(place)
    const session = postmaster && (await register(place, { port: postmaster.port, password }))
    if (session) {
      await rememberPort(place, session.port)
      return session
    }
    if (!postmaster && (!server || hasExited(server))) {
      starts += 1
      server = await startPostmaster(place, { durable, connections })
      server.once('error', (error) => log.error({ err: error }, 'the embedded PostgreSQL cannot be run'))
    }
    await clock.sleep(pollMs, signal)
  }
  const tail = await readServerLogTail(place)
  throw new Unavailable(`The embedded PostgreSQL does not start (${place.home}); its log ends with:\n${tail}`)
}

const hasExited = (server: ChildProcess) =>
  server.pid === undefined || server.exitCode !== null || server.signalCode !== null

/** Opens the session that registers this process. Returns null if the server is starting or stopping. */
async function register(place: Place, address: Pick<Session, 'port' | 'password'>): Promise<Session | null> {
  const client = createPgClient({
    address: { url: addressOf(address, 'postgres') },
    name: 'berth embedded',
    statementMsMax: enterStatementMsMax,
    direct: true,
  })
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve)
    client.on('error', () => resolve())
  })
  try {
    await client.connect()
    if ((await serves(client, place)) && (await lock(client, 'pg_try_advisory_lock_shared'))) {
      await ensureDatabase(client)
      return { ...address, client, ended }
    }
  } catch (error) {
    await disconnect(client)
    if (isUnavailable(error)) return null
    throw error
  }
  await disconnect(client)
  return null
}

/**
 * Whether this PostgreSQL serves our data directory. The password does not prove it, because a copy has the same. If
 * the reported directory does not exist, ours was moved while the server ran.
 */
async function serves(client: pg.Client, place: Place): Promise<boolean> {
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
  const data = rows[0]?.data_directory ?? ''
  return !existsSync(data) || isOurData(data, place)
}

/** Error codes if another process has created the database already, or at the same time. */
const duplicateDatabase = ['42P04', '23505']

type LockCall = 'pg_try_advisory_lock_shared' | 'pg_try_advisory_lock' | 'pg_advisory_unlock_shared'

async function lock(client: pg.Client, call: LockCall): Promise<boolean> {
  const values = [advisoryLocks.embeddedUsers]
  const statement = { text: `SELECT ${call}($1, 0) AS done`, values, query_timeout: leaveMsMax }
  const { rows } = await client.query<{ done: boolean }>(statement)
  return rows[0]?.done === true
}

async function ensureDatabase(client: pg.Client) {
  const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
  if (rows.length > 0) return
  await client.query(`CREATE DATABASE ${database}`).catch((error: unknown) => {
    if (!duplicateDatabase.includes(readSqlState(error) ?? '')) throw error
  })
}

async function leave({ client }: Session, { place, clock, log }: Entrance): Promise<void> {
  try {
    await lock(client, 'pg_advisory_unlock_shared')
    if (await lock(client, 'pg_try_advisory_lock')) await stopServer(place, clock)
    await disconnect(client)
  } catch (error) {
    log.warn({ err: error }, 'left the embedded PostgreSQL as it is; the next process that uses it may stop it')
    cutOff(client)
  }
}

async function stopServer(place: Place, clock: Clock) {
  const postmaster = await findPostmaster(place)
  if (!postmaster) return
  const { pid } = postmaster
  process.kill(pid, 'SIGINT')
  const deadline = clock.monotonicMs() + stopMsMax
  while (await isPostmaster(pid, place)) {
    if (clock.monotonicMs() > deadline) throw new Error(`PostgreSQL ${pid} does not stop`)
    if (await isFrozen(pid)) throw new Error(`PostgreSQL ${pid} is frozen; it stops after a SIGCONT`)
    await clock.sleep(pollMs)
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
