import { expect, test } from 'vitest'
import { createLog } from '../../../src/platform/log.ts'
import { plan } from '../../../src/scheduler/plan/pass.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import type { Store } from '../../../src/scheduler/store.ts'
import { createPlanner } from '../../../src/scheduler/tick.ts'
import { gpus, node, v100 } from '../../support/machines.ts'
import { heard, lane, laneOf, n8, settings, snapshot, startedJobs, waiting } from '../../support/planning.ts'

/** What one look cannot finish goes on by itself. */

test('a class whose jobs find no place beside a hold is tried to its end', () => {
  const held = lane('held', { shape: { gpu: 8 } })
  const others = Array.from({ length: 250 }, (_, at) => laneOf(lane(`l${at}`, { shape: { gpu: 4 } }), [at + 2]))
  const runs = lane('runs', { shape: { gpu: 4 } })
  const placement = {
    nodeId: n8('n1').id,
    node: 'n1',
    replica: 0,
    cpuMillis: 1000,
    memoryBytes: 1,
    gpuIds: [0, 1, 2, 3],
  }
  const nowMs = 10_000_000
  const of = createWorld(
    snapshot({
      nowMs,
      settings: settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1 }),
      nodes: [n8('n1'), node('n2', { devices: gpus(v100).slice(0, 3) })],
      running: [
        {
          ...waiting('runs', 9999),
          lane: runs,
          state: 'RUNNING',
          placements: [{ ...placement, infiniband: false, interactive: false }],
          sinceMs: 0,
          startedMs: 0,
          leaving: false,
          backfilledOn: null,
          wonTier: null,
        },
      ],
      lanes: [laneOf(held, [1]), ...others, laneOf(lane('small', { shape: { gpu: 2 } }), [1000])],
    }),
  )
  const passes = Array.from({ length: 6 }, () => plan(of, { startsMax: 10 }))
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

test('a planner that only answers reads on where a window ran dry', async () => {
  const of = lane('a', { shape: { gpu: 8 } })
  const nothingMore = async () => undefined
  let hearings = 0
  const store: Store = {
    load: async () => snapshot({ lanes: [{ ...laneOf(of, [1]), waiting: 2 }] }),
    changes: async () => heard(hearings++ === 0 ? [{ kind: 'LEFT', jobId: 'j1', laneId: 'a' }] : []),
    first: async () => new Map([['a', [waiting('a', 2)]]]),
    commit: async () => ({ kind: 'committed', lost: [] }),
    publish: nothingMore,
  }
  const planner = createPlanner(store, { log: createLog('silent'), pool: 'p' })
  const world = await planner.hear()
  const candidate = { lane: lane('b', { shape: { gpu: 1 } }), userName: 'b', team: null, entry: waiting('b', 9) }
  expect(world.tryOut(candidate)).toMatchObject({ start: null, reason: { code: 'NO_CAPACITY' } })
  expect(world.tryOut({ ...candidate, lane: lane('c') })).toMatchObject({ start: { placements: [{ gpuIds: [] }] } })
})
