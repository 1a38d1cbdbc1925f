import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { place } from '../../../src/domain/machines/placement.ts'
import type { Running } from '../../../src/scheduler/plan/model.ts'
import type { EvictionPlan } from '../../../src/scheduler/plan/preemption.ts'
import { listPathTo } from '../../../src/scheduler/plan/share-tree.ts'
import { gpus, node, v100 } from '../../support/machines.ts'
import { type LaneAsks, lane, range, TestPool } from '../../support/pool.ts'
import { tries } from '../../support/whole.ts'

const N8 = (name = 'n1') => node(name, { devices: gpus(v100) })
const rst = { restartable: true }
const pre = { preemptable: true }
const victimsOf = (plan: EvictionPlan | null) => plan?.victims.map(({ running }) => running) ?? null
const hour = 3_600_000

/** Checks that planning restores the world, and that the planned placements are free without the victims. */
function planFor(pool: TestPool, account: string, asks: LaneAsks & { jobId?: string }): EvictionPlan | null {
  const before = JSON.stringify(pool.nodes)
  const { jobId, ...rest } = asks
  const plan = pool.evict(lane(account, rest), jobId === undefined ? {} : { jobId })
  expect(JSON.stringify(pool.nodes)).toBe(before)
  return plan
}

const leavers = (...args: Parameters<typeof planFor>) => victimsOf(planFor(...args))

describe('strict preemption (with the new job, the share of the claimant stays below that of the victim)', () => {
  test('example 38: evicts exactly one victim, the one that started later', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('x', { gpu: 4, ...pre }), [['n1', range(0, 4)]])
    const later = pool.run(lane('x', { gpu: 4, ...pre }), [['n1', range(4, 8)]])
    const plan = planFor(pool, 'y', { gpu: 4 })
    expect(victimsOf(plan)).toEqual([later])
    expect(plan?.placements).toMatchObject([{ node: 'n1', gpuIds: [4, 5, 6, 7] }])
    expect(plan?.victims[0]).toMatchObject({ tier: 1, shares: { claimant: [0, 0.5], victim: [1, 0.5] } })
  })

  test('example 38: evicts one victim even if both started at the same moment', () => {
    const pool = new TestPool([N8()])
    const at = { sinceMs: pool.nowMs }
    pool.run(lane('x', { gpu: 4, ...pre }), [['n1', range(0, 4)]], at)
    const later = pool.run(lane('x', { gpu: 4, ...pre }), [['n1', range(4, 8)]], at)
    expect(leavers(pool, 'y', { gpu: 4 })).toEqual([later])
  })

  test('example 41: a non-preemptable job evicts runs of a full account and is never a victim', () => {
    const pool = new TestPool([N8()])
    const full = pool.run(lane('a', { gpu: 8, ...rst }), [['n1', range(0, 8)]])
    expect(leavers(pool, 'b', { gpu: 2 })).toEqual([full])
    const after = new TestPool([N8()])
    after.run(lane('b', { gpu: 2 }), [['n1', [0, 1]]])
    expect(leavers(after, 'a', { gpu: 8, ...rst })).toBeNull()
  })

  test('example 43: evicts no run if evictions cannot free enough', () => {
    const pool = new TestPool([N8('n1'), N8('n2')])
    for (const name of ['n1', 'n2']) {
      pool.run(lane('fill', { gpu: 5 }), [[name, range(0, 5)]])
      for (const gpu of range(5, 8)) pool.run(lane('x', { gpu: 1, ...pre }), [[name, [gpu]]])
    }
    for (let pass = 0; pass < 100; pass++) expect(leavers(pool, 'y', { gpu: 4 })).toBeNull()
    expect(leavers(pool, 'y', { gpu: 3 })).toHaveLength(3)
  })

  test('example 45: evicts two whole jobs; runs that are leaving are neither victims nor free', () => {
    const pool = new TestPool([N8()])
    const first = pool.run(lane('x', { gpu: 4, ...pre }), [['n1', range(0, 4)]])
    const second = pool.run(lane('x', { gpu: 4, ...pre }), [['n1', range(4, 8)]])
    expect(leavers(pool, 'y', { gpu: 7 })).toEqual([second, first])
    const { machines } = pool
    for (const running of [first, second]) {
      machines.remove(running)
      machines.add({ ...running, leaving: true })
    }
    expect(leavers(pool, 'z', { gpu: 1 })).toBeNull()
    expect(pool.share('x')).toEqual({ num: 0n, den: 1n })
  })

  test('evicts nothing if the shares would be equal afterwards, or within one account', () => {
    const pool = new TestPool([N8()])
    pool.run(lane('x', { gpu: 8, ...pre }), [['n1', range(0, 8)]])
    expect(leavers(pool, 'y', { gpu: 8 })?.length).toBe(1)
    pool.settings.rotationQuantumMs = -1
    expect(leavers(pool, 'y', { gpu: 8 })).toBeNull()
    expect(leavers(pool, 'y', { gpu: 7 })).toHaveLength(1)
    expect(leavers(pool, 'x', { gpu: 1 })).toBeNull()
  })

  test('evicts from the account with the highest share, computed again per victim; among equals the latest start', () => {
    const pool = new TestPool([N8()], {
      weights: new Map([
        ['heavy', 4],
        ['y', 8],
      ]),
    })
    const run = (account: string, gpu: number) => pool.run(lane(account, { gpu: 1, ...pre }), [['n1', [gpu]]])
    range(0, 3).map((gpu) => run('heavy', gpu))
    const many = range(3, 6).map((gpu) => run('many', gpu))
    const few = range(6, 8).map((gpu) => run('few', gpu))
    expect(leavers(pool, 'y', { gpu: 1 })).toEqual([many[2]])
    expect(leavers(pool, 'y', { gpu: 2 })).toEqual([many[2], few[1]])
    expect(leavers(pool, 'y', { gpu: 5 })).toEqual([many[2], few[1], many[1], few[0], many[0]])
    pool.settings.rotationQuantumMs = -1
    expect(leavers(pool, 'y', { gpu: 6 })).toBeNull()
  })

  test.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('if shares are equal evicts the latest start, whatever the names: %s before %s', (early, late) => {
    const pool = new TestPool([N8()])
    pool.run(lane(early, { gpu: 4, ...pre }), [['n1', range(0, 4)]])
    const last = pool.run(lane(late, { gpu: 4, ...pre }), [['n1', range(4, 8)]])
    expect(leavers(pool, 'y', { gpu: 1 })).toEqual([last])
  })

  test('evicts backfilled runs of the own account first, and no victim that is not needed', () => {
    const pool = new TestPool([N8('n1'), N8('n2')])
    const run = (on: string, ids: number[], more: Partial<Running> = {}) =>
      pool.run(lane('x', { gpu: ids.length, ...pre }), [[on, ids]], more)
    const backfilled = run('n1', [0, 1, 2, 3], { backfilledOn: 'job_h' })
    run('n1', [4, 5, 6, 7])
    const wide = run('n2', range(0, 8))
    expect(leavers(pool, 'y', { gpu: 2 })).toEqual([backfilled])
    expect(leavers(pool, 'y', { gpu: 5 })).toEqual([wide])
  })

  test('evicts a gang as a whole, and frees resources for all replicas of a gang', () => {
    const pool = new TestPool([N8('n1'), N8('n2')])
    const gang = pool.run(lane('x', { gpu: 8, shape: { copies: 2 }, ...pre }), [
      ['n1', range(0, 8)],
      ['n2', range(0, 8)],
    ])
    expect(leavers(pool, 'y', { gpu: 1 })).toEqual([gang])
    const two = new TestPool([N8('n1'), N8('n2')])
    const each = ['n1', 'n2'].map((name) => two.run(lane('x', { gpu: 8, ...pre }), [[name, range(0, 8)]]))
    const plan = planFor(two, 'y', { gpu: 6, shape: { copies: 2 } })
    expect(plan?.placements.map(({ node: name }) => name).toSorted()).toEqual(['n1', 'n2'])
    expect(victimsOf(plan)?.toSorted((a, b) => a.sinceMs - b.sinceMs)).toEqual(each)
  })

  test('evicts only on nodes that the job may use', () => {
    const reservation = { id: 'r', project: 'p', nodes: ['n1'], startsMs: 0, endsMs: 2e12, hard: true }
    const pool = new TestPool([N8('n1'), N8('n2')], { reservations: [reservation] })
    const [, open] = ['n1', 'n2'].map((name) => pool.run(lane('x', { gpu: 4, ...pre }), [[name, range(0, 8)]]))
    expect(leavers(pool, 'y', { gpu: 4 })).toEqual([open])
  })
})

/** Accounts of earlier preemptions. */
const others = { claimant: 'c', victim: 'v' }

describe('limits of preemption', () => {
  const oneFull = (more: Partial<Running> = {}, settings = {}) => {
    const pool = new TestPool([N8()], settings)
    const run = pool.run(lane('x', { gpu: 8, ...rst }), [['n1', range(0, 8)]], more)
    return { pool, run }
  }
  const past = (pool: TestPool, run: Running, tier: 0 | 1 | 2, agoMs: number) =>
    pool.preemptions.push({
      atMs: pool.nowMs - agoMs,
      tier,
      claimantJobId: 'job_other',
      victimJobId: run.jobId,
      ...others,
    })

  test.each([
    ['interactive', { interactive: true }, {}],
    ['not preemptable', { restartable: false, preemptable: false }, {}],
    ['already leaving', {}, { leaving: true }],
    ['being cancelled', {}, { state: 'CANCELLING' as const }],
  ])('prevent the eviction of a run that is %s', (_, of, more) => {
    const pool = new TestPool([N8()])
    pool.run(lane('x', { gpu: 8, ...rst, ...of }), [['n1', range(0, 8)]], more)
    expect(leavers(pool, 'y', { gpu: 1 })).toBeNull()
    expect(leavers(pool, 'y', { gpu: 1, interactive: true })).toBeNull()
  })

  test('protect a run in its first minutes, except from interactive jobs', () => {
    const { pool } = oneFull({ sinceMs: 1_000_000_000 - 599_000 }, { minRunBeforePreemptMs: 600_000 })
    expect(leavers(pool, 'y', { gpu: 1 })).toBeNull()
    expect(leavers(pool, 'y', { gpu: 1, interactive: true })).toHaveLength(1)
    pool.nowMs += 1000
    expect(leavers(pool, 'y', { gpu: 1 })).toHaveLength(1)
  })

  test('protect a job that lost work for twice as long, except from interactive jobs', () => {
    const ran = (ms: number) => ({ startedMs: 1_000_000_000 - ms })
    const { pool } = oneFull({ ...ran(119_000), run: 2, lostMs: 60_000 })
    expect(leavers(pool, 'y', { gpu: 1 })).toBeNull()
    expect(leavers(pool, 'y', { gpu: 1, interactive: true })).toHaveLength(1)
    pool.nowMs += 1_000
    expect(leavers(pool, 'y', { gpu: 1 })).toHaveLength(1)
    expect(leavers(oneFull({ startedMs: null, run: 2 }).pool, 'y', { gpu: 1 })).toBeNull()
  })

  test('let batch jobs evict a job at most twice within a quantum', () => {
    const { pool, run } = oneFull()
    past(pool, run, 1, hour + 1)
    past(pool, run, 1, 2000)
    past(pool, run, 0, 1500)
    expect(leavers(pool, 'y', { gpu: 1 })).toHaveLength(1)
    past(pool, run, 1, 1000)
    expect(leavers(pool, 'y', { gpu: 1 })).toBeNull()
    expect(leavers(pool, 'y', { gpu: 1, interactive: true })).toHaveLength(1)
  })

  test('keep the evictions per minute within the limit of the pool', () => {
    const { pool, run } = oneFull({}, { maxPreemptionsPerMinute: 2 })
    past(pool, { ...run, jobId: 'job_a' }, 1, 61_000)
    past(pool, { ...run, jobId: 'job_b' }, 1, 59_000)
    expect(leavers(pool, 'y', { gpu: 1 })).toHaveLength(1)
    past(pool, { ...run, jobId: 'job_c' }, 1, 1000)
    expect(leavers(pool, 'y', { gpu: 1 })).toBeNull()
  })
})

describe('rotation preemption (the account with the larger share gives way for a quantum)', () => {
  const full = (more: Partial<Running> = {}) => {
    const pool = new TestPool([N8()])
    return { pool, run: pool.run(lane('x', { gpu: 8, ...rst }), [['n1', range(0, 8)]], more) }
  }

  test('happens at once the first time; then both jobs are protected for a quantum', () => {
    const { pool, run } = full()
    const plan = planFor(pool, 'y', { gpu: 8, ...rst })
    expect(plan?.victims).toMatchObject([{ tier: 2, shares: { claimant: [0, 1], victim: [1, 0] } }])
    const rotated = (jobIds: { claimantJobId: string; victimJobId: string }, agoMs: number) =>
      pool.preemptions.splice(0, 1, { atMs: pool.nowMs - agoMs, tier: 2, ...others, ...jobIds })
    rotated({ claimantJobId: run.jobId, victimJobId: 'job_other' }, hour - 1)
    expect(leavers(pool, 'y', { gpu: 8, ...rst })).toBeNull()
    rotated({ claimantJobId: 'job_other', victimJobId: 'job_claimant' }, hour - 1)
    expect(leavers(pool, 'y', { gpu: 8, ...rst })).toBeNull()
    expect(leavers(pool, 'y', { gpu: 8, ...rst, jobId: 'job_fresh' })).toEqual([run])
    rotated({ claimantJobId: run.jobId, victimJobId: 'job_claimant' }, hour)
    expect(leavers(pool, 'y', { gpu: 8, ...rst })).toEqual([run])
  })

  test('lets an account that lost within the quantum evict no run, and the winner lose no run', () => {
    const { pool, run } = full()
    const rotated = (claimant: string, victim: string) =>
      pool.preemptions.splice(0, 1, {
        atMs: pool.nowMs - 1,
        tier: 2,
        claimantJobId: 'job_p',
        victimJobId: 'job_q',
        claimant,
        victim,
      })
    rotated('z', 'y')
    expect(leavers(pool, 'y', { gpu: 8 })).toBeNull()
    rotated('x', 'z')
    expect(leavers(pool, 'y', { gpu: 8 })).toBeNull()
    rotated('y', 'x')
    expect(leavers(pool, 'y', { gpu: 8 })).toEqual([run])
  })

  test('is always allowed if the victim could not evict the claimant in return', () => {
    const { pool, run } = full()
    pool.preemptions.push({
      atMs: pool.nowMs - 1,
      tier: 2,
      claimantJobId: 'job_other',
      victimJobId: run.jobId,
      ...others,
    })
    expect(leavers(pool, 'y', { gpu: 8, ...rst })).toBeNull()
    expect(leavers(pool, 'y', { gpu: 8 })).toEqual([run])
  })

  test('protects its winners for a quantum, and protects winners of strict preemption from rotation', () => {
    const sinceMs = 1_000_000_000 - hour + 1
    const { pool: rotated } = full({ wonTier: 2, sinceMs })
    expect(leavers(rotated, 'y', { gpu: 1 })).toBeNull()
    rotated.nowMs += 1
    expect(leavers(rotated, 'y', { gpu: 1 })).toHaveLength(1)
    const { pool: won } = full({ wonTier: 1, sinceMs })
    expect(leavers(won, 'y', { gpu: 8 })).toBeNull()
    expect(leavers(won, 'y', { gpu: 1 })).toHaveLength(1)
    won.nowMs += 1
    expect(leavers(won, 'y', { gpu: 8 })).toHaveLength(1)
  })

  test('does not happen between equal shares', () => {
    const { pool } = full()
    pool.machines.accounts.change(
      listPathTo('y'),
      [...pool.running.values()].flatMap(({ placements }) => placements),
      1,
    )
    expect(leavers(pool, 'y', { gpu: 8, ...rst })).toBeNull()
  })
})

describe('interactive claimants', () => {
  test('example 59: evict eight runs of the heaviest account', () => {
    const pool = new TestPool([N8()])
    for (const gpu of range(0, 8)) pool.run(lane('light', { gpu: 1, ...pre }), [['n1', [gpu]]])
    pool.machines.accounts.change(
      listPathTo('heavy'),
      [...pool.running.values()].flatMap(({ placements }) => placements),
      1,
    )
    const plan = planFor(pool, 'heavy', { gpu: 8, interactive: true })
    expect(plan?.victims).toHaveLength(8)
    expect(plan?.victims[0]?.tier).toBe(0)
    expect(plan?.placements).toMatchObject([{ interactive: true }])
  })

  test('evict as few jobs as possible, then the jobs that lose the least work, their own account last', () => {
    const pool = new TestPool([N8('n1'), N8('n2')])
    const run = (account: string, on: string, ids: number[]) =>
      pool.run(lane(account, { gpu: ids.length, ...pre }), [[on, ids]])
    const own = run('me', 'n1', range(0, 8))
    run('x', 'n2', [0, 1])
    const two = run('x', 'n2', [2, 3])
    const four = run('x', 'n2', [4, 5, 6, 7])
    expect(leavers(pool, 'me', { gpu: 2, interactive: true })).toEqual([four])
    expect(leavers(pool, 'me', { gpu: 5, interactive: true })).toEqual([four, two])
    pool.machines.remove(four)
    pool.run(lane('x', { gpu: 4 }), [['n2', range(4, 8)]])
    expect(leavers(pool, 'me', { gpu: 5, interactive: true })).toEqual([own])
  })

  test('evict the minimal set of victims, in all random pools', () => {
    const someRun = fc.record({ on: fc.nat(1), gpu: fc.nat(4), cpu: fc.integer({ min: 1, max: 8 }), own: fc.boolean() })
    const claim = fc.record({ gpu: fc.integer({ min: 0, max: 8 }), cpu: fc.integer({ min: 1, max: 16 }) })
    fc.assert(
      fc.property(fc.array(someRun, { maxLength: 7 }), claim, (runs, asks) => {
        const pool = new TestPool([N8('n0'), N8('n1')])
        for (const { on, gpu, cpu, own } of runs) {
          const of = lane(own ? 'me' : 'x', { gpu, cpu, ...pre })
          const placed = place(of.shape, [pool.nodes[on] ?? N8()])
          if (placed) pool.run(of, [[`n${on}`, placed[0]?.gpuIds ?? []]])
        }
        const plan = planFor(pool, 'me', { ...asks, interactive: true })
        expect(plan ? costOf(pool, victimsOf(plan) ?? []) : null).toEqual(cheapest(pool, asks))
      }),
      { numRuns: tries(200) },
    )
  })

  type Cost = [own: number, jobs: number, lostMs: number]

  const costOf = (pool: TestPool, runs: readonly Running[]): Cost => [
    runs.filter((running) => running.lane.account === 'me').length > 0 ? 1 : 0,
    runs.length,
    runs.reduce((sum, { sinceMs }) => sum + pool.nowMs - sinceMs, 0),
  ]

  /** Finds the minimal set by trying every set of runs. */
  function cheapest(pool: TestPool, asks: LaneAsks): Cost | null {
    const runs = [...pool.running.values()]
    const { shape } = lane('me', asks)
    let best: Cost | null = null
    for (const bits of range(0, 2 ** runs.length)) {
      const leaving = runs.filter((_, i) => bits & (1 << i))
      const cost = costOf(pool, leaving)
      if (best && compareCosts(cost, best) >= 0) continue
      for (const running of leaving) pool.machines.remove(running)
      if (place(shape, pool.nodes)) best = cost
      for (const running of leaving) pool.machines.add(running)
    }
    return best?.[1] === 0 ? null : best
  }

  const compareCosts = (a: Cost, b: Cost) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]

  test('under PRIORITY evict only if enabled, and only lower levels', () => {
    const pool = new TestPool([N8()], { policy: 'PRIORITY' })
    const run = pool.run(lane('x', { gpu: 8, ...pre, priority: 10 }), [['n1', range(0, 8)]])
    expect(leavers(pool, 'y', { gpu: 1, interactive: true, priority: 20 })).toBeNull()
    pool.settings.preemptLowerPriority = true
    expect(leavers(pool, 'y', { gpu: 1, interactive: true, priority: 20 })).toEqual([run])
    expect(leavers(pool, 'y', { gpu: 1, interactive: true, priority: 10 })).toBeNull()
  })
})

describe('PRIORITY with preemptLowerPriority', () => {
  test('evicts the lowest level first, the latest start first, never an equal level, regardless of accounts', () => {
    const pool = new TestPool([N8()], { policy: 'PRIORITY', preemptLowerPriority: true })
    const run = (priority: number, gpu: number, more = {}) =>
      pool.run(lane('one', { gpu: 1, ...pre, priority, ...more }), [['n1', [gpu]]])
    range(0, 4).map((gpu) => run(20, gpu))
    const low = [run(0, 4), run(10, 5), run(0, 6)]
    run(0, 7, { interactive: true })
    const ask = (priority: number, gpu: number) => leavers(pool, 'one', { gpu, priority })
    expect(ask(30, 1)).toEqual([low[2]])
    expect(ask(10, 2)).toEqual([low[2], low[0]])
    expect(ask(20, 3)).toEqual([low[2], low[0], low[1]])
    expect(ask(20, 4)).toBeNull()
    expect(ask(0, 1)).toBeNull()
    pool.settings.preemptLowerPriority = false
    expect(ask(30, 1)).toBeNull()
  })
})
