import { expect, test } from 'vitest'
import { readDatabaseTime } from '../../src/platform/database-time.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { createFakeClock } from '../support/clock.ts'

const hourMs = 3_600_000

/** A database whose clock and response time the test sets. Each response has the time in the middle of the query. */
function open() {
  const clock = createFakeClock()
  const database = { aheadMs: 0, answerMs: 10 }
  const sql: Sql = {
    async query<Row>() {
      await clock.advance(database.answerMs / 2)
      const nowMs = clock.nowMs() + database.aheadMs
      await clock.advance(database.answerMs / 2)
      return [{ nowMs }] as Row[]
    },
  }
  const offMs = (nowMs: number) => nowMs - clock.nowMs() - database.aheadMs
  return { clock, database, sql, offMs }
}

test('database time advances between two polls, however much the clock of this machine differs', async () => {
  const { clock, database, sql, offMs } = open()
  database.aheadMs = 2 * hourMs
  const time = await readDatabaseTime(sql, clock)
  expect(offMs(time.nowMs())).toBe(0)
  await clock.advance(hourMs)
  expect(offMs(time.nowMs())).toBe(0)
})

test('a slow response does not make a good estimate of database time worse', async () => {
  const { clock, database, sql, offMs } = open()
  const time = await readDatabaseTime(sql, clock)
  database.answerMs = 4_000
  await time.look()
  expect(offMs(time.nowMs())).toBe(0)
})

test.each([hourMs, -hourMs])('a change of the database clock by %i ms is seen at the next poll', async (ms) => {
  const { clock, database, sql, offMs } = open()
  const time = await readDatabaseTime(sql, clock)
  database.aheadMs = ms
  await time.look()
  expect(Math.abs(offMs(time.nowMs()))).toBeLessThanOrEqual(database.answerMs / 2)
})
