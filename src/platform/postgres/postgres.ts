import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import type pg from 'pg'
import { advisoryLocks } from '../advisory-locks.ts'
import type { Clock } from '../clock.ts'
import { type Address, createClient, DiskFull, disconnect } from '../connection.ts'
import type { Log } from '../log.ts'
import { isUnavailable, sqlState, Unavailable } from '../tx.ts'
import {
  ensureCluster,
  findPostmaster,
  hasNoRoom,
  isOurData,
  isPostmaster,
  readPassword,
  rememberPort,
  saysOutOfRoom,
  serverLogTail,
  startPostmaster,
  superuser,
} from './cluster.ts'
import { findPlace, type Place } from './place.ts'

/**
 * The embedded PostgreSQL of a data directory: one server, used by every process of that directory.
 *
 * Being a user is a fact that the kernel ends: each process keeps one session open and in it a *shared* advisory lock.
 * A process that is killed loses its socket, the session ends, the lock is gone; nothing is left to clean up.
 *
 *   enter   connect, starting the server where none runs, and take the lock shared. Refused: the last user is just
 *           stopping the server; try again until it is gone, then start it.
 *   leave   give the lock back and try to take it *exclusively*. Got it: nobody else is there and nobody can come in,
 *           so stop the server (SIGINT: sessions end, all is written). Not got: others use it; just leave.
 *
 * A server that outlived all its users (they were killed) is adopted by the next one. A session that breaks while we
 * use the server means that the server died or was restarted: we enter again, which starts it if need be, on the same
 * port unless that was taken meanwhile. `url` says where it is now, and every new connection of this process asks it.
 */
export interface Postgres extends Address {
  /** Leaves, and stops the server if nobody else uses it. Safe twice. */
  stop(): Promise<void>
}

export interface PostgresOptions {
  dataDir: string
  log: Log
  clock: Clock
  /** That one process has open at once. */
  connections?: number
  /** For tests: false trades the safety of the data for speed. */
  durable?: boolean
  /** For tests: instead of /var/lib/berth. */
  systemDir?: string
}

const database = 'berth'
/** Recovery after a crash may have much WAL to read. */
const startMsMax = 300_000
const stopMsMax = 60_000
const pollMs = 20
const reenterMs = 500
const startsMax = 5
/** Making the database copies files. */
const enterStatementMsMax = 60_000
/** Of a statement: a server that is frozen is left to others. */
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
  /** It stopped for want of room, by its own words. */
  let isFull = false
  let session = await enter(entrance).catch(async (error: unknown) => Promise.reject((await findOutOfRoom()) ?? error))
  const watching = watch()

  async function watch() {
    while (!stopping.signal.aborted) {
      await Promise.race([session.ended, aborted(stopping.signal)])
      if (stopping.signal.aborted) return
      const full = await findOutOfRoom()
      if (full) log.error({ err: full }, 'the embedded PostgreSQL has stopped')
      else log.warn('the embedded PostgreSQL ended; looking after it')
      await comeBack()
    }
  }

  /** Known to everybody who asks until it is back. */
  async function findOutOfRoom(): Promise<DiskFull | null> {
    isFull = await saysOutOfRoom(entrance.place)
    return outOfRoom()
  }

  function outOfRoom(): DiskFull | null {
    return isFull || hasNoRoom(entrance.place) ? new DiskFull(entrance.place.home) : null
  }

  async function comeBack() {
    while (!stopping.signal.aborted) {
      try {
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
  /** We are to leave: nothing is entered any more. */
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
  await ensureCluster(place, { durable })
  const password = await readPassword(place)
  const deadline = clock.monotonicMs() + startMsMax
  let server: ChildProcess | undefined
  // A server of ours that exits lost to another one on this data, or to a program on its port: look again.
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
  const tail = await serverLogTail(place)
  throw new Unavailable(`The embedded PostgreSQL does not start (${place.home}); its log ends with:\n${tail}`)
}

const hasExited = (server: ChildProcess) =>
  server.pid === undefined || server.exitCode !== null || server.signalCode !== null

/** Opens our session; null: not now, the server is still starting, or just stopping. */
async function register(place: Place, address: Pick<Session, 'port' | 'password'>): Promise<Session | null> {
  const client = createClient({
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
 * Whether this server is that of our data: a copy has the same password, and may have got the port since we looked. A
 * directory that is not there any more was moved, with its server.
 */
async function serves(client: pg.Client, place: Place): Promise<boolean> {
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
  const data = rows[0]?.data_directory ?? ''
  return !existsSync(data) || isOurData(data, place)
}

/** Somebody else made it before, or at the very same time. */
const duplicateDatabase = ['42P04', '23505']

async function lock(client: pg.Client, take: 'pg_try_advisory_lock_shared' | 'pg_try_advisory_lock'): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    inTime(`SELECT ${take}($1, 0) AS taken`, [advisoryLocks.embeddedUsers]),
  )
  return rows[0]?.taken === true
}

const inTime = (text: string, values: unknown[]) => ({ text, values, query_timeout: leaveMsMax })

async function ensureDatabase(client: pg.Client) {
  const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
  if (rows.length > 0) return
  await client.query(`CREATE DATABASE ${database}`).catch((error: unknown) => {
    if (!duplicateDatabase.includes(sqlState(error) ?? '')) throw error
  })
}

async function leave({ client }: Session, { place, clock, log }: Entrance): Promise<void> {
  try {
    await client.query(inTime('SELECT pg_advisory_unlock_shared($1, 0)', [advisoryLocks.embeddedUsers]))
    if (await lock(client, 'pg_try_advisory_lock')) await stopServer(place, clock)
  } catch (error) {
    log.warn({ err: error }, 'left the embedded PostgreSQL without knowing whether others use it')
  }
  await disconnect(client)
}

async function stopServer(place: Place, clock: Clock) {
  const postmaster = await findPostmaster(place)
  if (!postmaster) return
  process.kill(postmaster.pid, 'SIGINT')
  const deadline = clock.monotonicMs() + stopMsMax
  while (await isPostmaster(postmaster.pid, place)) {
    if (clock.monotonicMs() > deadline) throw new Error(`PostgreSQL ${postmaster.pid} does not stop`)
    await clock.sleep(pollMs)
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
