import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Lane } from '../../../src/domain/lanes.ts'
import type { LimitRule } from '../../../src/domain/limits/limit-reached.ts'
import { windowSize } from '../../../src/scheduler/plan/lane-window.ts'
import type { PoolSettings, Waiting } from '../../../src/scheduler/plan/model.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import { lane, n8, settings, snapshot, waiting } from '../../support/planning.ts'
import { tries } from '../../support/whole.ts'

/**
 * Compares the order with a naive one that sorts all jobs again for every start and counts limits from scratch.
 * The machines are large enough for all jobs, so only order and limits decide.
 */
interface Job {
  of: Lane
  entry: Waiting
}

const accounts = ['a', 'b', 'c']
const roomy = (of: string) => ({ ...n8(of), cpuMillis: 1_000_000, memoryBytes: 1_000_000 })

const jobs = fc
  .array(
    fc.record({
      account: fc.constantFrom(...accounts),
      user: fc.constantFrom('ada', 'bob'),
      level: fc.constantFrom(0, 10, 20, 30),
      bid: fc.nat(3),
      cpuMillis: fc.constantFrom(1000, 2000, 3000),
      interactive: fc.boolean(),
      sinceMs: fc.nat(10_000),
    }),
    { maxLength: 60 },
  )
  .map((made) => {
    const interactiveUsers = new Set<string>()
    return made.map(({ account, user, level, bid, cpuMillis, sinceMs, ...more }, at): Job => {
      const interactive = more.interactive && !interactiveUsers.has(user)
      if (interactive) interactiveUsers.add(user)
      const id = [account, user, level, cpuMillis, interactive].join('/')
      const of = lane(id, { account, userId: user, priority: level, interactive, shape: { cpuMillis } })
      return { of, entry: waiting(id, at, { bid, sinceMs }) }
    })
  })

const rule = (on: string, max: number): LimitRule => ({
  code: on === 'pool' ? 'GLOBAL_LIMIT' : 'USER_LIMIT',
  on,
  each: on !== 'pool',
  counts: 'jobs',
  model: null,
  max,
})

const rules = fc
  .record({ pool: fc.nat(40), user: fc.nat(25) })
  .map(({ pool, user }) => [rule('pool', pool), rule('user:', user)])

function naive(all: readonly Job[], { policy, rules: [pool, user] }: PoolSettings, nowMs: number): string[] {
  const started: Job[] = []
  type Node = (job: Job) => string
  const account: Node = ({ of }) => of.account
  const person: Node = ({ of }) => `${of.account}/${of.userId}`
  const shareKey = (node: Node, job: Job) => {
    const own = started.filter((other) => node(other) === node(job))
    return [
      own.reduce((sum, { of }) => sum + of.shape.cpuMillis, 0),
      started.findLastIndex((other) => own.includes(other)),
    ]
  }
  const effective = ({ of, entry }: Job) =>
    of.priority >= 30 ? of.priority : Math.min(30, of.priority + 10 * Math.floor((nowMs - entry.sinceMs) / 4000))
  const first = (among: readonly Job[], key: (job: Job) => number[]) =>
    among.toSorted((a, b) => {
      const right = key(b)
      return (
        key(a)
          .map((value, at) => value - (right[at] ?? 0))
          .find((difference) => difference !== 0) ?? 0
      )
    })[0]
  const inTurn = ({ entry }: Job) => [-entry.bid, entry.sequence]
  /** Takes the first job of each node of the tree, then the node with the smallest share. */
  const ofNodes = (among: readonly Job[], node: Node, choose: (ofNode: readonly Job[]) => Job | undefined) => {
    const firsts = [...Map.groupBy(among, node).values()].flatMap((ofNode) => choose(ofNode) ?? [])
    return first(firsts, (job) => [...shareKey(node, job), ...inTurn(job)])
  }
  const choose = (among: readonly Job[]): Job | undefined => {
    const interactive = among.filter(({ of }) => of.interactive)
    if (interactive.length > 0) return first(interactive, inTurn)
    if (policy === 'PRIORITY') return first(among, (job) => [-effective(job), ...inTurn(job)])
    return ofNodes(among, account, (ofAccount) => ofNodes(ofAccount, person, (ofPerson) => first(ofPerson, inTurn)))
  }
  const isFree = ({ of }: Job) =>
    started.length < (pool?.max ?? 0) &&
    started.filter((other) => other.of.userId === of.userId).length < (user?.max ?? 0)
  for (;;) {
    const heads = [...Map.groupBy(all, ({ of }) => of.id).values()].flatMap(
      (of) =>
        of
          .filter((job) => !started.includes(job))
          .sort((a, b) => b.entry.bid - a.entry.bid || a.entry.sequence - b.entry.sequence)[0] ?? [],
    )
    const next = choose(heads.filter(isFree))
    if (!next) return started.map(({ entry }) => entry.jobId)
    started.push(next)
  }
}

const nowMs = 10_000

test.each(['PRIORITY', 'FAIR_SHARE'] as const)(
  'under %s, jobs start in the order of a naive sort, within its limits',
  (policy) => {
    fc.assert(
      fc.property(jobs, rules, fc.integer({ min: 1, max: 7 }), (made, limits, startsMax) => {
        const of =
          policy === 'PRIORITY'
            ? made.map(({ of, entry }) => ({ of, entry: { ...entry, bid: of.interactive ? entry.bid : 0 } }))
            : made
        const set = settings({ policy, rules: limits, starvationThresholdMs: 4000, nonPreemptableFraction: 1 })
        const lanes = [...Map.groupBy(of, (job) => job.of.id).values()].map((same) => ({
          lane: same[0]?.of ?? lane('none'),
          userName: 'u',
          team: null,
          waiting: same.length,
          first: same
            .map(({ entry }) => entry)
            .sort((a, b) => b.bid - a.bid || a.sequence - b.sequence)
            .slice(0, windowSize),
        }))
        const world = createWorld(snapshot({ nowMs, settings: set, nodes: [roomy('n1')], lanes }))
        const started: string[] = []
        for (;;) {
          const decisions = planPass(world, { startsMax })
          started.push(...decisions.starts.map(({ entry }) => entry.jobId))
          if (decisions.starts.length === 0 && decisions.needs.length === 0) break
          world.refill(
            new Map(
              decisions.needs.map((id) => [
                id,
                of
                  .filter((job) => job.of.id === id && !started.includes(job.entry.jobId))
                  .map(({ entry }) => entry)
                  .slice(0, windowSize),
              ]),
            ),
          )
        }
        expect(started).toEqual(naive(of, set, nowMs))
      }),
      { numRuns: tries(300) },
    )
  },
)
