import { expect, test } from 'vitest'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { setJobPriority } from '../../../src/domain/control/priority.ts'
import {
  expireEvents,
  expireJobs,
  expireLanes,
  expireSlots,
  readUnusedLanes,
  removeUnusedLanes,
} from '../../../src/domain/jobs/retention.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { readSlots, releaseSlot, reserveSlot } from '../../../src/domain/submission/slots.ts'
import { submitBlocked } from '../../support/approvals.ts'
import { createTestDomain } from '../../support/domain.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const dayMs = 86_400_000

test('retention deletes old finished jobs, and keeps active jobs and their dependencies', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
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

  // The newest event of each finished job is kept.
  expect(await expireEvents(it.domain, monthAgo)).toBe(2)
  expect(await sql('SELECT seq FROM event WHERE job_id = $1', [old])).toEqual([{ seq: 2 }])
  const [head] = await sql<{ position: number; forgotten: number }>('SELECT position, forgotten FROM feed_head')
  expect(head).toEqual({ position: 8, forgotten: 2 })
  expect(await findViolations(database.db.sql)).toEqual([])

  expect(await expireJobs(it.domain, monthAgo)).toBe(1)
  const left = await sql<{ id: string }>('SELECT id FROM job ORDER BY sequence')
  expect(left.map(({ id }) => id)).toEqual([named, alive, waiting, recent])
})

test('retention deletes slot reservations a month after their creation', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
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

test('retention deletes lanes that no waiting, running or returning job uses', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  const { sql } = database.db
  const lanes = async () =>
    (await sql.query<{ seconds: number }>('SELECT run_seconds AS seconds FROM lane ORDER BY 1')).map(
      ({ seconds }) => seconds,
    )
  const submit = (maxRunTimeSeconds: number) => it.submit({ maxRunTimeSeconds })
  const [, running, over] = [await submit(1), await submit(2), await submit(3)]
  await submitBlocked(it, it.admin, { spec: { maxRunTimeSeconds: 4 } })
  const start = { jobId: running, run: 1, from: 'QUEUED', to: 'STARTING', reason: null } as const
  await transition(sql, [start], it.domain.time.nowMs())
  await cancelJob(it.domain, it.admin, { jobId: over })
  // The lane has a change that the leader has not read yet.
  expect(await expireLanes(it.domain)).toBe(0)
  await sql.query('DELETE FROM pool_change')
  expect(await expireLanes(it.domain)).toBe(1)
  expect(await lanes()).toEqual([1, 2, 4])
  await submit(3)
  expect(await lanes()).toEqual([1, 2, 3, 4])
})

test('retention keeps a lane that a job enters during the deletion', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  const { sql } = database.db
  const submit = (maxRunTimeSeconds: number) => it.submit({ maxRunTimeSeconds })
  const cancelAll = async (jobIds: readonly string[]) => {
    for (const jobId of jobIds) await cancelJob(it.domain, it.admin, { jobId })
    await sql.query('DELETE FROM pool_change')
  }
  const raised = await submit(10)
  const raise = (priority: number | null) => setJobPriority(it.domain, it.admin, { jobId: raised, priority })
  const before = [await submit(1), await submit(2)]
  await raise(40)
  await raise(null)
  await cancelAll(before)

  const found = await readUnusedLanes(sql)
  expect(found).toHaveLength(3)
  const after = [await submit(1)]
  await raise(40)
  await sql.query('DELETE FROM pool_change')
  expect(await removeUnusedLanes(it.domain, found)).toBe(1)
  expect(await findViolations(sql)).toEqual([])

  // Runs all of them concurrently, in any order.
  for (let round = 0; round < 10; round++) {
    await cancelAll(after)
    const [first, second] = await Promise.all([
      submit(1),
      submit(2),
      raise(round % 2 === 0 ? null : 40),
      expireLanes(it.domain),
      expireLanes(it.domain),
    ])
    after.splice(0, after.length, first, second)
    expect(await findViolations(sql)).toEqual([])
  }
})
