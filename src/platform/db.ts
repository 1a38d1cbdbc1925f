import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { PrismaClient } from './generated/client.ts'
import type { Log } from './log.ts'
import { type Ending, endingTransaction, inTransaction, pgSql, type Sql, type TransactionOptions } from './tx.ts'

/** The database as the product sees it: one pool, shared by Prisma and by raw statements. */
export interface Db {
  readonly url: string
  readonly pool: pg.Pool
  readonly prisma: PrismaClient
  /** Single statements, each its own transaction. */
  readonly sql: Sql
  transaction<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Its last writes go with the commit. */
  endingTransaction<T>(work: (sql: Sql) => Promise<Ending<T>>, options?: TransactionOptions): Promise<T>
  close(): Promise<void>
}

export interface DbOptions {
  url: string
  connectionsMax: number
  log: Log
  applicationName: string
}

/** Without it the acquisition of a connection waits for ever. */
const connectionTimeoutMillis = 5_000
/** A process that is frozen inside a transaction must not keep its locks, the fence of a leader least of all. */
const idleInTransactionMs = 3_000
const lockTimeoutMs = 5_000
const int8 = 20
/** Statements are sent though the one before is not answered yet. */
const pipelined = { pipeline: true }

export function openDb({ url, connectionsMax, log, applicationName }: DbOptions): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis,
    application_name: applicationName,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    types: { getTypeParser },
    ...pipelined,
  })
  // A connection that breaks while idle (PostgreSQL restarted) is replaced at the next use.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection broke'))
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { disposeExternalPool: false }),
  })
  return {
    url,
    pool,
    prisma,
    sql: pgSql(pool),
    transaction: (work, options) => inTransaction(pool, work, options),
    endingTransaction: (work, options) => endingTransaction(pool, work, options),
    async close() {
      await prisma.$disconnect()
      await pool.end()
    },
  }
}

/** bigint columns hold counts, offsets and versions below 2⁵³: plain numbers in raw statements. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === int8 && format !== 'binary') return Number
  return pg.types.getTypeParser(oid, format as 'text')
}
