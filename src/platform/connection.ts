import pg from 'pg'

/**
 * How every connection to PostgreSQL is made. Every wait is limited on both sides, because a host that is gone sends
 * nothing. A statement that exceeds its limit on this side closes its connection (`pipeline`): a late answer would be
 * taken for that of the next statement. The server cancels a statement shortly before that, and ends idle
 * transactions, waits for locks, and sessions of clients that are gone.
 */

export interface Address {
  /** The address; an embedded database may restart on another port. */
  readonly url: string
  /** For the embedded database: set if its disk is full, so that it cannot serve. */
  readonly outOfRoom?: DiskFull | null
}

/** The error of PostgreSQL, for a server that has stopped on a full disk. */
export class DiskFull extends Error {
  readonly code = '53100'

  constructor(directory: string) {
    super(`make room in ${directory}, and it goes on by itself`)
  }
}

interface ConnectionOptions {
  address: Address
  name: string
  statementMsMax: number
  /** false: behind a transaction pooler, which refuses unknown start-up parameters. */
  direct: boolean
}

/** Plus the time limit of a statement this is less than 10 s, so every caller gets a response by then. */
const connectMsMax = 3_000
/** The server cancels a statement this much before this side gives up, so that the connection stays usable. */
export const cancelBeforeTimeoutMs = 500
/** A frozen process must not keep its locks, above all the fence of a leader. */
const idleInTransactionMsMax = 3_000
const lockMsMax = 5_000
const probeAfterMs = 5_000
const endMsMax = 1_000

/** A system without these settings logs that and continues. */
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
    pipeline: true,
  }
}

const sessionSettings = (statementMsMax: number): pg.ClientConfig => ({
  statement_timeout: statementMsMax - cancelBeforeTimeoutMs,
  lock_timeout: Math.min(lockMsMax, statementMsMax - cancelBeforeTimeoutMs),
  idle_in_transaction_session_timeout: idleInTransactionMsMax,
})

/** Prisma's adapter sends and reads moments in UTC and ISO. */
export const sessionMoments = { timezone: 'UTC', datestyle: 'ISO' }

/** Compiling a statement that PostgreSQL overestimates takes longer than running it: 1.3 s instead of 16 ms. */
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

export const createPgClient = (options: ConnectionOptions): pg.Client => new pg.Client(connectionConfig(options))

/** For COPY, which may take hours and may wait for a slow reader: the connection has no limits of time. */
export const createCopyClient = (address: Address, name: string): pg.Client =>
  new pg.Client({
    connectionString: address.url,
    application_name: name,
    connectionTimeoutMillis: connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
  })

/** Ends the connection. A clean end needs a response of the other side, which may be unreachable. */
export async function disconnect(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => cutOff(client), endMsMax)
  await client.end().catch(() => undefined) // the connection has already ended
  clearTimeout(cut)
}

/** Closes the connection at once; pending queries fail. */
export const cutOff = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
