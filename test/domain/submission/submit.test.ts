import { expect, test } from 'vitest'
import { findViolations } from '../../../src/domain/selfcheck/selfcheck.ts'
import { submitAll } from '../../../src/domain/submission/submit.ts'
import { createTestDomain } from '../../support/domain.ts'

test('an SQL error in one of 256 submissions refuses only that one; the other 255 return their jobs', async () => {
  await using world = await createTestDomain()
  const { database, it } = world
  const { sql } = database.db
  await sql.query(`ALTER TABLE job ADD CONSTRAINT provoked CHECK (name IS DISTINCT FROM 'poison')`)
  const inputs = Array.from({ length: 256 }, (_, n) => ({
    spec: { command: ['true'], name: n === 100 ? 'poison' : `fine ${n}` },
    idempotencyKey: `key ${n}`,
  }))
  const outcomes = await submitAll(it.domain, it.admin, inputs)
  expect(outcomes[100]).toMatchObject({
    name: 'Unavailable',
    message: expect.stringMatching(/^This submission failed/),
  })
  const ids = outcomes.flatMap((outcome) => ('jobId' in outcome && !(outcome instanceof Error) ? [outcome.jobId] : []))
  const jobs = await sql.query<{ id: string }>('SELECT id FROM job ORDER BY sequence')
  expect(jobs.map(({ id }) => id)).toEqual(ids)
  expect(ids).toHaveLength(255)
  await expect(submitAll(it.domain, it.admin, inputs.slice(100, 101))).rejects.toThrow('provoked')
  await sql.query('ALTER TABLE job DROP CONSTRAINT provoked')
  expect(await submitAll(it.domain, it.admin, inputs.slice(99, 101))).toMatchObject([
    { idempotentHit: true },
    { idempotentHit: false },
  ])
  expect(await findViolations(sql)).toEqual([])
})

test('a job with noWait that needs approval is refused as not retryable', async () => {
  await using world = await createTestDomain()
  const { it } = world
  const wish = { spec: { command: ['true'] }, requiresApproval: true, noWait: true }
  expect(await submitAll(it.domain, it.admin, [wish])).toMatchObject([
    { code: 'REJECTED', retryable: false, reasons: [{ code: 'APPROVAL_PENDING' }] },
  ])
})

test('submissions with noWait that are not tried before the deadline fail as UNAVAILABLE; the others are accepted', async () => {
  await using world = await createTestDomain()
  const { it } = world
  const { clock } = it.domain
  let looks = 0
  const slow = { ...it.domain, clock: { ...clock, monotonicMs: () => clock.monotonicMs() + 20_000 * looks++ } }
  const spec = { command: ['true'] }
  const outcomes = await submitAll(slow, it.admin, [{ spec, noWait: true }, { spec }, { spec, noWait: true }])
  expect(outcomes).toMatchObject([
    { name: 'Unavailable', message: expect.stringContaining('within 15 s of the 2 with noWait') },
    { idempotentHit: false },
    { name: 'Unavailable' },
  ])
})
