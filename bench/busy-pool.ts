import { Random } from '../simulate/random.ts'
import type { Lane, Policy } from '../src/domain/lanes.ts'
import { windowSize } from '../src/scheduler/plan/lane-window.ts'
import type { Change, Decisions, LaneState, Waiting } from '../src/scheduler/plan/model.ts'
import { planPass } from '../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../src/scheduler/plan/world.ts'
import { gpus, node, v100 } from '../test/support/machines.ts'
import { followStarts, lane, makeReceivedChanges, settings, snapshot, waiting } from '../test/support/planning.ts'
import { range } from '../test/support/pool.ts'
import { percentile } from './harness.ts'

/**
 * The rounds of a busy pool: 2,000 nodes of 8 GPUs, 200,000 waiting jobs of 200 accounts, which request 1, 2, 4 and 8
 * GPUs. Jobs that fit on no free nodes have planned starts. Runs end one after the other, long before their maximum run
 * times.
 */
const nodesCount = 2_000
const accountsCount = 200
const sizes = [1, 2, 4, 8]
const perLane = 250
const hourMs = 3_600_000

interface Asked {
  policy: Policy
  /** Fraction of the accounts whose jobs have this flag. */
  part: number
  flag: 'preemptable' | 'restartable'
}

class BusyPool {
  private readonly world: World
  private readonly random = new Random(1)
  private readonly next = new Map<string, number>()
  private readonly running: { runId: string; endsMs: number }[] = []
  private nowMs = 0

  constructor({ policy, part, flag }: Asked) {
    const lanes = range(0, accountsCount).flatMap((at) =>
      sizes.map((gpu) =>
        lane(`a${at}/${gpu}`, {
          account: `a${at}`,
          userId: `a${at}`,
          runSeconds: (hourMs / 1_000) * (1 + (at % 4)),
          [flag]: at < part * accountsCount,
          shape: { gpu, cpuMillis: 1 },
        }),
      ),
    )
    this.world = createWorld(
      snapshot({
        settings: settings({
          policy,
          nonPreemptableFraction: 1,
          shareHalfLifeMs: policy === 'PRIORITY' ? null : 24 * hourMs,
        }),
        nodes: range(0, nodesCount).map((at) => node(`n${String(at).padStart(4, '0')}`, { devices: gpus(v100) })),
        lanes: lanes.map((of) => this.stateOf(of)),
      }),
    )
    this.settle([])
  }

  private stateOf(of: Lane): LaneState {
    return { lane: of, userName: of.userId, team: null, waiting: perLane, first: this.firstOf(of.id) }
  }

  private firstOf(laneId: string): Waiting[] {
    const from = this.next.get(laneId) ?? 0
    const [account = '', size = ''] = laneId.slice(1).split('/')
    const place = Number(account) * sizes.length + sizes.indexOf(Number(size))
    return range(from, from + windowSize).map((at) => waiting(laneId, 1 + at * accountsCount * sizes.length + place))
  }

  /** Ends the oldest run. Returns the duration of each round in ms until no job starts. */
  end(): number[] {
    const ending = this.running.shift()
    if (!ending) throw new Error('Nothing runs')
    this.nowMs = ending.endsMs
    return this.settle([{ kind: 'RUN', runId: ending.runId, running: null }])
  }

  private settle(changes: readonly Change[]): number[] {
    const took: number[] = []
    for (let news = changes; ; ) {
      const began = performance.now()
      this.world.hear(makeReceivedChanges(news, { nowMs: this.nowMs }))
      const decisions = planPass(this.world, { startsMax: 50 })
      took.push(performance.now() - began)
      this.world.refill(new Map(decisions.needs.map((id) => [id, this.firstOf(id)])))
      news = this.follow(decisions)
      if (news.length === 0 && decisions.needs.length === 0) return took
    }
  }

  /** Returns the changes that the leader reads after its commit: evicted runs end at once. */
  private follow({ starts, evictions }: Decisions): Change[] {
    const victims = evictions.flatMap(({ victims }) => victims.map(({ running }) => running.runId))
    for (const { entry } of starts) {
      this.next.set(entry.laneId, (this.next.get(entry.laneId) ?? 0) + 1)
      const endsMs = this.nowMs + Math.round(hourMs * (0.2 + 0.6 * this.random.next()))
      this.running.push({ runId: entry.runId, endsMs })
    }
    const gone = new Set(victims)
    const left = this.running.filter(({ runId }) => !gone.has(runId)).sort((a, b) => a.endsMs - b.endsMs)
    this.running.splice(0, this.running.length, ...left)
    return [
      ...followStarts(this.world, { starts }, this.nowMs),
      ...victims.map((runId): Change => ({ kind: 'RUN', runId, running: null })),
    ]
  }
}

const ms = (value: number) => `${value.toFixed(2)} ms`

export function busyPools(): void {
  const shapes: [string, Asked][] = [
    ['PRIORITY', { policy: 'PRIORITY', part: 0, flag: 'preemptable' }],
    ['FAIR_SHARE', { policy: 'FAIR_SHARE', part: 0, flag: 'preemptable' }],
    ['FAIR_SHARE, every second job preemptable', { policy: 'FAIR_SHARE', part: 0.5, flag: 'preemptable' }],
    ['FAIR_SHARE, every second job restartable', { policy: 'FAIR_SHARE', part: 0.5, flag: 'restartable' }],
  ]
  for (const [name, asked] of shapes) {
    const pool = new BusyPool(asked)
    for (let warm = 0; warm < 50; warm++) pool.end()
    const took = range(0, 200).flatMap(() => pool.end())
    const figures = [percentile(took, 0.5), percentile(took, 0.99), Math.max(...took)].map(ms)
    process.stdout.write(
      `2,000 nodes, 200,000 queued, planned starts, ${name}: a round p50 ${figures[0]}, p99 ${figures[1]}, worst ${figures[2]} (goal: p50 ≤ 2 ms, p99 ≤ 20 ms)\n`,
    )
  }
}
