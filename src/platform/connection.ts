import pg from 'pg'

/**
 * How every connection to PostgreSQL is made. No wait on it is without end, on either side: a host that is gone sends
 * nothing, so each side has to notice by itself.
 *
 * This side: a connection is made within `connectMsMax`, a statement is answered within its limit, and probes go out on an
 * idle connection. A statement that is not answered in time takes its connection with it (`pipeline`): the answer could
 * still come, and would be taken for that of the next statement.
 *
 * The server: it cancels a statement shortly before this side gives up, ends a transaction that stays idle, gives up a
 * lock that it does not get, and ends the session of a client that is gone.
 */
export interface Address {
  /** Where the database is now: the embedded one may come back on another port. */
  readonly url: string
  /** Of the embedded one: the reason why it cannot serve, unless its disk has room. */
  readonly outOfRoom?: DiskFull | null
}

/** The same as when PostgreSQL says it, which cannot once it has stopped for that reason. */
export class DiskFull extends Error {
  readonly code = '53100'

  constructor(directory: string) {
    super(`make room in ${directory}, and it goes on by itself`)
  }
}

interface ConnectionOptions {
  address: Address
  /** Shown in pg_stat_activity. */
  name: string
  /** A statement that is not answered within this time has failed. */
  statementMsMax: number
  /** false: behind a transaction pooler, which refuses start-up parameters that it does not know. */
  direct: boolean
}

/** With the limit of a statement less than 10 s: within that every caller has an answer, though the database is silent. */
const connectMsMax = 3_000
/** The server cancels a statement so much earlier than this side gives up: then the connection stays of use. */
export const cancelAheadMs = 500
/** A process that is frozen inside a transaction must not keep its locks, the fence of a leader least of all. */
const idleInTransactionMsMax = 3_000
const lockMsMax = 5_000
/** Of silence on this side, before it is probed. */
const probeAfterMs = 5_000
const endMsMax = 1_000

/** The server's end of the connection. Where its system has no such setting, it says so in its log and goes on. */
const serverProbes = {
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
}

export function connectionConfig({ address, name, statementMsMax, direct }: ConnectionOptions): pg.ClientConfig {
  return {
    connectionString: direct ? withSettings(address.url) : address.url,
    application_name: name,
    connectionTimeoutMillis: connectMsMax,
    query_timeout: statementMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
    ...(direct && sessionSettings(statementMsMax)),
    ...pipelined,
  }
}

/** Statements are sent though the one before is not answered yet. */
const pipelined = { pipeline: true }

const sessionSettings = (statementMsMax: number): pg.ClientConfig => ({
  statement_timeout: statementMsMax - cancelAheadMs,
  lock_timeout: Math.min(lockMsMax, statementMsMax - cancelAheadMs),
  idle_in_transaction_session_timeout: idleInTransactionMsMax,
})

/** Prisma's adapter leaves the zone out of moments, in what it sends and in what it reads, and means UTC. */
export const sessionZone = { timezone: 'UTC' }

/** What the operator set there comes last, and so wins. */
function withSettings(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return url
  const own = Object.entries({ ...serverProbes, ...sessionZone }).map(([setting, value]) => `-c ${setting}=${value}`)
  const given = parsed.searchParams.get('options')
  parsed.searchParams.set('options', [...own, ...(given ? [given] : [])].join(' '))
  return parsed.href
}

/** A connection of its own, for what must not wait for the pool. */
export const createClient = (options: ConnectionOptions): pg.Client => new pg.Client(connectionConfig(options))

/** A goodbye needs the other side, which may be silent. */
export async function disconnect(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => cutOff(client), endMsMax)
  await client.end().catch(() => undefined) // it had ended already
  clearTimeout(cut)
}

/** Ends the connection without a goodbye; what waits on it fails. */
export const cutOff = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
