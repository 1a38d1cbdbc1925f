import type { Clock, Time } from './clock.ts'
import type { Sql } from './tx.ts'

/**
 * The time of the database without a query for each moment: the last answer plus the measured time. Each answer bounds
 * the present; an estimate outside of the bounds moves to the nearer one, so a slow answer does not spoil a good
 * estimate.
 */

export type DatabaseTime = Time & { look(): Promise<void> }

/** 100 ppm of drift are 1 ms in this time. */
export const timeLookMs = 10_000

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

/** The exact time, by a query. */
export async function readNow(sql: Sql): Promise<Date> {
  return new Date(await readNowMs(sql))
}

/** Returns bounds of the offset to the clock. */
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
