import { describe, expect, test } from 'vitest'
import { type Contest, type Contestant, type Got, runContest } from '../../../simulate/fairness.ts'
import { mergeSettings } from '../../../src/domain/scheduling.ts'
import { drain } from '../../../src/scheduler/plan/drain.ts'
import type { LaneState } from '../../../src/scheduler/plan/model.ts'
import { playForward } from '../../../src/scheduler/plan/play.ts'
import { lane, makeLaneState, settings, snapshot } from '../../support/planning.ts'
import { range } from '../../support/pool.ts'
import { isWhole } from '../../support/whole.ts'

/**
 * Accounts that always have waiting jobs. `npm run test:whole` has 500 of them where one case takes half a minute. A
 * part may differ from the fair one by the fraction `within`, or by one job.
 */
const alike = (count: number): Contestant[] => range(0, count).map((at) => ({ name: `a${at}` }))
const many = isWhole ? 500 : 100

/** Otherwise only the smallest, the largest and the square pools. */
const isChosen = ({ nodes, accounts }: { nodes: number; accounts: number }) =>
  isWhole || (nodes !== 8 && accounts !== 8) || nodes === accounts

/** `parts`: the fair parts; default: by weight. */
function unfair(
  asked: Contest,
  amountOf: (got: Got) => number,
  { within, job, parts }: { within: number; job: number; parts?: readonly number[] },
) {
  const got = runContest(asked)
  const due = parts ?? asked.accounts.map(({ weight = 1 }) => weight)
  const dues = due.reduce((sum, part) => sum + part, 0)
  const all = [...got.values()].reduce((sum, each) => sum + amountOf(each), 0)
  return asked.accounts.flatMap(({ name }, at) => {
    const amount = amountOf(got.get(name) ?? { starts: 0, waitsMs: [], gpuSeconds: 0, decayed: 0 })
    const fair = (all * (due[at] ?? 0)) / dues
    return Math.abs(amount - fair) <= Math.max(within * fair, job) ? [] : [`${name} has ${amount}, and not ${fair}`]
  })
}

describe('accounts with equal weights', () => {
  const wholeNode = { within: 0.02, job: 8 * 60 }
  const cases = [1, 8, 128].flatMap((nodes) => [3, 8, 500].map((accounts) => ({ nodes, accounts }))).filter(isChosen)

  test.each(cases)('get equal use of whole nodes: $accounts accounts on $nodes nodes', ({ nodes, accounts }) => {
    const asked = { nodes, accounts: alike(accounts), sizes: [8], starts: 1_000, jitter: 0.001 }
    expect(unfair(asked, ({ gpuSeconds }) => gpuSeconds, wholeNode)).toEqual([])
  })

  const mixed = [
    ...[1, 8, 128].map((nodes) => ({ nodes, accounts: 3, job: 0 })),
    { nodes: 1, accounts: 8, job: 0 },
    // The fair parts are as small as a few of the largest jobs.
    { nodes: 128, accounts: 8, job: 8 * 60 },
    { nodes: 1, accounts: many, job: 8 * 60 },
    { nodes: 8, accounts: many, job: 8 * 60 },
    { nodes: 128, accounts: 500, job: 8 * 60 },
  ]

  test.each(mixed.filter(isChosen))(
    'get equal use with mixed sizes: $accounts accounts on $nodes nodes',
    ({ nodes, accounts, job }) => {
      const starts = accounts === 3 ? 3_000 : 1_000
      const asked = { nodes, accounts: alike(accounts), sizes: [1, 2, 4, 8], starts, jitter: 0.01 }
      expect(unfair(asked, ({ gpuSeconds }) => gpuSeconds, { within: 0.02, job })).toEqual([])
    },
  )

  test('get equal starts of single GPUs: 500 accounts with 20 jobs each on 128 GPUs', () => {
    const asked = { nodes: 16, accounts: alike(500), sizes: [1], starts: 2_456, jitter: 0.1 }
    expect(unfair(asked, ({ starts }) => starts, { within: 0, job: 1 })).toEqual([])
  })
})

describe('accounts with weights 1 : 1 : 2', () => {
  const accounts = [{ name: 'a' }, { name: 'b' }, { name: 'c', weight: 2 }]

  test.each([1, 8, 128])('use whole nodes in that ratio on %i nodes', (nodes) => {
    const asked = { nodes, accounts, sizes: [8], starts: 1_000 }
    expect(unfair(asked, ({ gpuSeconds }) => gpuSeconds, { within: 0.02, job: 8 * 60 })).toEqual([])
  })
})

describe('users of an account and its sub-accounts:', () => {
  const one = { name: 'zoe', account: 'bio' }
  const people = ['ann', 'bob', 'cyd'].map((name) => ({ name, account: 'ml' }))
  const trees: [string, readonly Contestant[], readonly number[]][] = [
    ['three users of an account get as much as one user of another account', [...people, one], [1, 1, 1, 3]],
    [
      'a sub-account of weight 2 gets as much as two users of the account above it',
      [...people.slice(0, 2), { name: 'dan', account: 'ml.nlp', weight: 2 }, one],
      [1, 1, 2, 4],
    ],
    [
      'sub-accounts two levels below share the part of the account between them',
      [
        { name: 'ann', account: 'org.ml.x' },
        { name: 'bob', account: 'org.ml.y' },
        { name: 'cyd', account: 'org.bio' },
        { name: 'zoe', account: 'lab' },
      ],
      [1, 1, 2, 4],
    ],
  ]

  test.each(trees)('%s', (_, accounts, parts) => {
    const asked = { nodes: 2, accounts, sizes: [1, 2, 4], starts: 3_000, jitter: 0.1, halfLifeMs: 3_600_000 }
    expect(unfair(asked, ({ gpuSeconds }) => gpuSeconds, { within: 0.03, job: 4 * 60, parts })).toEqual([])
  })

  const order = (lanes: readonly LaneState[], shareHalfLifeMs: number | null) => {
    const startsAt = new Map<string, number>()
    const of = settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1, shareHalfLifeMs })
    const how = { runMs: () => 60_000, graceMs: 1_000, startsMax: 100 }
    drain(playForward(snapshot({ settings: of, lanes }), how, startsAt))
    return [...startsAt].toSorted(([, a], [, b]) => a - b).map(([jobId]) => jobId)
  }
  const whole = (userId: string, account: string) =>
    lane(`${userId}/${account}`, { userId, account, shape: { gpu: 8 } })

  test.each([null, 86_400_000])(
    'a job behind 40 jobs of another user of the account starts second (half-life: %s)',
    (half) => {
      const lanes = [makeLaneState(whole('ann', 'ml'), range(1, 41)), makeLaneState(whole('bob', 'ml'), [41])]
      expect(order(lanes, half).slice(0, 3)).toEqual(['j1', 'j41', 'j2'])
    },
  )

  test('a higher bid does not give a user more starts', () => {
    const ann = makeLaneState(whole('ann', 'ml'), [1, 2])
    const bids = { ...ann, first: ann.first.map((entry) => ({ ...entry, bid: 10 * entry.sequence })).toReversed() }
    const lanes = [bids, makeLaneState(whole('bob', 'ml'), [3]), makeLaneState(whole('zoe', 'bio'), [4])]
    expect(order(lanes, null)).toEqual(['j2', 'j4', 'j3', 'j1'])
  })
})

describe('accounts with a half-life of usage', () => {
  const hour = 3_600_000
  const fivePercent = { within: 0.05, job: 0 }

  test.each([1, 8])('get equal use with short and long jobs: %i nodes', (nodes) => {
    const accounts = [
      { name: 'a', seconds: 30 },
      { name: 'b', seconds: 60 },
      { name: 'c', seconds: 90 },
    ]
    const asked = {
      nodes,
      accounts,
      sizes: [8],
      starts: 600 * nodes,
      jitter: 0.5,
      halfLifeMs: 2 * hour,
    }
    expect(unfair(asked, ({ decayed }) => decayed, fivePercent)).toEqual([])
    const { halfLifeMs: _, ...forgetting } = asked
    expect(unfair(forgetting, ({ gpuSeconds }) => gpuSeconds, fivePercent)).not.toEqual([])
  })

  test('a user with one short job at a time waits only for the next end of a run, beside seven users with long queues', () => {
    const accounts = [
      ...alike(7).map((one) => ({ ...one, seconds: 1_200 })),
      { name: 'light', seconds: 60, oneAtATime: true },
    ]
    const shareHalfLifeMs = mergeSettings('FAIR_SHARE', {}).shareHalfLifeMs
    const median = (halfLifeMs: number | null) => {
      const asked = { nodes: 1, accounts, sizes: [1], starts: 2_000, jitter: 0.3, halfLifeMs }
      const waitsMs = runContest(asked).get('light')?.waitsMs ?? []
      return (waitsMs.toSorted((a, b) => a - b)[waitsMs.length >> 1] ?? Number.NaN) / 1_000
    }
    // Eight runs of 1,200 s: one of them ends every 150 s.
    for (const halfLifeMs of [shareHalfLifeMs, null]) expect(median(halfLifeMs)).toBeLessThan(150)
  })

  test('get equal use with mixed sizes, although the current share alone would be less even: 8 accounts on 8 nodes', () => {
    const asked = {
      nodes: 8,
      accounts: alike(8),
      sizes: [1, 2, 4, 8],
      starts: 3_000,
      jitter: 0.01,
      halfLifeMs: hour / 6,
    }
    expect(unfair(asked, ({ gpuSeconds }) => gpuSeconds, { within: 0.02, job: 0 })).toEqual([])
  })

  test('an account whose jobs came later has caught up after five half-lives', () => {
    const accounts = [{ name: 'a' }, { name: 'b' }, { name: 'late', arrives: 600 }]
    const asked = { nodes: 8, accounts, sizes: [8], starts: 3_600, jitter: 0.1, halfLifeMs: hour }
    expect(unfair(asked, ({ decayed }) => decayed, fivePercent)).toEqual([])
  })

  test('shares stay proportional when weights do not divide the nodes evenly', () => {
    const accounts = [...alike(7), { name: 'heavy', weight: 2 }]
    const asked = { nodes: 8, accounts, sizes: [8], starts: 3_000, jitter: 0.1, halfLifeMs: hour }
    expect(unfair(asked, ({ decayed }) => decayed, fivePercent)).toEqual([])
  })
})

describe('accounts with any mix of sizes:', () => {
  const mixes: Readonly<Record<string, (at: number) => readonly number[]>> = {
    'all whole nodes': () => [8],
    'all single GPUs': () => [1],
    'whole nodes for one account and single GPUs for the others': (at) => [at === 0 ? 8 : 1],
    '1, 2, 4 and 8 GPUs': () => [1, 2, 4, 8],
  }
  const weightings = { equal: [1, 1, 1], '1 : 1 : 2': [1, 1, 2] }
  const pools = [
    { count: 2, nodes: 2 },
    { count: 3, nodes: 2 },
    { count: 8, nodes: 4 },
    { count: 50, nodes: 16 },
  ]
  const cases = pools
    .filter(({ count }) => isWhole || count === 8)
    .flatMap((pool) =>
      Object.entries(weightings).flatMap(([name, weights]) =>
        Object.keys(mixes).map((mix) => ({ ...pool, mix, name, weights })),
      ),
    )
  const shares = ({ nodes, count, mix, weights }: (typeof cases)[number], halfLifeMs: number | null) => {
    const accounts = range(0, count).map((at) => ({
      name: `a${at}`,
      sizes: mixes[mix]?.(at) ?? [],
      weight: weights[at % weights.length] ?? 1,
    }))
    const got = runContest({ nodes, accounts, sizes: [], starts: 1_000, jitter: 0.3, halfLifeMs })
    const all = [...got.values()].reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0)
    const weight = accounts.reduce((sum, each) => sum + each.weight, 0)
    return accounts.map((account) => {
      const due = (all * account.weight) / weight
      const gpuSeconds = got.get(account.name)?.gpuSeconds ?? 0
      return { ...account, due, off: Math.abs(gpuSeconds - due), gpuSeconds, all, largest: Math.max(...account.sizes) }
    })
  }

  test.each(cases)('$count accounts, $name weights, $mix: each gets its share with the default half-life', (asked) => {
    const far = shares(asked, 24 * 3_600_000).filter(
      ({ due, off, largest }) => off > Math.max(0.05 * due, largest * 60),
    )
    expect(far).toEqual([])
  })

  test.each(cases)(
    '$count accounts, $name weights, $mix: without a half-life, the difference is at most that of the largest job',
    (asked) => {
      const got = shares(asked, null)
      const largest = Math.max(...got.map((one) => one.largest))
      const far = got.filter(({ off, all }) => off > (largest * all) / (asked.nodes * 8))
      expect(far).toEqual([])
    },
  )
})
