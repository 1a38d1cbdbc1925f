import { describe, expect, it } from 'vitest'
import { createLog } from '../../../src/platform/log.ts'
import type { Store } from '../../../src/scheduler/plan/leader-store.ts'
import type { Hold, Running, Snapshot } from '../../../src/scheduler/plan/model.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import { Planner } from '../../../src/scheduler/planner.ts'
import {
  lane,
  makeLaneState,
  makeReceivedChanges,
  makeRunning,
  n8,
  placedOn,
  settings,
  snapshot,
} from '../../support/planning.ts'

const fair = (more: Parameters<typeof settings>[0] = {}) =>
  settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1, ...more })

const eight = [0, 1, 2, 3, 4, 5, 6, 7]

function running(account: string, gpuIds: readonly number[]): Running {
  const of = lane(account, { shape: { gpu: gpuIds.length }, preemptable: true, restartable: true })
  const ids = { runId: `run-${account}`, jobId: `job-${account}`, run: 1 }
  return makeRunning(of, ids, { placements: [placedOn('n1', { gpuIds })] })
}

describe('resources that victims would free', () => {
  const claimant = makeLaneState(lane('small', { shape: { gpu: 2 } }), [1])
  const full: Partial<Snapshot> = { lanes: [claimant], running: [running('big', eight)] }
  const models = { code: 'GPU_LIMIT', on: 'queue:default', each: false, counts: 'gpus', model: 'v100' } as const

  it('are freed for a job that may use them', () => {
    const { evictions } = planPass(createWorld(snapshot({ ...full, settings: fair() })), { startsMax: 10 })
    expect(evictions.map(({ victims }) => victims.map(({ running: { jobId } }) => jobId))).toEqual([['job-big']])
  })

  it('do not count for a job that is at its limit for that GPU model', () => {
    const rules = [{ ...models, max: 8 }]
    const { evictions } = planPass(createWorld(snapshot({ ...full, settings: fair({ rules }) })), { startsMax: 10 })
    expect(evictions).toEqual([])
  })

  it('are no longer held if their nodes are reserved for others', () => {
    const [victim] = full.running ?? []
    const hold: Hold = {
      id: 'hold_1',
      jobId: 'j1',
      placements: (victim?.placements ?? []).map((placement) => ({ ...placement, gpuIds: [0, 1] })),
      sinceMs: 0,
      backfilledOn: null,
    }
    const window = { id: 'r', project: 'apollo', nodes: [n8().name], startsMs: 0, endsMs: 60_000, hard: false }
    const of = (reservations: (typeof window)[]) =>
      planPass(createWorld(snapshot({ lanes: [claimant], holds: [hold], settings: fair({ reservations }) })), {
        startsMax: 10,
      })
    expect(of([]).starts).toHaveLength(1)
    expect(of([window])).toMatchObject({ starts: [], dropped: ['j1'] })
  })
})

describe('a run whose eviction was withdrawn', () => {
  it('no longer counts as a victim', () => {
    const [spared] = [running('big', eight)]
    const past = {
      atMs: 0,
      tier: 1,
      claimantJobId: 'gone',
      claimant: 'y',
      victim: 'x',
      victimJobId: spared.jobId,
    } as const
    const of = createWorld(
      snapshot({
        lanes: [makeLaneState(lane('small', { shape: { gpu: 2 } }), [1])],
        running: [{ ...spared, leaving: true }],
        preemptions: [past],
        settings: fair({ maxPreemptionsPerMinute: 1 }),
      }),
    )
    expect(planPass(of, { startsMax: 10 }).evictions).toEqual([])
    of.hear(makeReceivedChanges([{ kind: 'RUN', runId: spared.runId, running: spared }]))
    expect(planPass(of, { startsMax: 10 }).evictions).toHaveLength(1)
  })
})

describe('a rotation quantum that becomes longer', () => {
  it('makes the leader reload the preemptions that it had dropped', async () => {
    let loads = 0
    const told = [[{ kind: 'SETTINGS', settings: fair({ rotationQuantumMs: 100_000 }) } as const]]
    const store: Store = {
      async load() {
        loads += 1
        return snapshot({ settings: fair({ rotationQuantumMs: loads === 1 ? 10_000 : 100_000 }) })
      },
      changes: async () => makeReceivedChanges(told.pop() ?? []),
      first: async () => new Map(),
      commit: async () => ({ kind: 'committed', lost: [], sinceMs: new Map() }),
      publish: async () => {},
    }
    const planner = new Planner(store, { log: createLog('silent'), pool: 'p' })
    await planner.hear()
    await planner.hear()
    expect(loads).toBe(2)
  })
})
