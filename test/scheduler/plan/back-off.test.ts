import { describe, expect, it } from 'vitest'
import type { FreeNode } from '../../../src/domain/machines/placement.ts'
import type { Decisions, Snapshot } from '../../../src/scheduler/plan/model.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../../../src/scheduler/plan/world.ts'
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

/** A node that could not start runs, and jobs that each leave room for the others. */
const troubled = (more: Partial<FreeNode> = {}): FreeNode => ({
  ...n8(),
  backOff: { untilMs: 1_000, because: 'no space', isOver: false, probes: 0 },
  ...more,
})
const world = (more: Partial<Snapshot> = {}) =>
  createWorld(snapshot({ nodes: [troubled()], lanes: [makeLaneState(lane('a'), [1, 2, 3])], ...more }))
const pass = (of: World): Decisions => planPass(of, { startsMax: 10 })
const at = (of: World, nowMs: number) => {
  of.hear(makeReceivedChanges([], { nowMs }))
  return startedJobs(pass(of))
}

describe('a node in back-off', () => {
  it('takes no run before its wait is over, and then one probe run', () => {
    const of = world()
    expect(pass(of)).toMatchObject({ starts: [], nextMs: 1_000 })
    expect(at(of, 1_000)).toEqual(['j1'])
    expect(at(of, 5_000)).toEqual([])
    expect(of.views().lanes.get('a')?.reason).toMatchObject({
      message: 'Node n1 could not start a run, and another one is tried there first: no space',
    })
  })

  it('takes all runs once its probe is running, and another probe if the first has ended', () => {
    const well = world()
    expect(at(well, 1_000)).toEqual(['j1'])
    well.hear(makeReceivedChanges([{ kind: 'NODES', nodes: [n8()] }], { nowMs: 1_001 }))
    expect(startedJobs(pass(well))).toEqual(['j2', 'j3'])
    const cancelled = world()
    expect(at(cancelled, 1_000)).toEqual(['j1'])
    cancelled.hear(makeReceivedChanges([{ kind: 'RUN', runId: 'r1', running: null }], { nowMs: 1_001 }))
    expect(startedJobs(pass(cancelled))).toEqual(['j2'])
  })

  it('sends a probe although older runs are on it, with all replicas of the run together', () => {
    const old = makeCommittedRun({ lane: lane('old'), entry: waiting('old', 9), placements: [placedOn('n1')] }, 500)
    const of = world({ running: [old], lanes: [makeLaneState(lane('a', { shape: { copies: 3 } }), [1, 2])] })
    expect(at(of, 1_000)).toEqual(['j1'])
  })

  it('keeps resources freed by preemption for their claimant until the probe has started', () => {
    const hold = { id: 'h', jobId: 'j7', sinceMs: 0, backfilledOn: null }
    const holder = makeLaneState(lane('holder'), [7])
    const of = world({
      settings: settings(),
      holds: [{ ...hold, placements: [placedOn('n1')] }],
      nodes: [troubled({ backOff: { untilMs: 0, because: 'no space', isOver: true, probes: 0 } })],
      running: [makeCommittedRun({ lane: lane('b'), entry: waiting('b', 8), placements: [placedOn('n1')] })],
      lanes: [holder],
    })
    expect(pass(of)).toMatchObject({ starts: [], dropped: [] })
    of.hear(makeReceivedChanges([{ kind: 'NODES', nodes: [n8()] }]))
    expect(startedJobs(pass(of))).toEqual(['j7'])
  })
})
