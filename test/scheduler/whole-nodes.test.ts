import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApprovalRule } from '../../src/domain/control/approval-rule-changes.ts'
import { transition } from '../../src/domain/jobs/transition.ts'
import { setScopeLimit, updateLimits } from '../../src/domain/limits/limits.ts'
import { createQuota } from '../../src/domain/limits/stored-quotas.ts'
import { explainWaiting } from '../../src/domain/queue/why-waiting.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { readQuotaUsage } from '../../src/domain/submission/own-quotas.ts'
import { openDatabaseForEach } from '../support/database.ts'
import { createTestDomainOver, simNode, type TestDomain } from '../support/domain.ts'
import { createLeader, type TestLeader } from '../support/leader.ts'
import { submitJobs } from '../support/submit-jobs.ts'

/** A machine of 64 cores and eight H100. */
const devices = Array.from({ length: 8 }, (_, index) => ({
  index,
  model: 'H100',
  memoryGib: 80,
  tensorCores: true,
  cuda: [],
}))
const big = { ...simNode, name: 'big', cpuMillis: 64_000, devices }
const small = { ...simNode, name: 'small', cpuMillis: 4_000 }
const rates = { cpuHour: 1, gpuHour: 100, currency: 'EUR' }
const whole = { resources: { cpu: 1, exclusiveNodeUse: true }, maxRunTimeSeconds: 3_600 }

const database = openDatabaseForEach()
let it: TestDomain
let leader: TestLeader

async function open(nodes: readonly (typeof simNode)[]) {
  it = await createTestDomainOver(database.db, { nodes, pool: { rates } })
  leader = await createLeader(it.domain, 'sim')
}
afterEach(async () => {
  expect(await findViolations(database.db.sql)).toEqual([])
  await it[Symbol.asyncDispose]()
})

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)
const submit = async (spec: Record<string, unknown>) =>
  (await submitJobs(it.domain, it.admin, [{ spec: { command: ['true'], ...spec } }]))[0]
const stateOf = async (id: string) =>
  (await sql<{ state: string }>('SELECT state FROM job WHERE id = $1', [id]))[0]?.state
const nodesOf = async (id: string) =>
  (await sql<{ nodes: string[] }>('SELECT nodes FROM run WHERE job_id = $1', [id]))[0]?.nodes
const reasonOf = async (id: string) => (await explainWaiting(it.domain, [id])).get(id)?.reasons[0]

describe('an exclusive job counts as a whole node', () => {
  beforeEach(() => open([big]))

  test('in its cost, before and after its run', async () => {
    await createQuota(it.domain, it.admin, { type: 'COST_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', limit: 900 })
    const id = await it.submit(whole)
    expect(await readQuotaUsage(it.domain, it.admin)).toMatchObject([{ used: 864 }])
    expect(await submit(whole)).toMatchObject({ code: 'COST_LIMIT_EXCEEDED' })
    await leader.tick()
    await transition(database.db.sql, [{ jobId: id, run: 1, from: 'STARTING', to: 'RUNNING', reason: null }], 0)
    await database.moveTime(1_800_000)
    await transition(database.db.sql, [{ jobId: id, run: 1, from: 'RUNNING', to: 'SUCCEEDED', reason: null }], 0)
    const [{ cost } = { cost: 0 }] = await sql<{ cost: number }>('SELECT cost FROM job WHERE id = $1', [id])
    expect(cost).toBeGreaterThanOrEqual(432)
    expect(cost).toBeLessThan(440)
  })

  test('in GPU quotas', async () => {
    await sql("UPDATE pool SET executors = '{local}'")
    await createQuota(it.domain, it.admin, { type: 'LOCAL_GPUS', action: 'BLOCK', scope: 'GLOBAL', limit: 10 })
    await it.submit({ resources: whole.resources })
    expect(await readQuotaUsage(it.domain, it.admin)).toMatchObject([{ type: 'LOCAL_GPUS', used: 8 }])
    expect(await submit({ resources: whole.resources })).toMatchObject({ code: 'QUOTA_EXCEEDED', used: 8 })
  })

  test('for approval rules on hardware', async () => {
    await createApprovalRule(it.domain, it.admin, { name: 'h100', condition: { hardware: '*h100*' } })
    expect(await stateOf(await it.submit({ resources: { cpu: 1 } }))).toBe('QUEUED')
    expect(await stateOf(await it.submit(whole))).toBe('BLOCKED')
  })

  test.each<[string, () => Promise<unknown>]>([
    ['LOCAL_GPU_LIMIT', () => updateLimits(it.domain, it.admin, { localGpuMaxConcurrent: 7 })],
    ['LOCAL_JOB_LIMIT', () => updateLimits(it.domain, it.admin, { localJobMaxConcurrent: 0 })],
    ['GPU_LIMIT', () => setScopeLimit(it.domain, it.admin, { scope: 'USER', name: 'local', maxGpus: 0 })],
    [
      'GPU_LIMIT',
      () => setScopeLimit(it.domain, it.admin, { scope: 'USER', name: 'local', gpuModel: 'h1', maxGpus: 7 }),
    ],
  ])('in limits of running jobs: %s', async (code, limit) => {
    await limit()
    const id = await it.submit(whole)
    const behind = await it.submit({ resources: { cpu: 1 } })
    await leader.tick()
    expect([await stateOf(id), await stateOf(behind)]).toEqual(['QUEUED', 'STARTING'])
    expect(await reasonOf(id)).toMatchObject({ code, used: 0 })
  })

  test('while it runs: it holds the GPUs of the node, and other jobs count in addition', async () => {
    await updateLimits(it.domain, it.admin, { localGpuMaxConcurrent: 8 })
    const id = await it.submit(whole)
    const next = await it.submit({ resources: { cpu: 1, gpu: 1 } })
    await leader.tick()
    expect([await stateOf(id), await stateOf(next)]).toEqual(['STARTING', 'QUEUED'])
    expect(await sql('SELECT device FROM held_device')).toHaveLength(8)
    expect(await reasonOf(next)).toMatchObject({ code: 'LOCAL_GPU_LIMIT', limit: 8, used: 8 })
  })
})

describe('an exclusive job in a pool with several nodes', () => {
  beforeEach(() => open([big, small]))

  test('is placed on a node that its limits allow, and counts with the resources of that node', async () => {
    await updateLimits(it.domain, it.admin, { localGpuMaxConcurrent: 0 })
    await sql("UPDATE pool SET executors = '{local}'")
    await createQuota(it.domain, it.admin, { type: 'LOCAL_GPUS', action: 'WARN', scope: 'GLOBAL', limit: 10 })
    const ids = [await it.submit(whole), await it.submit(whole)]
    expect(await readQuotaUsage(it.domain, it.admin)).toMatchObject([{ used: 16 }])
    await leader.tick()
    expect(await Promise.all(ids.map(stateOf))).toEqual(['STARTING', 'QUEUED'])
    expect(await nodesOf(ids[0] ?? '')).toEqual(['small'])
    expect(await readQuotaUsage(it.domain, it.admin)).toMatchObject([{ used: 8 }])
  })
})
