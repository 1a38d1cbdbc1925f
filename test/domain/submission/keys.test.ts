import { describe, expect, test } from 'vitest'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { findKey, hashPayload, removeExpiredKeys } from '../../../src/domain/submission/keys.ts'
import type { SubmitOutcome } from '../../../src/domain/submission/submit-group.ts'
import { createTestDomainOver, openTestDomain } from '../../support/domain.ts'
import { finishJob } from '../../support/factories.ts'
import { submitJobs } from '../../support/submit-jobs.ts'
import { until } from '../../support/until.ts'

const { database, it } = await openTestDomain()
const ann = await it.user('ann', 'RESEARCHER')

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)

const input = (idempotencyKey: string, more: Record<string, unknown> = {}) => ({
  spec: { command: ['true'], name: 'keyed' },
  idempotencyKey,
  ...more,
})

async function submit(raw: Record<string, unknown>, viewer = it.admin): Promise<SubmitOutcome> {
  const [outcome] = await submitJobs(it.domain, viewer, [raw])
  if (!outcome) throw new Error('No outcome')
  return outcome
}

const idOf = (outcome: SubmitOutcome | undefined) => {
  if (!outcome || outcome instanceof Error) throw outcome ?? new Error('No outcome')
  return outcome.jobId
}
const jobs = async () => (await sql<{ n: number }>('SELECT count(*)::int AS n FROM job'))[0]?.n

describe('an idempotency key', () => {
  test('returns its job, in whatever state, without another effect', async () => {
    const first = await submit(input('k1'))
    await finishJob(database.db.sql, idOf(first))
    const before = await jobs()
    const again = await submit(input('k1', { slotReservationId: 'slot_none', idempotencyTtlSeconds: 60 }))
    expect(again).toMatchObject({ jobId: idOf(first), idempotentHit: true, warnings: [] })
    expect(await jobs()).toBe(before)
  })

  test('is refused with another payload; the order of fields and nulls make no difference', async () => {
    await submit(input('k2'))
    const other = await submit(input('k2', { spec: { command: ['false'], name: 'keyed' } }))
    expect(other).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT', retryable: false })
    expect(await submit(input('k2', { requiresApproval: true }))).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
    const same = await submit(input('k2', { spec: { name: 'keyed', project: null, command: ['true'] } }))
    expect(same).toMatchObject({ idempotentHit: true })
  })

  test('is separate for each user', async () => {
    const mine = idOf(await submit(input('k3')))
    const hers = await submit(input('k3'), ann)
    expect(hers).toMatchObject({ idempotentHit: false })
    expect(idOf(hers)).not.toBe(mine)
    expect(await findKey(it.domain, ann, 'k3')).toMatchObject({ key: 'k3', jobId: idOf(hers) })
    expect(await findKey(it.domain, ann, 'k1')).toBeNull()
  })

  test('is not stored by a refused submission', async () => {
    const refused = await submit(input('k4', { spec: { command: ['true'], queue: 'nowhere' } }))
    expect(refused).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await submit(input('k4'))).toMatchObject({ idempotentHit: false })
  })

  test('returns its job after the queue was removed', async () => {
    const first = idOf(await submit(input('k5')))
    await sql('ALTER TABLE submission_queue RENAME TO away')
    await sql('CREATE TABLE submission_queue AS SELECT * FROM away WHERE false')
    expect(await submit(input('k5'))).toMatchObject({ jobId: first, idempotentHit: true, warnings: [] })
    await sql('DROP TABLE submission_queue')
    await sql('ALTER TABLE away RENAME TO submission_queue')
  })

  test('is deleted with its job, and then creates a new job', async () => {
    const first = idOf(await submit(input('k6')))
    await finishJob(database.db.sql, first)
    await deleteJob(it.domain, it.admin, { jobId: first })
    const second = await submit(input('k6'))
    expect(second).toMatchObject({ idempotentHit: false })
    expect(idOf(second)).not.toBe(first)
  })

  test('creates a new job after it has expired, and is deleted', async () => {
    const first = idOf(await submit(input('short', { idempotencyTtlSeconds: 60 })))
    const long = idOf(await submit(input('long', { idempotencyTtlSeconds: 2_592_000 })))
    await database.moveTime(59_000)
    expect(await submit(input('short'))).toMatchObject({ jobId: first, idempotentHit: true })
    await database.moveTime(2_000)
    expect(await findKey(it.domain, it.admin, 'short')).toBeNull()
    const other = await submit(input('short', { spec: { command: ['other'] } }))
    expect(other).toMatchObject({ idempotentHit: false })
    expect(await submit(input('short', { spec: { command: ['other'] } }))).toMatchObject({ idempotentHit: true })
    await database.moveTime(29 * 86_400_000)
    expect(await removeExpiredKeys(it.domain)).toBeGreaterThan(4)
    expect(await removeExpiredKeys(it.domain)).toBe(0)
    expect(await submit(input('long'))).toMatchObject({ jobId: long, idempotentHit: true, warnings: [] })
  })

  test.each([
    ['', /1 … 255/],
    ['x'.repeat(256), /1 … 255/],
    ['a\tb', /control/],
  ])('with the value %j is refused', async (key, message) => {
    expect(await submit(input(key))).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(message) })
  })

  test.each(['gh-owner/repo-0f3a', '日本語 🎉', 'x'.repeat(255)])('may have the value %j', async (key) => {
    expect(await submit(input(key))).toMatchObject({ idempotentHit: false })
  })

  test.each([59, 2_592_001])('with a lifetime of %i seconds is refused', async (idempotencyTtlSeconds) => {
    expect(await submit(input('ttl', { idempotencyTtlSeconds }))).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('returns its job even if another version computed the hash of the payload', async () => {
    const first = idOf(await submit(input('old')))
    await sql("UPDATE idempotency_key SET hash_version = 0, payload_hash = 'x' WHERE key = 'old'")
    expect(await submit(input('old', { spec: { command: ['new'] } }))).toMatchObject({ jobId: first })
  })
})

describe('the same idempotency key twice in a group', () => {
  test('returns the first job for the same payload, and is refused for another payload', async () => {
    const [one, two, three] = await submitJobs(it.domain, it.admin, [
      input('g1'),
      input('g1'),
      input('g1', { spec: { command: ['other'] } }),
    ])
    expect(one).toMatchObject({ idempotentHit: false })
    expect(two).toMatchObject({ jobId: idOf(one), idempotentHit: true, warnings: [] })
    expect(three).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
  })

  test('creates the job of the second item if the first item was refused', async () => {
    const [one, two] = await submitJobs(it.domain, it.admin, [
      input('g2', { spec: { command: ['true'], queue: 'nowhere' } }),
      input('g2'),
    ])
    expect(one).toMatchObject({ code: 'INVALID_INPUT' })
    expect(two).toMatchObject({ idempotentHit: false })
  })
})

test('an idempotency key that another process stores without the submission lock returns its job', async () => {
  const jobId = await it.submit()
  const past = await database.db.pool.connect()
  await past.query('BEGIN')
  await past.query(
    `INSERT INTO idempotency_key (user_id, key, payload_hash, hash_version, job_id, expires_at)
     VALUES ($1, 'past', 'x', 0, $2, berth_now() + interval '1 hour')`,
    [it.admin.userId, jobId],
  )
  const submitted = submit(input('past'))
  const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
  await until(async () => (await sql(waits)).length > 0, { what: 'the submission waits for it' })
  await past.query('COMMIT')
  past.release()
  expect(await submitted).toMatchObject({ jobId, idempotentHit: true, warnings: [] })
})

test.each(['read', 'decided'] as const)(
  'an idempotency key creates a new job if its job is deleted after the key was %s',
  async (when) => {
    const key = `raced ${when}`
    const jobId = idOf(await submit(input(key)))
    await finishJob(database.db.sql, jobId)
    let races = true
    const query: typeof database.db.sql.query = async (text, values, name) => {
      if (races && when === 'decided' && name === 'jobs_by_id') {
        races = false
        await deleteJob(it.domain, it.admin, { jobId })
      }
      const rows = await database.db.sql.query<never>(text, values, name)
      if (races && when === 'read' && name === 'read_keys') {
        races = false
        await deleteJob(it.domain, it.admin, { jobId })
      }
      return rows
    }
    await using raced = await createTestDomainOver({ ...database.db, sql: { query } })
    const [outcome] = await submitJobs(raced.domain, it.admin, [input(key)])
    expect(outcome).toMatchObject({ idempotentHit: false, job: { state: 'QUEUED' } })
    expect(idOf(outcome)).not.toBe(jobId)
    expect(races).toBe(false)
  },
)

test('a hundred concurrent submissions with one idempotency key create one job', async () => {
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => submit(input('many'))))
  expect(new Set(outcomes.map(idOf)).size).toBe(1)
  expect(outcomes.filter((outcome) => 'idempotentHit' in outcome && !outcome.idempotentHit)).toHaveLength(1)
})

test('different payloads have different canonical forms', () => {
  expect(hashPayload({ a: 1, b: { d: [1, null], c: '2' } })).toBe(hashPayload({ b: { c: '2', d: [1, null] }, a: 1 }))
  expect(hashPayload({ a: { b: null } })).toBe(hashPayload({ a: {} }))
  expect(hashPayload({ a: new Date(0) })).toBe(hashPayload({ a: '1970-01-01T00:00:00.000Z' }))
  for (const other of [{ a: [1, 2] }, { a: [2, 1] }, { a: '1' }, { a: 1 }, { a: { 0: 1 } }, { a: [{ object: [] }] }])
    expect(hashPayload(other)).not.toBe(hashPayload({ a: [] }))
})
