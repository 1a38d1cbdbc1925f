import { describe, expect, test } from 'vitest'
import { type Contest, type Contestant, contest, type Got } from '../../../simulate/fairness.ts'
import { range } from '../../support/pool.ts'
import { isWhole } from '../../support/whole.ts'

/**
 * Accounts that always have jobs waiting. `npm run test:whole` has 500 of them where one contest takes half a minute. A part may be off by `within` of the fair one, or by one job.
 */
const alike = (count: number): Contestant[] => range(0, count).map((at) => ({ name: `a${at}` }))
const never = 1e12
const many = isWhole ? 500 : 100

function unfair(asked: Contest, amountOf: (got: Got) => number, { within, job }: { within: number; job: number }) {
  const got = contest(asked)
  const weights = asked.accounts.reduce((sum, { weight = 1 }) => sum + weight, 0)
  const all = [...got.values()].reduce((sum, each) => sum + amountOf(each), 0)
  return asked.accounts.flatMap(({ name, weight = 1 }) => {
    const amount = amountOf(got.get(name) ?? { starts: 0, gpuSeconds: 0, decayed: 0 })
    const fair = (all * weight) / weights
    return Math.abs(amount - fair) <= Math.max(within * fair, job) ? [] : [`${name} has ${amount}, and not ${fair}`]
  })
}

describe('accounts with equal weights', () => {
  const wholeNode = { within: 0.02, job: 8 * 60 }
  const cases = [1, 8, 128].flatMap((nodes) => [3, 8, 500].map((accounts) => ({ nodes, accounts })))

  test.each(cases)('get equal use of whole nodes: $accounts accounts on $nodes nodes', ({ nodes, accounts }) => {
    const asked = { nodes, accounts: alike(accounts), sizes: [8], starts: 1_000, jitter: 0.001, holdAfterMs: never }
    expect(unfair(asked, ({ gpuSeconds }) => gpuSeconds, wholeNode)).toEqual([])
  })

  const mixed = [
    ...[1, 8, 128].map((nodes) => ({ nodes, accounts: 3, job: 0 })),
    { nodes: 1, accounts: 8, job: 0 },
    // The parts are a few of the largest jobs.
    { nodes: 128, accounts: 8, job: 8 * 60 },
    { nodes: 1, accounts: many, job: 8 * 60 },
    { nodes: 8, accounts: many, job: 8 * 60 },
    { nodes: 128, accounts: 500, job: 8 * 60 },
  ]

  test.each(mixed)('get equal use with mixed sizes: $accounts accounts on $nodes nodes', ({ nodes, accounts, job }) => {
    const starts = accounts === 3 ? 3_000 : 1_000
    const asked = { nodes, accounts: alike(accounts), sizes: [1, 2, 4, 8], starts, jitter: 0.01 }
    expect(unfair(asked, ({ gpuSeconds }) => gpuSeconds, { within: 0.02, job })).toEqual([])
  })

  test('get equal starts of single GPUs: 500 accounts with 20 jobs each on 128 GPUs', () => {
    const asked = { nodes: 16, accounts: alike(500), sizes: [1], starts: 2_456, jitter: 0.1, holdAfterMs: never }
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
      holdAfterMs: never,
    }
    expect(unfair(asked, ({ decayed }) => decayed, fivePercent)).toEqual([])
    const { halfLifeMs: _, ...forgetting } = asked
    expect(unfair(forgetting, ({ gpuSeconds }) => gpuSeconds, fivePercent)).not.toEqual([])
  })

  test('get equal use with mixed sizes, where the current share alone is further off: 8 accounts on 8 nodes', () => {
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

  test('an account that joined late has caught up after five half-lives', () => {
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
