import type { Sql } from '../platform/tx.ts'

/** Other transactions that lock this user wait until this one ends. */
export const lockUser = (sql: Sql, userId: string): Promise<unknown> =>
  sql.query('SELECT FROM "user" WHERE id = $1 FOR NO KEY UPDATE', [userId])
