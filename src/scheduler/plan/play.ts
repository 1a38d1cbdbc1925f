import type { LaterArrival } from './arrivals.ts'
import { Heap } from './heap.ts'
import type { Change, Decisions, Running, Snapshot, Waiting } from './model.ts'
import { planPass } from './plan.ts'
import { buildWorld, type World } from './world.ts'

/**
 * Simulates a pool: the planner decides on a copy of it, time jumps to the next event, and runs end after `runMs`.
 * Other jobs join from `arriving`. An evicted job ends after the grace period and is queued again if it is restartable.
 */
export interface Play {
  /** Remaining run time; null: the run has no known end. */
  runMs(job: { jobId: string; ranMs: number }): number | null
  graceMs: number
  startsMax: number
  arriving?: Iterator<LaterArrival, undefined>
  /** The simulation ends if other jobs join and no job of the copy started for this time. */
  idleMsMax?: number
}

interface Ending {
  atMs: number
  running: Running
}

/** Jobs that join during the simulation have sequences from here on. */
export const laterSequence = Math.floor(Number.MAX_SAFE_INTEGER / 2)

const stepsMax = 50_000
const startsPerRound = 10
const runsPerStep = 500

/** Yields after each step. Adds the simulated start time of each job to `startsAt`. */
export function* playForward(snapshot: Snapshot, how: Play, startsAt: Map<string, number>): Generator<void, void> {
  const playing = new Playing(yield* buildWorld(snapshot), how, startsAt)
  for (const [at, running] of snapshot.running.entries()) {
    playing.goOn(running)
    if (at % runsPerStep === 0) yield
  }
  for (let step = 0; step < stepsMax && startsAt.size < how.startsMax; step++) {
    yield
    if (!playing.step()) return
  }
}

class Playing {
  private readonly how: Play
  private readonly startsAt: Map<string, number>
  private readonly world: World
  private readonly endings = new Heap<Ending>((a, b) => a.atMs < b.atMs)
  private readonly endingOf = new Map<string, Ending>()
  private readonly again = new Map<string, Waiting>()
  private nowMs: number
  private requeued = 0
  private readonly later = new Map<string, LaterArrival>()
  private next: LaterArrival | undefined
  private lastStartMs: number

  constructor(world: World, how: Play, startsAt: Map<string, number>) {
    this.how = how
    this.startsAt = startsAt
    this.world = world
    this.nowMs = Math.ceil(world.state.nowMs)
    this.lastStartMs = this.nowMs
    this.next = how.arriving?.next().value
  }

  goOn(running: Running): void {
    const { jobId, leaving, startedMs } = running
    const ranMs = Math.max(0, this.nowMs - (startedMs ?? this.nowMs))
    this.end(running, this.how.runMs({ jobId, ranMs }))
    if (!leaving) return
    this.end(running, this.how.graceMs)
    this.queueAgain(running)
  }

  /** Simulates until the next event. false: no further event is known. */
  step(): boolean {
    const decisions = planPass(this.world, { startsMax: startsPerRound })
    const { starts, evictions, dropped, refused, needs, considered, nextMs } = decisions
    if (starts.length + evictions.length + dropped.length + refused.length > 0) {
      this.follow(decisions)
      return true
    }
    // The simulation ends here, because later entries of the lane are not in the snapshot.
    if (needs.length > 0) return false
    const dueMs = nextMs !== null && (nextMs > this.nowMs || considered > 0) ? nextMs : null
    const next = Math.min(this.endings.first?.atMs ?? Infinity, dueMs ?? Infinity, this.next?.atMs ?? Infinity)
    if (next === Infinity || (this.next && next - this.lastStartMs > (this.how.idleMsMax ?? Infinity))) return false
    this.advance(Math.max(next, this.nowMs))
    return true
  }

  private end(running: Running, inMs: number | null): void {
    if (inMs === null) return
    const ending = this.endingOf.get(running.runId) ?? { atMs: Infinity, running }
    ending.atMs = Math.min(ending.atMs, Math.ceil(this.nowMs + inMs))
    this.endingOf.set(running.runId, ending)
    this.endings.put(ending)
  }

  private follow({ starts, evictions, refused }: Decisions): void {
    const changes: Change[] = []
    for (const { entry } of starts) {
      const { jobId, runId, laneId } = entry
      const later = this.later.get(jobId)
      if (!later) this.lastStartMs = this.nowMs
      if (!later && !this.startsAt.has(jobId)) this.startsAt.set(jobId, this.nowMs)
      const started = this.world.state.running.get(runId)
      if (!started) continue
      const running: Running = { ...started, state: 'RUNNING', startedMs: this.nowMs }
      this.end(running, later ? later.runMs : this.how.runMs({ jobId, ranMs: 0 }))
      changes.push({ kind: 'LEFT', jobId, laneId }, { kind: 'RUN', runId, running })
    }
    for (const { entry } of refused) changes.push({ kind: 'LEFT', jobId: entry.jobId, laneId: entry.laneId })
    for (const { running } of evictions.flatMap(({ victims }) => victims)) {
      this.end(running, this.how.graceMs)
      this.queueAgain(running)
    }
    this.hear(changes)
  }

  /** Queues the job again before the other jobs of its lane, which were submitted later. */
  private queueAgain({ lane, jobId, runId, run }: Running): void {
    if (!lane.restartable) return
    const sequence = Number.MIN_SAFE_INTEGER + ++this.requeued
    const next = { jobId, runId: `${runId}+`, laneId: lane.id, run: run + 1, bid: 0, sequence, sinceMs: this.nowMs }
    this.again.set(runId, next)
  }

  private advance(nowMs: number): void {
    this.nowMs = Math.ceil(nowMs)
    const changes: Change[] = []
    const lanes = new Map<string, Running['lane']>()
    for (let first = this.endings.first; first && first.atMs <= this.nowMs; first = this.endings.first) {
      const { runId, lane } = first.running
      this.endings.remove(first)
      this.endingOf.delete(runId)
      changes.push({ kind: 'RUN', runId, running: null })
      const entry = this.again.get(runId)
      if (!entry) continue
      this.again.delete(runId)
      lanes.set(lane.id, lane)
      changes.push({ kind: 'JOINED', entry: { ...entry, sinceMs: this.nowMs } })
    }
    for (; this.next && this.next.atMs <= this.nowMs; this.next = this.how.arriving?.next().value) {
      const { lane } = this.next
      const jobId = `later ${this.later.size}`
      this.later.set(jobId, this.next)
      lanes.set(lane.id, lane)
      const sequence = laterSequence + this.later.size
      const entry = { jobId, runId: jobId, laneId: lane.id, run: 1, bid: 0, sequence, sinceMs: this.nowMs }
      changes.push({ kind: 'JOINED', entry })
    }
    this.hear(changes, lanes)
  }

  private hear(changes: readonly Change[], lanes: ReadonlyMap<string, Running['lane']> = new Map()): void {
    const known = [...lanes.values()].map((lane) => ({ lane, userName: lane.userId, team: null }))
    this.world.hear({ nowMs: this.nowMs, changes, lanes: known, nextDueMs: null, more: false })
  }
}
