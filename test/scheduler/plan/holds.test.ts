import { describe, expect, test } from 'vitest'
import type { Lane } from '../../../src/domain/lanes.ts'
import { place } from '../../../src/domain/machines/placement.ts'
import { backfillEviction, drainDueMs, drainHoldFor } from '../../../src/scheduler/plan/drains.ts'
import { type Claim, isComplete, isVoid, usableFor } from '../../../src/scheduler/plan/holds.ts'
import type { Hold, JobClass, Waiting } from '../../../src/scheduler/plan/model.ts'
import { unlimited } from '../../../src/scheduler/plan/rations.ts'
import { gpus, node, v100 } from '../../support/machines.ts'
import { lane, range, TestPool } from '../../support/pool.ts'

const N8 = (name = 'n1') => node(name, { devices: gpus(v100) })
const pre = { preemptable: true }
const minute = 60_000

const claim = (of: Lane, jobId = 'job_new', sinceMs = 0): Claim & { entry: Waiting } => ({
  lane: of,
  entry: { jobId, laneId: of.id, runId: `run_${jobId}`, run: 1, bid: 0, sequence: 1, sinceMs },
  ration: unlimited,
})
const head = (of: Lane, jobId = 'job_head', ofClass: JobClass = 'GPUN') => ({ ...claim(of, jobId), class: ofClass })

/** Where the job would go now; whom it would be backfilled on. */
function placed(pool: TestPool, of: Lane, jobId?: string) {
  const room = usableFor(pool, claim(of, jobId))
  const placements = place(of.shape, pool.nodes, { view: room.view })
  return placements && { gpuIds: placements.map(({ gpuIds }) => gpuIds), on: room.backfilled(placements) }
}

function drained(pool: TestPool, of: Lane, jobId = 'job_head'): Hold {
  const hold = drainHoldFor(pool, head(of, jobId))
  if (!hold) throw new Error('No hold')
  pool.holds.set(jobId, hold)
  return hold
}

describe('a drain hold', () => {
  test('is created after the head waited for holdAfter, one per class', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('a', { gpu: 6 }), [['n1', range(0, 6)]])
    const early = { ...claim(lane('b', { gpu: 4 }), 'job_head', pool.nowMs - 9 * minute), class: 'GPUN' as const }
    expect(drainHoldFor(pool, early)).toBeNull()
    expect(drainDueMs(pool, early)).toBe(pool.nowMs + minute)
    pool.nowMs += minute
    const hold = drainHoldFor(pool, early)
    expect(hold).toMatchObject({ id: 'hold_head', jobId: 'job_head', kind: 'DRAIN', class: 'GPUN', expectedMs: null })
    if (hold) pool.holds.set('job_head', hold)
    expect(drainHoldFor(pool, early)).toBeNull()
    expect(drainHoldFor(pool, head(lane('c', { gpu: 2 }), 'job_other'))).toBeNull()
    expect(drainHoldFor(pool, head(lane('c', { cpu: 15 }), 'job_other', 'CPU'))).toMatchObject({ class: 'CPU' })
  })

  test('takes the nodes that free soonest, known end times before unknown ones', () => {
    const pool = new TestPool([N8('n1'), N8('n2'), N8('n3')])
    pool.run(lane('a', { gpu: 8 }), [['n1', range(0, 8)]])
    pool.run(lane('a', { gpu: 8, runSeconds: 300 }), [['n2', range(0, 8)]], { startedMs: pool.nowMs })
    pool.run(lane('a', { gpu: 8, runSeconds: 600 }), [['n3', range(0, 8)]], { startedMs: pool.nowMs })
    const both = lane('b', { gpu: 8, shape: { copies: 2 } })
    const hold = drainHoldFor(pool, head(both))
    expect(hold?.placements.map(({ nodeId }) => nodeId).sort()).toEqual(['n2', 'n3'])
    expect(hold?.expectedMs).toBe(pool.nowMs + 600_000)
    expect(drainHoldFor(pool, head(lane('b', { gpu: 8 })))).toMatchObject({
      placements: [{ nodeId: 'n2' }],
      expectedMs: pool.nowMs + 300_000,
    })
  })

  test('57: admits jobs that end in time, backfills preemptable jobs, and keeps others waiting', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('a', { gpu: 7, runSeconds: 60 }), [['n1', range(0, 7)]], { startedMs: pool.nowMs })
    drained(pool, lane('b', { gpu: 8 }))
    expect(placed(pool, lane('c', { gpu: 1, runSeconds: 60 }))).toEqual({ gpuIds: [[7]], on: null })
    expect(placed(pool, lane('c', { gpu: 1, runSeconds: 61 }))).toBeNull()
    expect(placed(pool, lane('c', { gpu: 1 }))).toBeNull()
    expect(placed(pool, lane('c', { gpu: 1, ...pre }))).toEqual({ gpuIds: [[7]], on: 'job_head' })
    expect(placed(pool, lane('c', { gpu: 1, interactive: true, ...pre }))).toBeNull()
  })

  test('leaves the rest of its node free, as far as its own share stays available', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('a', { gpu: 5, cpu: 8, runSeconds: 60 }), [['n1', range(0, 5)]], { startedMs: pool.nowMs })
    const hold = drained(pool, lane('b', { gpu: 4, cpu: 10 }))
    const kept = new Set(hold.placements[0]?.gpuIds)
    const beside = placed(pool, lane('c', { gpu: 2 }))
    expect(beside?.on).toBeNull()
    expect(beside?.gpuIds.flat().some((id) => kept.has(id))).toBe(false)
    expect(placed(pool, lane('c', { cpu: 6 }))).toMatchObject({ on: null })
    expect(placed(pool, lane('c', { cpu: 6, ...pre }))).toMatchObject({ on: null })
    expect(placed(pool, lane('c', { cpu: 7 }))).toBeNull()
    pool.run(lane('c', { cpu: 6 }), [['n1']], { sinceMs: pool.nowMs })
    expect(placed(pool, lane('d', { cpu: 1 }))).toBeNull()
  })

  test('with unknown end times excludes non-preemptable jobs and backfills preemptable ones', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('a', { gpu: 6, cpu: 2 }), [['n1', range(0, 6)]])
    const hold = drained(pool, lane('b', { gpu: 4, cpu: 10 }))
    expect(hold.expectedMs).toBeNull()
    expect(placed(pool, lane('c', { cpu: 6 }))).toMatchObject({ on: null })
    pool.run(lane('c', { cpu: 6 }), [['n1']], { sinceMs: pool.nowMs + 1 })
    expect(placed(pool, lane('d', { cpu: 1 }))).toBeNull()
    expect(placed(pool, lane('d', { cpu: 1, ...pre }))).toMatchObject({ on: 'job_head' })
  })

  test('58: of two gangs only one gets a hold on the nodes that both need', () => {
    const pool = new TestPool([N8('n1'), N8('n2'), N8('n3')])
    const gang = lane('a', { gpu: 8, shape: { copies: 2 } })
    pool.run(gang, [
      ['n1', range(0, 8)],
      ['n2', range(0, 8)],
    ])
    const second = drained(pool, gang)
    expect(second.placements).toHaveLength(2)
    const third = drainHoldFor(
      pool,
      head(lane('b', { gpu: 8, shape: { copies: 2 }, ...pre }), 'job_3', 'GPUN_PREEMPTABLE'),
    )
    expect(third).toBeNull()
  })

  test('counts the memory that a backfilled run returns', () => {
    const pool = new TestPool([N8()])
    const all = { shape: { memoryBytes: N8().memoryBytes } }
    const running = pool.run(lane('c', { ...all, ...pre }), [['n1']], { backfilledOn: 'job_head' })
    const eviction = backfillEviction(pool, head(lane('b', all), 'job_head', 'CPU'))
    expect(eviction?.victims.map((victim) => victim.running)).toEqual([running])
  })

  test('is planned again only when its expected time has passed or a node was removed', () => {
    const pool = new TestPool([N8('n1'), N8('n2')])
    pool.run(lane('a', { gpu: 8, runSeconds: 60 }), [['n1', range(0, 8)]], { startedMs: pool.nowMs })
    pool.run(lane('a', { gpu: 8, runSeconds: 600 }), [['n2', range(0, 8)]], { startedMs: pool.nowMs })
    const wants = lane('b', { gpu: 8 })
    const hold = drained(pool, wants)
    expect(drainHoldFor(pool, head(wants))).toBeNull()
    const madeMs = pool.nowMs
    pool.nowMs += 61_000
    const again = drainHoldFor(pool, head(wants))
    expect(again).toMatchObject({ id: hold.id, sinceMs: madeMs, expectedMs: pool.nowMs + 30_000 })
    const lost = pool.nodes.find(({ id }) => id === 'n1')
    if (lost) lost.state = 'CORDONED'
    expect(isVoid(pool, hold, undefined)).toBe(true)
    expect(drainHoldFor(pool, head(wants))).toMatchObject({ placements: [{ nodeId: 'n2' }] })
  })

  test('57: evicts backfilled runs, the latest first, once only their resources are missing', () => {
    const pool = new TestPool([N8()])
    const long = pool.run(lane('a', { gpu: 4, runSeconds: 60 }), [['n1', range(0, 4)]], { startedMs: pool.nowMs })
    const wants = lane('b', { gpu: 6 })
    drained(pool, wants)
    const on = { backfilledOn: 'job_head' }
    pool.run(lane('c', { gpu: 2, ...pre }), [['n1', [4, 5]]], on)
    const later = pool.run(lane('c', { gpu: 2, ...pre }), [['n1', [6, 7]]], on)
    expect(backfillEviction(pool, claim(wants, 'job_head'))).toBeNull()
    pool.machines.remove(long)
    const plan = backfillEviction(pool, claim(wants, 'job_head'))
    expect(plan?.victims).toMatchObject([{ running: later, tier: 3 }])
    expect(plan?.placements.flatMap(({ gpuIds }) => gpuIds).sort()).toEqual([0, 1, 2, 3, 6, 7])
  })
})

test('a hold that waits only for backfill and claims admits no further backfill or evictions', () => {
  const pool = new TestPool([N8()])
  const long = pool.run(lane('a', { gpu: 4, runSeconds: 60 }), [['n1', range(0, 4)]], { startedMs: pool.nowMs })
  drained(pool, lane('b', { gpu: 8 }))
  pool.run(lane('c', { gpu: 2, ...pre }), [['n1', [4, 5]]], { backfilledOn: 'job_head' })
  expect(placed(pool, lane('d', { gpu: 1, ...pre }))).toEqual({ gpuIds: [[6]], on: 'job_head' })
  expect(pool.evict(lane('d', { gpu: 3, ...pre }))).not.toBeNull()
  pool.machines.remove(long)
  expect(placed(pool, lane('d', { gpu: 1, ...pre }))).toBeNull()
  expect(pool.evict(lane('d', { gpu: 3, ...pre }))).toBeNull()
})

describe('a hold with evictions in progress', () => {
  const kept = (pool: TestPool, gpuIds: number[]): Hold => {
    const takes = { cpuMillis: 4000, memoryBytes: 1, infiniband: false, interactive: false }
    return {
      id: 'hold_claimant',
      jobId: 'job_claimant',
      kind: 'PREEMPTION',
      class: 'GPUN',
      placements: [{ nodeId: 'n1', node: 'n1', replica: 0, gpuIds, ...takes }],
      sinceMs: pool.nowMs,
      expectedMs: null,
    }
  }

  test('45: reserves its resources against all others, preemptable jobs included', () => {
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

  test('is complete once all of its processors are free', () => {
    const pool = new TestPool([N8()])
    const { cpuMillis } = N8()
    const wholeNode = { ...kept(pool, []), placements: kept(pool, []).placements.map((one) => ({ ...one, cpuMillis })) }
    expect(isComplete(pool, wholeNode)).toBe(true)
    pool.run(lane('a', { cpu: 1 }), [['n1']])
    expect(isComplete(pool, wholeNode)).toBe(false)
    expect(isComplete(pool, kept(pool, []))).toBe(true)
  })

  test('without placements is void and never complete', () => {
    const pool = new TestPool([N8()])
    const hold = { ...kept(pool, []), placements: [] }
    expect(isComplete(pool, hold)).toBe(false)
    expect(isVoid(pool, hold, undefined)).toBe(true)
  })
})
