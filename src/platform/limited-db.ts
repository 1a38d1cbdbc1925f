import type { Db } from './db.ts'
import type { Reads } from './models.ts'

type Run = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Returns a Db that runs each transaction, and each statement outside of a transaction, through `run`. */
export function limitDb(db: Db, run: Run): Db {
  const limit =
    <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    (...given: Given) =>
      run(() => work(...given))
  return {
    ...db,
    prisma: limitReads(db.prisma, run),
    sql: { query: limit(db.sql.query) as Db['sql']['query'] },
    transaction: limit(db.transaction),
    serializable: limit(db.serializable),
    locking: limit(db.locking),
    endingTransaction: limit(db.endingTransaction),
  }
}

const limitReads = (models: Reads, run: Run): Reads =>
  new Proxy(models, {
    get: (_, model) =>
      new Proxy(Reflect.get(models, model), {
        get: (reads, verb) => (query: unknown) => run(() => Reflect.get(reads, verb)(query)),
      }),
  })
