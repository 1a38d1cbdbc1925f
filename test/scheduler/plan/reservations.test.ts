import { describe, expect, test } from 'vitest'
import { place } from '../../../src/domain/machines/placement.ts'
import { checkInteractiveLimit } from '../../../src/scheduler/plan/consider.ts'
import { computeUsable } from '../../../src/scheduler/plan/holds.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { unlimited } from '../../../src/scheduler/plan/rations.ts'
import { findNextWindowMs, findReservationGate, listNodesFor } from '../../../src/scheduler/plan/reservations.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import { node } from '../../support/machines.ts'
import { makeLaneState, n8, settings, snapshot, startedJobs } from '../../support/planning.ts'
import { type LaneAsks, lane, TestPool } from '../../support/pool.ts'

const startsMs = 1_000_100_000
const endsMs = startsMs + 100_000
const reservation = { id: 'reservation_1', project: 'genome', nodes: ['n2'], startsMs, endsMs, hard: false }

function poolAt(nowMs: number): TestPool {
  const pool = new TestPool([node('n1'), node('n2')], { reservations: [reservation] })
  pool.nowMs = nowMs
  return pool
}

/** Nodes on which a job of this kind may be placed. */
function open(pool: TestPool, asks: LaneAsks = {}): string[] {
  const of = lane('a', asks)
  const entry = { jobId: 'job_1', laneId: of.id, runId: 'run_1', run: 1, bid: 0, sequence: 1, sinceMs: 0 }
  const { view } = computeUsable(pool, { lane: of, entry, ration: unlimited })
  return pool.nodes.flatMap((one) => (place(of.shape, [one], { view }) ? [one.name] : []))
}

describe('a capacity reservation', () => {
  const own = { reservationId: 'reservation_1' }

  test('example 70: makes its jobs wait for the window, then gives them its nodes exclusively', () => {
    const of = lane('a', own)
    expect(findReservationGate(poolAt(startsMs - 1), of)).toMatchObject({
      reason: { code: 'RESERVATION_WINDOW' },
      untilMs: startsMs,
    })
    expect(findReservationGate(poolAt(startsMs), of)).toBeNull()
    expect(open(poolAt(startsMs), own)).toEqual(['n2'])
    expect(findReservationGate(poolAt(endsMs), of)).toMatchObject({
      reason: { code: 'RESERVATION_WINDOW' },
      untilMs: null,
    })
    expect(findReservationGate(poolAt(startsMs), lane('a', { reservationId: 'reservation_2' }))).not.toBeNull()
    expect(findReservationGate(poolAt(startsMs - 1), lane('a'))).toBeNull()
  })

  test('lets other jobs use its nodes only if they end before the window', () => {
    expect(open(poolAt(startsMs - 60_000), { runSeconds: 60 })).toEqual(['n1', 'n2'])
    expect(open(poolAt(startsMs - 60_000), { runSeconds: 61 })).toEqual(['n1'])
    expect(open(poolAt(startsMs - 60_000))).toEqual(['n1'])
    expect(open(poolAt(startsMs), { runSeconds: 1 })).toEqual(['n1'])
    expect(open(poolAt(endsMs))).toEqual(['n1', 'n2'])
  })

  test.for(['PRIORITY', 'FAIR_SHARE'] as const)('gives its jobs precedence on its nodes (policy: %s)', (policy) => {
    const small = node('n1', { cpuMillis: 1_000, freeCpu: 1_000 })
    const outside = lane('a', { cpu: 4, priority: 20 })
    const inside = lane('b', { ...own, cpu: 4 })
    const world = createWorld(
      snapshot({
        nowMs: startsMs,
        settings: settings({ policy, reservations: [reservation] }),
        nodes: [small, node('n2')],
        lanes: [makeLaneState(outside, [1]), makeLaneState(inside, [2])],
      }),
    )
    expect(startedJobs(planPass(world, { startsMax: 50 }))).toEqual(['j2'])
    const { lanes } = world.views()
    expect(world.state.plans.size).toBe(0)
    expect(lanes.get(outside.id)).toMatchObject({ reason: { code: 'RESERVED_NODES' } })
  })

  test('shows why its own jobs wait', () => {
    const asks = lane('a', { ...own, cpu: 16 })
    const world = createWorld(
      snapshot({
        nowMs: startsMs,
        settings: settings({ reservations: [reservation] }),
        nodes: [node('n2')],
        lanes: [makeLaneState(asks, [1, 2])],
      }),
    )
    expect(startedJobs(planPass(world, { startsMax: 50 }))).toEqual(['j1'])
    expect(world.views().lanes.get(asks.id)).toMatchObject({ headJobId: 'j2', reason: { code: 'NO_CAPACITY' } })
  })

  test('marks a job unsatisfiable if it fits on no reserved node, even if it fits on other nodes', () => {
    const asks = lane('a', { ...own, shape: { gpu: 1 } })
    const withGpus = n8('n1')
    const world = createWorld(
      snapshot({
        nowMs: startsMs,
        settings: settings({ reservations: [reservation] }),
        nodes: [withGpus, node('n2')],
        lanes: [makeLaneState(asks, [1])],
      }),
    )
    expect(startedJobs(planPass(world, { startsMax: 50 }))).toEqual([])
    const reason = { code: 'UNSATISFIABLE', message: expect.stringContaining('No node of reservation reservation_1') }
    expect(world.views().lanes.get(asks.id)).toMatchObject({ reason })
    expect(listNodesFor({ nodes: [withGpus], settings: settings() }, lane('b'))).toEqual([withGpus])
  })

  test('reports the next start or end of its window', () => {
    expect(findNextWindowMs(poolAt(startsMs - 1))).toBe(startsMs)
    expect(findNextWindowMs(poolAt(startsMs))).toBe(endsMs)
    expect(findNextWindowMs(poolAt(endsMs))).toBeNull()
  })
})

describe('a second interactive run of a user', () => {
  const mine = lane('a', { interactive: true, userId: 'u1' })
  const asked = lane('b', { interactive: true, userId: 'u1' })

  test('example 60: is refused under any account, and the refusal names the first run', () => {
    const pool = new TestPool([node('n1')])
    expect(checkInteractiveLimit(pool, asked)).toBeNull()
    const { jobId } = pool.run(mine, [['n1']])
    expect(checkInteractiveLimit(pool, asked)).toEqual({ kind: 'refused', info: expect.stringContaining(jobId) })
    expect(checkInteractiveLimit(pool, lane('a', { interactive: true, userId: 'u2' }))).toBeNull()
  })

  test('example 62: waits while the first run is being cancelled', () => {
    const pool = new TestPool([node('n1')])
    const { jobId } = pool.run(mine, [['n1']], { state: 'CANCELLING' })
    expect(checkInteractiveLimit(pool, asked)).toMatchObject({
      kind: 'waiting',
      reason: { code: 'INTERACTIVE_QUOTA', jobId },
    })
  })
})
