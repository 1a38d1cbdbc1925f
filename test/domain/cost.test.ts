import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Viewer } from '../../src/domain/access.ts'
import { createApprovalRule } from '../../src/domain/control/approval-rule-changes.ts'
import { expireApprovals } from '../../src/domain/control/approvals.ts'
import { rejectJob } from '../../src/domain/control/approve.ts'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { deleteJob } from '../../src/domain/control/remove.ts'
import type { Rates } from '../../src/domain/cost.ts'
import { type Move, transition } from '../../src/domain/jobs/transition.ts'
import { createQuota } from '../../src/domain/limits/stored-quotas.ts'
import { allocate, readNodes } from '../../src/domain/machines/nodes.ts'
import { applyPools } from '../../src/domain/machines/pools.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { readQuotaUsage } from '../../src/domain/submission/own-quotas.ts'
import type { SubmitOutcome } from '../../src/domain/submission/submit-group.ts'
import { openTestDomain, simNode } from '../support/domain.ts'
import { submitJobs } from '../support/submit-jobs.ts'

/** Four cores and two GPUs for an hour: 4 × 0.5 + 2 × 3 = 8. */
const rates: Rates = { cpuHour: 0.5, gpuHour: 3, currency: 'EUR' }
const resources = { cpu: 4, gpu: 2 }
const hourMs = 3_600_000
const device = { model: 'V100', memoryGib: 32, tensorCores: true, cuda: [] }
const node = { ...simNode, devices: [0, 1].map((index) => ({ ...device, index })) }

let ann: Viewer
let people = 0

const { database, it } = await openTestDomain({ nodes: [node] })
beforeEach(async () => {
  ann = await it.user(`ann${people++}`, 'RESEARCHER')
  await sql('DELETE FROM quota')
  await sql('DELETE FROM approval_rule')
  await apply(rates)
})
afterAll(async () => {
  expect(await findViolations(database.db.sql)).toEqual([])
})

const sql = <Row>(text: string, values: unknown[] = []) => database.db.sql.query<Row>(text, values)

const apply = (declared?: Rates) =>
  applyPools(it.domain, {
    pools: [
      {
        name: 'sim',
        policy: 'PRIORITY',
        executors: ['simulated'],
        relaxReplicas: true,
        nodes: [node],
        ...(declared && { rates: declared }),
      },
    ],
    queues: [{ name: 'default', pool: 'sim', native: {} }],
  })

async function submit(spec: Record<string, unknown>): Promise<SubmitOutcome> {
  const [outcome] = await submitJobs(it.domain, ann, [{ spec: { command: ['true'], ...spec } }])
  if (!outcome) throw new Error('No outcome')
  return outcome
}

/** The cost of a job in the ledger and in the job. */
async function costs(id: string) {
  const [row] = await sql<{ counted: number; cost: number | null }>(
    'SELECT l.cost AS counted, j.cost FROM job j JOIN usage_ledger l ON l.job_id = j.id WHERE j.id = $1',
    [id],
  )
  return row
}

const move = (jobId: string, run: number, rest: Omit<Move, 'jobId' | 'run'>) =>
  transition(database.db.sql, [{ jobId, run, ...rest }], it.domain.time.nowMs())

/** Runs the job on the whole node. Returns when its command began. */
async function start(jobId: string, run: number): Promise<Date> {
  const [moved] = await move(jobId, run, { from: 'QUEUED', to: 'STARTING', reason: null })
  const [free] = await readNodes(database.db.sql, 'sim')
  const placement = {
    nodeId: free?.id ?? '',
    node: 'n1',
    replica: 0,
    cpuMillis: 4_000,
    memoryBytes: 0,
    gpuIds: [0, 1],
    infiniband: false,
    interactive: false,
  }
  await allocate(database.db.sql, [{ runId: moved?.runId ?? '', placements: [placement] }])
  await move(jobId, run, { from: 'STARTING', to: 'RUNNING', reason: null })
  const [row] = await sql<{ startedAt: Date }>('SELECT started_at AS "startedAt" FROM run WHERE id = $1', [
    moved?.runId,
  ])
  return row?.startedAt ?? new Date(0)
}

/** Advances the clock by so many hours. Returns the new time. */
async function later(date: Date, hours: number): Promise<Date> {
  await database.moveTime(Math.max(0, hours) * hourMs)
  return new Date(date.getTime() + hours * hourMs)
}

test.each<[string, Record<string, unknown>, number]>([
  ['the time that it may run', { resources, maxRunTimeSeconds: 1_800 }, 4],
  ['the expected run time, if the job has no maximum', { resources, durationSeconds: 3_600 }, 8],
  ['all copies', { resources: { cpu: 1, replicas: 3 }, maxRunTimeSeconds: 3_600 }, 1.5],
  [
    'the whole node, if it needs it for itself',
    { resources: { cpu: 1, exclusiveNodeUse: true }, maxRunTimeSeconds: 3_600 },
    14,
  ],
  ['all attempts that it may make', { resources, maxRunTimeSeconds: 3_600, retry: { maxAttempts: 3 } }, 24],
  ['what the submitter says, where that is more', { resources, maxRunTimeSeconds: 1_800, estimatedCost: 5 }, 5],
  ['what the submitter says, where nobody knows the time', { resources, preemptable: true, estimatedCost: 1 }, 1],
  ['nothing, where nobody knows anything', { resources, preemptable: true }, 0],
])('the expected cost of a job counts %s', async (_what, spec, expected) => {
  expect(await costs(await it.submit(spec))).toEqual({ counted: expected, cost: null })
})

test('without rates, the cost of a job is the estimate of its submitter, even after its end', async () => {
  await apply()
  const id = await it.submit({ resources, maxRunTimeSeconds: 3_600, estimatedCost: 2 })
  const startedAt = await start(id, 1)
  await move(id, 1, { from: 'RUNNING', to: 'SUCCEEDED', reason: null, finishedAt: await later(startedAt, 1) })
  expect(await costs(id)).toEqual({ counted: 2, cost: null })
})

test('the measured cost of a run, from RUNNING to its end, replaces the expected cost', async () => {
  const id = await it.submit({ resources, maxRunTimeSeconds: 7_200 })
  expect(await costs(id)).toEqual({ counted: 16, cost: null })
  const startedAt = await start(id, 1)
  await move(id, 1, { from: 'RUNNING', to: 'SUCCEEDED', reason: null, finishedAt: await later(startedAt, 0.25) })
  expect(await costs(id)).toEqual({ counted: 2, cost: 2 })
})

test('the cost of a restarted job is the measured cost of its first run plus the expected cost of the next', async () => {
  const id = await it.submit({ resources, maxRunTimeSeconds: 3_600, restartable: true })
  const first = await start(id, 1)
  const lost = { reason: 'NODE_LOST', runEnds: 'INTERRUPTED' } as const
  await move(id, 1, { from: 'RUNNING', to: 'QUEUED', ...lost, finishedAt: await later(first, 0.5) })
  expect(await costs(id)).toEqual({ counted: 12, cost: 4 })
  const second = await start(id, 2)
  await move(id, 2, {
    from: 'RUNNING',
    to: 'FAILED',
    reason: 'EXIT_CODE',
    exitCode: 1,
    finishedAt: await later(second, 0.75),
  })
  expect(await costs(id)).toEqual({ counted: 10, cost: 10 })
})

test('the expected cost covers all retry attempts, so a retry never exceeds the quota', async () => {
  await createQuota(it.domain, it.admin, { type: 'COST_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', limit: 20 })
  const spec = { resources, maxRunTimeSeconds: 3_600 }
  expect(await submit({ ...spec, retry: { maxAttempts: 1_000 } })).toMatchObject({ code: 'COST_LIMIT_EXCEEDED' })
  const id = await it.submit({ ...spec, retry: { maxAttempts: 2 } }, ann)
  const failed = { reason: 'EXIT_CODE', exitCode: 1, runEnds: 'FAILED' } as const
  await move(id, 1, { from: 'RUNNING', to: 'QUEUED', ...failed, finishedAt: await later(await start(id, 1), 0.5) })
  expect(await costs(id)).toEqual({ counted: 16, cost: 4 })
  await move(id, 2, { from: 'RUNNING', to: 'SUCCEEDED', reason: null, finishedAt: await later(await start(id, 2), 1) })
  expect(await costs(id)).toEqual({ counted: 12, cost: 12 })
})

test('the cost of a job that was never RUNNING is 0, and is never negative after the clock was set back', async () => {
  const waiting = await it.submit({ resources, maxRunTimeSeconds: 3_600 })
  await cancelJob(it.domain, it.admin, { jobId: waiting })
  expect(await costs(waiting)).toEqual({ counted: 0, cost: 0 })
  const back = await it.submit({ resources })
  const startedAt = await start(back, 1)
  await move(back, 1, { from: 'RUNNING', to: 'SUCCEEDED', reason: null, finishedAt: await later(startedAt, -1) })
  expect(await costs(back)).toEqual({ counted: 0, cost: 0 })
})

test('cost quotas and cost rules use the expected cost, and later the measured cost', async () => {
  await createQuota(it.domain, it.admin, { type: 'COST_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', limit: 10 })
  const id = await it.submit({ resources, maxRunTimeSeconds: 3_600 }, ann)
  const again = { resources, maxRunTimeSeconds: 3_600 }
  expect(await submit(again)).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', limit: 10, used: 8 })
  const startedAt = await start(id, 1)
  await move(id, 1, { from: 'RUNNING', to: 'SUCCEEDED', reason: null, finishedAt: await later(startedAt, 0.25) })
  await createApprovalRule(it.domain, it.admin, { name: 'expensive', condition: { costAbove: 7 } })
  const accepted = await submit(again)
  expect(accepted).toMatchObject({ idempotentHit: false })
  const blocked = await sql('SELECT reason FROM approval WHERE job_id = $1', ['jobId' in accepted && accepted.jobId])
  expect(blocked).toEqual([{ reason: 'Costs EUR 8, more than EUR 7 (rule expensive)' }])
})

test('new and changed rates are applied, without touching other settings of the pool', async () => {
  const state = () => sql('SELECT p.rates, n.state FROM pool p JOIN node n ON n.pool = p.name')
  await sql("UPDATE node SET state = 'CORDONED'")
  await apply({ ...rates, cpuHour: 1 })
  expect(await state()).toEqual([{ rates: { ...rates, cpuHour: 1 }, state: 'CORDONED' }])
  await apply()
  expect(await state()).toEqual([{ rates: null, state: 'CORDONED' }])
  await sql("UPDATE node SET state = 'READY'")
})

describe('a job with unlimited run time on resources with a price', () => {
  const forever = { resources, maxRunTimeSeconds: 0 }
  const quota = (action: string, limit = 1_000) =>
    createQuota(it.domain, it.admin, { type: 'COST_PER_DAY', action, scope: 'GLOBAL', limit })
  const remedy = expect.stringMatching(/set maxRunTimeSeconds/)
  const stateOf = async (outcome: SubmitOutcome) =>
    (await sql<{ state: string }>('SELECT state FROM job WHERE id = $1', ['jobId' in outcome && outcome.jobId]))[0]
      ?.state

  test.each([forever, { ...forever, estimatedCost: 1 }, { resources, preemptable: true }])(
    'exceeds every quota on cost: %j',
    async (spec) => {
      await quota('BLOCK')
      expect(await submit(spec)).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', message: remedy, limit: 1_000, used: 0 })
      await sql('DELETE FROM quota')
      await quota('WARN')
      expect(await submit(spec)).toMatchObject({ warnings: [remedy] })
      await sql('DELETE FROM quota')
      await quota('REQUIRE_APPROVAL')
      expect(await stateOf(await submit(spec))).toBe('BLOCKED')
    },
  )

  test('exceeds every approval rule on cost', async () => {
    await createApprovalRule(it.domain, it.admin, { name: 'expensive', condition: { costAbove: 1_000 } })
    const outcome = await submit(forever)
    expect(await sql('SELECT reason FROM approval WHERE job_id = $1', ['jobId' in outcome && outcome.jobId])).toEqual([
      { reason: remedy },
    ])
  })

  test('does not count toward the quota of other jobs', async () => {
    await quota('WARN')
    const spec = (more: object) => ({ spec: { command: ['true'], ...more } })
    const [, other] = await submitJobs(it.domain, ann, [spec(forever), spec({ resources, maxRunTimeSeconds: 60 })])
    expect(other).toMatchObject({ warnings: [] })
  })

  test('is accepted if its resources have no price, or if cost is not limited by a quota', async () => {
    expect(await submit(forever)).toMatchObject({ warnings: [] })
    await quota('BLOCK')
    await apply({ ...rates, cpuHour: 0 })
    expect(await submit({ resources: { cpu: 4 }, maxRunTimeSeconds: 0 })).toMatchObject({ warnings: [] })
    await apply()
    expect(await submit(forever)).toMatchObject({ warnings: [] })
  })
})

describe('without rates, the cost of a job that ends before it ran is refunded', () => {
  beforeEach(() => apply())
  const used = async () => (await readQuotaUsage(it.domain, ann)).map((one) => one.used)
  const spec = { resources, estimatedCost: 5 }

  test('only once if the job is cancelled repeatedly and concurrently', async () => {
    await createQuota(it.domain, it.admin, { type: 'COST_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', limit: 10 })
    const [one, two] = [await it.submit(spec, ann), await it.submit(spec, ann)]
    expect(await submit(spec)).toMatchObject({ code: 'COST_LIMIT_EXCEEDED', used: 10 })
    await Promise.all(Array.from({ length: 8 }, () => cancelJob(it.domain, ann, { jobId: one })))
    await cancelJob(it.domain, ann, { jobId: one })
    expect(await used()).toEqual([5])
    expect(await costs(two)).toEqual({ counted: 5, cost: null })
    await deleteJob(it.domain, it.admin, { jobId: one })
    expect(await used()).toEqual([5])
    expect(await submit(spec)).toMatchObject({ idempotentHit: false })
  })

  test.each(['cancelled', 'rejected', 'expired'] as const)(
    'when the job is %s while it waits for an approval',
    async (how) => {
      const [outcome] = await submitJobs(it.domain, ann, [
        { spec: { command: ['true'], ...spec }, requiresApproval: true },
      ])
      const jobId = outcome && 'jobId' in outcome ? outcome.jobId : ''
      expect(await costs(jobId)).toEqual({ counted: 5, cost: null })
      if (how === 'cancelled') await cancelJob(it.domain, ann, { jobId })
      if (how === 'rejected') await rejectJob(it.domain, it.admin, { jobId, reason: 'no', expectedVersion: 2 })
      if (how === 'expired') await database.moveTime(25 * hourMs)
      if (how === 'expired') await expireApprovals(it.domain)
      expect(await costs(jobId)).toEqual({ counted: 0, cost: null })
    },
  )

  test('when its start failed, but not if an earlier run was RUNNING', async () => {
    const jobId = await it.submit({ ...spec, restartable: true }, ann)
    await move(jobId, 1, { from: 'QUEUED', to: 'STARTING', reason: null })
    await move(jobId, 1, { from: 'STARTING', to: 'QUEUED', reason: 'START_FAILED', runEnds: 'FAILED' })
    expect(await costs(jobId)).toEqual({ counted: 5, cost: null })
    await move(jobId, 2, { from: 'QUEUED', to: 'STARTING', reason: null })
    await move(jobId, 2, { from: 'STARTING', to: 'FAILED', reason: 'START_FAILED' })
    expect(await costs(jobId)).toEqual({ counted: 0, cost: null })
    const ran = await it.submit({ ...spec, restartable: true }, ann)
    await start(ran, 1)
    await move(ran, 1, { from: 'RUNNING', to: 'QUEUED', reason: 'NODE_LOST', runEnds: 'INTERRUPTED' })
    await cancelJob(it.domain, ann, { jobId: ran })
    expect(await costs(ran)).toEqual({ counted: 5, cost: null })
    const seenLate = await it.submit(spec, ann)
    await move(seenLate, 1, { from: 'QUEUED', to: 'STARTING', reason: null })
    await move(seenLate, 1, { from: 'STARTING', to: 'CANCELLING', reason: 'CANCELLED' })
    await move(seenLate, 1, { from: 'CANCELLING', to: 'FAILED', reason: 'EXIT_CODE', exitCode: 3 })
    expect(await costs(seenLate)).toEqual({ counted: 5, cost: null })
  })
})
