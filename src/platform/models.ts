import { AsyncLocalStorage } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlDriverAdapter, SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { type Prisma, PrismaClient } from './generated/client.ts'

/**
 * Prisma's models. Outside of transactions they read over the shared pool. Inside, a transaction of `tx.ts` lends its
 * connection: BEGIN, COMMIT, retries and limits are those of hand-written statements, and both see each other's writes.
 * All transactions share one client, because each client has its own query compiler, which takes 15 to 30 ms and about
 * 10 MB. A database whose models are not used opens no client.
 */

type ModelName = Uncapitalize<Prisma.ModelName>
type Reading = 'findUnique' | 'findUniqueOrThrow' | 'findFirst' | 'findFirstOrThrow' | 'findMany' | 'count'

export type Models = Pick<PrismaClient, ModelName>
/** Prisma's models without writes. Writes belong in a transaction with the audit entry and the changes for leaders. */
export type Reads = {
  readonly [Name in ModelName]: Pick<PrismaClient[Name], Extract<Reading, keyof PrismaClient[Name]>>
}

type Given<T> = {
  [Field in keyof T as undefined extends T[Field] ? Field : never]?: Exclude<T[Field], undefined>
} & { [Field in keyof T as undefined extends T[Field] ? never : Field]: T[Field] }

/** Removes undefined fields, so their columns keep their value or get their default. */
export const given = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>

export type ModelClient = ReturnType<typeof openModels>

/** Each statement has the much shorter limit of its connection. */
const transactionMsMax = 60_000

export function openModels(pool: pg.Pool) {
  const loans = new AsyncLocalStorage<Loan>()
  let client: PrismaClient | undefined
  const open = () => {
    client ??= new PrismaClient({ adapter: lending(pool, loans), errorFormat: 'minimal' })
    return client
  }
  const limits = { timeout: transactionMsMax, maxWait: transactionMsMax }
  return {
    get reads(): Reads {
      return open()
    },
    /** Loads the query compiler, the slowest part, so that no transaction waits for it. */
    ready: (): Promise<void> => open().$connect(),
    /** Runs `work` over the connection of a transaction that the caller began and ends. */
    within: <T>(connection: pg.PoolClient, work: (models: Models) => Promise<T>): Promise<T> =>
      loans.run({ connection }, () => open().$transaction(work, limits)),
    close: async (): Promise<void> => client?.$disconnect(),
  }
}

/** A connection for one transaction of `work`. Queries that `work` did not await cannot use it later. */
interface Loan {
  connection: pg.PoolClient | undefined
}

function lending(pool: pg.Pool, loans: AsyncLocalStorage<Loan>): SqlDriverAdapterFactory {
  const overPool = new PrismaPg(pool, { disposeExternalPool: false })
  return {
    provider: overPool.provider,
    adapterName: overPool.adapterName,
    async connect() {
      const adapter: SqlDriverAdapter = await overPool.connect()
      const begin = adapter.startTransaction.bind(adapter) // for reads that need several statements
      adapter.startTransaction = (isolation) => {
        const loan = loans.getStore()
        const connection = loan?.connection
        if (loan) loan.connection = undefined
        return connection ? borrowed(connection) : begin(isolation)
      }
      return adapter
    },
  }
}

/** Sends Prisma's statements over the lent connection; the end sends no statement (`usePhantomQuery`). */
async function borrowed(connection: pg.PoolClient): Promise<Transaction> {
  const adapter = await new PrismaPg(new PoolOfOne(connection)).connect()
  const execute = async (sql: string) => {
    await adapter.executeRaw({ sql, args: [], argTypes: [] })
  }
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    options: { usePhantomQuery: true },
    queryRaw: (query) => adapter.queryRaw(query),
    executeRaw: (query) => adapter.executeRaw(query),
    commit: async () => undefined,
    rollback: async () => undefined,
    createSavepoint: (name) => execute(`SAVEPOINT ${name}`),
    rollbackToSavepoint: (name) => execute(`ROLLBACK TO SAVEPOINT ${name}`),
    releaseSavepoint: (name) => execute(`RELEASE SAVEPOINT ${name}`),
  }
}

/** A pool for the adapter that sends every statement over one connection and opens no other. */
class PoolOfOne extends pg.Pool {
  constructor(connection: pg.PoolClient) {
    super()
    this.query = connection.query.bind(connection)
  }
}
