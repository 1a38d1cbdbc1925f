import { describe, expect, it, test } from 'vitest'
import type { FreeNode } from '../../../src/domain/machines/placement.ts'
import type { LaneState, Snapshot } from '../../../src/scheduler/plan/model.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../../../src/scheduler/plan/world.ts'
import { node } from '../../support/machines.ts'
import {
  type LaneAsks,
  lane,
  makeCommittedRun,
  makeLaneState,
  makeReceivedChanges,
  makeRunning,
  placedOn,
  settings,
  snapshot,
  startedJobs,
  waiting,
} from '../../support/planning.ts'

const nobody = { cpuMillis: 0, memoryBytes: 0, gpus: [] }
/** A node with four cores of a backend that chooses the nodes. */
const backendNode = (more: Partial<FreeNode> = {}) =>
  node('n1', { cpuMillis: 4_000, freeCpu: 4_000, others: nobody, ...more })
const short = (asks: LaneAsks = {}) => lane('short', { executor: 'slurm', runSeconds: 60, ...asks })
const jobs = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
const world = (lanes: LaneState[], more: Partial<Snapshot> = {}) =>
  createWorld(snapshot({ nodes: [backendNode()], lanes, ...more }))
const started = (of: World) => startedJobs(planPass(of, { startsMax: 100 }))

const running = (asks: LaneAsks) =>
  makeRunning(lane('other', asks), waiting('other', 50), { placements: [placedOn('n1')] })

describe('a short job in a pool whose backend has its own scheduler', () => {
  it('is submitted before a node is free, up to twice the capacity of the nodes', () => {
    expect(started(world([makeLaneState(short(), jobs(20))]))).toHaveLength(8)
  })

  it('cannot use the resources that others hold', () => {
    const nodes = [backendNode({ freeCpu: 1_000, others: { ...nobody, cpuMillis: 3_000 } })]
    expect(started(world([makeLaneState(short(), jobs(20))], { nodes }))).toHaveLength(2)
  })

  it('is counted on the node where it was placed, so that uneven load does not admit more jobs', () => {
    const nodes = ['n1', 'n2'].map((name) => ({ ...backendNode(), id: name, name }))
    const onOne = jobs(9).map((n) => ({ ...running({ executor: 'slurm' }), ...waiting('other', 100 + n) }))
    expect(started(world([makeLaneState(short(), jobs(20))], { nodes, running: onOne }))).toHaveLength(7)
  })

  it('is submitted early for each run that will end', () => {
    const of = world([makeLaneState(short(), jobs(20))])
    const { starts } = planPass(of, { startsMax: 100 })
    const runs = starts.map((start) => ({
      kind: 'RUN' as const,
      runId: start.entry.runId,
      running: makeCommittedRun(start),
    }))
    of.hear(makeReceivedChanges(runs.map((change, at) => (at < 3 ? { ...change, running: null } : change))))
    expect(started(of)).toEqual(['j9', 'j10', 'j11'])
  })

  it('delays a longer job by at most its own run time', () => {
    const long = lane('long', { executor: 'slurm', priority: 30, runSeconds: 3_600 })
    const of = world([makeLaneState(short(), jobs(20))])
    const { starts } = planPass(of, { startsMax: 100 })
    of.hear(
      makeReceivedChanges([{ kind: 'JOINED', entry: waiting('long', 99) }], {
        lanes: [{ ...makeLaneState(long, []) }],
      }),
    )
    expect(started(of)).toEqual([])
    const over = starts.map(({ entry }) => ({ kind: 'RUN' as const, runId: entry.runId, running: null }))
    of.hear(makeReceivedChanges(over.slice(0, 4)))
    expect(started(of)).toEqual([])
    of.hear(makeReceivedChanges(over.slice(4, 5)))
    expect(started(of)[0]).toBe('j99')
  })

  it('is not submitted before a node is free if it has noWait', () => {
    const of = world([makeLaneState(short(), jobs(4))])
    planPass(of, { startsMax: 100 })
    const { lane: asked, userName, team } = makeLaneState(short({ id: 'asked' }), [])
    const verdict = of.tryOut({ lane: asked, userName, team, entry: waiting('asked', 9) })
    expect(verdict).toMatchObject({ start: null, reason: { code: 'NO_CAPACITY' } })
  })
})

describe('jobs are not submitted early', () => {
  test.each<[string, LaneAsks]>([
    ['without a maximum run time', { runSeconds: null }],
    ['that may run longer', { runSeconds: 61 }],
    ['of a backend that starts what fits at once', { executor: 'kubernetes' }],
    ['that is interactive', { interactive: true }],
    ['that is preemptable', { preemptable: true }],
    ['that needs a node for itself', { shape: { exclusive: true, cpuMillis: 1_000 } }],
  ])('for a job %s', (_, asks) => {
    const of = world([makeLaneState(short(asks), jobs(20))], { settings: settings({ nonPreemptableFraction: 1 }) })
    expect(started(of).length).toBeLessThanOrEqual(4)
  })

  test('while an urgent job may preempt a run', () => {
    expect(
      started(world([makeLaneState(short(), jobs(20))], { running: [running({ preemptable: true })] })),
    ).toHaveLength(3)
  })

  test('while the backend has kept another run waiting for long', () => {
    const late = { ...running({}), state: 'STARTING' as const }
    const of = world([makeLaneState(short(), jobs(20))], { nowMs: 60_001, running: [late] })
    expect(started(of)).toHaveLength(3)
    of.hear(makeReceivedChanges([{ kind: 'RUN', runId: 'r50', running: running({}) }], { nowMs: 60_001 }))
    expect(started(of)).toHaveLength(4)
  })

  test('behind a job with a planned start', () => {
    const owner = makeLaneState(lane('owner', { executor: 'slurm', priority: 40, shape: { cpuMillis: 4_000 } }), [77])
    const lanes = [makeLaneState(short({ priority: 30 }), jobs(20)), owner]
    expect(started(world(lanes, { running: [running({ runSeconds: 100 })] }))).toEqual(['j1', 'j2', 'j3'])
  })
})
