import { describe, expect, it } from 'vitest'
import type { LimitRule } from '../../../src/domain/limits/limit-reached.ts'
import type { Placement } from '../../../src/domain/machines/placement.ts'
import type { LaneState, Running, Snapshot } from '../../../src/scheduler/plan/model.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../../../src/scheduler/plan/world.ts'
import {
  lane,
  makeCommittedRun,
  makeLaneState,
  makeReceivedChanges,
  makeRunning,
  n8,
  placedOn,
  settings,
  snapshot,
  startedJobs,
  waiting,
} from '../../support/planning.ts'

const world = (lanes: LaneState[], more: Partial<Snapshot> = {}) => createWorld(snapshot({ lanes, ...more }))
const started = (of: World, startsMax = 100) => startedJobs(planPass(of, { startsMax }))
const fair = (more: Parameters<typeof settings>[0] = {}) =>
  settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1, ...more })

/** A run of another account. */
const busy = (on: Placement): Running =>
  makeCommittedRun({ lane: lane('other'), entry: waiting('other', 99), placements: [on] })

const rule = (code: LimitRule['code'], on: string, max: number, more: Partial<LimitRule> = {}): LimitRule => ({
  code,
  on,
  max,
  each: on.endsWith(':'),
  counts: 'jobs',
  model: null,
  ...more,
})

describe('under PRIORITY the planner', () => {
  it('starts the higher level first, then the earlier submission', () => {
    const of = world([
      makeLaneState(lane('viewer', { priority: 0 }), [1]),
      makeLaneState(lane('a', { priority: 10 }), [2, 5]),
      makeLaneState(lane('b', { priority: 10 }), [3, 4]),
      makeLaneState(lane('admin', { priority: 30 }), [6]),
    ])
    expect(started(of)).toEqual(['j6', 'j2', 'j3', 'j4', 'j5', 'j1'])
  })

  it('raises the level of a head at the due time, by its own waiting time', () => {
    const of = world(
      [makeLaneState(lane('viewer', { priority: 0 }), [1]), makeLaneState(lane('a', { priority: 10 }), [2, 3])],
      {
        nodes: [],
        settings: settings({ starvationThresholdMs: 1000 }),
      },
    )
    expect(planPass(of, { startsMax: 10 }).nextMs).toBe(1000)
    of.hear(makeReceivedChanges([], { nowMs: 1000 }))
    planPass(of, { startsMax: 10 })
    expect([...of.views().lanes.values()].map((row) => row?.priority)).toEqual([10, 20])
    of.hear(makeReceivedChanges([{ kind: 'NODES', nodes: [n8()] }], { nowMs: 3500 }))
    expect(started(of)).toEqual(['j1', 'j2', 'j3'])
  })

  it('keeps only the resources that the head needs, if the head waits for GPUs', () => {
    const of = world([
      makeLaneState(lane('first', { priority: 30, shape: { gpu: 6 } }), [1, 2]),
      makeLaneState(lane('small', { shape: { gpu: 1 }, preemptable: true }), [3]),
      makeLaneState(lane('cpu'), [4]),
    ])
    expect(started(of)).toEqual(['j1', 'j3', 'j4'])
    expect(of.views().lanes.get('first')).toMatchObject({ headJobId: 'j2', reason: { code: 'NO_CAPACITY' } })
    expect(planPass(of, { startsMax: 10 }).considered).toBe(0)
  })
})

describe('under FAIR_SHARE the planner', () => {
  it('starts a job of the account with the lowest use, and compares again after every start', () => {
    const twenty = (from: number) => Array.from({ length: 20 }, (_, i) => from + i)
    const lanes = [
      makeLaneState(lane('a', { shape: { gpu: 1 } }), twenty(1)),
      makeLaneState(lane('b', { shape: { gpu: 1 } }), twenty(21)),
    ]
    expect(started(world(lanes, { settings: fair() }))).toEqual(['j1', 'j21', 'j2', 'j22', 'j3', 'j23', 'j4', 'j24'])
  })

  it('divides the use of accounts by their weights', () => {
    const running = (of: ReturnType<typeof lane>, cpuMillis: number, gpuIds: number[]) =>
      makeRunning(of, waiting(of.id, gpuIds.length + cpuMillis), {
        placements: [placedOn('n1', { cpuMillis, gpuIds })],
      })
    const [a, c] = [lane('a', { shape: { gpu: 1 } }), lane('c', { shape: { gpu: 1 } })]
    const state = (weights: Map<string, number>) =>
      world([makeLaneState(a, [1]), makeLaneState(c, [2])], {
        settings: fair({ weights }),
        running: [running(a, 12_000, []), running(c, 100, [0, 1, 2, 3])],
      })
    expect(started(state(new Map()), 1)).toEqual(['j2'])
    expect(started(state(new Map([['a', 2]])), 1)).toEqual(['j1'])
  })

  it('starts later jobs on nodes where the head does not fit', () => {
    const of = world(
      [
        makeLaneState(lane('big', { shape: { cpuMillis: 16_000 } }), [2]),
        makeLaneState(lane('small'), [3]),
        makeLaneState(lane('gpu', { shape: { gpu: 1 } }), [4]),
      ],
      {
        settings: fair(),
        nodes: [{ ...n8(), cpuMillis: 15_000 }, n8('n2')],
        running: [busy(placedOn('n2'))],
      },
    )
    expect(started(of)).toEqual(['j3', 'j4'])
    expect([...of.views().plans]).toMatchObject([['j2', { placements: [{ node: 'n2' }] }]])
  })

  it('starts a one-GPU job behind an eight-GPU job, on a node that the eight-GPU job cannot use', () => {
    const lanes = [
      makeLaneState(lane('wide', { shape: { gpu: 8 } }), [2]),
      makeLaneState(lane('one', { shape: { gpu: 1 } }), [3]),
    ]
    const nodes = [{ ...n8(), devices: n8().devices.slice(0, 7) }, n8('n2')]
    const running = [busy(placedOn('n2', { gpuIds: [0, 1, 2, 3, 4, 5, 6, 7] }))]
    expect(started(world(lanes, { settings: fair(), nodes, running }))).toEqual(['j3'])
    expect(started(world(lanes, { nodes, running }))).toEqual(['j3'])
  })

  it('starts preemptable jobs before a head that waits for the limit of non-preemptable jobs', () => {
    const of = world(
      [
        makeLaneState(lane('a', { shape: { gpu: 1 } }), [1, 2, 3]),
        makeLaneState(lane('b', { shape: { gpu: 1 }, preemptable: true }), [4]),
      ],
      { settings: fair({ nonPreemptableFraction: 0.25 }) },
    )
    expect(started(of)).toEqual(['j1', 'j4', 'j2'])
    expect(of.views().lanes.get('a')).toMatchObject({ headJobId: 'j3', reason: { code: 'NON_PREEMPTABLE_POOL' } })
  })

  it('skips jobs that can never fit', () => {
    const lanes = [
      makeLaneState(lane('a', { shape: { gpu: 16 } }), [1]),
      makeLaneState(lane('b', { shape: { gpu: 8 } }), [2]),
    ]
    const of = world(lanes, { settings: fair() })
    expect(started(of)).toEqual(['j2'])
    expect(of.views().lanes.get('a')).toMatchObject({ reason: { code: 'UNSATISFIABLE' } })
    of.hear(
      makeReceivedChanges([
        {
          kind: 'NODES',
          nodes: [
            n8(),
            {
              ...n8('big'),
              devices: [...n8().devices, ...n8().devices].map((device, index) => ({ ...device, index })),
            },
          ],
        },
      ]),
    )
    expect(started(of)).toEqual(['j1'])
  })
})

describe('limits of running jobs', () => {
  it('skip the jobs above them, and admit them when fewer run', () => {
    const rules = [rule('GLOBAL_LIMIT', 'pool', 3), rule('USER_LIMIT', 'user:', 2)]
    const of = world([makeLaneState(lane('a'), [1, 2, 3]), makeLaneState(lane('b'), [4, 5])], {
      settings: settings({ rules }),
    })
    const decisions = planPass(of, { startsMax: 10 })
    expect(startedJobs(decisions)).toEqual(['j1', 'j2', 'j4'])
    expect(of.views().lanes.get('b')).toMatchObject({ waiting: 1, reason: { code: 'GLOBAL_LIMIT', used: 3, limit: 3 } })
    expect(of.views().lanes.size).toBe(0)
    of.hear(makeReceivedChanges([{ kind: 'RUN', runId: 'r1', running: null }]))
    expect(started(of)).toEqual(['j3'])
  })

  it('exclude the GPUs of a model whose limit is reached', () => {
    const rules = [rule('GPU_LIMIT', 'pool', 1, { counts: 'gpus', model: 'v100' })]
    const of = world([makeLaneState(lane('a', { shape: { gpu: 1 } }), [1, 2]), makeLaneState(lane('b'), [3])], {
      settings: settings({ rules }),
    })
    expect(started(of)).toEqual(['j1', 'j3'])
    expect(of.views().lanes.get('a')).toMatchObject({ reason: { code: 'GPU_LIMIT' } })
  })
})

describe('a start that was planned and not committed', () => {
  it('is undone completely', () => {
    const of = world([makeLaneState(lane('a', { shape: { gpu: 8 } }), [1, 2])])
    const decisions = planPass(of, { startsMax: 10 })
    expect(startedJobs(decisions)).toEqual(['j1'])
    of.ledger.undo(decisions)
    expect(started(of)).toEqual(['j1'])
  })

  it('gives its resources to the next job if its own job changed meanwhile', () => {
    const of = world([makeLaneState(lane('a', { shape: { gpu: 8 } }), [1, 2])])
    of.ledger.lose(['j1'], planPass(of, { startsMax: 10 }))
    expect(started(of)).toEqual(['j2'])
    of.hear(makeReceivedChanges([{ kind: 'LEFT', jobId: 'j1', laneId: 'a' }]))
    expect(started(of)).toEqual([])
  })
})

it('the planner can try out a job at its position without changing the queue', () => {
  const of = world([
    makeLaneState(lane('a', { priority: 20, shape: { gpu: 6 } }), [1]),
    makeLaneState(lane('c', { priority: 20, shape: { gpu: 8 } }), [2]),
  ])
  const candidate = { lane: lane('b', { shape: { gpu: 1 } }), userName: 'b', team: null, entry: waiting('b', 9) }
  expect(of.tryOut(candidate)).toMatchObject({ start: null, reason: { code: 'HOLD', jobId: 'j2' } })
  const higher = { ...candidate, lane: lane('b', { priority: 30, shape: { gpu: 1 } }) }
  expect(of.tryOut(higher)).toMatchObject({ start: { placements: [{ gpuIds: [0] }] } })
  expect(started(of)).toEqual(['j1'])
})
