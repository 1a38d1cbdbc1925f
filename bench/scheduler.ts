import type { Lane } from '../src/domain/lanes.ts'
import { windowSize } from '../src/scheduler/plan/lane-window.ts'
import type { Change, LaneState, Running, Waiting } from '../src/scheduler/plan/model.ts'
import { planPass } from '../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../src/scheduler/plan/world.ts'
import { gpus, node, shape, v100 } from '../test/support/machines.ts'
import {
  lane,
  makeReceivedChanges,
  makeRunning,
  placedOn,
  settings,
  snapshot,
  waiting,
} from '../test/support/planning.ts'
import { busyPools } from './busy-pool.ts'
import { percentile } from './harness.ts'

/**
 * The planner alone, over worlds in memory with 1,000 nodes of 8 GPUs, all of them busy:
 *
 * - from hearing of one end to the next start, with 10,000 and with 1,000,000 jobs in 6,000 lanes of as many accounts
 *   (goal: at most 1.5 times as long, p99 < 1 ms);
 * - a job that may start behind 10,000 that fit nowhere and 10,000 that a limit holds back, and without them;
 * - the choice of victims for a job of 8 GPUs among 10,000 runs (goal: < 100 ms);
 * - rounds with planned starts and preemptable jobs (busy-pool.ts).
 */
const lanesCount = 6_000
const nodesCount = 1_000
const gpusPerNode = 8
const ends = 10_000
const rounds = 5
const print = (line: string) => void process.stdout.write(`${line}\n`)
const fair = settings({ policy: 'FAIR_SHARE', nonPreemptableFraction: 1 })

const nodes = Array.from({ length: nodesCount }, (_, at) =>
  node(`n${String(at).padStart(4, '0')}`, { memoryBytes: 1_000_000, freeMemory: 1_000_000, devices: gpus(v100) }),
)

const runOn = (of: Lane, at: number): Running => {
  const gpuIds = at < nodesCount * gpusPerNode ? [Math.floor(at / nodesCount)] : []
  return makeRunning(of, waiting(of.id, -1 - at), {
    placements: [placedOn(nodes[at % nodesCount]?.name ?? '', { gpuIds })],
  })
}

// ── one end, one start ──

/** A queue of constant length, of which the world has the first entries. */
class Queue {
  readonly world: World
  private readonly perLane: number
  private readonly next = new Map<string, number>()
  private readonly runs: string[]

  constructor(jobs: number) {
    this.perLane = Math.ceil(jobs / lanesCount)
    const lanes = Array.from({ length: lanesCount }, (_, at) => lane(`l${at}`, { shape: { gpu: 1 } }))
    const running = Array.from({ length: nodesCount * gpusPerNode }, (_, at) =>
      runOn(lanes[at % lanesCount] ?? lane('l0'), at),
    )
    this.runs = running.map(({ runId }) => runId)
    this.world = createWorld(snapshot({ settings: fair, nodes, running, lanes: lanes.map((of) => this.stateOf(of)) }))
    planPass(this.world, { startsMax: 50 })
  }

  private stateOf(of: Lane): LaneState {
    const first = Array.from({ length: Math.min(windowSize, this.perLane) }, (_, at) => this.entry(of.id, at))
    return { lane: of, userName: of.userId, team: null, waiting: this.perLane, first }
  }

  private entry(laneId: string, at: number): Waiting {
    return waiting(laneId, at * lanesCount + Number(laneId.slice(1)))
  }

  /** Measures the time from the end of a run to the next start, in ms. */
  end(): number {
    const runId = this.runs.shift() ?? ''
    const began = performance.now()
    this.world.hear(makeReceivedChanges([{ kind: 'RUN', runId, running: null }]))
    let { starts, needs } = planPass(this.world, { startsMax: 50 })
    if (starts.length === 0) {
      this.refill(needs)
      starts = planPass(this.world, { startsMax: 50 }).starts
    }
    const took = performance.now() - began
    this.follow(starts.map(({ entry }) => entry))
    if (starts.length !== 1) throw new Error(`One ended and ${starts.length} started`)
    return took
  }

  private refill(laneIds: readonly string[]): void {
    const first = laneIds.map((id) => {
      const from = this.next.get(id) ?? 0
      return [
        id,
        Array.from({ length: Math.min(windowSize, this.perLane) }, (_, at) => this.entry(id, from + at)),
      ] as const
    })
    this.world.refill(new Map(first))
  }

  /** Passes the committed starts to the world, and adds another job at the end of the lane. */
  private follow(started: readonly Waiting[]): void {
    for (const { jobId, laneId, runId } of started) {
      this.runs.push(runId)
      const gone = (this.next.get(laneId) ?? 0) + 1
      this.next.set(laneId, gone)
      const changes: Change[] = [
        { kind: 'LEFT', jobId, laneId },
        { kind: 'JOINED', entry: this.entry(laneId, gone + this.perLane - 1) },
      ]
      this.world.hear(makeReceivedChanges(changes))
    }
  }
}

function afterAnEnd(): void {
  const queues = [10_000, 1_000_000].map((jobs) => ({ jobs, queue: new Queue(jobs), took: [] as number[] }))
  for (let round = 0; round <= rounds; round++)
    for (const { queue, took } of queues)
      for (let i = 0; i < ends / rounds; i++) {
        const one = queue.end()
        if (round > 0) took.push(one)
      }
  const [short, long] = queues.map(({ jobs, took }) => {
    const [half, most] = [percentile(took, 0.5), percentile(took, 0.99)]
    print(`${jobs} queued: end to next start p50 ${micro(half)}, p99 ${micro(most)}, worst ${micro(Math.max(...took))}`)
    return half
  })
  print(`p50 at 1,000,000 is ${((long ?? 0) / (short ?? 1)).toFixed(2)} × that at 10,000 (goal: ≤ 1.5)`)
}

const micro = (ms: number) => `${(ms * 1000).toFixed(1)} µs`

// ── behind jobs that cannot start ──

function behind(count: number): { first: number; next: number[] } {
  const never = Array.from({ length: count }, (_, at) => lane(`never${at}`, { priority: 30, shape: { gpu: 9 } }))
  const limited = Array.from({ length: count }, (_, at) =>
    lane(`limited${at}`, { priority: 30, userId: 'greedy', shape: { cpuMillis: 1 + at } }),
  )
  const lanes = [...never, ...limited].map((of, at) => ({
    lane: of,
    userName: of.userId,
    team: null,
    waiting: 1,
    first: [waiting(of.id, at)],
  }))
  const rule = { code: 'USER_LIMIT', on: 'user:', each: true, counts: 'jobs', model: null, max: 1 } as const
  const greedy = { ...runOn(lane('greedy', { userId: 'greedy' }), nodesCount * gpusPerNode) }
  const of = createWorld(snapshot({ settings: settings({ rules: [rule] }), nodes, lanes, running: [greedy] }))
  const began = performance.now()
  planPass(of, { startsMax: 50 })
  const first = performance.now() - began
  const next = Array.from({ length: ends / 10 }, (_, at) => {
    const runnable = lane(`runnable${at}`, { priority: 0 })
    const entry = waiting(runnable.id, 1_000_000 + at)
    const from = performance.now()
    const lanesHeard = [{ lane: runnable, userName: 'u', team: null }]
    of.hear(makeReceivedChanges([{ kind: 'JOINED', entry }], { lanes: lanesHeard }))
    if (planPass(of, { startsMax: 50 }).starts.length !== 1) throw new Error('The job did not start')
    const took = performance.now() - from
    of.hear(
      makeReceivedChanges([
        { kind: 'LEFT', jobId: entry.jobId, laneId: runnable.id },
        { kind: 'RUN', runId: entry.runId, running: null },
      ]),
    )
    return took
  })
  return { first, next }
}

function behindThose(): void {
  const alone = behind(0)
  const crowd = behind(10_000)
  print(`behind 10,000 that never fit and 10,000 limited: their first pass ${crowd.first.toFixed(1)} ms, once`)
  const [with_, without] = [percentile(crowd.next, 0.5), percentile(alone.next, 0.5)]
  print(
    `a job joins and starts: p50 ${micro(with_)} behind them, ${micro(without)} without (${(with_ / without).toFixed(2)} ×)`,
  )
}

// ── the choice of victims ──

function evictions(): void {
  const victim = lane('victims', { preemptable: true, shape: { gpu: 1 } })
  const running = Array.from({ length: 10_000 }, (_, at) => runOn(victim, at))
  const claimant = lane('claimant', { shape: shape({ gpu: 8 }) })
  const lanes = [{ lane: claimant, userName: 'u', team: null, waiting: 1, first: [waiting(claimant.id, 1)] }]
  const took = Array.from({ length: 20 }, () => {
    const of = createWorld(snapshot({ settings: fair, nodes, running, lanes }))
    const began = performance.now()
    const { evictions: found } = planPass(of, { startsMax: 50 })
    const ms = performance.now() - began
    if (found[0]?.victims.length !== gpusPerNode) throw new Error(`${found[0]?.victims.length} have to leave`)
    return ms
  })
  print(
    `8 of 10,000 runs sent away: p50 ${percentile(took, 0.5).toFixed(1)} ms, worst ${Math.max(...took).toFixed(1)} ms (goal: < 100 ms)`,
  )
}

afterAnEnd()
behindThose()
evictions()
busyPools()
