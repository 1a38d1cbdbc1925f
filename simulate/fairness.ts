import type { Lane } from '../src/domain/lanes.ts'
import { sumAmounts } from '../src/domain/machines/amounts.ts'
import type { Change, Snapshot, Start, Waiting } from '../src/scheduler/plan/model.ts'
import { planPass } from '../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../src/scheduler/plan/world.ts'
import { gpus, node, v100 } from '../test/support/machines.ts'
import { lane, makeReceivedChanges, settings, snapshot, waiting } from '../test/support/planning.ts'
import { range } from '../test/support/pool.ts'
import { Random } from './random.ts'

/**
 * Measures the use of accounts and people that always have waiting jobs, on nodes of 8 GPUs under FAIR_SHARE. No run is
 * evicted, so the order alone decides.
 */
export interface Contest {
  nodes: number
  accounts: readonly Contestant[]
  /** Numbers of GPUs of the jobs. Each account always has waiting jobs of every size. */
  sizes: readonly number[]
  starts: number
  halfLifeMs?: number | null
  /** Run times differ by up to this fraction; default: 0. */
  jitter?: number
  seed?: number
}

export interface Contestant {
  name: string
  /** Default: an account with the name of the contestant. */
  account?: string
  weight?: number
  /** Numbers of GPUs of the jobs; default: `sizes` of the contest. */
  sizes?: readonly number[]
  /** Run time of the jobs; default: 60. */
  seconds?: number
  /** true: each job is submitted after the end of the previous one; default: there are always enough waiting jobs. */
  oneAtATime?: boolean
  /** The account submits after this many starts. */
  arrives?: number
}

export interface Got {
  starts: number
  waitsMs: readonly number[]
  gpuSeconds: number
  /** Like `gpuSeconds`, weighted by the half-life. */
  decayed: number
}

interface Ending {
  atMs: number
  start: Start
  sinceMs: number
}

/** The maximum number of starts per round, so that an account never runs out of jobs. */
const perLane = 50

export function runContest(asked: Contest): ReadonlyMap<string, Got> {
  return new Playing(asked).play()
}

class Playing {
  private readonly contest: Contest
  private readonly random: Random
  private readonly world: World
  private readonly running: Ending[] = []
  private readonly uses: { name: string; gpu: number; sinceMs: number; untilMs: number }[] = []
  private readonly waits = new Map<string, number[]>()
  private readonly absent: Contestant[]
  private nowMs = 0
  private sequence = 0
  private started = 0

  constructor(asked: Contest) {
    this.contest = asked
    this.random = new Random(asked.seed ?? 1)
    this.absent = [...asked.accounts]
    this.world = createWorld(this.empty())
  }

  private empty(): Snapshot {
    const { nodes, accounts, halfLifeMs = null } = this.contest
    const devices = () => gpus(v100)
    return snapshot({
      settings: settings({
        policy: 'FAIR_SHARE',
        nonPreemptableFraction: 1,
        shareHalfLifeMs: halfLifeMs,
        weights: new Map(accounts.map(({ name, account = name, weight = 1 }) => [account, weight])),
      }),
      nodes: range(0, nodes).map((at) => node(`n${String(at).padStart(3, '0')}`, { devices: devices() })),
    })
  }

  play(): ReadonlyMap<string, Got> {
    while (this.started < this.contest.starts) {
      this.admit()
      this.fill()
      this.end()
    }
    for (const ending of this.running) this.record(ending)
    return this.totals()
  }

  private admit(): void {
    for (const one of this.absent.filter(({ arrives = 0 }) => arrives <= this.started)) {
      this.absent.splice(this.absent.indexOf(one), 1)
      const lanes = (one.sizes ?? this.contest.sizes).map((gpu) =>
        lane(`${one.name}/${gpu}`, {
          account: one.account ?? one.name,
          userId: one.name,
          shape: { gpu, cpuMillis: 1 },
        }),
      )
      const changes = range(0, one.oneAtATime ? 1 : perLane).flatMap(() => lanes.map((of) => this.joining(of)))
      const known = lanes.map((of) => ({ lane: of, userName: one.name, team: null }))
      this.world.hear(makeReceivedChanges(changes, { nowMs: this.nowMs, lanes: known }))
    }
  }

  private joining(of: Lane): Change {
    const entry: Waiting = waiting(of.id, ++this.sequence, { sinceMs: this.nowMs })
    return { kind: 'JOINED', entry }
  }

  /** Plans until no job starts. Submits another job for each start. */
  private fill(): void {
    for (;;) {
      const { starts } = planPass(this.world, { startsMax: 50 })
      if (starts.length === 0) return
      const changes: Change[] = []
      for (const start of starts) {
        const { lane: of, entry } = start
        this.started += 1
        this.waits.set(of.userId, [...(this.waits.get(of.userId) ?? []), this.nowMs - entry.sinceMs])
        const { seconds = 60, oneAtATime } = this.find(of)
        const ms = seconds * 1_000 * (1 + (this.contest.jitter ?? 0) * (2 * this.random.next() - 1))
        this.running.push({ atMs: this.nowMs + ms, start, sinceMs: this.nowMs })
        changes.push({ kind: 'LEFT', jobId: entry.jobId, laneId: of.id }, ...(oneAtATime ? [] : [this.joining(of)]))
      }
      this.running.sort((a, b) => a.atMs - b.atMs)
      this.world.hear(makeReceivedChanges(changes, { nowMs: this.nowMs }))
    }
  }

  private end(): void {
    const ending = this.running.shift()
    if (!ending) throw new Error('No run is left')
    this.nowMs = ending.atMs
    this.record(ending)
    const { lane: of, entry } = ending.start
    const next = this.find(of).oneAtATime ? [this.joining(of)] : []
    const known = [{ lane: of, userName: of.userId, team: null }]
    const ended: Change = { kind: 'RUN', runId: entry.runId, running: null }
    this.world.hear(makeReceivedChanges([ended, ...next], { nowMs: this.nowMs, lanes: known }))
  }

  private find({ userId }: Lane): Partial<Contestant> {
    return this.contest.accounts.find(({ name }) => name === userId) ?? {}
  }

  private record({ start: { lane: of, placements }, sinceMs }: Ending): void {
    this.uses.push({ name: of.userId, gpu: sumAmounts(placements).gpu, sinceMs, untilMs: this.nowMs })
  }

  private totals(): ReadonlyMap<string, Got> {
    const { accounts } = this.contest
    const halfLifeMs = this.contest.halfLifeMs ?? Number.POSITIVE_INFINITY
    const weightAt = (atMs: number) => 2 ** ((atMs - this.nowMs) / halfLifeMs)
    const got = new Map(
      accounts.map(({ name }) => {
        const waitsMs = this.waits.get(name) ?? []
        return [name, { starts: waitsMs.length, waitsMs, gpuSeconds: 0, decayed: 0 }]
      }),
    )
    for (const { name, gpu, sinceMs, untilMs } of this.uses) {
      const of = got.get(name)
      if (!of) continue
      of.gpuSeconds += (gpu * (untilMs - sinceMs)) / 1_000
      of.decayed += gpu * (weightAt(untilMs) - weightAt(sinceMs))
    }
    return got
  }
}
