import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { IdempotencyConflict, InvalidInput, Rejected, settled } from '../../src/domain/errors.ts'
import { transition } from '../../src/domain/jobs/transition.ts'
import { setScopeLimit, updateLimits } from '../../src/domain/limits/limits.ts'
import { applyPools } from '../../src/domain/machines/pools.ts'
import { estimateStarts } from '../../src/domain/queue/estimate.ts'
import { answerQuestion, askLeader, forgetQuestions, readOpenQuestions } from '../../src/domain/queue/questions.ts'
import { type JobPreview, previewJob } from '../../src/domain/submission/preview.ts'
import { submitAll } from '../../src/domain/submission/submit.ts'
import type { SubmitOutcome, Submitted } from '../../src/domain/submission/submit-group.ts'
import { Unavailable } from '../../src/platform/tx.ts'
import { openTestDomainForEach, simDevices, simNode } from '../support/domain.ts'
import { createLeader, type TestLeader } from '../support/leader.ts'
import { until } from '../support/until.ts'

/** Four cores and two GPUs. */
const node = { ...simNode, cpuMillis: 4_000, devices: simDevices(2) }

const { database, it, sql } = openTestDomainForEach({ nodes: [node] })
let leader: TestLeader

beforeEach(async () => {
  leader = await createLeader(it.domain, 'sim')
})
afterEach(async () => {
  expect(await sql('SELECT id FROM question')).toEqual([])
})

/** Waits for the outcome while a leader answers. */
async function answered<Outcome>(work: Promise<Outcome>): Promise<Outcome> {
  let outcome: Outcome | undefined
  const asked = work.then((result) => {
    outcome = result
  })
  await until(
    async () => {
      if (!outcome) await leader.tick()
      return outcome
    },
    { what: 'the submission is answered' },
  )
  await asked
  return work
}
type Fields = Record<string, unknown>
/** Refusals are outcomes, as for submissions. */
const preview = (spec: Fields = {}, more: Fields = {}, viewer = it.admin) =>
  answered(settled(previewJob(it.domain, viewer, { ...more, spec: { command: ['true'], ...spec } })))
const noWait = async (spec: Fields = {}, more: Fields = {}, viewer = it.admin) => {
  const input = { noWait: true, ...more, spec: { command: ['true'], ...spec } }
  return (await answered(submitAll(it.domain, viewer, [input])))[0]
}

/** The rows of all tables that a submission writes. */
const written = async () => {
  const tables = ['job', 'run', 'event', 'queue_entry', 'idempotency_key', 'allocation', 'device_claim', 'usage_ledger']
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`)
  const versions = "(SELECT string_agg(id || version || state, ',' ORDER BY id) FROM job) AS jobs"
  return (await sql(`SELECT ${counts.join(', ')}, (SELECT count(*) FROM audit_entry) AS audit_entry, ${versions}`))[0]
}
const reasonsOf = (outcome: unknown) => (outcome instanceof Rejected ? outcome.reasons : outcome)
const startOf = (outcome: JobPreview | Exclude<SubmitOutcome, Submitted>) =>
  'estimatedStart' in outcome ? outcome.estimatedStart : undefined
const storedStart = async (jobId: string) => {
  await leader.tick()
  await leader.forecast()
  return (await estimateStarts(it.domain, [jobId])).get(jobId)
}
const gpu = (count: number) => ({ resources: { gpu: count } })

describe('a preview', () => {
  test('example 68: names the GPUs, or the reason, and changes no rows and no events', async () => {
    await it.submit(gpu(1))
    await leader.tick()
    const before = await written()
    expect(await preview(gpu(1))).toMatchObject({
      wouldBe: 'STARTING',
      nodes: ['n1'],
      gpuIds: [1],
      reasons: [],
      fit: { freeNow: true, couldEverFit: true, missing: [] },
      position: null,
      idempotentJobId: null,
      spec: { command: ['true'], queue: 'default' },
    })
    expect(await preview(gpu(2))).toMatchObject({
      wouldBe: 'QUEUED',
      nodes: [],
      gpuIds: [],
      reasons: [{ code: 'NO_CAPACITY' }],
      fit: { freeNow: false, couldEverFit: true, missing: ['2 GPUs on one node: 1 are free'] },
      warnings: [],
      position: 1,
    })
    expect(await preview(gpu(3))).toMatchObject({
      wouldBe: 'QUEUED',
      reasons: [{ code: 'UNSATISFIABLE' }],
      fit: { freeNow: false, couldEverFit: false, missing: ['3 GPUs on one node: no node has more than 2'] },
      warnings: [
        'No node of the pool can ever provide 1 cpu, 1 GiB, 3 GPUs on one node; the job waits until the pool changes',
      ],
    })
    expect(await preview(gpu(2), { requiresApproval: true })).toMatchObject({
      wouldBe: 'BLOCKED',
      fit: { freeNow: false, couldEverFit: true },
    })
    expect(await written()).toEqual(before)
  })

  test('considers jobs that wait for resources, and ignores jobs that wait for limits', async () => {
    await it.submit({ resources: { cpu: 3 } })
    await leader.tick()
    const big = await it.submit({ resources: { cpu: 4 } })
    expect(await preview()).toMatchObject({
      wouldBe: 'QUEUED',
      reasons: [{ code: 'HOLD', jobId: big }],
      fit: { freeNow: false },
      position: 2,
    })
    await setScopeLimit(it.domain, it.admin, { scope: 'PROJECT', name: 'x', maxJobs: 0 })
    await cancelJob(it.domain, it.admin, { jobId: big })
    await it.submit({ project: 'x' })
    expect(await preview()).toMatchObject({ wouldBe: 'STARTING' })
    expect(await preview({ project: 'x' })).toMatchObject({
      wouldBe: 'QUEUED',
      reasons: [{ code: 'PROJECT_LIMIT', scope: 'project:x', limit: 0, used: 0 }],
    })
  })

  test('names other jobs, also in refusals, only if the caller may see them', async () => {
    const ann = await it.user('ann', 'RESEARCHER')
    await it.submit({ resources: { cpu: 3 } })
    await leader.tick()
    const big = await it.submit({ resources: { cpu: 4 } })
    for (const outcome of [await preview({}, {}, ann), await noWait({}, {}, ann)]) {
      expect(JSON.stringify(outcome)).not.toContain('job_')
      if (outcome instanceof Rejected) expect(outcome.message).toBe('The free resources are kept for another job')
    }
    expect(await noWait()).toMatchObject({ message: expect.stringContaining(big), reasons: [{ jobId: big }] })
  })

  test('shows the position that the job would have in the order of the pool', async () => {
    const rosa = await it.user('rosa', 'RESEARCHER')
    await it.submit({ resources: { cpu: 4 } })
    await leader.tick()
    for (const viewer of [rosa, rosa, it.admin]) await it.submit({ resources: { cpu: 4 } }, viewer)
    expect(await preview()).toMatchObject({ wouldBe: 'QUEUED', position: 2 })
  })

  test('estimates the start like that of a stored job: now, after running jobs, or never', async () => {
    const running = await it.submit({ resources: { cpu: 3 }, maxRunTimeSeconds: 600 })
    await leader.tick()
    const run = { jobId: running, run: 1, from: 'STARTING', to: 'RUNNING', reason: null } as const
    await transition(database.db.sql, [run], it.domain.time.nowMs())
    const [known] = await sql<{ now: Date; end: Date }>(
      "SELECT berth_now() AS now, started_at + interval '600 seconds' AS end FROM run WHERE job_id = $1",
      [running],
    )
    const now = startOf(await preview())
    expect(now?.earliest?.getTime()).toBeGreaterThanOrEqual(known?.now.getTime() ?? Infinity)
    expect(now?.latest).toEqual(now?.earliest)

    const big = { resources: { cpu: 4 }, maxRunTimeSeconds: 60 }
    const first = startOf(await preview(big))
    expect(first).toMatchObject({ earliest: known?.end, latest: known?.end })
    expect(await storedStart(await it.submit(big))).toEqual(first)

    const second = startOf(await preview(big))
    const afterBoth = new Date((known?.end.getTime() ?? 0) + 60_000)
    expect(second).toMatchObject({ earliest: known?.end, latest: afterBoth })
    const stored = await it.submit({ ...big, maxRunTimeSeconds: 0, preemptable: true })
    expect(await storedStart(stored)).toEqual({ ...second, basis: expect.any(String) })
    const third = startOf(await preview(big))
    expect(third).toMatchObject({ earliest: known?.end, latest: null })
    expect(await storedStart(await it.submit(big))).toEqual(third)

    const inADay = new Date((known?.now.getTime() ?? 0) + 86_400_000)
    expect(startOf(await preview({ notBefore: inADay }))).toMatchObject({ earliest: inADay })
    expect(startOf(await preview({ resources: { cpu: 5 } }))).toBeNull()
    expect(startOf(await preview({ dependsOn: [{ jobId: stored }] }))).toBeNull()
    expect(startOf(await preview({}, { requiresApproval: true }))).toBeNull()
  })

  test('shows closed gates, and whether an approval is needed', async () => {
    const first = await it.submit()
    expect(await preview({ dependsOn: [{ jobId: first }] })).toMatchObject({
      wouldBe: 'QUEUED',
      reasons: [{ code: 'DEPENDENCY', jobId: first }],
    })
    const tomorrow = new Date(Date.now() + 86_400_000)
    expect(await preview({ notBefore: tomorrow })).toMatchObject({ reasons: [{ code: 'NOT_BEFORE' }], position: 1 })
    expect(await preview({}, { requiresApproval: true })).toMatchObject({
      wouldBe: 'BLOCKED',
      reasons: [{ code: 'APPROVAL_PENDING' }],
      position: null,
    })
  })

  test('is refused and warns like a submission, and returns the job of a known idempotency key', async () => {
    expect(await preview({ queue: 'nowhere' })).toBeInstanceOf(InvalidInput)
    expect(await preview({ restartable: true, preemptable: false })).toMatchObject({
      warnings: [expect.stringContaining('preemptable')],
    })
    const [made] = await submitAll(it.domain, it.admin, [{ spec: { command: ['true'] }, idempotencyKey: 'k' }])
    // No leader plans meanwhile, so the key is answered without the leader.
    const known = await previewJob(it.domain, it.admin, { spec: { command: ['true'] }, idempotencyKey: 'k' })
    expect(known).toMatchObject({ wouldBe: 'QUEUED', idempotentJobId: made && 'jobId' in made ? made.jobId : '' })
    expect(await preview({ name: 'other' }, { idempotencyKey: 'k' })).toBeInstanceOf(IdempotencyConflict)
  })
})

describe('a submission with noWait', () => {
  test('starts the job in the transaction that stores it', async () => {
    const outcome = await noWait(gpu(2), { idempotencyKey: 'k' })
    expect(outcome).toMatchObject({ idempotentHit: false })
    expect(await sql('SELECT state, version, run_number FROM job')).toEqual([
      { state: 'STARTING', version: 2, run_number: 1 },
    ])
    expect(await sql('SELECT seq, to_state FROM event ORDER BY seq')).toEqual([
      { seq: 1, to_state: 'QUEUED' },
      { seq: 2, to_state: 'STARTING' },
    ])
    expect(await noWait(gpu(2), { idempotencyKey: 'k' })).toEqual({ ...outcome, idempotentHit: true })
  })

  test('example 68: is refused while an older job waits for the GPUs or they are in use, and no row is stored', async () => {
    await it.submit(gpu(1))
    await leader.tick()
    const older = await it.submit(gpu(2))
    await leader.tick()
    const before = await written()
    expect(reasonsOf(await noWait(gpu(1), { idempotencyKey: 'k' }))).toMatchObject([{ code: 'HOLD', jobId: older }])
    await cancelJob(it.domain, it.admin, { jobId: older })
    await it.submit(gpu(1))
    await leader.tick()
    const busy = await written()
    expect(reasonsOf(await noWait(gpu(1), { idempotencyKey: 'k' }))).toMatchObject([{ code: 'NO_CAPACITY' }])
    expect(await written()).toEqual(busy)
    expect(busy).toMatchObject({ idempotency_key: (before as { idempotency_key: number }).idempotency_key })
  })

  test('is refused because of a limit, a closed gate or a required approval', async () => {
    await updateLimits(it.domain, it.admin, { maxConcurrent: 0 })
    expect(reasonsOf(await noWait())).toMatchObject([{ code: 'POOL_PAUSED', limit: 0, used: 0 }])
    await updateLimits(it.domain, it.admin, { maxConcurrent: null })
    expect(reasonsOf(await noWait({ notBefore: new Date(Date.now() + 86_400_000) }))).toMatchObject([
      { code: 'NOT_BEFORE' },
    ])
    expect(reasonsOf(await noWait({}, { requiresApproval: true }))).toMatchObject([{ code: 'APPROVAL_PENDING' }])
    expect(await noWait({ queue: 'nowhere' })).toBeInstanceOf(InvalidInput)
    expect(await sql('SELECT id FROM job')).toEqual([])
  })

  test('starts only as many jobs of a group as fit and as the limit allows', async () => {
    await updateLimits(it.domain, it.admin, { userMaxConcurrent: 3 })
    const wishes = Array.from({ length: 10 }, () => ({ spec: { command: ['true'] }, noWait: true }))
    const all = await answered(submitAll(it.domain, it.admin, wishes))
    expect(all.filter((one) => 'jobId' in one && !(one instanceof Error))).toHaveLength(3)
    expect(all.filter((one) => one instanceof Rejected)).toHaveLength(7)
    expect(await sql('SELECT state FROM job')).toEqual(Array(3).fill({ state: 'STARTING' }))
  })
})

test('a second interactive job of a user is refused, also in another pool', async () => {
  const elsewhere = { ...node, name: 'n2' }
  await applyPools(it.domain, {
    pools: [{ name: 'other', policy: 'PRIORITY', executors: ['simulated'], relaxReplicas: true, nodes: [elsewhere] }],
    queues: ['sim', 'other'].map((pool) => ({ name: pool, pool, native: {} })),
  })
  const first = await noWait({ interactive: true })
  const jobId = first && 'jobId' in first ? first.jobId : ''
  const before = await written()
  const other = await createLeader(it.domain, 'other')
  for (const [queue, leads] of [
    ['sim', leader],
    ['other', other],
  ] as const) {
    leader = leads
    const failed = await preview({ interactive: true, queue })
    expect(failed).toMatchObject({ wouldBe: 'FAILED', reasons: [{ code: 'INTERACTIVE_QUOTA' }], position: null })
    expect(startOf(failed)).toBeNull()
    expect(reasonsOf(await noWait({ interactive: true, queue }))).toMatchObject([{ code: 'INTERACTIVE_QUOTA' }])
  }
  expect(await written()).toEqual(before)
  await cancelJob(it.domain, it.admin, { jobId })
  const waits = { wouldBe: 'QUEUED', reasons: [{ code: 'INTERACTIVE_QUOTA' }], estimatedStart: null }
  expect(await preview({ interactive: true, queue: 'other' })).toMatchObject(waits)
  expect(reasonsOf(await noWait({ interactive: true, queue: 'other' }))).toMatchObject([{ code: 'INTERACTIVE_QUOTA' }])
})

describe('questions to the leader', () => {
  test('fail as UNAVAILABLE after a timeout by database time, and a late answer starts no job', async () => {
    const gone = submitAll(it.domain, it.admin, [{ spec: { command: ['true'] }, noWait: true }])
    const [question] = await until(
      async () => {
        const open = await readOpenQuestions(it.domain, 'sim')
        return open.length > 0 && open
      },
      { what: 'the question is there' },
    )
    await database.moveTime(5_001)
    const [outcome] = await gone
    expect(outcome).toBeInstanceOf(Unavailable)
    expect(await sql('SELECT id FROM question')).toEqual([])
    await answerQuestion(database.db.sql, question?.id ?? '', { started: {} })
    await leader.tick()
    expect(await sql('SELECT id FROM job')).toEqual([])
  })

  test('are not answered by a leader of an old epoch', async () => {
    const asked = askLeader(it.domain, 'sim', { kind: 'PREVIEW', payload: {} })
    await until(async () => (await readOpenQuestions(it.domain, 'sim')).length > 0, { what: 'the question is there' })
    await sql('UPDATE scheduler_leader SET epoch = 2')
    await leader.tick()
    expect(await sql('SELECT answer FROM question')).toEqual([{ answer: null }])
    await sql("UPDATE question SET answer = '1'")
    expect(await asked).toBe(1)
  })

  test('do not block other questions when one cannot be answered', async () => {
    const broken = askLeader(it.domain, 'sim', { kind: 'PREVIEW', payload: { spec: 'none' } })
    await until(async () => (await readOpenQuestions(it.domain, 'sim')).length > 0, { what: 'the question is there' })
    expect(await preview()).toMatchObject({ wouldBe: 'STARTING' })
    await database.moveTime(5_001)
    await expect(broken).rejects.toThrow('did not answer within 5 s')
  })

  test('are deleted if the process that asked has died', async () => {
    await sql(`INSERT INTO question (id, pool, kind, payload, deadline)
      VALUES ('question_x', 'sim', 'NO_WAIT', '{}', berth_now() - interval '61 seconds')`)
    await forgetQuestions(it.domain)
  })
})
