import type { ChildProcess } from 'node:child_process'
import pg from 'pg'
import { advisoryLocks } from '../advisory-locks.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { isUnavailable, sqlState } from '../tx.ts'
import {
  ensureCluster,
  findPostmaster,
  isPostmaster,
  readPassword,
  rememberPort,
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
 * port, so the pools of this process find it again.
 */
export interface Postgres {
  /** Of the product's database. */
  readonly url: string
  /** Leaves, and stops the server if nobody else uses it. Safe twice. */
  stop(): Promise<void>
}

export interface PostgresOptions {
  dataDir: string
  log: Log
  clock: Clock
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

export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { log, clock, durable = true } = options
  const entrance: Entrance = { place: await findPlace(options), clock, log, durable }
  const stopping = new AbortController()
  let session = await enter(entrance)
  const url = addressOf(session)
  const watching = watch()

  async function watch() {
    while (!stopping.signal.aborted) {
      await Promise.race([session.ended, aborted(stopping.signal)])
      if (stopping.signal.aborted) return
      log.warn('the embedded PostgreSQL ended; looking after it')
      try {
        session = await enter(entrance)
        if (addressOf(session) !== url) log.error('the embedded PostgreSQL came back on another port: restart Berth')
      } catch (error) {
        log.error({ err: error }, 'the embedded PostgreSQL does not come back')
        await clock.sleep(reenterMs, stopping.signal)
      }
    }
  }

  let stopped: Promise<void> | undefined
  return {
    url,
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
}

interface Session {
  client: pg.Client
  ended: Promise<void>
  port: number
  password: string
}

const addressOf = ({ port, password }: Pick<Session, 'port' | 'password'>, name = database) =>
  `postgresql://${superuser}:${password}@127.0.0.1:${port}/${name}`

async function enter({ place, clock, durable, log }: Entrance): Promise<Session> {
  await ensureCluster(place, { durable })
  const password = await readPassword(place)
  const deadline = clock.monotonicMs() + startMsMax
  let server: ChildProcess | undefined
  // A server of ours that exits lost to another one on this data, or to a program on its port: look again.
  for (let starts = 0; starts <= startsMax && clock.monotonicMs() < deadline; ) {
    const postmaster = await findPostmaster(place)
    const session = postmaster && (await register({ port: postmaster.port, password }))
    if (session) {
      await rememberPort(place, session.port)
      return session
    }
    if (!postmaster && (!server || hasExited(server))) {
      starts += 1
      server = await startPostmaster(place, { durable })
      server.once('error', (error) => log.error({ err: error }, 'the embedded PostgreSQL cannot be run'))
    }
    await clock.sleep(pollMs)
  }
  throw new Error(`The embedded PostgreSQL does not start (${place.home}):\n${await serverLogTail(place)}`)
}

const hasExited = (server: ChildProcess) =>
  server.pid === undefined || server.exitCode !== null || server.signalCode !== null

/** Opens our session; null: not now, the server is still starting, or just stopping. */
async function register(address: Pick<Session, 'port' | 'password'>): Promise<Session | null> {
  const client = new pg.Client({
    connectionString: addressOf(address, 'postgres'),
    application_name: 'berth embedded',
    connectionTimeoutMillis: 5_000,
  })
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve)
    client.on('error', () => resolve())
  })
  try {
    await client.connect()
    if (await lock(client, 'pg_try_advisory_lock_shared')) {
      await ensureDatabase(client)
      return { ...address, client, ended }
    }
  } catch (error) {
    await client.end()
    if (isUnavailable(error)) return null
    throw error
  }
  await client.end()
  return null
}

/** Somebody else made it before, or at the very same time. */
const duplicateDatabase = ['42P04', '23505']

async function lock(client: pg.Client, take: 'pg_try_advisory_lock_shared' | 'pg_try_advisory_lock'): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`SELECT ${take}($1, 0) AS taken`, [
    advisoryLocks.embeddedUsers,
  ])
  return rows[0]?.taken === true
}

async function ensureDatabase(client: pg.Client) {
  const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
  if (rows.length > 0) return
  await client.query(`CREATE DATABASE ${database}`).catch((error: unknown) => {
    if (!duplicateDatabase.includes(sqlState(error) ?? '')) throw error
  })
}

async function leave({ client }: Session, { place, clock, log }: Entrance): Promise<void> {
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1, 0)', [advisoryLocks.embeddedUsers])
    if (await lock(client, 'pg_try_advisory_lock')) await stopServer(place, clock)
  } catch (error) {
    log.warn({ err: error }, 'left the embedded PostgreSQL without knowing whether others use it')
  }
  await client.end().catch((error: unknown) => log.debug({ err: error }, 'the session had ended already'))
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
