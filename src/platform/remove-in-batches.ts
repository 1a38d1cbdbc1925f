import type { Sql } from './tx.ts'

const rowsMax = 1_000

/**
 * Repeats a statement that removes and returns at most `$1` rows, until it returns fewer. Returns the number of removed
 * rows.
 *
 * The statement must select rows by an array of `ctid`. With IN or USING, PostgreSQL compares every row with every
 * selected row if statistics say that the table is almost empty.
 */
export async function removeInBatches(sql: Sql, text: string, values: readonly unknown[] = []): Promise<number> {
  let total = 0
  for (let count = rowsMax; count === rowsMax; total += count)
    count = (await sql.query(text, [rowsMax, ...values])).length
  return total
}
