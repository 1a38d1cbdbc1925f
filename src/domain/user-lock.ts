import type { Sql } from '../platform/tx.ts'

/** Locks the user until the transaction ends; other transactions that lock the user wait. */
export const lockUser = (sql: Sql, userId: string): Promise<unknown> =>
  sql.query('SELECT FROM "user" WHERE id = $1 FOR NO KEY UPDATE', [userId])
