import pg from 'pg'

/**
 * Options of every connection to PostgreSQL. Both sides limit every wait, because a host that is gone sends nothing. A
 * statement that exceeds the limit of this side closes its connection (`pipeline`), because its late response would be
 * read as that of the next statement. The server cancels the statement shortly before, and ends idle transactions,
 * waits for locks, and sessions of clients that are gone.
 */

export interface Address {
  /** The connection URL. An embedded database may restart on another port. */
  readonly url: string
  /** For the embedded database: the error to report while a full disk prevents its start. */
  readonly outOfRoom?: DiskFull | null
}

/** A PostgreSQL server stopped because its disk is full. */
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
  /** Whether settings can be sent as start-up parameters. A transaction pooler rejects unknown ones. */
  direct: boolean
}

/** The sum of this and the time limit of a statement is less than 10 s, so every caller gets a response by then. */
const connectMsMax = 3_000
/** The server cancels a statement this much before this side gives up, so that the connection stays usable. */
export const cancelBeforeTimeoutMs = 500
/** Limits how long a frozen process keeps its locks, above all the fence of a leader. */
const idleInTransactionMsMax = 3_000
const lockMsMax = 5_000
const probeAfterMs = 5_000
const endMsMax = 1_000

/** If the system does not support these settings, PostgreSQL logs that and continues. */
const serverProbes = {
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
}

export function makeConnectionConfig({ address, name, statementMsMax, direct }: ConnectionOptions): pg.ClientConfig {
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

/** Prisma's adapter requires timestamps in UTC and ISO format. */
export const sessionTimeSettings = { timezone: 'UTC', datestyle: 'ISO' }

/** If PostgreSQL overestimates a statement, compiling it takes longer than running it: 1.3 s instead of 16 ms. */
const planning = { jit: 'off' }

/** Settings of the operator come last and take precedence. */
function withSettings(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return url
  const own = Object.entries({ ...serverProbes, ...planning, ...sessionTimeSettings }).map(
    ([setting, value]) => `-c ${setting}=${value}`,
  )
  const given = parsed.searchParams.get('options')
  parsed.searchParams.set('options', [...own, ...(given ? [given] : [])].join(' '))
  return parsed.href
}

export const createPgClient = (options: ConnectionOptions): pg.Client => new pg.Client(makeConnectionConfig(options))

/** For COPY, which may take hours and may wait for a slow reader: the connection has no timeouts. */
export const createCopyClient = (address: Address, name: string): pg.Client =>
  new pg.Client({
    connectionString: address.url,
    application_name: name,
    connectionTimeoutMillis: connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
  })

/** Ends the connection cleanly if the server responds in time; it may be unreachable. */
export async function disconnect(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => cutOff(client), endMsMax)
  await client.end().catch(() => undefined) // the connection has already ended
  clearTimeout(cut)
}

/** Closes the connection at once; pending queries fail. */
export const cutOff = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
