import type { Domain } from '../domain/domain.ts'
import { computeCountedBid, findStatedRunSeconds, type Lane } from '../domain/lanes.ts'
import { ignoreFenced, type Leader, runAsLeader } from '../domain/leadership.ts'
import { answerQuestion, readOpenQuestions } from '../domain/queue/questions.ts'
import type { AskedJob, ForecastAnswer } from '../domain/submission/preview.ts'
import { processorMs, yieldAlone } from '../platform/slices.ts'
import type { Sql } from '../platform/tx.ts'
import type { PastArrivals } from './plan/arrivals.ts'
import { type Forecast, forecast } from './plan/forecast.ts'
import { compareEntries, windowSize } from './plan/lane-window.ts'
import { getOrCompute } from './plan/memo.ts'
import type { LaneState, Snapshot, Waiting } from './plan/model.ts'
import { laterSequence } from './plan/play.ts'
import { chooseParts, historyMin, type RunTime, type StatedRun } from './plan/run-times.ts'
import type { Candidate } from './plan/trial.ts'
import { makeCandidate } from './questions.ts'
import { describeBasis, type PastStart, readPastStarts, storeForecast } from './stored/forecasting.ts'
import { readFirst, readNewLanes } from './stored/reading.ts'
import { readHistories, readKinds, readKindsOfSpec } from './stored/run-histories.ts'

interface ForecasterOptions {
  domain: Domain
  leader: Leader
  /** null: the world of the pool is not loaded. */
  copy(): Snapshot | null
  graceMs: number
}

const pauseMsMin = 2_000
/** Pause after a forecast, as a multiple of the processor time of the forecast. */
const pausePerWork = 50
/** Pause after the answer to a preview, as a multiple of the processor time of the answer. */
const pausePerAnswer = 5
const sliceMs = 5
/** Maximum number of waiting jobs in a forecast, and the minimum per lane. */
const entriesMax = 4_000
const perLaneMin = 8
const pastKeptMs = 60_000

/**
 * Forecasts the start times of waiting jobs, in the process of the leader: copies the leader's world, adds the waiting
 * jobs that are only in the database, simulates the pool in short slices, and stores the result for all servers.
 */
export function createForecaster({ domain, leader, copy, graceMs }: ForecasterOptions) {
  const { clock, db } = domain
  let spentMs = 0
  let past = createEmptyPast()
  let readMs = Number.NEGATIVE_INFINITY
  let kinds: ReadonlyMap<string, readonly string[]> = new Map()

  async function timesOf({ lanes, running }: Snapshot): Promise<Map<string, RunTime>> {
    if (clock.monotonicMs() - readMs > pastKeptMs) {
      past = await readPast(db.sql, leader.pool)
      readMs = clock.monotonicMs()
    }
    const waiting = lanes.flatMap(({ lane, first }) => first.map(({ jobId }) => ({ jobId, lane })))
    const jobs = [...running, ...waiting]
    const unknown = jobs.flatMap(({ jobId }) => (kinds.has(jobId) ? [] : [jobId]))
    const read = await readKinds(db.sql, unknown)
    const known = new Map(jobs.map(({ jobId }) => [jobId, kinds.get(jobId) ?? read.get(jobId) ?? []]))
    kinds = known
    return new Map(jobs.map(({ jobId, lane }) => [jobId, findRunTime(past, lane, known.get(jobId) ?? [])]))
  }

  /** Simulates the queue with the job in it. */
  async function forecastStart(known: Snapshot, asked: AskedJob, signal: AbortSignal) {
    const candidate = makeCandidate(leader.pool, asked)
    const { lane } = candidate
    const stored = await addLaterEntries(db.sql, known)
    const snapshot = addCandidate(stored, candidate)
    if (!snapshot) return { start: null, spentMs: 0 }
    const [times, kindsOfSpec] = [await timesOf(stored), await readKindsOfSpec(db.sql, lane, asked.spec)]
    times.set(candidateId, findRunTime(past, lane, kindsOfSpec))
    const { found, spentMs: spent } = await simulate(snapshot, { times, past, graceMs }, signal)
    const start = found?.starts.get(candidateId)
    return { start: found && start ? { ...start, basis: describeBasis(found) } : null, spentMs: spent }
  }

  return {
    async forecast(signal: AbortSignal): Promise<void> {
      spentMs = 0
      const known = copy()
      if (!known?.settings.automatic || known.lanes.length === 0) return
      const snapshot = await addLaterEntries(db.sql, known)
      const simulated = await simulate(snapshot, { times: await timesOf(snapshot), past, graceMs }, signal)
      spentMs = simulated.spentMs
      if (simulated.found) await ignoreFenced(storeForecast(domain, leader, simulated.found))
    },
    pauseMs: (): number => Math.max(pauseMsMin, pausePerWork * spentMs),
    /** Answers previews one after the other, because the servers that asked wait for a short time only. */
    async answer(signal: AbortSignal): Promise<void> {
      const questions = await readOpenQuestions(domain, leader.pool)
      for (const { id, payload } of questions.filter(({ kind }) => kind === 'FORECAST')) {
        const known = copy()
        const isAutomatic = known?.settings.automatic
        const answer = isAutomatic ? await forecastStart(known, payload as AskedJob, signal) : null
        const start: ForecastAnswer = answer?.start ?? null
        await ignoreFenced(runAsLeader(domain, leader, (sql) => answerQuestion(sql, id, { start })))
        domain.wakeups.poke('answer')
        await clock.sleep(pausePerAnswer * (answer?.spentMs ?? 0), signal)
      }
    },
  }
}

interface Simulated {
  /** null: the simulation was aborted, because the leader stopped. */
  found: Forecast | null
  /** Processor time of the simulation. */
  spentMs: number
}

/** Simulates in short slices. */
async function simulate(
  snapshot: Snapshot,
  { times, past, graceMs }: { times: ReadonlyMap<string, RunTime>; past: Past; graceMs: number },
  signal: AbortSignal,
): Promise<Simulated> {
  let spentMs = 0
  const steps = forecast(snapshot, { times, past: listArrivals(snapshot, past), graceMs, spentMs: () => spentMs })
  for (;;) {
    const beganMs = processorMs()
    const before = spentMs
    while (spentMs - before < sliceMs) {
      const { done, value } = steps.next()
      spentMs = before + processorMs() - beganMs
      if (done) return { found: value, spentMs }
    }
    await yieldAlone()
    if (signal.aborted) return { found: null, spentMs }
  }
}

interface Past {
  histories: ReadonlyMap<string, readonly number[]>
  /** Runs with a stated maximum run time, by id of the user. */
  stated: ReadonlyMap<string, readonly StatedRun[]>
  statedOfPool: readonly StatedRun[]
  /** Cache of chooseParts, by id of the user and maximum run time. */
  parts: Map<string, readonly number[]>
  arrivals: PastArrivals
}

/** `kinds`: the kinds of the job, the most precise first. */
function findRunTime(past: Past, lane: Lane, kinds: readonly string[]): RunTime {
  const runsLike = (kind: string) => past.histories.get(kind) ?? []
  const longest = kinds.toSorted((a, b) => runsLike(b).length - runsLike(a).length)[0] ?? ''
  const kind = kinds.find((each) => runsLike(each).length >= historyMin) ?? longest
  const seconds = findStatedRunSeconds(lane)
  const statedMs = seconds === null ? null : seconds * 1_000
  return { kind, history: runsLike(kind), parts: findParts(past, lane.userId, statedMs), statedMs }
}

function findParts({ stated, statedOfPool, parts }: Past, userId: string, statedMs: number | null): readonly number[] {
  return getOrCompute(parts, `${userId}/${statedMs}`, () =>
    chooseParts(stated.get(userId) ?? [], statedOfPool, statedMs),
  )
}

const createEmptyPast = (): Past => ({
  histories: new Map(),
  stated: new Map(),
  statedOfPool: [],
  parts: new Map(),
  arrivals: { sinceMs: Number.POSITIVE_INFINITY, arrivals: [] },
})

async function readPast(sql: Sql, pool: string): Promise<Past> {
  const [histories, { sinceMs, starts }] = await Promise.all([readHistories(sql, pool), readPastStarts(sql, pool)])
  const lanes = await readNewLanes(sql, [...new Set(starts.map(({ laneId }) => laneId))])
  const byId = new Map(lanes.map(({ lane }) => [lane.id, lane]))
  const byUser = Map.groupBy(starts, ({ userId }) => userId)
  const listStated = (of: readonly PastStart[]) =>
    of.flatMap(({ ranMs, statedMs }) =>
      ranMs === null || statedMs === null ? [] : [{ part: ranMs / statedMs, statedMs }],
    )
  return {
    histories,
    stated: new Map([...byUser].map(([userId, of]) => [userId, listStated(of)])),
    statedOfPool: listStated(starts),
    parts: new Map(),
    arrivals: {
      sinceMs,
      arrivals: starts.flatMap(({ laneId, eligibleMs, ranMs }) => {
        const lane = byId.get(laneId)
        return lane ? [{ lane, atMs: eligibleMs, runMs: ranMs }] : []
      }),
    },
  }
}

/** Lists the arrivals of jobs that started, and of jobs that still wait. */
function listArrivals({ nowMs, lanes }: Snapshot, { arrivals: { sinceMs, arrivals } }: Past): PastArrivals {
  const waiting = lanes.flatMap(({ lane, first }) => first.map(({ sinceMs: atMs }) => ({ lane, atMs, runMs: null })))
  const all = [...arrivals, ...waiting].filter(({ atMs }) => atMs >= sinceMs && atMs <= nowMs)
  return { sinceMs, arrivals: all.toSorted((a, b) => a.atMs - b.atMs) }
}

const candidateId = 'candidate'

/** Adds the candidate to the snapshot. null: the snapshot has only the first jobs of its lane. */
function addCandidate(snapshot: Snapshot, { entry, ...of }: Candidate): Snapshot | null {
  const { nowMs, settings, lanes } = snapshot
  const { interactive } = of.lane
  const bid = computeCountedBid(settings.policy, { interactive, bid: entry.bid })
  const asked: Waiting = {
    ...entry,
    jobId: candidateId,
    runId: candidateId,
    bid,
    sequence: laterSequence,
    sinceMs: nowMs,
  }
  const same = lanes.find(({ lane }) => lane.id === of.lane.id)
  if (!same) return { ...snapshot, lanes: [...lanes, { ...of, waiting: 1, first: [asked] }] }
  if (same.first.length < same.waiting) return null
  const first = [...same.first, asked].toSorted(compareEntries)
  return { ...snapshot, lanes: lanes.map((each) => (each === same ? { ...same, waiting: first.length, first } : each)) }
}

/** Adds later entries of long lanes from the database, because the world has only their first entries. */
async function addLaterEntries(sql: Sql, known: Snapshot): Promise<Snapshot> {
  const perLane = Math.max(perLaneMin, Math.floor(entriesMax / known.lanes.length))
  const short = known.lanes.filter(({ waiting, first }) => first.length < Math.min(waiting, perLane))
  const ids = short.map(({ lane }) => lane.id)
  const more = perLane > windowSize && ids.length > 0 ? await readFirst(sql, ids, perLane) : null
  const complete = ({ first, ...of }: LaneState): LaneState => {
    const last = first.at(-1)
    // Entries up to `last` may have started since the copy was made.
    const behind = (more?.get(of.lane.id) ?? []).filter((entry) => !last || compareEntries(last, entry) < 0)
    return { ...of, first: [...first, ...behind].slice(0, perLane) }
  }
  return { ...known, lanes: known.lanes.map(complete) }
}
