import type { Lane, Policy } from '../src/domain/lanes.ts'
import type { PastArrivals } from '../src/scheduler/plan/arrivals.ts'
import { drain } from '../src/scheduler/plan/drain.ts'
import { type Forecast, forecast } from '../src/scheduler/plan/forecast.ts'
import type { Change, LaneState, Waiting } from '../src/scheduler/plan/model.ts'
import { planPass } from '../src/scheduler/plan/plan.ts'
import { chooseParts, historyMax, type RunTime } from '../src/scheduler/plan/run-times.ts'
import { createWorld, type World } from '../src/scheduler/plan/world.ts'
import { gpus, node, v100 } from '../test/support/machines.ts'
import { followStarts, lane, makeReceivedChanges, settings, snapshot, waiting } from '../test/support/planning.ts'
import { range } from '../test/support/pool.ts'
import { Random } from './random.ts'
import { makeWork } from './workload.ts'

/**
 * Measures the error of forecasts. The real planner simulates a day with run times that the forecast does not know. At
 * some times every waiting job is forecast; later the forecasts are compared with the starts. Seeded, in simulated
 * time.
 */

/** Jobs of one person with the same name and shape. */
interface Kind {
  user: string
  gpu: number
  copies?: number
  seconds: number
  /** The stated maximum run time; null: none. */
  limitSeconds: number | null
  /** Earlier run times, in milliseconds. */
  history: readonly number[]
}

interface Job {
  kind: Kind
  of: Lane
  entry: Waiting
  arrivesMs: number
  runMs: number
  startMs: number | null
}

export interface Judged {
  waitMs: number
  /** Error of the p50, as a fraction of the wait. */
  error: number
  /** Whether the job started before its p90; null: the forecast had none. */
  isCovered: boolean | null
}

export interface Figures {
  forecasts: number
  medianWaitSeconds: number
  medianError: number
  /** The part of the jobs that have a p90. */
  bounded: number
  /** The part of the jobs with a p90 that started before it. */
  covered: number
}

export function computeFigures(judged: readonly Judged[]): Figures {
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
  const bounded = judged.filter(({ isCovered }) => isCovered !== null)
  return {
    forecasts: judged.length,
    medianWaitSeconds: median(judged.map(({ waitMs }) => waitMs)) / 1_000,
    medianError: median(judged.map(({ error }) => error)),
    bounded: bounded.length / judged.length,
    covered: bounded.filter(({ isCovered }) => isCovered).length / bounded.length,
  }
}

const nodesCount = 4

/**
 * 200 jobs wait for 32 GPUs. Run times are known: every job states a maximum of 8 to 30 s and takes 60 to 100 % of it.
 * Its person has 20 similar earlier runs that took the same fraction of their maxima.
 */
export function playKnownDay(seed: number, policy: Policy): Judged[] {
  const random = new Random(seed)
  const runMs = (kind: Kind) => Math.round((kind.limitSeconds ?? 0) * 1_000 * (0.6 + 0.4 * random.next()))
  const kinds = range(0, 10).map((at) => {
    const seconds = random.between(8, 30)
    const gpu = random.of([1, 1, 2, 4])
    return withHistory({ user: `u${at % 5}`, gpu, seconds, limitSeconds: seconds, history: [] }, runMs)
  })
  const jobs = range(0, 200).map((at) => {
    const kind = oneOf(kinds, random)
    return newJob(kind, { at, arrivesMs: 0, runMs: runMs(kind) })
  })
  return new Day({ policy, jobs, looksMs: [1] }).play()
}

const withHistory = (kind: Kind, runMs: (kind: Kind) => number): Kind => ({
  ...kind,
  history: range(0, historyMax).map(() => runMs(kind)),
})

function oneOf<T>(from: readonly T[], random: Random): T {
  const [first, ...rest] = from
  if (first === undefined) throw new Error('The list is empty')
  return random.of([first, ...rest])
}

/**
 * For 8 hours jobs of 12 people arrive, about as many as 32 GPUs can run, alone and in batches; they take 1 to 90
 * minutes. Run times are unknown: no job has a limit, the run times of a kind differ by a factor of e, and each kind
 * has 20 earlier runs.
 */
export function playMixedDay(seed: number, policy: Policy): Judged[] {
  const random = new Random(seed)
  const runMs = (kind: Kind) => Math.round(kind.seconds * 1_000 * Math.exp(0.5 * random.normal()))
  const kinds = range(0, 30).map((at) => {
    const gpu = random.of([1, 1, 1, 2, 4, 8])
    const seconds = random.of([60, 300, 300, 900, 1_800, 5_400])
    return withHistory({ user: `u${at % 12}`, gpu, seconds, limitSeconds: null, history: [] }, runMs)
  })
  const jobs: Job[] = []
  const hours = 8
  for (let atMs = 0; atMs < hours * 3_600_000; ) {
    const kind = oneOf(kinds, random)
    const count = random.chance(0.2) ? random.between(5, 30) : 1
    for (let one = 0; one < count; one++)
      jobs.push(newJob(kind, { at: jobs.length, arrivesMs: Math.round(atMs), runMs: runMs(kind) }))
    atMs += -Math.log(1 - random.next()) * 600_000
  }
  return new Day({ policy, jobs, looksMs: range(1, 2 * hours).map((half) => half * 1_800_000) }).play()
}

/**
 * A new installation, without earlier runs: jobs of workload.ts at a load of 0.95. People state limits of 1.2 to 2.5
 * times the run time or the next round one above, and the names of jobs say nothing.
 */
export function playNewDay(seed: number, policy: Policy): Judged[] {
  const works = makeWork({ seed, nodes: nodesCount, load: 0.95, jobs: 150 })
  const jobs = works.map(({ id, user, copies, gpus: gpu, arrivesMs, runMs, limitMs }) => {
    const kind = { user, gpu, copies, seconds: id, limitSeconds: limitMs / 1_000, history: [] }
    return newJob(kind, { at: id, arrivesMs, runMs })
  })
  const lastMs = works.at(-1)?.arrivesMs ?? 0
  return new Day({ policy, jobs, looksMs: range(1, 6).map((part) => (part * lastMs) / 6) }).play()
}

function newJob(kind: Kind, { at, arrivesMs, runMs }: { at: number; arrivesMs: number; runMs: number }): Job {
  const { user, gpu, copies = 1, limitSeconds } = kind
  const id = `${user}/${copies * gpu}/${limitSeconds}`
  const of = lane(id, {
    userId: user,
    account: user,
    runSeconds: limitSeconds,
    shape: { gpu, copies, cpuMillis: 1, memoryBytes: 0 },
  })
  const entry = waiting(id, at + 1, { sinceMs: arrivesMs })
  return { kind, of, entry, arrivesMs, runMs, startMs: null }
}

interface DayOf {
  policy: Policy
  jobs: readonly Job[]
  looksMs: readonly number[]
}

interface Look {
  atMs: number
  forecast: Forecast
  waiting: readonly Job[]
}

class Day {
  private readonly day: DayOf
  private readonly world: World
  private readonly jobs: ReadonlyMap<string, Job>
  private readonly running: { atMs: number; runId: string }[] = []
  private readonly arriving: Job[]
  private readonly looking: number[]
  private readonly looks: Look[] = []
  private nowMs = 0

  constructor(day: DayOf) {
    this.day = day
    this.jobs = new Map(day.jobs.map((job) => [job.entry.jobId, job]))
    this.arriving = [...day.jobs]
    this.looking = [...day.looksMs]
    this.world = createWorld(
      snapshot({
        settings: settings({ policy: day.policy, nonPreemptableFraction: 1 }),
        nodes: range(0, nodesCount).map((at) => node(`n${at}`, { devices: gpus(v100) })),
      }),
    )
  }

  play(): Judged[] {
    while (this.arriving.length + this.running.length > 0 || this.day.jobs.some(({ startMs }) => startMs === null)) {
      this.join()
      this.fill()
      if (this.looking[0] !== undefined && this.looking[0] <= this.nowMs) this.look()
      this.advance()
    }
    return this.looks.flatMap((look) => look.waiting.flatMap((job) => judge(look, job) ?? []))
  }

  private join(): void {
    const now = this.arriving.filter(({ arrivesMs }) => arrivesMs <= this.nowMs)
    this.arriving.splice(0, now.length)
    const known = new Map(now.map(({ of }) => [of.id, { lane: of, userName: of.userId, team: null }]))
    this.hear(
      now.map(({ entry }) => ({ kind: 'JOINED', entry })),
      [...known.values()],
    )
  }

  private hear(changes: readonly Change[], lanes: readonly Omit<LaneState, 'waiting' | 'first'>[] = []): void {
    this.world.hear(makeReceivedChanges(changes, { nowMs: this.nowMs, lanes }))
  }

  private fill(): void {
    for (;;) {
      const { starts } = planPass(this.world, { startsMax: 50 })
      if (starts.length === 0) return
      for (const { entry } of starts) {
        const job = this.jobs.get(entry.jobId)
        if (!job) throw new Error(`An unknown job ${entry.jobId} started`)
        job.startMs = this.nowMs
        this.running.push({ atMs: this.nowMs + job.runMs, runId: entry.runId })
      }
      this.running.sort((a, b) => a.atMs - b.atMs)
      this.hear(followStarts(this.world, { starts }, this.nowMs))
    }
  }

  private look(): void {
    this.looking.shift()
    const { jobs } = this.day
    const ended = jobs.filter(({ startMs, runMs }) => startMs !== null && startMs + runMs <= this.nowMs)
    const times = new Map(jobs.map((job) => [job.entry.jobId, findRunTime(job, ended)]))
    const found = drain(forecast(this.world.state.copy, { times, past: this.past(ended), graceMs: 10_000 }))
    const waits = jobs.filter(({ arrivesMs, startMs }) => arrivesMs <= this.nowMs && startMs === null)
    this.looks.push({ atMs: this.nowMs, forecast: found, waiting: waits })
  }

  private past(ended: readonly Job[]): PastArrivals {
    const isEnded = new Set(ended)
    const arrived = this.day.jobs.filter(({ arrivesMs }) => arrivesMs > 0 && arrivesMs <= this.nowMs)
    return {
      sinceMs: 0,
      arrivals: arrived.map((job) => ({
        lane: job.of,
        atMs: job.arrivesMs,
        runMs: isEnded.has(job) ? job.runMs : null,
      })),
    }
  }

  private advance(): void {
    const moments = [this.running[0]?.atMs, this.arriving[0]?.arrivesMs, this.looking[0]]
    const next = Math.min(...moments.filter((moment) => moment !== undefined))
    if (next === Infinity) return
    this.nowMs = Math.max(this.nowMs, next)
    const ended = this.running.filter(({ atMs }) => atMs <= this.nowMs)
    this.running.splice(0, ended.length)
    this.hear(ended.map(({ runId }) => ({ kind: 'RUN', runId, running: null })))
  }
}

/** Finds the run time of a job as a leader knows it, from runs that have ended. */
function findRunTime({ kind, of }: Job, ended: readonly Job[]): RunTime {
  const { history, limitSeconds, seconds } = kind
  const own = ended.filter((job) => job.kind === kind).map(({ runMs }) => runMs)
  const statedMs = limitSeconds === null ? null : limitSeconds * 1_000
  const listParts = (jobs: readonly Job[]) =>
    jobs.flatMap(({ runMs, kind: { limitSeconds: stated } }) =>
      stated === null ? [] : [{ part: runMs / (stated * 1_000), statedMs: stated * 1_000 }],
    )
  const personal = listParts(ended.filter((job) => job.kind.user === kind.user))
  return {
    kind: `${of.id}/${seconds}`,
    history: [...history, ...own].slice(-historyMax),
    parts: chooseParts(personal, listParts(ended), statedMs),
    statedMs,
  }
}

function judge({ atMs, forecast: { starts } }: Look, { entry, startMs }: Job): Judged | null {
  const found = starts.get(entry.jobId)
  if (startMs === null) return null
  const waitMs = startMs - atMs
  if (!found) return { waitMs, error: Infinity, isCovered: null }
  const error = Math.abs(found.p50Ms - startMs) / Math.max(1, waitMs)
  return { waitMs, error, isCovered: found.p90Ms === null ? null : startMs <= found.p90Ms }
}
