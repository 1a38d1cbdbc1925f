import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { createApprovalRule } from '../../../src/domain/control/approval-rule-changes.ts'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { createQuota } from '../../../src/domain/limits/stored-quotas.ts'
import { reserveSlot } from '../../../src/domain/submission/slots.ts'
import { openDatabaseForEach, type TestDatabase } from '../../support/database.ts'
import { createTestDomainOver, type TestDomain } from '../../support/domain.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const database = openDatabaseForEach()
/** Two processes with separate caches. */
let here: TestDomain
let there: TestDomain
let counted: number

beforeEach(async () => {
  here = await createTestDomainOver(counting(database))
  there = await createTestDomainOver(database.db)
  counted = 0
})
afterEach(async () => {
  await here[Symbol.asyncDispose]()
  await there[Symbol.asyncDispose]()
})

/** A domain on the same database that counts the reads of usage in its transactions. */
function counting({ db }: TestDatabase) {
  const endingTransaction: typeof db.endingTransaction = (work, options) =>
    db.endingTransaction((sql) => {
      const query: typeof sql.query = (text, values, name) => {
        if (name === 'usage') counted += 1
        return sql.query(text, values, name)
      }
      return work({ query })
    }, options)
  return { ...db, endingTransaction }
}

const limit = (most: number, rest: Record<string, unknown> = {}) =>
  createQuota(here.domain, here.admin, {
    type: 'CONCURRENT_JOBS',
    action: 'BLOCK',
    scope: 'GLOBAL',
    limit: most,
    ...rest,
  })

async function submitMany(count: number, through = here, viewer: Viewer = here.admin): Promise<string[]> {
  const inputs = Array.from({ length: count }, () => ({ spec: { command: ['true'] } }))
  const outcomes = await submitJobs(through.domain, viewer, inputs)
  return outcomes.map((outcome) => ('jobId' in outcome ? outcome.jobId : 'refused'))
}
const refusedOf = (outcomes: readonly string[]) => outcomes.filter((outcome) => outcome === 'refused').length

describe('cached quota usage', () => {
  test('is used without another count while it is far from the limit', async () => {
    await limit(1_000)
    for (let i = 0; i < 5; i++) expect(refusedOf(await submitMany(10))).toBe(0)
    expect(counted).toBe(1)
  })

  test('is counted again as soon as it may be near the limit', async () => {
    await limit(20)
    const outcomes = []
    for (let i = 0; i < 25; i++) outcomes.push(...(await submitMany(1)))
    expect(outcomes.indexOf('refused')).toBe(20)
    expect(refusedOf(outcomes)).toBe(5)
    expect(counted).toBeGreaterThan(1)
    expect(counted).toBeLessThan(15)
  })

  test('includes the submissions of other processes', async () => {
    await limit(100)
    await submitMany(1)
    expect(refusedOf(await submitMany(98, there))).toBe(0)
    expect(refusedOf(await submitMany(3))).toBe(2)
  })

  test('includes slots that were reserved since the count', async () => {
    await limit(20)
    await submitMany(1)
    for (let i = 0; i < 18; i++) await reserveSlot(there.domain, there.admin, {})
    expect(refusedOf(await submitMany(3))).toBe(2)
  })

  test('falls when jobs end', async () => {
    await limit(10)
    const ids = await submitMany(10)
    expect(refusedOf(await submitMany(1))).toBe(1)
    for (const jobId of ids.slice(0, 3)) await cancelJob(there.domain, there.admin, { jobId })
    expect(refusedOf(await submitMany(4))).toBe(1)
  })

  test('is counted again for a quota with a longer window', async () => {
    await limit(1_000)
    await submitMany(5)
    await limit(6, { type: 'JOBS_PER_DAY' })
    expect(refusedOf(await submitMany(2))).toBe(1)
  })

  test('is not used for costs, which are counted every time', async () => {
    await limit(1_000, { type: 'COST_PER_DAY' })
    for (let i = 0; i < 3; i++) await submitMany(1)
    expect(counted).toBe(3)
  })

  test('leads to the same decisions of approval rules as an exact count', async () => {
    await createApprovalRule(here.domain, here.admin, {
      name: 'many',
      condition: { jobsPerDayAbove: 12 },
      requiredLevel: 'LEAD',
    })
    const ids: string[] = []
    for (let i = 0; i < 14; i++) ids.push(...(await submitMany(1)))
    const blocked = await database.db.sql.query<{ id: string }>(`SELECT id FROM job WHERE state = 'BLOCKED'`)
    expect(blocked.map(({ id }) => id).toSorted()).toEqual(ids.slice(12).toSorted())
  })
})
