import type { Ending, Sql, Tx } from '../platform/tx.ts'
import type { Domain } from './domain.ts'

/**
 * The submission lock: an empty table. A transaction locks it first if it counts or changes anything that decides about
 * submissions, so such transactions wait for each other instead of aborting each other's SERIALIZABLE transactions.
 * Taking the lock takes no snapshot, so a transaction that waited sees the writes of the one before. Transactions that
 * move jobs to other lanes take the lock as well.
 */

const triesMax = 8

export const lockSubmissions = (sql: Sql) => sql.query('LOCK TABLE submission_gate IN EXCLUSIVE MODE')

export const withSubmissionsLocked = <T>(
  { db }: Domain,
  work: (tx: Tx) => Promise<T>,
  alsoRetry?: (error: unknown) => boolean,
): Promise<T> =>
  db.serializable(
    async (tx) => {
      const [, result] = await Promise.all([lockSubmissions(tx), work(tx)])
      return result
    },
    { tries: triesMax, alsoRetry },
  )

/**
 * Like `withSubmissionsLocked`; sends the last writes together with the commit. `again`: more errors to retry after.
 */
export const endWithSubmissionsLocked = <T>(
  { db }: Domain,
  work: (sql: Sql) => Promise<Ending<T>>,
  again?: (error: unknown) => boolean,
): Promise<T> =>
  db.endingTransaction(
    async (sql) => {
      const [, ending] = await Promise.all([lockSubmissions(sql), work(sql)])
      return ending
    },
    { isolation: 'SERIALIZABLE', tries: triesMax, alsoRetry: again },
  )
