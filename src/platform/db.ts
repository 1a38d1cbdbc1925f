import pg from 'pg'
import { type Address, cutOff, makeConnectionConfig } from './connection.ts'
import type { Log } from './log.ts'
import { defineHistogram, requestBuckets } from './metrics.ts'
import { openModels, type Reads } from './models.ts'
import {
  type Ending,
  endingTransaction,
  explainUnavailability,
  inTransaction,
  isUnavailable,
  type OrdinaryOptions,
  pgSql,
  runOrdinaryTransaction,
  type Sql,
  type TransactionOptions,
  type Tx,
  Unavailable,
} from './tx.ts'

/** A connection pool, shared by Prisma and by raw statements. */
export interface Db extends Address {
  readonly pool: pg.Pool
  /** For reads only; use `serializable` for writes. */
  readonly prisma: Reads
  /** Single statements, each its own transaction. */
  readonly sql: Sql
  transaction<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** A transaction with Prisma's models, for ordinary rows. It is retried after a serialization conflict. */
  serializable<T>(work: (tx: Tx) => Promise<T>, options?: Omit<OrdinaryOptions, 'isolation'>): Promise<T>
  /**
   * A READ COMMITTED transaction with Prisma's models, for rows that hot paths write as well (nodes, pools). The work
   * locks these rows first. With SERIALIZABLE it would be retried for each start that was committed meanwhile.
   */
  locking<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** A transaction whose last writes are sent together with the commit. */
  endingTransaction<T>(work: (sql: Sql) => Promise<Ending<T>>, options?: TransactionOptions): Promise<T>
  /**
   * Calls the listener when a transaction has ended, also after a failure, since the commit may have succeeded. Returns
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

/** Time limit of a statement. Statements that read whole tables use `wholeTableMsMax`. */
const statementMsMax = 6_500
const int8 = 20

export function openDb({ address, connectionsMax, log, applicationName, direct = true }: DbOptions): Db {
  const config = () => makeConnectionConfig({ address, name: applicationName, statementMsMax, direct })
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
      counted(runOrdinaryTransaction(pool, models, work, { ...options, isolation: 'SERIALIZABLE' })),
    locking: (work) => counted(runOrdinaryTransaction(pool, models, work)),
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

/** Measures how long callers wait for a connection, also callers of `query`, because it calls `connect`. */
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
 * Removes the names of prepared statements. Behind a pooler, the session of the next transaction may not know a name,
 * or use it for another statement.
 */
function leaveUnnamed(client: pg.Client) {
  const query = client.query.bind(client) as (asked: unknown, ...rest: unknown[]) => unknown
  const unnamed = (asked: unknown, ...rest: unknown[]) =>
    query(asked?.constructor === Object ? { ...asked, name: undefined } : asked, ...rest)
  client.query = unnamed as typeof client.query
}

/** Replaces a connection error with the cause if the embedded PostgreSQL stopped because its disk is full. */
function explain(error: unknown, { outOfRoom }: Address): unknown {
  if (error instanceof Unavailable)
    return outOfRoom ? new Unavailable(explainUnavailability(outOfRoom), { cause: outOfRoom }) : error
  return isUnavailable(error) ? (outOfRoom ?? error) : error
}

/**
 * When a connection breaks, closes the idle connections, which may be broken too. Each of them would otherwise make a
 * statement wait until its time limit.
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
      client.emit('error', new Error('Another connection broke')) // removes the client from the pool
      cutOff(client)
    }
  }
  pool.on('connect', (client) => client.once('error', drop))
  pool.on('error', (error) => log.debug({ err: error }, 'an idle database connection broke'))
}

/** Parses bigint as a number, because all values are below 2⁵³. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === int8 && format !== 'binary') return Number
  return pg.types.getTypeParser(oid, format as 'text')
}
