import pg from 'pg'
import { type Address, connectionConfig, cutOff } from './connection.ts'
import type { Log } from './log.ts'
import { defineHistogram, requestBuckets } from './metrics.ts'
import { openModels, type Reads } from './models.ts'
import {
  type Ending,
  endingTransaction,
  inTransaction,
  isUnavailable,
  type OrdinaryOptions,
  ordinaryTransaction,
  pgSql,
  type Sql,
  type TransactionOptions,
  type Tx,
  Unavailable,
  whyUnavailable,
} from './tx.ts'

/** One pool, shared by Prisma and by raw statements. */
export interface Db extends Address {
  readonly pool: pg.Pool
  /** For reads only; writes use `serializable`. */
  readonly prisma: Reads
  /** Single statements, each its own transaction. */
  readonly sql: Sql
  transaction<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** With Prisma's models, for ordinary rows. After a serialization conflict the transaction is retried. */
  serializable<T>(work: (tx: Tx) => Promise<T>, options?: Omit<OrdinaryOptions, 'isolation'>): Promise<T>
  /**
   * With models, READ COMMITTED, for rows that hot paths write as well (nodes, pools), which it locks first:
   * SERIALIZABLE would run again for each start that was committed meanwhile.
   */
  locking<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** The last writes of the work are sent together with the commit. */
  endingTransaction<T>(work: (sql: Sql) => Promise<Ending<T>>, options?: TransactionOptions): Promise<T>
  /**
   * Calls the listener when a transaction has ended, including a failed one, since its commit may have succeeded. Returns
   * the function that removes the listener.
   */
  onTransactionEnded(listener: () => void): () => void
  close(): Promise<void>
}

export interface DbOptions {
  address: Address
  connectionsMax: number
  log: Log
  applicationName: string
  direct?: boolean
}

/** Time limit of a statement; statements that read whole tables have `wholeTableMsMax`. */
const statementMsMax = 6_500
const int8 = 20

export function openDb({ address, connectionsMax, log, applicationName, direct = true }: DbOptions): Db {
  const config = () => connectionConfig({ address, name: applicationName, statementMsMax, direct })
  const pool = new pg.Pool({
    ...config(),
    max: connectionsMax,
    types: { getTypeParser },
    Client: class extends pg.Client {
      constructor(options?: pg.ClientConfig) {
        super({ ...options, ...config() })
        if (!direct) leaveUnnamed(this)
      }
    },
  })
  measureWaits(pool)
  dropSuspects(pool, log)
  const models = openModels(pool)
  const sql = pgSql(pool)
  const explained = <T>(asked: Promise<T>) => asked.catch((error: unknown) => Promise.reject(explain(error, address)))
  const listeners = new Set<() => void>()
  const counted = <T>(work: Promise<T>) =>
    explained(work).finally(() => {
      for (const listener of listeners) listener()
    })
  return {
    get url() {
      return address.url
    },
    get outOfRoom() {
      return address.outOfRoom ?? null
    },
    pool,
    get prisma() {
      return models.reads
    },
    sql: { query: (...statement) => explained(sql.query(...statement)) },
    transaction: (work, options) => counted(inTransaction(pool, work, options)),
    serializable: (work, options) =>
      counted(ordinaryTransaction(pool, models, work, { ...options, isolation: 'SERIALIZABLE' })),
    locking: (work) => counted(ordinaryTransaction(pool, models, work)),
    endingTransaction: (work, options) => counted(endingTransaction(pool, work, options)),
    onTransactionEnded(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      await models.close()
      await pool.end()
    },
  }
}

const connectionWaits = defineHistogram({
  name: 'berth_database_connection_wait_seconds',
  help: 'Time that statements wait for a free connection to the database.',
  buckets: requestBuckets,
})

/** A statement on the pool gets its connection by the same method. */
function measureWaits(pool: pg.Pool) {
  type Connected = (error: Error | undefined, client?: pg.PoolClient, release?: () => void) => void
  const connect = pool.connect.bind(pool) as (then: Connected) => void
  const measured = (then?: Connected) => {
    const end = connectionWaits.startTimer()
    const connected = (settle: Connected) =>
      connect((...outcome) => {
        end()
        settle(...outcome)
      })
    if (then) return connected(then)
    return new Promise((resolve, reject) => {
      connected((error, client) => (error ? reject(error) : resolve(client)))
    })
  }
  pool.connect = measured as typeof pool.connect
}

/**
 * Removes the names of prepared statements: behind a pooler, a name may be taken or unknown in the session of the next
 * transaction.
 */
function leaveUnnamed(client: pg.Client) {
  const query = client.query.bind(client) as (asked: unknown, ...rest: unknown[]) => unknown
  const unnamed = (asked: unknown, ...rest: unknown[]) =>
    query(asked?.constructor === Object ? { ...asked, name: undefined } : asked, ...rest)
  client.query = unnamed as typeof client.query
}

/**
 * Replaces an error of the connection: a PostgreSQL that stopped on a full disk refuses connections, and the new error
 * reports the disk.
 */
function explain(error: unknown, { outOfRoom }: Address): unknown {
  if (error instanceof Unavailable)
    return outOfRoom ? new Unavailable(whyUnavailable(outOfRoom), { cause: outOfRoom }) : error
  return isUnavailable(error) ? (outOfRoom ?? error) : error
}

/**
 * When a connection breaks, closes the idle ones, which may be broken too: each would otherwise cost a statement that
 * waits for its time limit.
 */
function dropSuspects(pool: pg.Pool, log: Log) {
  const idle = new Set<pg.PoolClient>()
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('release', (_, client) => idle.add(client))
  pool.on('remove', (client) => idle.delete(client))
  const drop = () => {
    const suspects = [...idle]
    idle.clear()
    for (const client of suspects) {
      client.emit('error', new Error('Another connection broke')) // the pool forgets it at once
      cutOff(client)
    }
  }
  pool.on('connect', (client) => client.once('error', drop))
  pool.on('error', (error) => log.debug({ err: error }, 'an idle database connection broke'))
}

/** Parses bigint as a number; all values are below 2⁵³. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === int8 && format !== 'binary') return Number
  return pg.types.getTypeParser(oid, format as 'text')
}
