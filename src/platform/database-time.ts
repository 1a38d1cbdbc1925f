import type { Clock, Time } from './clock.ts'
import type { Sql } from './tx.ts'

/**
 * The time of the database without a query for each moment: the last answer plus the time measured since. An answer
 * bounds the present, because the database gave it between the question and its arrival. An estimate within these
 * bounds stays; outside of them the database's clock was set or this machine slept, and the estimate moves to the
 * nearer bound. So a slow answer does not spoil a good estimate.
 */

export interface DatabaseTime extends Time {
  /** Queries the database again. */
  look(): Promise<void>
}

/** A clock that is 100 ppm off drifts by 1 ms between two queries. */
export const timeLookMs = 10_000

export async function readDatabaseTime(sql: Sql, clock: Clock): Promise<DatabaseTime> {
  const earliest = await ask(sql, clock)
  /** Added to the clock's reading. */
  let offsetMs = earliest.fromMs + (earliest.toMs - earliest.fromMs) / 2
  return {
    nowMs: () => Math.round(clock.monotonicMs() + offsetMs),
    async look() {
      const { fromMs, toMs } = await ask(sql, clock)
      offsetMs = Math.min(Math.max(offsetMs, fromMs), toMs)
    },
  }
}

/** The database's own time by a query, where an estimate would not do. */
export async function readNow(sql: Sql): Promise<Date> {
  return new Date(await readNowMs(sql))
}

/** Bounds of the offset to the clock's reading. */
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
  if (!row) throw new Error('A query without tables has no row')
  return row.nowMs
}
