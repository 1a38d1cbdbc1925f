import { beforeEach, expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { QuotaExceeded } from '../../../src/domain/errors.ts'
import { updateLimits } from '../../../src/domain/limits/limits.ts'
import { createQuota } from '../../../src/domain/limits/stored-quotas.ts'
import { applyPools } from '../../../src/domain/machines/pools.ts'
import { countActiveSlots, readSlots, releaseSlot, reserveSlot } from '../../../src/domain/submission/slots.ts'
import { createTestDomainOver, openTestDomain, simNode } from '../../support/domain.ts'
import { finishJob } from '../../support/factories.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const limit = 5

let ann: Viewer
let count = 0

const { database, it } = await openTestDomain()
beforeEach(async () => {
  await updateLimits(it.domain, it.admin, { userMaxActive: limit })
  ann = await it.user(`ann${count++}`, 'RESEARCHER')
})

const reserve = (ttlSeconds?: number) => reserveSlot(it.domain, ann, { ttlSeconds })
const submit = async (slotReservationId?: string, more: Record<string, unknown> = {}) =>
  (await submitJobs(it.domain, ann, [{ spec: { command: ['true'] }, slotReservationId, ...more }]))[0]
const state = async (id: string) => (await readSlots(database.db.sql, [id]))[0]?.state
const stateOfJob = async (slotId: string) =>
  (
    await database.db.sql.query<{ state: string }>(
      'SELECT j.state FROM job j JOIN slot_reservation s ON s.job_id = j.id WHERE s.id = $1',
      [slotId],
    )
  )[0]?.state
const exceeded = { code: 'QUOTA_EXCEEDED', quota: 'MAX_ACTIVE', limit, retryable: false }

test('20 concurrent slot reservations under a limit of 5 create 5 slots', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => reserve()))
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(refused).toHaveLength(20 - limit)
  for (const refusal of refused) {
    expect(refusal).toBeInstanceOf(QuotaExceeded)
    expect(refusal).toMatchObject({ ...exceeded, scope: `user:${ann.userName}`, used: limit })
    expect(refusal.message).toBe('Quota exceeded: Maximum 5 concurrent jobs allowed')
  }
  expect(await countActiveSlots(it.domain, ann)).toBe(limit)
})

test('a submission uses its slot up, and counts once', async () => {
  const slots = await Promise.all(Array.from({ length: limit }, () => reserve()))
  expect(await submit()).toMatchObject(exceeded)
  expect(await submit(slots[0])).toMatchObject({ idempotentHit: false })
  expect(await countActiveSlots(it.domain, ann)).toBe(limit)
  const [slot] = await readSlots(database.db.sql, [slots[0] ?? ''])
  expect(slot).toMatchObject({ state: 'CONSUMED', jobId: expect.stringMatching(/^job_/) })
  expect(await submit(slots[0])).toMatchObject({ code: 'RESERVATION_EXPIRED', retryable: false })
})

test('the second submission of a group with the same slot is refused', async () => {
  const slot = await reserve()
  const input = { spec: { command: ['true'] }, slotReservationId: slot }
  const [one, two] = await submitJobs(it.domain, ann, [input, input])
  expect(one).toMatchObject({ idempotentHit: false })
  expect(two).toMatchObject({ code: 'RESERVATION_EXPIRED' })
})

test('each submission of a group uses its own slot', async () => {
  const slots = [await reserve(), await reserve()]
  const wishes = [slots[1], undefined, slots[0]].map((slotReservationId) => ({
    spec: { command: ['true'] },
    slotReservationId,
  }))
  const jobIds = (await submitJobs(it.domain, ann, wishes)).map((outcome) => 'jobId' in outcome && outcome.jobId)
  const used = await readSlots(database.db.sql, slots)
  expect(slots.map((slot) => used.find(({ id }) => id === slot)?.jobId)).toEqual([jobIds[2], jobIds[0]])
})

test('a refused submission keeps its slot, and a repeated request does not use another slot', async () => {
  const slot = await reserve()
  expect(await submit(slot, { spec: { command: ['true'], queue: 'nowhere' } })).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await state(slot)).toBe('ACTIVE')
  const first = await submit(slot, { idempotencyKey: 'slotted' })
  const { jobId } = first as { jobId: string }
  expect(await submit(slot, { idempotencyKey: 'slotted' })).toMatchObject({ jobId, idempotentHit: true })
})

test('a slot expires by the clock of the database, and cannot be used after that', async () => {
  const short = await reserve(60)
  const long = await reserve()
  await database.moveTime(50_000)
  expect(await state(short)).toBe('ACTIVE')
  await database.moveTime(10_000)
  expect([await state(short), await state(long)]).toEqual(['EXPIRED', 'ACTIVE'])
  expect(await submit(short)).toMatchObject({ code: 'RESERVATION_EXPIRED' })
  await database.moveTime(240_000)
  expect(await countActiveSlots(it.domain, ann)).toBe(0)
})

test('a slot can be released once, and only by its user', async () => {
  const slot = await reserve()
  await expect(releaseSlot(it.domain, it.admin, slot)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await releaseSlot(it.domain, ann, slot)).toEqual({ id: slot, released: true })
  expect(await releaseSlot(it.domain, ann, slot)).toEqual({ id: slot, released: false })
  expect(await state(slot)).toBe('RELEASED')
  expect(await submit(slot)).toMatchObject({ code: 'RESERVATION_EXPIRED' })
})

test('the slot of another user cannot be used, and is reported as not found', async () => {
  const theirs = await reserveSlot(it.domain, it.admin, {})
  const message = (id: string) =>
    `The slot reservation ${id} cannot be used: it is expired, consumed, released, or not yours; reserve another slot`
  expect(await submit(theirs)).toMatchObject({ code: 'RESERVATION_EXPIRED', message: message(theirs) })
  expect(await submit('slot_none')).toMatchObject({ code: 'RESERVATION_EXPIRED', message: message('slot_none') })
})

test('50 concurrent submissions under a limit of 5 create 5 jobs; finished jobs free their slots', async () => {
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => submit()))
  const taken = outcomes.flatMap((outcome) =>
    outcome && 'jobId' in outcome && !(outcome instanceof Error) ? [outcome.jobId] : [],
  )
  expect(taken).toHaveLength(limit)
  await finishJob(database.db.sql, taken[0] ?? '')
  expect(await submit()).toMatchObject({ idempotentHit: false })
  expect(await submit()).toMatchObject(exceeded)
})

test('a slot can always be reserved if no limit is set', async () => {
  await updateLimits(it.domain, it.admin, { userMaxActive: null })
  await Promise.all(Array.from({ length: limit * 2 }, () => reserve()))
  expect(await countActiveSlots(it.domain, ann)).toBe(limit * 2)
})

test.each([0, 3_601])('a slot reserved for %i seconds is refused', async (ttlSeconds) => {
  await expect(reserve(ttlSeconds)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('a slot does not bypass the limit userMaxActive of another pool', async () => {
  await using more = await createTestDomainOver(database.db)
  const pool = { policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true, nodes: [] } as const
  await applyPools(more.domain, {
    pools: [
      { ...pool, name: 'sim', nodes: [simNode] },
      { ...pool, name: 'small', limits: { userMaxActive: 1 } },
    ],
    queues: [
      { name: 'default', pool: 'sim', native: {} },
      { name: 'small', pool: 'small', native: {} },
    ],
  })
  const [one, two] = [await reserve(), await reserve()]
  await releaseSlot(it.domain, ann, two)
  const spec = { command: ['true'], queue: 'small' }
  expect(await submit(one, { spec })).toMatchObject({ idempotentHit: false })
  const three = await reserve()
  expect(await submit(three, { spec })).toMatchObject({ ...exceeded, limit: 1, used: 1 })
  expect(await state(three)).toBe('ACTIVE')
  expect(await submit(three)).toMatchObject({ idempotentHit: false })
})

test.each(['WARN', 'REQUIRE_APPROVAL'] as const)('a slot obeys a CONCURRENT_JOBS quota with %s', async (action) => {
  const quota = { type: 'CONCURRENT_JOBS', action, scope: 'USER', key: ann.userName, limit: 1 }
  await createQuota(it.domain, it.admin, quota)
  const [one, two] = [await reserve(), await reserve()]
  await submit(one)
  const outcome = await submit(two)
  if (action === 'WARN') expect(outcome).toMatchObject({ warnings: [expect.stringMatching(/1 concurrent jobs/)] })
  else expect(await stateOfJob(two)).toBe('BLOCKED')
})
