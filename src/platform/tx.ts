import type pg from 'pg'
import { cancelBeforeTimeoutMs, sessionTimeSettings } from './connection.ts'
import { isLate } from './lateness.ts'
import type { ModelClient, Models } from './models.ts'
import { backOffMs } from './retry.ts'

/**
 * Transactions and the list of errors that they retry. Hand-written statements use `Sql`, alone or in a transaction;
 * Prisma's models write ordinary rows in the same transactions (`Tx`), so this file reads the errors of both.
 */

export interface Sql {
  /** If `name` is given, the statement is prepared once per connection. */
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]>
}

export interface Tx extends Sql {
  readonly prisma: Models
}

type Isolation = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE'

/** Serialization failure and deadlock. */
const retryable = new Set(['40001', '40P01'])
/** Full-jitter back-off after failure n (from 1): random between 0 and 10 ms · 2ⁿ, at most 500 ms. */
const retryDelayMs = (attempt: number) => Math.random() * backOffMs(attempt, 10, 500)

/** The caller may try again. The API reports it as UNAVAILABLE. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/**
 * Returns the SQLSTATE of a failed statement from all kinds of errors: of pg (`code`), Prisma's known request errors
 * (`meta.driverAdapterError.cause`) and, at COMMIT, a bare DriverAdapterError (`cause`, no `code`).
 */
export function readSqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, cause, meta } = error as {
    code?: unknown
    cause?: { originalCode?: unknown }
    meta?: { driverAdapterError?: { cause?: { originalCode?: unknown } } }
  }
  // A `code` P0001 may be of PostgreSQL or of Prisma, so the original code comes first.
  for (const original of [meta?.driverAdapterError?.cause?.originalCode, cause?.originalCode])
    if (isSqlState(original)) return original
  return isSqlState(code) && !/^P\d{4}$/.test(code) ? code : prismaState(code)
}

export function brokenConstraint(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { constraint, cause, meta } = error as {
    constraint?: unknown
    cause?: { constraint?: unknown }
    meta?: { driverAdapterError?: { cause?: { constraint?: unknown } } }
  }
  for (const named of [meta?.driverAdapterError?.cause?.constraint, cause?.constraint, constraint]) {
    if (typeof named === 'string') return named
    const index = (named as { index?: unknown } | null | undefined)?.index
    if (typeof index === 'string') return index
  }
  return undefined
}

/** Five digits and capital letters, at least one of them a digit, which excludes EPIPE. */
const isSqlState = (code: unknown): code is string => typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code)

function prismaState(code: unknown): string | undefined {
  switch (code) {
    case 'P2034':
      return '40001'
    case 'P2002':
      return '23505'
    case 'P2028': // waited too long for a transaction, or the transaction took too long
      return '57014'
    case 'P1001': // cannot reach the server
    case 'P1008': // its socket timed out
    case 'P1017': // it closed the connection
      return '08006'
    default:
      return undefined
  }
}

/** Whether the database or the network is unable to serve now, or a time limit has passed. */
export function isUnavailable(error: unknown): boolean {
  const state = readSqlState(error)
  if (state) return /^(08...|57P0[1-4]|57014|55P03|25P03|25006|53...|40001|40P01)$/.test(state)
  const message = error instanceof Error ? error.message : ''
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  return (
    (typeof code === 'string' &&
      /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code)) ||
    (code === 'ENOENT' && syscall === 'connect') || // the socket of a server that is not up
    /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/.test(
      message,
    )
  )
}

/** Whether PostgreSQL cancelled the statement, or did not respond until shortly after its time limit. */
export function isStatementTimeout(error: unknown): boolean {
  const cause = error instanceof Unavailable ? error.cause : error
  return readSqlState(cause) === '57014' || (cause instanceof Error && cause.message.startsWith('Query read timeout'))
}

const reasons: Readonly<Record<string, string>> = {
  '25006': 'The database is read-only',
  '53100': 'The disk of the database is full',
  '53200': 'The database has no memory left',
  '53300': 'The database has no connection left',
  '57014': 'The database takes too long for a statement',
}

/** Returns why this server is overloaded, or null. null does not mean that the database responds. */
export function explainOverload(error: unknown): string | null {
  const cause = error instanceof Unavailable ? error.cause : error
  const message = cause instanceof Error && readSqlState(cause) === undefined ? cause.message : ''
  // pg uses this message for its pool, and another one for PostgreSQL.
  if (message.startsWith('timeout exceeded when trying to connect'))
    return 'This server is overloaded: all of its database connections are in use'
  if (isLate() && /^(Query read timeout|timeout expired|Connection terminated due to connection timeout)/.test(message))
    return 'This server is overloaded and runs late; the database may be healthy'
  return null
}

/** Whether a statement was sent but not answered, so its change may have been made. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error) || readSqlState(error) !== undefined) return false
  const code = 'code' in error ? String(error.code) : ''
  return /^(Query read timeout|Connection terminated)/.test(error.message) || /^(ECONNRESET|EPIPE)$/.test(code)
}

export const explainUnavailability = (error: unknown): string =>
  explainOverload(error) ??
  reasons[readSqlState(error) ?? ''] ??
  (isUnanswered(error) ? 'The database did not answer' : 'The database is not available')

/** Runs `work` again after a retryable failure, up to `tries` times, then throws Unavailable. */
export async function withDatabaseRetries<T>(
  tries: number,
  work: () => Promise<T>,
  alsoRetry?: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const again = retryable.has(readSqlState(error) ?? '') || alsoRetry?.(error) === true
      if (!again) throw isUnavailable(error) ? new Unavailable(explainUnavailability(error), { cause: error }) : error
      if (attempt >= tries) throw new Unavailable(`Gave up after ${tries} tries`, { cause: error })
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs(attempt)))
    }
  }
}

export interface TransactionOptions {
  isolation?: Isolation
  tries?: number
  alsoRetry?: ((error: unknown) => boolean) | undefined
  /** Time limit of each statement; default: the limit of the connection. */
  statementMsMax?: number
  settings?: Readonly<Record<string, string>>
}

/** A crash of the machine may undo the transaction after its commit. */
export const relaxed: TransactionOptions = { settings: { synchronous_commit: 'off' } }

/**
 * For joins of large sets. If statistics say that a table is almost empty, PostgreSQL compares every row with every
 * other one, and the statement exceeds its limit at each attempt until the next ANALYZE.
 */
export const withoutNestedLoops: TransactionOptions = { settings: { enable_nestloop: 'off' } }

export const wholeTableMsMax = 120_000

/** The last writes are sent but not awaited, so the commit is sent with them. */
export interface Ending<T> {
  result: T
  writes: Promise<unknown>
}

export const inTransaction = <T>(
  pool: pg.Pool,
  work: (sql: Sql) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> =>
  endingTransaction(pool, async (sql) => ({ result: await work(sql), writes: Promise.resolve() }), options)

/** Models use the limits and settings of the connection. */
export type OrdinaryOptions = Omit<TransactionOptions, 'statementMsMax' | 'settings'>

export async function runOrdinaryTransaction<T>(
  pool: pg.Pool,
  models: ModelClient,
  work: (tx: Tx) => Promise<T>,
  options?: OrdinaryOptions,
): Promise<T> {
  await models.ready()
  const within = async (sql: Sql, connection: pg.PoolClient) => ({
    result: await models.within(connection, (prisma) => work({ ...sql, prisma })),
    writes: Promise.resolve(),
  })
  return endingTransaction(pool, within, { ...options, settings: sessionTimeSettings }) // a pooler may change them
}

/**
 * Connections pipeline: the first statements are sent with BEGIN, and the last ones with COMMIT, which rolls back if
 * any of them failed.
 */
export function endingTransaction<T>(
  pool: pg.Pool,
  work: (sql: Sql, connection: pg.PoolClient) => Promise<Ending<T>>,
  { isolation = 'READ COMMITTED', tries = 8, alsoRetry, statementMsMax, settings = {} }: TransactionOptions = {},
): Promise<T> {
  const all: Record<string, string> = { ...settings }
  if (statementMsMax !== undefined) all['statement_timeout'] = String(statementMsMax - cancelBeforeTimeoutMs)
  const local = Object.entries(all).map(([name, value]) => `; SET LOCAL ${name} TO '${value}'`)
  const once = async () => {
    const client = await pool.connect()
    let broken: Error | undefined
    // If the session ends between two statements, its error event has no other listener here.
    const onError = (error: Error) => {
      broken = error
    }
    client.on('error', onError)
    try {
      const begun = client.query(`BEGIN ISOLATION LEVEL ${isolation}${local.join('')}`)
      const working = work(pgSql(client, statementMsMax), client).then((ending) => {
        ending.writes.catch(() => undefined) // if BEGIN fails, so do these writes, and no one awaits them
        return ending
      })
      const [, { result, writes }] = await settleAll([begun, working])
      await settleAll([writes, client.query('COMMIT')])
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch(onError)
      throw error
    } finally {
      client.off('error', onError)
      client.release(broken)
    }
  }
  return withDatabaseRetries(tries, once, alsoRetry)
}

/** Waits for all, and throws the first error in order, because later ones may be its consequence. */
export async function settleAll<T extends readonly unknown[]>(
  parts: readonly [...{ [Part in keyof T]: Promise<T[Part]> }],
) {
  await Promise.allSettled(parts)
  return Promise.all(parts)
}

export function pgSql(on: pg.Pool | pg.PoolClient | pg.Client, statementMsMax?: number): Sql {
  const limit = statementMsMax === undefined ? {} : { query_timeout: statementMsMax }
  return {
    async query<Row>(text: string, values: readonly unknown[] = [], name?: string) {
      const result = await on.query({ text, values: [...values], ...(name && { name }), ...limit })
      return result.rows as Row[]
    },
  }
}
