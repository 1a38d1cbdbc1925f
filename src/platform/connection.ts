import pg from 'pg'

/**
 * How every connection to PostgreSQL is made. Every wait on it is limited, on both sides: a host that is gone sends
 * nothing, so each side has to detect that itself.
 *
 * This side: a connection is made within `connectMsMax`, a statement is answered within its limit, and an idle
 * connection is probed. A statement without an answer in time closes its connection (`pipeline`): a late answer would
 * be taken for that of the next statement.
 *
 * The server: it cancels a statement shortly before this side gives up, ends idle transactions, stops waiting for a
 * lock, and ends the session of a client that is gone.
 */

export interface Address {
  /** The present address of the database: the embedded one may come back on another port. */
  readonly url: string
  /** Embedded database only: the reason if it cannot serve because its disk is full. */
  readonly outOfRoom?: DiskFull | null
}

/** The same error as PostgreSQL's own, for a server that has stopped for this reason. */
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
  /** A statement without an answer within this time has failed. */
  statementMsMax: number
  /** false: behind a transaction pooler, which refuses unknown start-up parameters. */
  direct: boolean
}

/**
 * Together with the limit of a statement less than 10 s: every caller has an answer by then, even from a silent
 * database.
 */
const connectMsMax = 3_000
/** The server cancels a statement this much before this side gives up, so that the connection stays usable. */
export const cancelBeforeTimeoutMs = 500
/** A process that is frozen inside a transaction must not keep its locks, above all the fence of a leader. */
const idleInTransactionMsMax = 3_000
const lockMsMax = 5_000
/** Silence after which this side probes the connection. */
const probeAfterMs = 5_000
const endMsMax = 1_000

/** Probes by the server. A system without such a setting logs that and goes on. */
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

/** Statements are sent before the previous one is answered. */
const pipelined = { pipeline: true }

const sessionSettings = (statementMsMax: number): pg.ClientConfig => ({
  statement_timeout: statementMsMax - cancelBeforeTimeoutMs,
  lock_timeout: Math.min(lockMsMax, statementMsMax - cancelBeforeTimeoutMs),
  idle_in_transaction_session_timeout: idleInTransactionMsMax,
})

/** Prisma's adapter sends and reads moments without a zone, and means UTC. Moments of another style than ISO cannot be read. */
export const sessionMoments = { timezone: 'UTC', datestyle: 'ISO' }

/** Statements are short. Where PostgreSQL overestimates one, compiling it takes longer than running it: 1.3 s instead of 16 ms. */
const planning = { jit: 'off' }

/** Settings of the operator come last and win. */
function withSettings(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return url
  const own = Object.entries({ ...serverProbes, ...planning, ...sessionMoments }).map(
    ([setting, value]) => `-c ${setting}=${value}`,
  )
  const given = parsed.searchParams.get('options')
  parsed.searchParams.set('options', [...own, ...(given ? [given] : [])].join(' '))
  return parsed.href
}

/** A connection of its own, for statements that must not wait for the pool. */
export const createPgClient = (options: ConnectionOptions): pg.Client => new pg.Client(connectionConfig(options))

/** A clean end needs the other side, which may be silent. */
export async function disconnect(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => cutOff(client), endMsMax)
  await client.end().catch(() => undefined) // it had ended already
  clearTimeout(cut)
}

/** Closes the connection at once; pending queries fail. */
export const cutOff = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
