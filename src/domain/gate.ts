import { prismaSql, type Sql, withRetry } from '../platform/tx.ts'
import type { Domain } from './domain.ts'

/**
 * The gate of everything that is counted at submission: an empty table that such a transaction locks first. Processes
 * take turns instead of aborting each other's SERIALIZABLE transactions, and SERIALIZABLE stays as the proof. The lock
 * must be the first statement: it takes no snapshot, so whoever waited sees what the one before wrote.
 */
const triesMax = 8
const transactionWaitMs = 5_000
const transactionMsMax = 10_000

export const lockGate = (sql: Sql) => sql.query('LOCK TABLE submission_gate IN EXCLUSIVE MODE')

/** `again`: further failures after which the same transaction may well succeed. */
export function behindGate<T>(
  { db }: Domain,
  work: (sql: Sql) => Promise<T>,
  again?: (error: unknown) => boolean,
): Promise<T> {
  const once = () =>
    db.prisma.$transaction(
      async (tx) => {
        const sql = prismaSql(tx)
        await lockGate(sql)
        return work(sql)
      },
      { isolationLevel: 'Serializable', maxWait: transactionWaitMs, timeout: transactionMsMax },
    )
  return withRetry(triesMax, once, again)
}
