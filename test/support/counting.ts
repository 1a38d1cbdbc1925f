import type { Db } from '../../src/platform/db.ts'
import type { FakeClock } from './clock.ts'
import { until } from './until.ts'

/** Advances a clock that stands still during statements, so that no statement times out. */
export async function passTime(clock: FakeClock, { isAsking, seconds }: { isAsking: () => boolean; seconds: number }) {
  const endMs = clock.nowMs() + seconds * 1_000
  while (clock.nowMs() < endMs) {
    await until(() => !isAsking(), { what: 'the answers are there' })
    await clock.advance(Math.min(clock.nextInMs, endMs - clock.nowMs()))
  }
}

/** Wraps a database, and counts the sent statements by name. */
export function countQueries(db: Db) {
  const asked = new Map<string, number>()
  let open = 0
  async function count<T>(name: string, work: Promise<T>): Promise<T> {
    asked.set(name, (asked.get(name) ?? 0) + 1)
    open += 1
    return work.finally(() => {
      open -= 1
    })
  }
  const counted: Db = Object.create(db, {
    sql: {
      value: {
        query: (...statement: Parameters<Db['sql']['query']>) =>
          count(statement[2] ?? statement[0], db.sql.query(...statement)),
      },
    },
    transaction: { value: (...work: Parameters<Db['transaction']>) => count('transaction', db.transaction(...work)) },
  })
  return { db: counted, asked, isAsking: () => open > 0 }
}
