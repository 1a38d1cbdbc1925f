import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../src/domain/in-use.ts'
import type { Decisions } from '../../../src/scheduler/plan/model.ts'
import { plan } from '../../../src/scheduler/plan/pass.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import { gpus, h100, node, v100 } from '../../support/machines.ts'
import { lane, laneOf, runOf, settings, snapshot, startedJobs, waiting } from '../../support/planning.ts'

const atMost = (max: number): Rule[] => [
  { code: 'GPU_LIMIT', on: 'queue:default', each: false, counts: 'gpus', max, model: 'v100' },
]
const two = [node('a', { devices: gpus(v100, 4) }), node('b', { devices: gpus(h100, 2) })]

const nodesOf = ({ starts }: Decisions) => starts.map(({ placements }) => placements.map((one) => one.node))

describe('limits of a GPU model', () => {
  it('leave copies another model', () => {
    const gang = laneOf(lane('gang', { shape: { gpu: 1, copies: 3 } }), [1])
    const of = (max: number) =>
      createWorld(
        snapshot({ nodes: two, lanes: [gang], settings: settings({ nonPreemptableFraction: 1, rules: atMost(max) }) }),
      )
    expect(nodesOf(plan(of(4), { startsMax: 10 }))).toEqual([['a', 'a', 'a']])
    expect(nodesOf(plan(of(1), { startsMax: 10 }))).toEqual([['a', 'b', 'b']])
    expect(nodesOf(plan(of(0), { startsMax: 10 }))).toEqual([])
  })

  it('let a job wait for another model like everybody, and get its nodes drained', () => {
    const busy = runOf({
      lane: lane('busy', { shape: { gpu: 2 } }),
      entry: waiting('busy', 9),
      placements: [
        {
          nodeId: 'b',
          node: 'b',
          replica: 0,
          cpuMillis: 1,
          memoryBytes: 1,
          gpuIds: [0, 1],
          infiniband: false,
          interactive: false,
        },
      ],
      models: [],
      wonTier: null,
      backfilledOn: null,
    })
    const world = createWorld(
      snapshot({
        nowMs: 10_000_000,
        nodes: two,
        running: [busy],
        lanes: [laneOf(lane('first', { shape: { gpu: 2 } }), [1]), laneOf(lane('second', { shape: { gpu: 2 } }), [2])],
        settings: settings({ nonPreemptableFraction: 1, rules: atMost(1) }),
      }),
    )
    const { starts, holds } = plan(world, { startsMax: 10 })
    expect(starts).toEqual([])
    expect(holds.put).toMatchObject([{ jobId: 'j1', placements: [{ node: 'b', gpuIds: [0, 1] }] }])
    expect(world.views().lanes.get('first')?.reason).toMatchObject({ code: 'GPU_LIMIT' })
  })

  it('keep nobody waiting behind a job that they leave nothing at all', () => {
    const world = createWorld(
      snapshot({
        nodes: two,
        lanes: [
          laneOf(lane('four', { shape: { gpu: 4 } }), [1]),
          laneOf(lane('two', { shape: { gpu: 2 } }), [2]),
          laneOf(lane('never', { shape: { gpu: 5 } }), [3]),
        ],
        settings: settings({ nonPreemptableFraction: 1, rules: atMost(3) }),
      }),
    )
    expect(startedJobs(plan(world, { startsMax: 10 }))).toEqual(['j2'])
    const { lanes } = world.views()
    expect(lanes.get('four')?.reason).toMatchObject({ code: 'GPU_LIMIT' })
    expect(lanes.get('never')?.reason).toMatchObject({ code: 'UNSATISFIABLE' })
  })
})
