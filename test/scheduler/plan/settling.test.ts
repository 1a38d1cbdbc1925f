import { describe, expect, test } from 'vitest'
import { type Asks, type Kind, neverSettles, settle, settleJobs } from '../../../simulate/clusters.ts'
import { lane, range } from '../../support/pool.ts'
import { isWhole } from '../../support/whole.ts'

/** A few of the clusters that `npm run simulate -- preemption` tries; `npm test` a fifth of them. A failure names its seed. */
const strictAlone = { quantumPasses: null, passes: 150 }
const rotating = { quantumPasses: 50, passes: 200 }

function troubleIn(count: number, kind: Kind): string[] {
  return range(1, (isWhole ? count : count / 5) + 1).flatMap((seed) => {
    const outcome = settle(seed, kind)
    return [...outcome.broken, ...(neverSettles(kind, outcome) ? ['never comes to rest'] : [])].map(
      (what) => `seed ${seed}: ${what}`,
    )
  })
}

describe('evictions come to an end:', () => {
  test('with strict preemption on one node, and on two nodes with runs that cannot be evicted', () => {
    expect(troubleIn(2000, { nodes: 1, ...strictAlone })).toEqual([])
    expect(troubleIn(300, { nodes: 2, ...strictAlone })).toEqual([])
  })

  test('with strict preemption and a half-life', () => {
    const remembering = { quantumPasses: null, passes: 400, halfLifePasses: 20 }
    expect(troubleIn(200, { nodes: 1, ...remembering })).toEqual([])
    expect(troubleIn(100, { nodes: 2, ...remembering })).toEqual([])
  })

  test('with users and sub-accounts', () => {
    expect(troubleIn(1000, { nodes: 1, ...strictAlone, people: true })).toEqual([])
    expect(troubleIn(100, { nodes: 2, ...strictAlone, passes: 400, halfLifePasses: 20, people: true })).toEqual([])
    expect(troubleIn(40, { nodes: 2, ...rotating, people: true })).toEqual([])
  })

  test('with rotation: evictions stay within their bound, and freed resources are used', () => {
    expect(troubleIn(40, { nodes: 1, ...rotating })).toEqual([])
    expect(troubleIn(40, { nodes: 2, ...rotating })).toEqual([])
  })
})

describe('example 39: three jobs that could evict each other forever', () => {
  const rst = { restartable: true }
  const job = (account: string, bid: number, asks: { gpu: number; cpu: number }): Asks => ({
    of: lane(account, { ...asks, ...rst }),
    bid,
    arrives: 0,
  })
  const jobs = [job('a2', 0, { gpu: 6, cpu: 2 }), job('a0', 1, { gpu: 4, cpu: 1 }), job('a0', 2, { gpu: 3, cpu: 5 })]

  test('cause one eviction, and then none until the quantum is over', () => {
    const { evicted, broken } = settleJobs(jobs, { nodes: 1, ...rotating })
    expect(evicted.slice(0, 50)).toEqual([1, ...Array(49).fill(0)])
    expect(broken).toEqual([])
  })

  test('cause no eviction without rotation', () => {
    expect(settleJobs(jobs, { nodes: 1, ...strictAlone }).evicted.every((count) => count === 0)).toBe(true)
  })
})

test('three accounts that each need the whole node alternate after equal times', () => {
  const jobs = ['a', 'b', 'c'].map((account) => ({
    of: lane(account, { gpu: 8, restartable: true }),
    bid: 0,
    arrives: 0,
  }))
  const { evicted } = settleJobs(jobs, { nodes: 1, quantumPasses: 50, passes: 300 })
  const moments = [...evicted.keys()].filter((pass) => evicted[pass])
  expect(moments).toEqual([0, 50, 100, 150, 200, 250])
})
