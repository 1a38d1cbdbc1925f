import { describe, expect, test } from 'vitest'
import type { Lane } from '../../../src/domain/lanes.ts'
import { createLog } from '../../../src/platform/log.ts'
import type { Store } from '../../../src/scheduler/plan/leader-store.ts'
import type { Decisions, Hold, Snapshot } from '../../../src/scheduler/plan/model.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import { Planner } from '../../../src/scheduler/planner.ts'
import { gpus, h100, node, v100 } from '../../support/machines.ts'
import {
  heard,
  lane,
  laneOf,
  n8,
  placedOn,
  runOf,
  settings,
  snapshot,
  startedJobs,
  waiting,
} from '../../support/planning.ts'

/** Work that one round cannot finish continues by itself. */

test('all lanes of a class are tried when jobs do not fit beside a hold', () => {
  const held = lane('held', { shape: { gpu: 8 } })
  const others = Array.from({ length: 250 }, (_, at) => laneOf(lane(`l${at}`, { shape: { gpu: 4 } }), [at + 2]))
  const runs = lane('runs', { shape: { gpu: 4 } })
  const nowMs = 10_000_000
  const of = createWorld(
    snapshot({
      nowMs,
      settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1 }),
      nodes: [n8('n1'), node('n2', { devices: gpus(v100).slice(0, 3) })],
      running: [
        {
          ...runOf({ ...startOf(runs, 9999), placements: [placed(1_000, [0, 1, 2, 3])] }),
          state: 'RUNNING',
          startedMs: 0,
        },
      ],
      lanes: [laneOf(held, [1]), ...others, laneOf(lane('small', { shape: { gpu: 2 } }), [1000])],
    }),
  )
  const passes = Array.from({ length: 6 }, () => planPass(of, { startsMax: 10 }))
  expect(passes[0]?.holds.put).toMatchObject([{ jobId: 'j1', kind: 'DRAIN' }])
  const unfinished = passes.findLastIndex(({ nextMs }) => nextMs === nowMs)
  expect(
    passes
      .map(startedJobs)
      .map((jobs) => jobs.includes('j1000'))
      .indexOf(true),
  ).toBe(unfinished + 1)
  expect(passes.at(-1)?.considered).toBe(0)
})

test('a planner without starts refills an exhausted lane window', async () => {
  const of = lane('a', { shape: { gpu: 8 } })
  const nothingMore = async () => undefined
  let hearings = 0
  const store: Store = {
    load: async () => snapshot({ lanes: [{ ...laneOf(of, [1]), waiting: 2 }] }),
    changes: async () => heard(hearings++ === 0 ? [{ kind: 'LEFT', jobId: 'j1', laneId: 'a' }] : []),
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

test('a head that reaches a limit reopens the class that it had closed', () => {
  const rules = [{ code: 'USER_LIMIT', on: 'user:ada', each: false, counts: 'jobs', max: 1, model: null }] as const
  const great = { ...laneOf(lane('great', { userId: 'ada', shape: { cpuMillis: 4_000 } }), [2]), userName: 'ada' }
  const other = laneOf(lane('other'), [3])
  const long = lane('long')
  const of = createWorld(
    snapshot({
      settings: settings({ nonPreemptableFraction: 0.5, rules }),
      lanes: [great, other],
      running: [runOf({ ...startOf(long, 1), placements: [placed(6_000)] })],
    }),
  )
  expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual([])
  const adas = lane('gpu', { userId: 'ada', shape: { gpu: 1 } })
  of.hear(heard([{ kind: 'RUN', runId: 'r9', running: runOf({ ...startOf(adas, 9), placements: [placed(0, [1])] }) }]))
  expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j3'])
})

test('a job that can never fit does not block others, also when its part of the pool is used up', () => {
  const of = createWorld(
    snapshot({
      settings: settings({ nonPreemptableFraction: 0.5 }),
      nodes: ['n1', 'n2', 'n3', 'n4'].map(n8),
      lanes: [laneOf(lane('never', { shape: { gpu: 16 } }), [2]), laneOf(lane('next', { shape: { gpu: 2 } }), [3])],
      running: [runOf({ ...startOf(lane('busy'), 1), placements: [placed(1_000, all)] })],
    }),
  )
  expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j3'])
  expect(of.views().lanes.get('never')?.reason).toMatchObject({ code: 'UNSATISFIABLE' })
})

test('jobs behind a job that changes its lane together with its hold are considered', () => {
  const great = { account: 'c', preemptable: true, restartable: true }
  const eight = all.map((id) => ({
    ...runOf({
      ...startOf(lane(`v${id}`, { ...great, shape: { gpu: 1 } }), 20 + id),
      placements: [placed(1_000, [id])],
    }),
  }))
  const asks = { account: 'b', shape: { gpu: 1 } }
  const of = createWorld(
    snapshot({
      settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1 }),
      lanes: [laneOf(lane('b', asks), [1, 2])],
      running: eight,
    }),
  )
  const evicted = () => planPass(of, { startsMax: 10 }).evictions.map(({ claimant }) => claimant.jobId)
  expect([evicted(), evicted()]).toEqual([['j1'], []])
  const other = lane('b/39', { ...asks, priority: 39, overridden: true })
  of.hear(
    heard(
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
    ...runOf({ ...startOf(low, 1), placements: [placed(1_000, all)] }),
    leaving: true,
  }
  const of = createWorld(
    snapshot({
      nowMs: 1_000_000,
      settings: settings({ preemptLowerPriority: true, holdAfterMs: 10_000_000 }),
      lanes: [laneOf(high, [2])],
      running: [victim],
    }),
  )
  expect(planPass(of, { startsMax: 10 }).evictions).toEqual([])
  of.hear(heard([{ kind: 'RUN', runId: victim.runId, running: { ...victim, leaving: false } }]))
  expect(planPass(of, { startsMax: 10 }).evictions).toMatchObject([{ claimant: { jobId: 'j2' } }])
})

describe('a job is considered at once when a time or an end lets it start', () => {
  /** j1 waits for drained nodes of which two GPUs are free; j0 came before it and has a lower level. */
  const beside = (more: Partial<Snapshot> = {}) =>
    createWorld(
      snapshot({
        settings: settings({ starvationThresholdMs: 1_000, holdAfterMs: 500 }),
        lanes: [laneOf(lane('great', { priority: 30, shape: { gpu: 4 } }), [1])],
        running: [runOf({ ...startOf(lane('busy'), 9), placements: [placed(1_000, [2, 3, 4, 5, 6, 7])] })],
        holds: [drain('j1', [0, 1, 2, 3])],
        ...more,
      }),
    )
  const small = lane('small', { priority: 20, shape: { gpu: 2 } })

  test('a job that overtakes the owner of a hold by waiting', () => {
    const great = laneOf(lane('great', { priority: 30, shape: { gpu: 4 } }), [1])
    const of = beside({ lanes: [great, laneOf(small, [0])] })
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual([])
    of.hear(heard([], { nowMs: 1_000 }))
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j0'])
  })

  test('a job that returns to the front of its lane, before the owner of a hold', () => {
    const great = laneOf(lane('great', { priority: 30, shape: { gpu: 4 } }), [1])
    const of = beside({ lanes: [great, laneOf({ ...small, priority: 30 }, [2])] })
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual([])
    of.hear(heard([{ kind: 'JOINED', entry: waiting('small', 0) }]))
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j0'])
  })

  test('a job that gave up a hold on GPUs that a limit now forbids', () => {
    const rules = [
      { code: 'GPU_LIMIT', on: 'queue:default', each: false, counts: 'gpus', max: 4, model: 'v100' },
    ] as const
    const of = createWorld(
      snapshot({
        settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1, rules }),
        nodes: [n8('n1'), node('n2', { devices: gpus(h100) })],
        lanes: [laneOf(lane('great', { shape: { gpu: 2 } }), [1])],
        running: [
          runOf({ ...startOf(lane('busy', { shape: { gpu: 4 } }), 9), placements: [placed(1_000, [4, 5, 6, 7])] }),
        ],
        holds: [{ ...drain('j1', [0, 1]), kind: 'PREEMPTION' }],
      }),
    )
    const { starts, holds } = planPass(of, { startsMax: 10 })
    expect(holds.drop).toEqual(['j1'])
    expect(starts).toMatchObject([{ entry: { jobId: 'j1' }, placements: [{ nodeId: 'n2' }] }])
  })

  test('a job that may evict a run whose earlier eviction was withdrawn', () => {
    const victim = (sequence: number, gpuIds: readonly number[]) =>
      runOf({
        ...startOf(lane(`v${sequence}`, { account: 'c', preemptable: true, shape: { gpu: 4 } }), sequence),
        placements: [placed(1_000, gpuIds)],
      })
    const of = createWorld(
      snapshot({
        settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1, maxPreemptionsPerMinute: 1 }),
        lanes: [
          laneOf(lane('a', { shape: { gpu: 4 } }), [1]),
          laneOf(lane('b', { shape: { gpu: 4 } }), [2]),
          laneOf(lane('d', { shape: { gpu: 1 } }), [3]),
        ],
        running: [victim(20, [0, 1, 2, 3]), victim(21, [4, 5, 6, 7])],
      }),
    )
    const evicted = ({ evictions }: Decisions) =>
      evictions.flatMap(({ claimant, victims }) => [claimant.jobId, ...victims.map(({ running }) => running.jobId)])
    expect(evicted(planPass(of, { startsMax: 10 }))).toEqual(['j1', 'j21'])
    of.hear(
      heard([
        { kind: 'LEFT', jobId: 'j1', laneId: 'a' },
        { kind: 'RUN', runId: 'r21', running: null, isSpared: true },
      ]),
    )
    const decisions = planPass(of, { startsMax: 10 })
    expect([startedJobs(decisions), evicted(decisions)]).toEqual([['j2'], ['j3', 'j20']])
  })
})

describe('a job beside drained nodes starts when the owner of the nodes can no longer start next', () => {
  const nodeOf = (nodeId: string, cpuMillis: number, gpuIds: readonly number[] = []) =>
    placedOn(nodeId, { cpuMillis, gpuIds })
  const leavesOn = (nodeId: string) => ({
    ...runOf({ ...startOf(lane('leaves'), 7), placements: [nodeOf(nodeId, 0, [7])] }),
    leaving: true,
  })
  const owner = laneOf(lane('owner', { priority: 30, shape: { gpu: 8 } }), [1])
  const borrower = lane('borrower', { priority: 20, runSeconds: 60, shape: { gpu: 6 } })
  const backfill = laneOf(lane('backfill', { preemptable: true, shape: { gpu: 1 } }), [3])
  const inTime = { ...drain('j1', all), expectedMs: 60_000 }

  test('because a run that should end in time was committed late', async () => {
    const started: string[][] = []
    const lanes = [owner, laneOf(borrower, [2]), backfill]
    const store: Store = {
      load: async () => snapshot({ lanes, holds: [inTime], running: [leavesOn('n1')] }),
      changes: async () => heard([]),
      first: async () => new Map(),
      async commit(decisions) {
        const jobs = startedJobs(decisions)
        started.push(jobs)
        return { kind: 'committed', lost: [], sinceMs: new Map(jobs.map((job) => [job, 10])) }
      },
      publish: async () => {},
    }
    await new Planner(store, { log: createLog('silent'), pool: 'p' }).pass(10)
    expect(started).toEqual([['j2'], ['j3']])
  })

  test('because a run that should end in time started late', () => {
    const borrows = runOf({ ...startOf(borrower, 2), placements: [placed(1_000, all.slice(0, 6))] })
    const of = createWorld(snapshot({ lanes: [owner, backfill], holds: [inTime], running: [borrows] }))
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual([])
    of.hear(heard([{ kind: 'RUN', runId: 'r2', running: { ...borrows, sinceMs: 10 } }]))
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j3'])
  })

  test('because a start beside the hold takes cores of a held node', () => {
    const two = laneOf(lane('two', { priority: 30, shape: { gpu: 8, copies: 2, cpuMillis: 12_000 } }), [1])
    const ends = runOf({ ...startOf(lane('ends', { runSeconds: 60 }), 8), placements: [nodeOf('n1', 4_000)] })
    const evictable = lane('evictable', { preemptable: true, shape: { gpu: 8 } })
    const backfilled = runOf({ ...startOf(evictable, 9), placements: [nodeOf('n1', 2_000, all)], backfilledOn: 'j1' })
    const placements = [nodeOf('n1', 12_000, all), nodeOf('n2', 12_000, all)]
    const of = createWorld(
      snapshot({
        nodes: [n8('n1'), { ...n8('n2'), cpuMillis: 12_000, freeCpu: 12_000 }],
        lanes: [two, backfill, laneOf(lane('beside', { priority: 0, shape: { cpuMillis: 4_000 } }), [4])],
        holds: [{ ...drain('j1', []), placements, sinceMs: 1, expectedMs: 60_000 }],
        running: [ends, backfilled, leavesOn('n2')],
        nowMs: 1,
      }),
    )
    expect(startedJobs(planPass(of, { startsMax: 10 }))).toEqual(['j4', 'j3'])
  })
})

const all = [0, 1, 2, 3, 4, 5, 6, 7]

const drain = (jobId: string, gpuIds: readonly number[]): Hold => ({
  id: `hold_${jobId}`,
  jobId,
  kind: 'DRAIN',
  class: 'GPUN',
  placements: [placed(1_000, gpuIds)],
  sinceMs: 0,
  expectedMs: null,
})

const startOf = (of: Lane, sequence: number) => ({
  lane: of,
  entry: waiting(of.id, sequence),
  models: [],
  wonTier: null,
  lostMs: 0,
  backfilledOn: null,
})

const placed = (cpuMillis: number, gpuIds: readonly number[] = []) => placedOn('n1', { cpuMillis, gpuIds })
