import { describe, expect, it } from 'vitest'
import type { Lane } from '../../../src/domain/lanes.ts'
import type { LimitRule } from '../../../src/domain/limits/limit-reached.ts'
import type { Decisions, Running } from '../../../src/scheduler/plan/model.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import { gpus, h100, node, v100 } from '../../support/machines.ts'
import {
  lane,
  makeCommittedRun,
  makeLaneState,
  makeReceivedChanges,
  placedOn,
  settings,
  snapshot,
  startedJobs,
  waiting,
} from '../../support/planning.ts'

const atMost = (max: number): LimitRule[] => [
  { code: 'GPU_LIMIT', on: 'queue:default', each: false, counts: 'gpus', max, model: 'v100' },
]
const two = [node('a', { devices: gpus(v100, 4) }), node('b', { devices: gpus(h100, 2) })]

const nodesOf = ({ starts }: Decisions) => starts.map(({ placements }) => placements.map((one) => one.node))

describe('limits of a GPU model', () => {
  it('let the replicas use another model', () => {
    const gang = makeLaneState(lane('gang', { shape: { gpu: 1, copies: 3 } }), [1])
    const of = (max: number) =>
      createWorld(
        snapshot({ nodes: two, lanes: [gang], settings: settings({ nonPreemptableFraction: 1, rules: atMost(max) }) }),
      )
    expect(nodesOf(planPass(of(4), { startsMax: 10 }))).toEqual([['a', 'a', 'a']])
    expect(nodesOf(planPass(of(1), { startsMax: 10 }))).toEqual([['a', 'b', 'b']])
    expect(nodesOf(planPass(of(0), { startsMax: 10 }))).toEqual([])
  })

  it('give a job at its limit a planned start on another model', () => {
    const world = createWorld(
      snapshot({
        nowMs: 10_000_000,
        nodes: two,
        running: [on('b', [0, 1])],
        lanes: [
          makeLaneState(lane('first', { shape: { gpu: 2 } }), [1]),
          makeLaneState(lane('second', { shape: { gpu: 2 } }), [2]),
        ],
        settings: settings({ nonPreemptableFraction: 1, rules: atMost(1) }),
      }),
    )
    expect(planPass(world, { startsMax: 10 }).starts).toEqual([])
    expect([...world.state.plans]).toMatchObject([['j1', { placements: [{ node: 'b', gpuIds: [0, 1] }] }]])
    expect(world.views().lanes.get('first')?.reason).toMatchObject({ code: 'GPU_LIMIT' })
  })

  it('move a planned start to other nodes if its job may no longer use the GPUs', () => {
    const other = { queue: 'other' }
    const world = createWorld(
      snapshot({
        nowMs: 10_000_000,
        nodes: [...two, node('c', { devices: gpus(v100, 4) })],
        running: [
          on('a', [0, 1, 2, 3], other),
          on('c', [0, 1, 2, 3], other),
          { ...on('b', [0, 1], other), sinceMs: 1 },
        ],
        lanes: [makeLaneState(lane('head', { shape: { gpu: 2 } }), [1])],
        settings: settings({ nonPreemptableFraction: 1, rules: atMost(4) }),
      }),
    )
    const planned = () => {
      expect(planPass(world, { startsMax: 10 }).starts).toEqual([])
      return [...world.state.plans]
    }
    expect(planned()).toMatchObject([['j1', { placements: [{ node: 'a' }] }]])
    const begun = { ...on('c', [0, 1, 2, 3]), runId: 'begun' }
    world.hear(
      makeReceivedChanges([
        { kind: 'RUN', runId: 'c', running: null },
        { kind: 'RUN', runId: 'begun', running: begun },
      ]),
    )
    expect(planned()).toMatchObject([['j1', { placements: [{ node: 'b' }] }]])
  })

  it('do not block other jobs behind a job that exceeds the limit by itself', () => {
    const world = createWorld(
      snapshot({
        nodes: two,
        lanes: [
          makeLaneState(lane('four', { shape: { gpu: 4 } }), [1]),
          makeLaneState(lane('two', { shape: { gpu: 2 } }), [2]),
          makeLaneState(lane('never', { shape: { gpu: 5 } }), [3]),
        ],
        settings: settings({ nonPreemptableFraction: 1, rules: atMost(3) }),
      }),
    )
    expect(startedJobs(planPass(world, { startsMax: 10 }))).toEqual(['j2'])
    const { lanes } = world.views()
    expect(lanes.get('four')?.reason).toMatchObject({ code: 'GPU_LIMIT' })
    expect(lanes.get('never')?.reason).toMatchObject({ code: 'UNSATISFIABLE' })
  })
})

/** A run without a known end that holds these GPUs of the node. */
function on(name: string, gpuIds: readonly number[], more: Partial<Lane> = {}): Running {
  return makeCommittedRun({
    lane: { ...lane(`on-${name}`, { shape: { gpu: gpuIds.length } }), ...more },
    entry: { ...waiting(name, 9), runId: name },
    placements: [placedOn(name, { gpuIds })],
  })
}
