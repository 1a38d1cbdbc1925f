import type { Snapshot } from './model.ts'
import { playForward } from './play.ts'
import { Draws, hasHistory, type RunTime } from './run-times.ts'

/**
 * Forecasts starts by simulating the pool: once if all run times are limits, else several times with run times drawn
 * from history. In nine of ten cases a job starts by `p90Ms`.
 */
export interface Forecast {
  /** Omits jobs that start too late, or never, in most simulations. */
  starts: ReadonlyMap<string, Quantiles>
  plays: number
  basis: { history: number; limit: number; unknown: number }
}

interface Quantiles {
  p50Ms: number
  p90Ms: number | null
}

interface ForecastOptions {
  times: ReadonlyMap<string, RunTime>
  graceMs: number
  /** Processor time spent so far; default: unlimited. */
  spentMs?: () => number
}

const playsMax = 20
const startsMax = 2_000
/** Maximum processor time of the first simulation; the others simulate no more starts than the first. */
const firstPlayMsMax = 200
/** Maximum processor time of all simulations; one that exceeds it is discarded. */
const forecastMsMax = 500

export function* forecast(
  snapshot: Snapshot,
  { times, graceMs, spentMs = () => 0 }: ForecastOptions,
): Generator<void, Forecast> {
  const basis = basisOf(times)
  const plays: ReadonlyMap<string, number>[] = []
  for (let play = 0; play < (basis.history > 0 ? playsMax : 1); play++) {
    const untilMs = play === 0 ? firstPlayMsMax : forecastMsMax
    const startsAt = new Map<string, number>()
    const draws = new Draws(play)
    const runMs = ({ jobId, ranMs }: { jobId: string; ranMs: number }) => {
      const time = times.get(jobId)
      return time ? draws.moreMs(time, { jobId, ranMs }) : null
    }
    let isWhole = true
    for (const _ of playForward(snapshot, { runMs, graceMs, startsMax: plays[0]?.size ?? startsMax }, startsAt)) {
      yield
      if (spentMs() < untilMs) continue
      isWhole = false
      break
    }
    if (!isWhole && play > 0) break
    plays.push(startsAt)
    if (startsAt.size === 0 && play === 0) break
  }
  return { starts: quantilesOf(plays), plays: plays.length, basis }
}

function basisOf(times: ForecastOptions['times']): Forecast['basis'] {
  const basis = { history: 0, limit: 0, unknown: 0 }
  for (const time of times.values()) basis[hasHistory(time) ? 'history' : time.limitMs === null ? 'unknown' : 'limit']++
  return basis
}

function quantilesOf(plays: readonly ReadonlyMap<string, number>[]): Map<string, Quantiles> {
  const all = new Map<string, number[]>()
  for (const play of plays)
    for (const [jobId, atMs] of play) {
      const found = all.get(jobId)
      if (found) found.push(atMs)
      else all.set(jobId, [atMs])
    }
  const quantiles = new Map<string, Quantiles>()
  for (const [jobId, found] of all) {
    const inOrder = found.toSorted((a, b) => a - b)
    const middle = (plays.length - 1) / 2
    const [low, high] = [inOrder[Math.floor(middle)], inOrder[Math.ceil(middle)]]
    if (low === undefined || high === undefined) continue
    // The true start is at most the k-th earliest of n simulated starts with probability k / (n + 1).
    const place = Math.min(plays.length, Math.ceil(0.9 * (plays.length + 1)))
    quantiles.set(jobId, { p50Ms: (low + high) / 2, p90Ms: inOrder[place - 1] ?? null })
  }
  return quantiles
}
