import type { Policy } from '../../domain/lanes.ts'
import { type PastArrivals, replayArrivals } from './arrivals.ts'
import type { Snapshot } from './model.ts'
import { type Play, playForward } from './play.ts'
import { Draws, findSource, type RunTime, type Source } from './run-times.ts'

/**
 * Forecasts starts by simulating the pool: once if nothing is uncertain, else several times, with run times drawn from
 * earlier runs. In every other simulation jobs join as in the past day. `p50Ms` is the median of those without them,
 * because arrivals of another hour make it worse; `p90Ms` is later than the start in nine of ten of those with them.
 */
export interface Forecast {
  /** Omits jobs that start too late, or never, in most simulations. */
  starts: ReadonlyMap<string, Quantiles>
  plays: number
  /** true: jobs of the past day joined again. */
  hasLater: boolean
  /** Number of jobs by the source of their run times. */
  basis: Record<Source, number>
  /** Jobs whose end is unknown, running jobs first. */
  unknown: readonly string[]
}

interface Quantiles {
  p50Ms: number
  p90Ms: number | null
}

interface ForecastOptions {
  /** By id of the job, running jobs first. */
  times: ReadonlyMap<string, RunTime>
  past?: PastArrivals
  graceMs: number
  /** Processor time spent so far; default: unlimited. */
  spentMs?: () => number
}

const playsMax = 20
const startsMax = 2_000
const unknownMax = 100
const idleMsMin = 3_600_000
/** p90 is moved away from p50 by this part of their distance. Under FAIR_SHARE later jobs may go first. */
const widening: Readonly<Record<Policy, number>> = { PRIORITY: 0, FAIR_SHARE: 0.2 }
/** Maximum processor time of the first simulation. The other simulations make no more starts than the first. */
const firstPlayMsMax = 200
/** Maximum processor time of all simulations. The simulation that exceeds it is discarded. */
const forecastMsMax = 500

const noPast: PastArrivals = { sinceMs: 0, arrivals: [] }

export function* forecast(
  snapshot: Snapshot,
  { times, past = noPast, graceMs, spentMs = () => 0 }: ForecastOptions,
): Generator<void, Forecast> {
  const { basis, unknown } = countSources(times)
  const hasLater = past.arrivals.some(({ runMs }) => runMs !== null)
  const isSure = basis.history + basis.parts === 0 && !hasLater
  const idleMsMax = Math.max(idleMsMin, snapshot.nowMs - past.sinceMs)
  const calm: ReadonlyMap<string, number>[] = []
  const busy: ReadonlyMap<string, number>[] = []
  const kinds = hasLater ? [calm, busy] : [calm]
  for (let play = 0; play < (isSure ? 1 : playsMax); play++) {
    const untilMs = play === 0 ? firstPlayMsMax : forecastMsMax
    const startsAt = new Map<string, number>()
    const plays = kinds[play % kinds.length] ?? calm
    const arriving = replayArrivals(plays === busy ? past : noPast, { nowMs: snapshot.nowMs, play })
    const how = {
      runMs: createRunTimeDraw(times, play),
      graceMs,
      startsMax: calm[0]?.size ?? startsMax,
      arriving,
      idleMsMax,
    }
    const isWhole = yield* playWhile(() => spentMs() < untilMs, playForward(snapshot, how, startsAt))
    if (!isWhole && play > 0) break
    plays.push(startsAt)
    if (startsAt.size === 0 && play === 0) break
  }
  const starts = computeQuantiles(calm, kinds.at(-1) ?? calm, widening[snapshot.settings.policy])
  return { starts, plays: calm.length + busy.length, hasLater, basis, unknown }
}

function createRunTimeDraw(times: ForecastOptions['times'], play: number): Play['runMs'] {
  const draws = new Draws(play)
  return ({ jobId, ranMs }) => {
    const time = times.get(jobId)
    return time ? draws.moreMs(time, { jobId, ranMs }) : null
  }
}

/** Runs the simulation while `hasTime`; true: it is complete. */
function* playWhile(hasTime: () => boolean, play: Iterable<unknown>): Generator<void, boolean> {
  for (const _ of play) {
    yield
    if (!hasTime()) return false
  }
  return true
}

function countSources(times: ForecastOptions['times']): Pick<Forecast, 'basis' | 'unknown'> {
  const basis = { history: 0, parts: 0, stated: 0, unknown: 0 }
  const unknown: string[] = []
  for (const [jobId, time] of times) {
    const source = findSource(time)
    basis[source]++
    if (source === 'unknown' && unknown.length < unknownMax) unknown.push(jobId)
  }
  return { basis, unknown }
}

function computeQuantiles(calm: Plays, busyPlays: Plays, wider: number): Map<string, Quantiles> {
  const busy = listStarts(busyPlays)
  const quantiles = new Map<string, Quantiles>()
  for (const [jobId, found] of listStarts(calm)) {
    const middle = (calm.length - 1) / 2
    const [low, high] = [found[Math.floor(middle)], found[Math.ceil(middle)]]
    if (low === undefined || high === undefined) continue
    const p50Ms = (low + high) / 2
    // The true start is at most the k-th earliest of n simulated starts with probability k / (n + 1).
    const place = Math.min(busyPlays.length, Math.ceil(0.9 * (busyPlays.length + 1)))
    const late = busy.get(jobId)?.[place - 1]
    const lateInCalm = found[Math.min(place, found.length) - 1] ?? p50Ms
    const latest = Math.max(late ?? 0, lateInCalm, p50Ms)
    quantiles.set(jobId, { p50Ms, p90Ms: late === undefined ? null : latest + wider * (latest - p50Ms) })
  }
  return quantiles
}

type Plays = readonly ReadonlyMap<string, number>[]

function listStarts(plays: Plays): Map<string, number[]> {
  const all = new Map<string, number[]>()
  for (const play of plays)
    for (const [jobId, atMs] of play) {
      const found = all.get(jobId)
      if (found) found.push(atMs)
      else all.set(jobId, [atMs])
    }
  for (const found of all.values()) found.sort((a, b) => a - b)
  return all
}
