import type { Clock } from './clock.ts'
import { type Address, createPgClient, disconnect } from './connection.ts'
import type { Log } from './log.ts'
import { isUnavailable, pgSql, readSqlState, type Sql } from './tx.ts'

interface Arrival {
  address: Address
  clock: Clock
  log: Log
  signal: AbortSignal
}

export const arrivalMsMax = 300_000
const retryMs = 500
const tellMs = 10_000
const statementMsMax = 5_000

/** Waits until the database is up. Throws if it does not come up, or refuses this process. */
export async function awaitDatabase({ address, clock, log, signal }: Arrival): Promise<void> {
  const beganMs = clock.monotonicMs()
  const { hostname: host, port } = new URL(address.url)
  for (let toldMs = Number.NEGATIVE_INFINITY; ; ) {
    const error = await readConnectionLimits(address).then(
      () => null,
      (failure: unknown) => failure,
    )
    if (error === null) break
    const waitedMs = clock.monotonicMs() - beganMs
    const waitedSeconds = Math.round(waitedMs / 1_000)
    if (signal.aborted) throw new Error('Stopped while waiting for the database', { cause: error })
    if (!isUnavailable(error)) throw error
    if (waitedMs > arrivalMsMax)
      throw new Error(`The database at ${host}:${port || '5432'} did not come up within ${arrivalMsMax / 1_000} s`, {
        cause: error,
      })
    if (waitedMs - toldMs >= tellMs) {
      const reason = error instanceof Error ? error.message : String(error)
      log.warn(
        { host, port, reason, waitedSeconds, secondsMax: arrivalMsMax / 1_000 },
        'the database is not up yet; waiting for it',
      )
      toldMs = waitedMs
    }
    await clock.sleep(retryMs, signal)
  }
  const waitedMs = clock.monotonicMs() - beganMs
  if (waitedMs >= retryMs) log.warn({ host, port, waitedSeconds: Math.round(waitedMs / 1_000) }, 'the database is up')
}

export interface ConnectionLimits {
  /** Maximum number of connections of the current role. */
  available: number
  maxConnections: number
}

export async function readConnectionLimits(address: Address): Promise<ConnectionLimits> {
  const [limits] = await onOwnConnection({ address, direct: false }, (sql) => sql.query<ConnectionLimits>(limitsSql))
  if (!limits) throw new Error('Cannot read the connection limits of the database')
  return limits
}

async function onOwnConnection<Result>(
  { address, direct }: { address: Address; direct: boolean },
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const client = createPgClient({ address, name: 'berth start', statementMsMax, direct })
  client.on('error', () => undefined) // a pending query fails with the same error
  try {
    await client.connect()
    return await work(pgSql(client))
  } finally {
    await disconnect(client)
  }
}

/** Subtracts connections that are reserved for superusers, and applies the limits of the role and of the database. */
const limitsSql = `
SELECT max AS "maxConnections", least(
    max - CASE WHEN rolsuper THEN 0 ELSE current_setting('superuser_reserved_connections')::int
      + coalesce(current_setting('reserved_connections', true)::int, 0) END,
    nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) AS available
FROM pg_roles, pg_database, LATERAL (SELECT current_setting('max_connections')::int AS max) m
WHERE rolname = current_user AND datname = current_database()`

/** Returns whether session settings reach the server. A pooler rejects or drops them. */
export async function keepsSettings(address: Address): Promise<boolean> {
  try {
    const kept = await onOwnConnection({ address, direct: true }, (sql) => sql.query(settingsSql))
    return kept.length > 0
  } catch (error) {
    if (readSqlState(error) === protocolViolation) return false
    throw error
  }
}

/** Error code with which a pooler rejects a start-up parameter. */
const protocolViolation = '08P01'

const settingsSql = `
SELECT 1 FROM pg_settings WHERE source = 'client'
  AND name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')`
