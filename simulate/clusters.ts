import type { Lane } from '../src/domain/lanes.ts'
import { sumAmounts } from '../src/domain/machines/amounts.ts'
import { type Placement, place } from '../src/domain/machines/placement.ts'
import { compareFractions } from '../src/scheduler/plan/fractions.ts'
import type { Running, Tier } from '../src/scheduler/plan/model.ts'
import { type EvictionPlan, planPreemption } from '../src/scheduler/plan/preemption.ts'
import { unlimited } from '../src/scheduler/plan/rations.ts'
import { findPartingNodes, getSharePath } from '../src/scheduler/plan/share-tree.ts'
import { gpus, node, v100 } from '../test/support/machines.ts'
import { makeRunning } from '../test/support/planning.ts'
import { lane, range, TestPool } from '../test/support/pool.ts'
import { Random } from './random.ts'

/**
 * Small random clusters whose jobs never end, to check that preemption stops. A pass starts jobs in the order of the
 * shares, and evicts for one job at most. Victims leave and the claimant starts at once, so only the rules decide.
 * Broken means: a plan whose places are not free, a job evicted more often than its bound, or evictions without end.
 */
export interface Kind {
  nodes: 1 | 2
  /** Passes per quantum; null: no rotation and no bound per job, so that only the rule itself is tested. */
  quantumPasses: number | null
  passes: number
  /** true: accounts have several people and sub-accounts; default: one person each. */
  people?: boolean
  /** Half-life of past use; default: past use does not count. */
  halfLifePasses?: number
}

export interface Outcome {
  /** Number of evictions per pass. If the last number is not 0, preemption never stopped. */
  evicted: readonly number[]
  mostPerQuantum: number
  broken: string[]
}

/** Shares keep changing with a half-life, so only the last hundred passes must have no evictions. */
export const neverSettles = ({ quantumPasses, halfLifePasses }: Kind, { evicted }: Outcome): boolean =>
  quantumPasses === null && evicted.slice(halfLifePasses === undefined ? -1 : -100).some((count) => count > 0)

export interface Asks {
  of: Lane
  bid: number
  arrives: number
}

interface Job extends Asks {
  id: string
  /** Position in the order; a job that lost a rotation comes last. */
  turn: number
  run: number
}

const passMs = 72_000

export const settle = (seed: number, kind: Kind): Outcome => settleJobs(createJobs(new Random(seed), kind), kind)

export function settleJobs(jobs: readonly Asks[], { nodes, quantumPasses, passes, halfLifePasses }: Kind): Outcome {
  const pool = new TestPool(
    range(0, nodes).map((i) => node(`n${i}`, { devices: gpus(v100) })),
    {
      rotationQuantumMs: quantumPasses === null ? -1 : quantumPasses * passMs,
      nonPreemptableFraction: nodes === 1 ? 1 : 0.25,
      shareHalfLifeMs: halfLifePasses === undefined ? null : halfLifePasses * passMs,
      ...(quantumPasses === null && { maxPreemptionsPerJob: 1_000_000 }),
    },
  )
  const cluster = new Cluster(pool, jobs)
  const evicted: number[] = []
  for (let pass = 0; pass < passes; pass++) {
    evicted.push(cluster.pass(pass))
    pool.moveTime(passMs)
    if (quantumPasses === null && halfLifePasses === undefined && pass > arrivalsEnd && evicted.at(-1) === 0) break
  }
  return cluster.outcome(evicted)
}

function createJobs(random: Random, { nodes, people }: Kind): Asks[] {
  const accounts = range(0, random.between(2, 5)).map((i) => `a${i}`)
  return range(0, random.between(3, 11)).map(() => {
    const gpu = random.chance(0.75) ? random.between(1, 8) : 0
    const isFixed = nodes > 1 && random.chance(0.25)
    const copies = nodes > 1 && random.chance(0.2) ? 2 : 1
    const of = lane(random.pick(accounts) ?? 'a0', {
      gpu,
      cpu: gpu === 0 ? random.between(1, 16) : random.between(1, 8),
      shape: { copies },
      restartable: !isFixed,
      preemptable: !isFixed,
    })
    if (people) Object.assign(of, createPerson(of.account, random))
    return { of, bid: random.between(0, 3), arrives: random.chance(0.5) ? 0 : random.between(0, arrivalsEnd) }
  })
}

const createPerson = (account: string, random: Random) => ({
  account: random.chance(0.3) ? `${account}.${random.of(['x', 'y'])}` : account,
  userId: `u${random.between(1, 3)}`,
})

const arrivalsEnd = 10

class Cluster {
  private readonly pool: TestPool
  private readonly jobs: readonly Job[]
  private readonly waiting = new Set<Job>()
  private readonly broken: string[] = []
  private turns = 1000
  private mostPerQuantum = 0

  constructor(pool: TestPool, jobs: readonly Asks[]) {
    this.pool = pool
    this.jobs = jobs.map((job, turn) => ({ ...job, id: `job_${String(turn).padStart(2, '0')}`, turn, run: 0 }))
  }

  outcome(evicted: readonly number[]): Outcome {
    return { evicted, mostPerQuantum: this.mostPerQuantum, broken: this.broken }
  }

  /** Makes a pass. Returns the number of evictions. */
  pass(number: number): number {
    const before = this.pool.preemptions.length
    for (const job of this.jobs) if (job.arrives === number) this.waiting.add(job)
    const blocked = new Set<Job>()
    for (let job = this.next(blocked); job; job = this.next(blocked)) {
      const placements = this.isWithinPart(job) ? place(job.of.shape, this.pool.nodes) : null
      const mayEvict = this.pool.preemptions.length === before && this.isWithinPart(job)
      if (placements) this.start(job, placements, null)
      else if (!mayEvict || !this.evictFor(job)) blocked.add(job)
    }
    return this.pool.preemptions.length - before
  }

  private next(blocked: ReadonlySet<Job>): Job | undefined {
    return [...this.waiting]
      .filter((job) => !blocked.has(job))
      .toSorted((a, b) => this.compareShares(a.of, b.of) || b.bid - a.bid || a.turn - b.turn)[0]
  }

  private compareShares(a: Lane, b: Lane): number {
    const [one, other] = findPartingNodes(getSharePath(a), getSharePath(b)) ?? []
    return one && other ? compareFractions(this.pool.share(one), this.pool.share(other)) : 0
  }

  private isWithinPart({ of }: Job): boolean {
    const { machines, settings } = this.pool
    const { copies, cpuMillis, memoryBytes, gpu } = of.shape
    const asked = { cpu: copies * cpuMillis, memory: copies * memoryBytes, gpu: copies * gpu }
    return (
      of.preemptable || machines.accounts.isWithin([machines.unpreemptable, asked], settings.nonPreemptableFraction)
    )
  }

  private start(job: Job, placements: readonly Placement[], wonTier: Tier | null): void {
    if (!this.isFree(placements)) this.broken.push(`${job.id} is placed where it has no room`)
    this.waiting.delete(job)
    const { nowMs, machines } = this.pool
    const ids = { runId: `${job.id}/${++job.run}`, jobId: job.id, run: job.run }
    machines.add(makeRunning(job.of, ids, { placements, sinceMs: nowMs, startedMs: nowMs, wonTier }))
  }

  private isFree(placements: readonly Placement[]): boolean {
    return this.pool.nodes.every((node) => {
      const here = placements.filter(({ nodeId }) => nodeId === node.id)
      const { cpu } = sumAmounts(here)
      const ids = here.flatMap(({ gpuIds }) => gpuIds)
      return cpu <= node.freeCpu && new Set(ids).size === ids.length && ids.every((id) => node.devices[id]?.free)
    })
  }

  private evictFor(job: Job): boolean {
    const entry = {
      jobId: job.id,
      laneId: job.of.id,
      runId: job.id,
      run: 1,
      bid: job.bid,
      sequence: job.turn,
      sinceMs: 0,
    }
    const plan = planPreemption(this.pool, { lane: job.of, entry, ration: unlimited })
    if (!plan) return false
    for (const victim of plan.victims) this.leave(job, victim)
    for (const { running } of plan.victims) this.checkNeeded(job, running)
    this.start(job, plan.placements, plan.victims[0]?.tier ?? null)
    return true
  }

  /** Throws if the job would fit without the eviction of this victim. */
  private checkNeeded({ id, of }: Job, victim: Running): void {
    const { machines, nodes } = this.pool
    machines.add(victim)
    if (place(of.shape, nodes)) this.broken.push(`${victim.jobId} left for ${id}, which had room without that`)
    machines.remove(victim)
  }

  private leave(claimant: Job, { running, tier }: EvictionPlan['victims'][number]): void {
    const { nowMs, machines, preemptions, settings } = this.pool
    machines.remove(running)
    const job = this.jobs.find(({ id }) => id === running.jobId)
    if (!job) throw new Error(`The cluster has no job ${running.jobId}`)
    if (tier === 2) job.turn = this.turns++
    this.waiting.add(job)
    const accounts = { claimant: claimant.of.account, victim: job.of.account }
    preemptions.push({ atMs: nowMs, tier, claimantJobId: claimant.id, victimJobId: job.id, ...accounts })
    const since = nowMs - Math.max(settings.rotationQuantumMs, 0)
    const times = preemptions.filter(({ victimJobId, atMs }) => victimJobId === job.id && atMs > since).length
    this.mostPerQuantum = Math.max(this.mostPerQuantum, times)
    if (times > settings.maxPreemptionsPerJob) this.broken.push(`${job.id} was evicted ${times} times in a quantum`)
  }
}
