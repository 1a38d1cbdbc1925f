import { describe, expect, test } from 'vitest'
import type { Lane } from '../../../src/domain/lanes.ts'
import { createLog } from '../../../src/platform/log.ts'
import type { Store } from '../../../src/scheduler/plan/leader-store.ts'
import type { Decisions, Snapshot } from '../../../src/scheduler/plan/model.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import { Planner } from '../../../src/scheduler/planner.ts'
import { gpus, h100, node, v100 } from '../../support/machines.ts'
import {
  lane,
  makeCommittedRun,
  makeLaneState,
  makeReceivedChanges,
  n8,
  placedOn,
  settings,
  snapshot,
  startedJobs,
  waiting,
} from '../../support/planning.ts'
import { range } from '../../support/pool.ts'

/** The planner continues with work that one round cannot finish, although no data has changed. */

test('all lanes behind a job with a planned start are considered', () => {
  const planned = lane('planned', { shape: { gpu: 8 } })
  const others = Array.from({ length: 250 }, (_, at) =>
    makeLaneState(lane(`l${at}`, { shape: { gpu: 4, cpuMillis: 1_000 + at } }), [at + 2]),
  )
  const of = createWorld(
    snapshot({
      settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1 }),
      nodes: [n8('n1'), node('n2', { devices: gpus(v100).slice(0, 3) })],
      running: [
        makeCommittedRun({
          ...startOf(lane('runs', { shape: { gpu: 4 } }), 9999),
          placements: [placed(1_000, [0, 1, 2, 3])],
        }),
      ],
      lanes: [makeLaneState(planned, [1]), ...others, makeLaneState(lane('small', { shape: { gpu: 2 } }), [1000])],
    }),
  )
  expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j1000'])
  expect(planPass(of, { startsMax: 10 }).considered).toBe(0)
})

test('a planner that starts nothing still reads more of a lane whose window is used up', async () => {
  const of = lane('a', { shape: { gpu: 8 } })
  const nothingMore = async () => undefined
  let hearings = 0
  const store: Store = {
    load: async () => snapshot({ lanes: [{ ...makeLaneState(of, [1]), waiting: 2 }] }),
    changes: async () => makeReceivedChanges(hearings++ === 0 ? [{ kind: 'LEFT', jobId: 'j1', laneId: 'a' }] : []),
    first: async () => new Map([['a', [waiting('a', 2)]]]),
    commit: async () => ({ kind: 'committed', lost: [], sinceMs: new Map() }),
    publish: nothingMore,
  }
  const planner = new Planner(store, { log: createLog('silent'), pool: 'p' })
  const world = await planner.hear()
  const candidate = { lane: lane('b', { shape: { gpu: 1 } }), userName: 'b', team: null, entry: waiting('b', 9) }
  expect(world.tryOut(candidate)).toMatchObject({ start: null, reason: { code: 'NO_CAPACITY' } })
  expect(world.tryOut({ ...candidate, lane: lane('c') })).toMatchObject({ start: { placements: [{ gpuIds: [] }] } })
})

test('a job that waits for the non-preemptable limit keeps no resources from other jobs', () => {
  const of = createWorld(
    snapshot({
      settings: settings({ nonPreemptableFraction: 0.5 }),
      lanes: [makeLaneState(lane('great', { shape: { cpuMillis: 4_000 } }), [2]), makeLaneState(lane('other'), [3])],
      running: [makeCommittedRun({ ...startOf(lane('long'), 1), placements: [placed(6_000)] })],
    }),
  )
  expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j3'])
})

test('a job that reaches a limit gives its planned start up', () => {
  const rules = [{ code: 'USER_LIMIT', on: 'user:ada', each: false, counts: 'jobs', max: 1, model: null }] as const
  const great = { ...makeLaneState(lane('great', { userId: 'ada', shape: { gpu: 8 } }), [2]), userName: 'ada' }
  const of = createWorld(
    snapshot({
      settings: settings({ rules }),
      lanes: [great, makeLaneState(lane('other', { shape: { gpu: 1 } }), [3])],
      running: [makeCommittedRun({ ...startOf(lane('long'), 1), placements: [placed(1_000, [2, 3, 4, 5, 6, 7])] })],
    }),
  )
  expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual([])
  const adas = lane('gpu', { userId: 'ada', shape: { gpu: 1 } })
  of.hear(
    makeReceivedChanges([
      { kind: 'RUN', runId: 'r9', running: makeCommittedRun({ ...startOf(adas, 9), placements: [placed(0, [1])] }) },
    ]),
  )
  expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j3'])
})

test('a job that can never fit does not block other jobs, even if its part of the pool is used up', () => {
  const of = createWorld(
    snapshot({
      settings: settings({ nonPreemptableFraction: 0.5 }),
      nodes: ['n1', 'n2', 'n3', 'n4'].map(n8),
      lanes: [
        makeLaneState(lane('never', { shape: { gpu: 16 } }), [2]),
        makeLaneState(lane('next', { shape: { gpu: 2 } }), [3]),
      ],
      running: [makeCommittedRun({ ...startOf(lane('busy'), 1), placements: [placed(1_000, all)] })],
    }),
  )
  expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j3'])
  expect(of.views().lanes.get('never')?.reason).toMatchObject({ code: 'UNSATISFIABLE' })
})

test('two jobs evict, one after the other, the runs that were backfilled on their nodes', () => {
  const backfilled = (at: number, account: string) =>
    makeCommittedRun({
      ...startOf(lane(account, { account, preemptable: true, restartable: true, shape: { gpu: 8 } }), 20 + at),
      placements: [placedOn(`n${at}`, { cpuMillis: 1_000, gpuIds: all })],
      backfilledOn: `j${at}`,
    })
  const of = createWorld(
    snapshot({
      settings: settings({ nonPreemptableFraction: 1 }),
      nodes: [n8('n1'), n8('n2')],
      lanes: [1, 2].map((at) => makeLaneState(lane(`l${at}`, { shape: { gpu: 8, cpuMillis: at * 1_000 } }), [at])),
      running: [backfilled(1, 'x'), backfilled(2, 'y')],
    }),
  )
  const evicted = () => planPass(of, { startsMax: 10 }).evictions.map(({ claimant }) => claimant.jobId)
  expect([evicted(), evicted(), evicted()]).toEqual([['j1'], ['j2'], []])
})

test('a job evicts runs although many jobs before it find no runs that they may evict', () => {
  const busy = (name: string, of: Lane, sequence: number) =>
    makeCommittedRun({ ...startOf(of, sequence), placements: [placedOn(name, { cpuMillis: 1_000, gpuIds: all })] })
  const vain = range(1, 21).map((at) =>
    makeLaneState(lane(`l${at}`, { priority: 30, shape: { gpu: 8, gpuModel: ['h100'], cpuMillis: at * 100 } }), [at]),
  )
  const of = createWorld(
    snapshot({
      settings: settings({ nonPreemptableFraction: 1, preemptLowerPriority: true }),
      nodes: [node('n1', { devices: gpus(h100) }), n8('n2')],
      lanes: [...vain, makeLaneState(lane('able', { shape: { gpu: 8, gpuModel: ['v100'] } }), [21])],
      running: [busy('n1', lane('safe'), 31), busy('n2', lane('low', { priority: 0, preemptable: true }), 32)],
    }),
  )
  const rounds = range(0, 4).map(() => {
    const { evictions, nextMs } = planPass(of, { startsMax: 10 })
    const { nowMs } = of.state
    of.hear(makeReceivedChanges([], { nowMs: nextMs ?? nowMs }))
    return { nowMs, evicting: evictions.map(({ claimant }) => claimant.jobId) }
  })
  expect(rounds).toMatchObject([{ evicting: [] }, { evicting: [] }, { evicting: [] }, { evicting: ['j21'] }])
  expect(rounds.at(-1)?.nowMs).toBeLessThan(1_000)
})

test('the jobs behind a job that changes its lane and gets a hold at once are considered', () => {
  const great = { account: 'c', preemptable: true, restartable: true }
  const eight = all.map((id) =>
    makeCommittedRun({
      ...startOf(lane(`v${id}`, { ...great, shape: { gpu: 1 } }), 20 + id),
      placements: [placed(1_000, [id])],
    }),
  )
  const asks = { account: 'b', shape: { gpu: 1 } }
  const of = createWorld(
    snapshot({
      settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1 }),
      lanes: [makeLaneState(lane('b', asks), [1, 2])],
      running: eight,
    }),
  )
  const evicted = () => planPass(of, { startsMax: 10 }).evictions.map(({ claimant }) => claimant.jobId)
  expect([evicted(), evicted()]).toEqual([['j1'], []])
  const other = lane('b/39', { ...asks, priority: 39, overridden: true })
  of.hear(
    makeReceivedChanges(
      [
        { kind: 'LEFT', jobId: 'j1', laneId: 'b' },
        { kind: 'JOINED', entry: { ...waiting('b/39', 1), runId: 'r1' } },
      ],
      { lanes: [{ lane: other, userName: 'b', team: null }] },
    ),
  )
  expect(evicted()).toEqual(['j2'])
})

test('under PRIORITY a run whose eviction was withdrawn may be evicted for another job', () => {
  const low = lane('low', { priority: 0, preemptable: true, shape: { gpu: 8 } })
  const high = lane('high', { priority: 20, shape: { gpu: 8 } })
  const victim = {
    ...makeCommittedRun({ ...startOf(low, 1), placements: [placed(1_000, all)] }),
    leaving: true,
  }
  const of = createWorld(
    snapshot({
      nowMs: 1_000_000,
      settings: settings({ preemptLowerPriority: true }),
      lanes: [makeLaneState(high, [2])],
      running: [victim],
    }),
  )
  expect(planPass(of, { startsMax: 10 }).evictions).toEqual([])
  of.hear(makeReceivedChanges([{ kind: 'RUN', runId: victim.runId, running: { ...victim, leaving: false } }]))
  expect(planPass(of, { startsMax: 10 }).evictions).toMatchObject([{ claimant: { jobId: 'j2' } }])
})

describe('a job is considered as soon as a time or the end of a run lets it start:', () => {
  /** j1 waits for a node of which two GPUs are free; j0 came before it and has a lower level. */
  const beside = (more: Partial<Snapshot> = {}) =>
    createWorld(
      snapshot({
        settings: settings({ starvationThresholdMs: 1_000 }),
        lanes: [makeLaneState(lane('great', { priority: 30, shape: { gpu: 8 } }), [1])],
        running: [makeCommittedRun({ ...startOf(lane('busy'), 9), placements: [placed(1_000, [2, 3, 4, 5, 6, 7])] })],
        ...more,
      }),
    )
  const small = lane('small', { priority: 20, shape: { gpu: 2 } })

  test('a job whose waiting time moves it before a job with a planned start', () => {
    const great = makeLaneState(lane('great', { priority: 30, shape: { gpu: 8 } }), [1])
    const of = beside({ lanes: [great, makeLaneState(small, [0])] })
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual([])
    of.hear(makeReceivedChanges([], { nowMs: 1_000 }))
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j0'])
  })

  test('a job that returns to the front of its lane and is before a job with a planned start', () => {
    const great = makeLaneState(lane('great', { priority: 30, shape: { gpu: 8 } }), [1])
    const of = beside({ lanes: [great, makeLaneState({ ...small, priority: 30 }, [2])] })
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual([])
    of.hear(makeReceivedChanges([{ kind: 'JOINED', entry: waiting('small', 0) }]))
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j0'])
  })

  test('a job that gave up a hold on GPUs because a limit now forbids them', () => {
    const rules = [
      { code: 'GPU_LIMIT', on: 'queue:default', each: false, counts: 'gpus', max: 4, model: 'v100' },
    ] as const
    const of = createWorld(
      snapshot({
        settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1, rules }),
        nodes: [n8('n1'), node('n2', { devices: gpus(h100) })],
        lanes: [makeLaneState(lane('great', { shape: { gpu: 2 } }), [1])],
        running: [
          makeCommittedRun({
            ...startOf(lane('busy', { shape: { gpu: 4 } }), 9),
            placements: [placed(1_000, [4, 5, 6, 7])],
          }),
        ],
        holds: [{ id: 'hold_1', jobId: 'j1', placements: [placed(1_000, [0, 1])], sinceMs: 0, backfilledOn: null }],
      }),
    )
    const { starts, dropped } = planPass(of, { startsMax: 10 })
    expect(dropped).toEqual(['j1'])
    expect(starts).toMatchObject([{ entry: { jobId: 'j1' }, placements: [{ nodeId: 'n2' }] }])
  })

  test('a job that may evict a run whose earlier eviction was withdrawn', () => {
    const victim = (sequence: number, gpuIds: readonly number[]) =>
      makeCommittedRun({
        ...startOf(lane(`v${sequence}`, { account: 'c', preemptable: true, shape: { gpu: 4 } }), sequence),
        placements: [placed(1_000, gpuIds)],
      })
    const of = createWorld(
      snapshot({
        settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1, maxPreemptionsPerMinute: 1 }),
        lanes: [
          makeLaneState(lane('a', { shape: { gpu: 4 } }), [1]),
          makeLaneState(lane('b', { shape: { gpu: 4 } }), [2]),
          makeLaneState(lane('d', { shape: { gpu: 1 } }), [3]),
        ],
        running: [victim(20, [0, 1, 2, 3]), victim(21, [4, 5, 6, 7])],
      }),
    )
    const evicted = ({ evictions }: Decisions) =>
      evictions.flatMap(({ claimant, victims }) => [claimant.jobId, ...victims.map(({ running }) => running.jobId)])
    expect(evicted(planPass(of, { startsMax: 10 }))).toEqual(['j1', 'j21'])
    of.hear(
      makeReceivedChanges([
        { kind: 'LEFT', jobId: 'j1', laneId: 'a' },
        { kind: 'RUN', runId: 'r21', running: null, isSpared: true },
      ]),
    )
    const decisions = planPass(of, { startsMax: 10 })
    expect([startedJobs(decisions), evicted(decisions)]).toEqual([['j2'], ['j3', 'j20']])
  })
})

const all = [0, 1, 2, 3, 4, 5, 6, 7]

const startOf = (of: Lane, sequence: number) => ({ lane: of, entry: waiting(of.id, sequence) })

const placed = (cpuMillis: number, gpuIds: readonly number[] = []) => placedOn('n1', { cpuMillis, gpuIds })
