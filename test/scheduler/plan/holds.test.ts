import { describe, expect, test } from 'vitest'
import type { Lane } from '../../../src/domain/lanes.ts'
import { place } from '../../../src/domain/machines/placement.ts'
import { planBackfillEviction } from '../../../src/scheduler/plan/backfill-evictions.ts'
import { isKnown } from '../../../src/scheduler/plan/expected-ends.ts'
import { type Claim, computeUsable, isComplete, isVoid } from '../../../src/scheduler/plan/holds.ts'
import type { Hold, PlannedStart } from '../../../src/scheduler/plan/model.ts'
import { planStart } from '../../../src/scheduler/plan/planned-starts.ts'
import { unlimited } from '../../../src/scheduler/plan/rations.ts'
import { gpus, h100, node, v100 } from '../../support/machines.ts'
import { lane, range, TestPool } from '../../support/pool.ts'

const N8 = (name = 'n1') => node(name, { devices: gpus(v100) })
const pre = { preemptable: true }

const claim = (of: Lane, jobId = 'job_new'): Claim => ({
  lane: of,
  entry: { jobId, laneId: of.id, runId: `run_${jobId}`, run: 1, bid: 0, sequence: 1, sinceMs: 0 },
  ration: unlimited,
})

const planOf = (pool: TestPool, of: Lane, jobId = 'job_head') => planStart(pool, claim(of, jobId))

/** The node on which the job would start now, and the job on whose planned nodes it would be backfilled. */
function placed(pool: TestPool, of: Lane, jobId?: string) {
  const room = computeUsable(pool, claim(of, jobId))
  const placements = place(of.shape, pool.nodes, { view: room.view })
  return placements && { gpuIds: placements.map(({ gpuIds }) => gpuIds), on: room.backfilled(placements) }
}

function planned(pool: TestPool, of: Lane, jobId = 'job_head'): PlannedStart {
  const plan = planOf(pool, of, jobId)
  if (!plan) throw new Error('No planned start')
  pool.plans.set(jobId, plan)
  return plan
}

describe('a planned start', () => {
  test('takes the nodes that become free first, known ends before unknown ones', () => {
    const pool = new TestPool([N8('n1'), N8('n2'), N8('n3')])
    pool.run(lane('a', { gpu: 8 }), [['n1', range(0, 8)]])
    pool.run(lane('a', { gpu: 8, runSeconds: 300 }), [['n2', range(0, 8)]], { startedMs: pool.nowMs })
    pool.run(lane('a', { gpu: 8, runSeconds: 600 }), [['n3', range(0, 8)]], { startedMs: pool.nowMs })
    const both = planOf(pool, lane('b', { gpu: 8, shape: { copies: 2 } }))
    expect(both?.placements.map(({ nodeId }) => nodeId).sort()).toEqual(['n2', 'n3'])
    expect(both?.atMs).toBe(pool.nowMs + 600_000)
    expect(planOf(pool, lane('b', { gpu: 8 }))).toMatchObject({
      placements: [{ nodeId: 'n2' }],
      atMs: pool.nowMs + 300_000,
    })
  })

  test('expects the oldest run of unknown length to end first', () => {
    const pool = new TestPool([N8('n1'), N8('n2')])
    pool.run(lane('a', { gpu: 8 }), [['n2', range(0, 8)]])
    pool.run(lane('a', { gpu: 8 }), [['n1', range(0, 8)]])
    const plan = planOf(pool, lane('b', { gpu: 8 }))
    expect(plan?.placements).toMatchObject([{ nodeId: 'n2' }])
    expect(isKnown(plan?.atMs ?? 0)).toBe(false)
  })

  test('takes GPUs that are in use now, so that other jobs can use the free ones until then', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('a', { gpu: 4, runSeconds: 60 }), [['n1', [2, 3, 4, 5]]], { startedMs: pool.nowMs })
    expect(planned(pool, lane('b', { gpu: 6 })).placements[0]?.gpuIds.slice(0, 4)).toEqual([2, 3, 4, 5])
    expect(placed(pool, lane('c', { gpu: 2 }))).toEqual({ gpuIds: [[6, 7]], on: null })
    expect(placed(pool, lane('c', { gpu: 3 }))).toBeNull()
  })

  test('is not made on a kind of node that already has a planned start', () => {
    const pool = new TestPool([N8('n1'), N8('n2'), node('h', { devices: gpus(h100) })])
    for (const name of ['n1', 'n2', 'h']) pool.run(lane('a', { gpu: 8 }), [[name, range(0, 8)]])
    planned(pool, lane('b', { gpu: 8, shape: { gpuModel: ['v100'] } }))
    expect(planOf(pool, lane('c', { gpu: 1, shape: { gpuModel: ['v100'] } }), 'job_2')).toBeNull()
    expect(planOf(pool, lane('c', { gpu: 1 }), 'job_2')).toMatchObject({ placements: [{ nodeId: 'h' }] })
  })

  test('example 57: admits jobs that end in time, backfills preemptable jobs, and keeps others waiting', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('a', { gpu: 7, runSeconds: 60 }), [['n1', range(0, 7)]], { startedMs: pool.nowMs })
    planned(pool, lane('b', { gpu: 8 }))
    expect(placed(pool, lane('c', { gpu: 1, runSeconds: 60 }))).toEqual({ gpuIds: [[7]], on: null })
    expect(placed(pool, lane('c', { gpu: 1, runSeconds: 61 }))).toBeNull()
    expect(placed(pool, lane('c', { gpu: 1 }))).toBeNull()
    expect(placed(pool, lane('c', { gpu: 1, ...pre }))).toEqual({ gpuIds: [[7]], on: 'job_head' })
    expect(placed(pool, lane('c', { gpu: 1, interactive: true, ...pre }))).toBeNull()
  })

  test('leaves the rest of its node free, as long as its own resources stay available', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('a', { gpu: 5, cpu: 8, runSeconds: 60 }), [['n1', range(0, 5)]], { startedMs: pool.nowMs })
    const plan = planned(pool, lane('b', { gpu: 4, cpu: 10 }))
    const kept = new Set(plan.placements[0]?.gpuIds)
    const beside = placed(pool, lane('c', { gpu: 2 }))
    expect(beside?.on).toBeNull()
    expect(beside?.gpuIds.flat().some((id) => kept.has(id))).toBe(false)
    expect(placed(pool, lane('c', { cpu: 6 }))).toMatchObject({ on: null })
    expect(placed(pool, lane('c', { cpu: 6, ...pre }))).toMatchObject({ on: null })
    expect(placed(pool, lane('c', { cpu: 7 }))).toBeNull()
    pool.run(lane('c', { cpu: 6 }), [['n1']], { sinceMs: pool.nowMs })
    expect(placed(pool, lane('d', { cpu: 1 }))).toBeNull()
  })

  test('excludes non-preemptable jobs if ends are unknown, and backfills preemptable ones', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('a', { gpu: 6, cpu: 2 }), [['n1', range(0, 6)]])
    const plan = planned(pool, lane('b', { gpu: 4, cpu: 10 }))
    expect(isKnown(plan.atMs)).toBe(false)
    expect(placed(pool, lane('c', { cpu: 6 }))).toMatchObject({ on: null })
    pool.run(lane('c', { cpu: 6 }), [['n1']], { sinceMs: pool.nowMs + 1 })
    expect(placed(pool, lane('d', { cpu: 1 }))).toBeNull()
    expect(placed(pool, lane('d', { cpu: 1, ...pre }))).toMatchObject({ on: 'job_head' })
  })

  test('counts the memory that will be free when a backfilled run ends', () => {
    const pool = new TestPool([N8()])
    const all = { shape: { memoryBytes: N8().memoryBytes } }
    const running = pool.run(lane('c', { ...all, ...pre }), [['n1']], { backfilledOn: 'job_head' })
    const eviction = planBackfillEviction(pool, claim(lane('b', all), 'job_head'))
    expect(eviction?.victims.map((victim) => victim.running)).toEqual([running])
  })

  test('expects the end of an overdue run after longer and longer delays', () => {
    const pool = new TestPool([N8()])
    const startedMs = pool.nowMs
    pool.run(lane('a', { gpu: 8, runSeconds: 60 }), [['n1', range(0, 8)]], { startedMs })
    const wants = lane('b', { gpu: 8 })
    const at = (seconds: number) => {
      pool.nowMs = startedMs + seconds * 1_000
      return ((planOf(pool, wants)?.atMs ?? 0) - startedMs) / 1_000
    }
    expect([at(0), at(60), at(89), at(90), at(130)]).toEqual([60, 90, 90, 120, 180])
  })

  test('example 57: evicts the backfilled runs, the latest first, when only their resources are missing', () => {
    const pool = new TestPool([N8()])
    const long = pool.run(lane('a', { gpu: 4, runSeconds: 60 }), [['n1', range(0, 4)]], { startedMs: pool.nowMs })
    const wants = lane('b', { gpu: 6 })
    planned(pool, wants)
    const on = { backfilledOn: 'job_head' }
    pool.run(lane('c', { gpu: 2, ...pre }), [['n1', [4, 5]]], on)
    const later = pool.run(lane('c', { gpu: 2, ...pre }), [['n1', [6, 7]]], on)
    expect(planBackfillEviction(pool, claim(wants, 'job_head'))).toBeNull()
    pool.machines.remove(long)
    const plan = planBackfillEviction(pool, claim(wants, 'job_head'))
    expect(plan?.victims).toMatchObject([{ running: later, tier: 3 }])
    expect(plan?.placements.flatMap(({ gpuIds }) => gpuIds).sort()).toEqual([0, 1, 2, 3, 6, 7])
  })
})

test('a planned start that waits only for backfilled and evicted runs admits no further backfill or evictions', () => {
  const pool = new TestPool([N8()])
  const long = pool.run(lane('a', { gpu: 4, runSeconds: 60 }), [['n1', range(0, 4)]], { startedMs: pool.nowMs })
  planned(pool, lane('b', { gpu: 8 }))
  pool.run(lane('c', { gpu: 2, ...pre }), [['n1', [4, 5]]], { backfilledOn: 'job_head' })
  expect(placed(pool, lane('d', { gpu: 1, ...pre }))).toEqual({ gpuIds: [[6]], on: 'job_head' })
  expect(pool.evict(lane('d', { gpu: 3, ...pre }))).not.toBeNull()
  pool.machines.remove(long)
  pool.plans.clear()
  planned(pool, lane('b', { gpu: 8 }))
  expect(placed(pool, lane('d', { gpu: 1, ...pre }))).toBeNull()
  expect(pool.evict(lane('d', { gpu: 3, ...pre }))).toBeNull()
})

describe('a hold whose victims are leaving', () => {
  const kept = (pool: TestPool, gpuIds: number[]): Hold => {
    const takes = { cpuMillis: 4000, memoryBytes: 1, infiniband: false, interactive: false }
    return {
      id: 'hold_claimant',
      jobId: 'job_claimant',
      placements: [{ nodeId: 'n1', node: 'n1', replica: 0, gpuIds, ...takes }],
      sinceMs: pool.nowMs,
      backfilledOn: null,
    }
  }

  test('example 45: keeps its resources from all other jobs, even preemptable ones', () => {
    const pool = new TestPool([N8()])
    const slow = pool.run(lane('x', { gpu: 4, cpu: 4 }), [['n1', range(4, 8)]], { leaving: true })
    pool.holds.set('job_claimant', kept(pool, range(0, 8)))
    expect(placed(pool, lane('z', { gpu: 1, ...pre }))).toBeNull()
    expect(placed(pool, lane('z', { gpu: 1, runSeconds: 1 }))).toBeNull()
    expect(placed(pool, lane('z', { cpu: 12 }))).toMatchObject({ on: null })
    expect(placed(pool, lane('z', { cpu: 13 }))).toBeNull()
    const hold = kept(pool, range(0, 8))
    expect(isComplete(pool, hold)).toBe(false)
    pool.machines.remove(slow)
    expect(isComplete(pool, hold)).toBe(true)
    expect(placed(pool, lane('y', { gpu: 8 }), 'job_claimant')).toMatchObject({ on: null })
  })

  test('keeps InfiniBand from other jobs that request it', () => {
    const pool = new TestPool([node('n1', { infiniband: true })])
    const hold = kept(pool, [])
    pool.holds.set('job_claimant', {
      ...hold,
      placements: hold.placements.map((one) => ({ ...one, infiniband: true })),
    })
    const wants = { shape: { infiniband: true } }
    expect(placed(pool, lane('z', wants))).toBeNull()
    expect(placed(pool, lane('z'))).toMatchObject({ on: null })
    expect(placed(pool, lane('y', wants), 'job_claimant')).toMatchObject({ on: null })
  })

  test('is complete once all of its processors are free', () => {
    const pool = new TestPool([N8()])
    const { cpuMillis } = N8()
    const wholeNode = { ...kept(pool, []), placements: kept(pool, []).placements.map((one) => ({ ...one, cpuMillis })) }
    expect(isComplete(pool, wholeNode)).toBe(true)
    pool.run(lane('a', { cpu: 1 }), [['n1']])
    expect(isComplete(pool, wholeNode)).toBe(false)
    expect(isComplete(pool, kept(pool, []))).toBe(true)
  })

  test('without placements is invalid and never complete', () => {
    const pool = new TestPool([N8()])
    const hold = { ...kept(pool, []), placements: [] }
    expect(isComplete(pool, hold)).toBe(false)
    expect(isVoid(pool, hold, undefined)).toBe(true)
  })
})
