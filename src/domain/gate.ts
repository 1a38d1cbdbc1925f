import type { Ending, Sql, Tx } from '../platform/tx.ts'
import type { Domain } from './domain.ts'

/**
 * The gate of everything that is counted at submission: an empty table that such a transaction locks first. Processes
 * take turns instead of aborting each other's SERIALIZABLE transactions, and SERIALIZABLE stays as the proof. The lock
 * must be the first statement: it takes no snapshot, so whoever waited sees what the one before wrote. Whoever puts a job
 * into another lane or removes lanes takes a turn as well.
 */
const triesMax = 8

export const lockGate = (sql: Sql) => sql.query('LOCK TABLE submission_gate IN EXCLUSIVE MODE')

/** For rows that submissions are decided by. */
export const behindGate = <T>({ db }: Domain, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.serializable(
    async (tx) => {
      const [, result] = await Promise.all([lockGate(tx), work(tx)])
      return result
    },
    { tries: triesMax },
  )

/** The last writes go with the commit. `again`: further failures after which the same transaction may well succeed. */
export const endBehindGate = <T>(
  { db }: Domain,
  work: (sql: Sql) => Promise<Ending<T>>,
  again?: (error: unknown) => boolean,
): Promise<T> =>
  db.endingTransaction(
    async (sql) => {
      const [, ending] = await Promise.all([lockGate(sql), work(sql)])
      return ending
    },
    { isolation: 'SERIALIZABLE', tries: triesMax, alsoRetry: again },
  )
