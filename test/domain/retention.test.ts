import { expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/cancel.ts'
import { expireEvents, expireJobs, expireSlots } from '../../src/domain/retention.ts'
import { findings } from '../../src/domain/selfcheck.ts'
import { readSlots, releaseSlot, reserveSlot } from '../../src/domain/slots.ts'
import { submitJobs } from '../../src/domain/submit.ts'
import { createDatabase } from '../support/database.ts'
import { createTestDomain } from '../support/domain.ts'

const dayMs = 86_400_000

test('what finished long ago goes; what is alive, or named by something alive, stays', async () => {
  await using database = await createDatabase()
  await using it = await createTestDomain(database.db)
  const sql = database.db.sql.query
  const [old, named, alive] = [await it.submit(), await it.submit(), await it.submit()]
  for (const jobId of [old, named]) await cancelJob(it.domain, it.admin, { jobId })
  const waiting = await it.submit({ dependsOn: [{ jobId: named, on: 'FINISHED' }] })
  await it.sequence()
  await database.moveTime(31 * dayMs)
  const recent = await it.submit()
  await cancelJob(it.domain, it.admin, { jobId: recent })
  await it.sequence()
  const monthAgo = new Date(Date.now() + dayMs)

  // Of what finished, the newest event is kept: it says what the job became.
  expect(await expireEvents(it.domain, monthAgo)).toBe(2)
  expect(await sql('SELECT seq FROM event WHERE job_id = $1', [old])).toEqual([{ seq: 2 }])
  const [head] = await sql<{ position: number; forgotten: number }>('SELECT position, forgotten FROM feed_head')
  expect(head).toEqual({ position: 8, forgotten: 2 })
  expect(await findings(database.db.sql)).toEqual([])

  expect(await expireJobs(it.domain, monthAgo)).toBe(1)
  const left = await sql<{ id: string }>('SELECT id FROM job ORDER BY sequence')
  expect(left.map(({ id }) => id)).toEqual([named, alive, waiting, recent])
})

test('slot reservations go a month after they were made, however they ended', async () => {
  await using database = await createDatabase()
  await using it = await createTestDomain(database.db)
  const slots = await Promise.all(Array.from({ length: 3 }, () => reserveSlot(it.domain, it.admin, {})))
  await releaseSlot(it.domain, it.admin, slots[0] ?? '')
  await submitJobs(it.domain, it.admin, [{ spec: { command: ['true'] }, slotReservationId: slots[1] }])
  await database.moveTime(31 * dayMs - 60_000)
  const recent = await reserveSlot(it.domain, it.admin, {})
  expect(await expireSlots(it.domain)).toBe(0)
  await database.moveTime(120_000)
  expect(await expireSlots(it.domain)).toBe(3)
  expect((await readSlots(database.db.sql, [...slots, recent])).map(({ id }) => id)).toEqual([recent])
})
