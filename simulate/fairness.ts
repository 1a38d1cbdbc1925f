import type { Lane } from '../src/domain/lanes.ts'
import { sumAmounts } from '../src/domain/machines/amounts.ts'
import type { Change, Snapshot, Start, Waiting } from '../src/scheduler/plan/model.ts'
import { planPass } from '../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../src/scheduler/plan/world.ts'
import { gpus, node, v100 } from '../test/support/machines.ts'
import { heard, lane, settings, snapshot, waiting } from '../test/support/planning.ts'
import { range } from '../test/support/pool.ts'
import { Random } from './random.ts'

/**
 * Accounts that always have jobs waiting, on nodes of 8 GPUs under FAIR_SHARE: who gets how much? Nothing is evicted, so the
 * order alone decides.
 */
export interface Contest {
  nodes: number
  accounts: readonly Contestant[]
  /** GPUs of the jobs; each account always has jobs of every size waiting. */
  sizes: readonly number[]
  starts: number
  halfLifeMs?: number
  holdAfterMs?: number
  /** Run times differ by up to this part; default 0. */
  jitter?: number
  seed?: number
}

export interface Contestant {
  name: string
  weight?: number
  /** Run time of the account's jobs; default 60. */
  seconds?: number
  /** The account submits after this many starts. */
  arrives?: number
}

export interface Got {
  starts: number
  gpuSeconds: number
  /** The same, each moment by its weight under the half-life. */
  decayed: number
}

interface Ending {
  atMs: number
  start: Start
  sinceMs: number
}

/** As many as one round starts, so that an account never runs out of jobs. */
const perLane = 50

export function contest(asked: Contest): ReadonlyMap<string, Got> {
  return new Playing(asked).play()
}

class Playing {
  private readonly contest: Contest
  private readonly random: Random
  private readonly world: World
  private readonly running: Ending[] = []
  private readonly uses: { account: string; gpu: number; sinceMs: number; untilMs: number }[] = []
  private readonly starts = new Map<string, number>()
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
    const { nodes, accounts, halfLifeMs = null, holdAfterMs } = this.contest
    const devices = () => gpus(v100)
    return snapshot({
      settings: settings({
        policy: 'FAIR_SHARE',
        nonPreemptableFraction: 1,
        shareHalfLifeMs: halfLifeMs,
        ...(holdAfterMs !== undefined && { holdAfterMs }),
        weights: new Map(accounts.map(({ name, weight = 1 }) => [name, weight])),
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

  /** Accounts whose time has come submit their jobs. */
  private admit(): void {
    for (const one of this.absent.filter(({ arrives = 0 }) => arrives <= this.started)) {
      this.absent.splice(this.absent.indexOf(one), 1)
      const lanes = this.contest.sizes.map((gpu) =>
        lane(`${one.name}/${gpu}`, { account: one.name, shape: { gpu, cpuMillis: 1 } }),
      )
      const changes = range(0, perLane).flatMap(() => lanes.map((of) => this.joining(of)))
      const known = lanes.map((of) => ({ lane: of, userName: one.name, team: null }))
      this.world.hear(heard(changes, { nowMs: this.nowMs, lanes: known }))
    }
  }

  private joining(of: Lane): Change {
    const entry: Waiting = waiting(of.id, ++this.sequence, { sinceMs: this.nowMs })
    return { kind: 'JOINED', entry }
  }

  /** Plans until nothing starts; another job joins for each that starts. */
  private fill(): void {
    for (;;) {
      const { starts } = planPass(this.world, { startsMax: 50 })
      if (starts.length === 0) return
      const changes: Change[] = []
      for (const start of starts) {
        const { lane: of, entry } = start
        this.started += 1
        this.starts.set(of.account, (this.starts.get(of.account) ?? 0) + 1)
        const { seconds = 60 } = this.contest.accounts.find(({ name }) => name === of.account) ?? {}
        const ms = seconds * 1_000 * (1 + (this.contest.jitter ?? 0) * (2 * this.random.next() - 1))
        this.running.push({ atMs: this.nowMs + ms, start, sinceMs: this.nowMs })
        changes.push({ kind: 'LEFT', jobId: entry.jobId, laneId: of.id }, this.joining(of))
      }
      this.running.sort((a, b) => a.atMs - b.atMs)
      this.world.hear(heard(changes, { nowMs: this.nowMs }))
    }
  }

  private end(): void {
    const ending = this.running.shift()
    if (!ending) throw new Error('Nothing runs')
    this.nowMs = ending.atMs
    this.record(ending)
    const { runId } = ending.start.entry
    this.world.hear(heard([{ kind: 'RUN', runId, running: null }], { nowMs: this.nowMs }))
  }

  private record({ start: { lane: of, placements }, sinceMs }: Ending): void {
    this.uses.push({ account: of.account, gpu: sumAmounts(placements).gpu, sinceMs, untilMs: this.nowMs })
  }

  private totals(): ReadonlyMap<string, Got> {
    const { accounts, halfLifeMs = Number.POSITIVE_INFINITY } = this.contest
    const weightAt = (atMs: number) => 2 ** ((atMs - this.nowMs) / halfLifeMs)
    const got = new Map(
      accounts.map(({ name }) => [name, { starts: this.starts.get(name) ?? 0, gpuSeconds: 0, decayed: 0 }]),
    )
    for (const { account, gpu, sinceMs, untilMs } of this.uses) {
      const of = got.get(account)
      if (!of) continue
      of.gpuSeconds += (gpu * (untilMs - sinceMs)) / 1_000
      of.decayed += gpu * (weightAt(untilMs) - weightAt(sinceMs))
    }
    return got
  }
}
