import type { Clock, Time } from './clock.ts'
import type { Sql } from './tx.ts'

/**
 * The time of the database without a query for each reading: the last response plus the time measured since. Each
 * response bounds the current time. An estimate outside of the bounds moves to the nearer bound, so a slow response
 * does not spoil a good estimate.
 */

export type DatabaseTime = Time & { look(): Promise<void> }

/** Pause between queries. A drift of 100 ppm adds up to 1 ms in this time. */
export const timePollMs = 10_000

export async function readDatabaseTime(sql: Sql, clock: Clock): Promise<DatabaseTime> {
  const earliest = await ask(sql, clock)
  let offsetMs = earliest.fromMs + (earliest.toMs - earliest.fromMs) / 2
  return {
    nowMs: () => Math.round(clock.monotonicMs() + offsetMs),
    async look() {
      const { fromMs, toMs } = await ask(sql, clock)
      offsetMs = Math.min(Math.max(offsetMs, fromMs), toMs)
    },
  }
}

/** Reads the exact time with a query. */
export async function readNow(sql: Sql): Promise<Date> {
  return new Date(await readNowMs(sql))
}

/** Returns the bounds of the difference between the database's time and the clock. */
async function ask(sql: Sql, clock: Clock): Promise<{ fromMs: number; toMs: number }> {
  const askedMs = clock.monotonicMs()
  const nowMs = await readNowMs(sql)
  return { fromMs: nowMs - clock.monotonicMs(), toMs: nowMs - askedMs }
}

async function readNowMs(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ nowMs: number }>(
    'SELECT (extract(epoch FROM berth_now()) * 1000)::float8 AS "nowMs"',
    [],
    'now',
  )
  if (!row) throw new Error('The database returned no row for its time')
  return row.nowMs
}
