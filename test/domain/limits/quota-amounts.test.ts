import { beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../../src/domain/ids.ts'
import { createQuota } from '../../../src/domain/limits/stored-quotas.ts'
import { readQuotaUsage } from '../../../src/domain/submission/own-quotas.ts'
import { openTestDomain } from '../../support/domain.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const { database, it } = await openTestDomain()
const ann = await it.user('ann', 'RESEARCHER')
const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)

await sql("UPDATE pool SET executors = '{local}'")
const team = newId('team', 0)
await sql("INSERT INTO team (id, name, account) VALUES ($1, 'ml', 'ml')", [team])
await sql('INSERT INTO team_member (team_id, user_id) VALUES ($1, $2)', [team, ann.userId])
await sql('UPDATE "user" SET default_team_id = $1 WHERE id = $2', [team, ann.userId])

beforeEach(async () => {
  await sql('DELETE FROM quota')
  await sql('DELETE FROM job')
  await sql('DELETE FROM usage_ledger')
})

const create = (rule: Record<string, unknown>) =>
  createQuota(it.domain, it.admin, { scope: 'GLOBAL', action: 'WARN', ...rule })

async function submit(spec: Record<string, unknown> = {}) {
  const [outcome] = await submitJobs(it.domain, ann, [{ spec: { command: ['true'], ...spec } }])
  return outcome
}

describe('large quota amounts', () => {
  test('a cost above 10¹⁵ is refused, and the largest costs add up', async () => {
    await create({ type: 'COST_PER_MONTH', scope: 'TEAM', key: 'ml', limit: 1e15 })
    expect(await submit({ estimatedCost: 1e308 })).toMatchObject({
      code: 'INVALID_INPUT',
      violations: [{ path: ['spec', 'estimatedCost'], message: expect.stringContaining('Must be at most 10¹⁵') }],
    })
    for (let n = 0; n < 3; n++) expect(await submit({ estimatedCost: 1e15 })).toMatchObject({ idempotentHit: false })
    expect(await readQuotaUsage(it.domain, ann)).toMatchObject([{ type: 'COST_PER_MONTH', used: 3e15 }])
  })

  test('a sum of costs that overflows a double is capped, and submissions are still accepted', async () => {
    await create({ type: 'COST_PER_MONTH', scope: 'ACCOUNT', key: 'ml', limit: 1 })
    for (let n = 0; n < 2; n++) await submit({ estimatedCost: 1 })
    await sql('UPDATE usage_ledger SET cost = 1e308')
    expect(await submit()).toMatchObject({ idempotentHit: false })
    expect(await readQuotaUsage(it.domain, ann)).toMatchObject([{ type: 'COST_PER_MONTH', used: 1e300 }])
  })

  test('the GPU counts of many jobs add up beyond 2³¹', async () => {
    await create({ type: 'LOCAL_GPUS', limit: 10 })
    const spec = { command: ['true'], resources: { gpu: 100_000, nodeCount: 10 } }
    await submitJobs(
      it.domain,
      ann,
      Array.from({ length: 2_500 }, () => ({ spec })),
    )
    expect(await submit({ resources: { gpu: 1 } })).toMatchObject({ idempotentHit: false })
    expect(await readQuotaUsage(it.domain, ann)).toMatchObject([{ type: 'LOCAL_GPUS', used: 2_500_000_001 }])
  })
})
