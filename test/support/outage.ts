import type { TestDatabase } from './database.ts'
import { until } from './until.ts'

/**
 * Does `work` in an outage: statements on the tables wait for a lock, and their connections are terminated while they
 * wait. Once `failures` of them have failed the tables are free again, and the work may end.
 */
export async function inOutage<T>(
  { db }: TestDatabase,
  { tables, failures }: { tables: string; failures: number },
  work: () => Promise<T>,
): Promise<T> {
  const client = await db.pool.connect()
  try {
    await client.query(`BEGIN; LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`)
    const result = work()
    let failed = 0
    // Outside the transaction: inside, the view of what waits would stand still.
    await until(
      async () => {
        const { rowCount } = await db.pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
        failed += rowCount ?? 0
        return failed >= failures
      },
      { what: `${failures} statements on ${tables} have failed` },
    )
    await client.query('ROLLBACK')
    return await result
  } finally {
    client.release(true)
  }
}
