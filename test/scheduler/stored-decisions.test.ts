import { beforeEach, describe, expect, test } from 'vitest'
import { cancelJob } from '../../src/domain/control/cancel.ts'
import { type Move, transition } from '../../src/domain/jobs/transition.ts'
import { Fenced } from '../../src/domain/leadership.ts'
import type { Store } from '../../src/scheduler/plan/leader-store.ts'
import type { Decisions, Eviction } from '../../src/scheduler/plan/model.ts'
import { planPass } from '../../src/scheduler/plan/plan.ts'
import { createWorld } from '../../src/scheduler/plan/world.ts'
import { createStoredPool } from '../../src/scheduler/stored-pool.ts'
import { openTestDomainForEach, simDevices, simNode } from '../support/domain.ts'

/** How evictions, holds, refusals and starts are committed, or dropped because another transaction was first. */
const { database, it, sql } = openTestDomainForEach({
  nodes: [{ ...simNode, devices: simDevices(8) }],
  pool: { policy: 'FAIR_SHARE' },
})
let store: Store

beforeEach(async () => {
  await sql("INSERT INTO scheduler_leader (pool, epoch, holder, host) VALUES ('sim', 1, 'test', 'test')")
  store = createStoredPool(it.domain, { pool: 'sim', epoch: 1, holder: 'test' })
})

const move = (jobId: string, step: Pick<Move, 'from' | 'to' | 'reason'>) =>
  transition(database.db.sql, [{ jobId, run: 1, ...step }], it.domain.time.nowMs())
const jobOf = async (id: string) =>
  (await sql<object>('SELECT state, state_reason AS reason FROM job WHERE id = $1', [id]))[0]

/** Loads a world, and returns all decisions that the planner would make now. */
async function decided(): Promise<{ decisions: Decisions; revision: number }> {
  const world = createWorld(await store.load())
  return { decisions: planPass(world, { startsMax: 50 }), revision: world.state.settings.revision }
}

async function commitAll() {
  const { decisions, revision } = await decided()
  expect(await store.commit(decisions, revision)).toMatchObject({ kind: 'committed' })
  return decisions
}

describe('the commit of an eviction', () => {
  let older: string
  let newer: string
  let claimant: string
  let planned: Awaited<ReturnType<typeof decided>>

  /** Two jobs of account x hold half of the GPUs each; account y requests four GPUs. */
  beforeEach(async () => {
    const four = { resources: { gpu: 4 }, preemptable: true }
    older = await it.submit({ ...four, account: 'x' })
    newer = await it.submit({ ...four, account: 'x' })
    await commitAll()
    for (const id of [older, newer]) await move(id, { from: 'STARTING', to: 'RUNNING', reason: null })
    claimant = await it.submit({ ...four, account: 'y' })
    planned = await decided()
    expect(planned.decisions.evictions).toMatchObject([
      { claimant: { jobId: claimant }, victims: [{ running: { jobId: newer } }] },
    ])
  })

  const commit = () => store.commit(planned.decisions, planned.revision)
  const written = async () => ({
    holds: await sql('SELECT job_id, kind FROM hold'),
    preemptions: await sql('SELECT epoch, tier, claimant, victim, victim_job_id FROM preemption'),
    asked: await sql('SELECT job_id FROM run WHERE preempt_requested_at IS NOT NULL'),
  })
  const nothing = { holds: [], preemptions: [], asked: [] }

  test('marks the victim and creates a hold for the claimant, and the next leader loads both', async () => {
    expect(await commit()).toEqual({ kind: 'committed', lost: [], sinceMs: new Map() })
    expect(await written()).toEqual({
      holds: [{ job_id: claimant, kind: 'PREEMPTION' }],
      preemptions: [{ epoch: 1, tier: 1, claimant: 'y', victim: 'x', victim_job_id: newer }],
      asked: [{ job_id: newer }],
    })
    expect(await jobOf(newer)).toEqual({ state: 'RUNNING', reason: 'PREEMPTING' })
    expect((await store.changes({ has: () => true })).changes).toMatchObject([
      { kind: 'RUN', running: { jobId: newer, leaving: true } },
    ])
    const loaded = await store.load()
    expect(loaded.running.map(({ jobId, leaving }) => [jobId, leaving])).toEqual([
      [older, false],
      [newer, true],
    ])
    expect(loaded.holds).toMatchObject([{ jobId: claimant, placements: [{ node: 'n1' }] }])
    expect(loaded.preemptions).toMatchObject([{ tier: 1, claimantJobId: claimant, victimJobId: newer }])
    expect(planPass(createWorld(loaded), { startsMax: 50 })).toMatchObject({ starts: [], evictions: [] })
  })

  test('leaves out a claimant that no longer waits, and the leader learns that its victims stay', async () => {
    await cancelJob(it.domain, it.admin, { jobId: claimant })
    expect(await commit()).toEqual({ kind: 'committed', lost: [claimant], sinceMs: new Map() })
    expect(await written()).toEqual(nothing)
    expect((await store.changes({ has: () => true })).changes).toMatchObject([
      { kind: 'LEFT', jobId: claimant },
      { kind: 'RUN', running: { jobId: newer, leaving: false } },
    ])
  })

  test('leaves out a victim that ended meanwhile, and the claimant starts on the held resources', async () => {
    await move(newer, { from: 'RUNNING', to: 'SUCCEEDED', reason: null })
    expect(await commit()).toEqual({ kind: 'committed', lost: [], sinceMs: new Map() })
    expect(await written()).toEqual({ ...nothing, holds: [{ job_id: claimant, kind: 'PREEMPTION' }] })
    await commitAll()
    expect(await jobOf(claimant)).toEqual({ state: 'STARTING', reason: null })
    expect(await written()).toEqual(nothing)
  })

  test('is refused for a leader of an old epoch', async () => {
    await sql('UPDATE scheduler_leader SET epoch = 2')
    await expect(commit()).rejects.toThrow(Fenced)
    expect(await written()).toEqual(nothing)
  })
})

const none: Decisions = {
  starts: [],
  evictions: [],
  dropped: [],
  refused: [],
  needs: [],
  considered: 0,
  nextMs: null,
}

test('a hold is stored for a waiting claimant, and dropped', async () => {
  const [waits, gone] = [await it.submit(), await it.submit()]
  const { decisions, revision } = await decided()
  const placements = decisions.starts[0]?.placements ?? []
  await cancelJob(it.domain, it.admin, { jobId: gone })
  const eviction = (jobId: string): Eviction => ({
    hold: { id: `hold_${jobId}`, jobId, placements, sinceMs: 1_000, backfilledOn: null },
    claimant: { jobId, account: 'a' },
    victims: [],
  })
  const evictions = [eviction(waits), eviction(gone)]
  const held = async () => (await store.load()).holds
  expect(await store.commit({ ...none, evictions }, revision)).toMatchObject({ kind: 'committed', lost: [gone] })
  expect(await held()).toEqual([eviction(waits).hold])
  await store.commit({ ...none, dropped: [waits] }, revision)
  expect(await held()).toEqual([])
})

describe('an interactive job', () => {
  test('is refused while its user has another interactive run, unless that one was cancelled meanwhile', async () => {
    const first = await it.submit({ interactive: true })
    await commitAll()
    await move(first, { from: 'STARTING', to: 'RUNNING', reason: null })
    const [second, gone] = [await it.submit({ interactive: true }), await it.submit({ interactive: true })]
    const { decisions, revision } = await decided()
    expect(decisions.refused.map(({ entry }) => entry.jobId)).toEqual([second, gone])
    await cancelJob(it.domain, it.admin, { jobId: gone })
    await store.commit(decisions, revision)
    expect(await jobOf(second)).toEqual({ state: 'FAILED', reason: 'INTERACTIVE_QUOTA' })
    expect(await jobOf(gone)).toMatchObject({ state: 'CANCELLED' })
  })

  test('is refused at the commit if its user got an interactive run in another pool', async () => {
    const job = await it.submit({ interactive: true })
    const { decisions, revision } = await decided()
    expect(decisions.starts).toHaveLength(1)
    const elsewhere = await it.submit({ interactive: true })
    await move(elsewhere, { from: 'QUEUED', to: 'STARTING', reason: null })
    expect(await store.commit(decisions, revision)).toEqual({ kind: 'committed', lost: [job], sinceMs: new Map() })
    expect(await jobOf(job)).toEqual({ state: 'FAILED', reason: 'INTERACTIVE_QUOTA' })
    await move(elsewhere, { from: 'STARTING', to: 'FAILED', reason: 'START_FAILED' })
  })

  test('waits at the commit while the interactive run of its user in another pool ends', async () => {
    const job = await it.submit({ interactive: true })
    const { decisions, revision } = await decided()
    const elsewhere = await it.submit({ interactive: true })
    await move(elsewhere, { from: 'QUEUED', to: 'STARTING', reason: null })
    await move(elsewhere, { from: 'STARTING', to: 'CANCELLING', reason: 'CANCELLED' })
    expect(await store.commit(decisions, revision)).toEqual({ kind: 'committed', lost: [job], sinceMs: new Map() })
    expect(await jobOf(job)).toMatchObject({ state: 'QUEUED' })
    const entry = 'SELECT open, eligible_at > berth_now() AS later FROM queue_entry WHERE job_id = $1'
    expect(await it.domain.db.sql.query(entry, [job])).toEqual([{ open: false, later: true }])
    await move(elsewhere, { from: 'CANCELLING', to: 'CANCELLED', reason: 'CANCELLED' })
  })
})

test('a new leader knows the tier of each preemption, and the hold of each backfilled run', async () => {
  const [won, backfilled, plain] = [await it.submit(), await it.submit(), await it.submit()]
  const { decisions, revision } = await decided()
  const how = new Map([
    [won, { wonTier: 2 as const }],
    [backfilled, { backfilledOn: 'job_head' }],
  ])
  const starts = decisions.starts.map((start) => ({ ...start, ...how.get(start.entry.jobId) }))
  await store.commit({ ...decisions, starts }, revision)
  const { running } = await store.load()
  expect(new Map(running.map(({ jobId, wonTier, backfilledOn }) => [jobId, [wonTier, backfilledOn]]))).toEqual(
    new Map([
      [won, [2, null]],
      [backfilled, [null, 'job_head']],
      [plain, [null, null]],
    ]),
  )
})

test('a new leader knows in which order the runs of one commit started', async () => {
  const ids: string[] = []
  for (let bid = 0; bid < 12; bid++) ids.push(await it.submit({ bid, preemptable: true }))
  const { starts } = await commitAll()
  expect(starts.map(({ entry }) => entry.jobId)).toEqual(ids.toReversed())
  const { running } = await store.load()
  expect(running.map(({ jobId }) => jobId)).toEqual(ids.toReversed())
})

test('a new leader makes the same planned start as the previous leader, and other jobs use its nodes only until then', async () => {
  const gpu = (count: number) => ({ resources: { gpu: count }, preemptable: true, maxRunTimeSeconds: 600 })
  await it.submit(gpu(4))
  await commitAll()
  const owner = await it.submit(gpu(8))
  const planned = async () => {
    const world = createWorld(await store.load())
    const { starts } = planPass(world, { startsMax: 50 })
    const plans = [...world.state.plans.values()].map(({ entry, placements, atMs }) => [entry.jobId, placements, atMs])
    return { plans, backfilled: starts.map(({ entry, backfilledOn }) => [entry.jobId, backfilledOn]) }
  }
  const last = await planned()
  expect(last).toMatchObject({ plans: [[owner, [{ gpuIds: { length: 8 } }], expect.any(Number)]], backfilled: [] })

  await sql('UPDATE scheduler_leader SET epoch = 2')
  store = createStoredPool(it.domain, { pool: 'sim', epoch: 2, holder: 'test' })
  expect(await planned()).toEqual(last)
  const behind = await it.submit({ ...gpu(2), bid: 0 })
  expect((await planned()).backfilled).toEqual([[behind, owner]])
})
