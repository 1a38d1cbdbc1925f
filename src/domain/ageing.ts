/**
 * Ageing: under PRIORITY, waiting raises a priority that comes from the level of the user: by 10 for every full
 * threshold, up to 30. A priority that a person set does not rise, and a job with a closed gate does not age. The rule
 * exists in four forms (TypeScript and SQL), which `test/domain/ageing.test.ts` compares.
 */

const boost = 10
const boostedMax = 30

export const agingBands: readonly number[] = Array.from({ length: boostedMax / boost }, (_, steps) => steps * boost)

export interface Ageing {
  /** Priority of the lane of the job. */
  band: number
  /** true: a person set the priority, so waiting does not raise it. */
  overridden: boolean
  open: boolean
  sinceMs: number
}

export interface Moment {
  nowMs: number
  /** 0: ageing is off. */
  thresholdMs: number
}

const isRaisedByWaiting = (band: number, { thresholdMs }: Moment): boolean =>
  thresholdMs > 0 && band < boostedMax && band % boost === 0

const countSteps = (sinceMs: number, { nowMs, thresholdMs }: Moment): number =>
  Math.max(0, Math.floor((nowMs - sinceMs) / thresholdMs))

/** The time at which a job began to wait if its priority rises by `steps` now. */
const computeWaitStart = (steps: number, { nowMs, thresholdMs }: Moment): number => nowMs - steps * thresholdMs

export function computeEffectivePriority({ band, overridden, open, sinceMs }: Ageing, moment: Moment): number {
  if (overridden || !open || !isRaisedByWaiting(band, moment)) return band
  return Math.min(boostedMax, band + boost * countSteps(sinceMs, moment))
}

/** When the priority rises next, rounded up to whole milliseconds; null: never. */
export function findNextRiseMs(ageing: Ageing, moment: Moment): number | null {
  const { band, overridden, open, sinceMs } = ageing
  if (overridden || !open || !isRaisedByWaiting(band, moment) || computeEffectivePriority(ageing, moment) >= boostedMax)
    return null
  return Math.ceil(sinceMs) + (countSteps(sinceMs, moment) + 1) * moment.thresholdMs
}

/**
 * Open jobs of a band that have the same priority now. They began to wait after `afterMs`, and at `untilMs` at the
 * latest.
 */
export interface AgedStep {
  priority: number
  afterMs: number
  untilMs: number
}

export function listAgedSteps({ band, overridden }: Pick<Ageing, 'band' | 'overridden'>, moment: Moment): AgedStep[] {
  const last = overridden || !isRaisedByWaiting(band, moment) ? 0 : (boostedMax - band) / boost
  return Array.from({ length: last + 1 }, (_, steps) => ({
    priority: band + steps * boost,
    afterMs: steps === last ? -Infinity : computeWaitStart(steps + 1, moment),
    untilMs: steps === 0 ? Infinity : computeWaitStart(steps, moment),
  }))
}

/**
 * Jobs of a band that are ahead of a priority: those that have waited since `wholeMs`, and of those that have waited
 * since `tiedMs` the ones with an earlier sequence.
 */
export interface Cutoffs {
  wholeMs: number
  tiedMs: number
}

export function computeCutoffs(band: number, priority: number, moment: Moment): Cutoffs {
  if (band > priority) return { wholeMs: Infinity, tiedMs: Infinity }
  const short = priority - band
  if (!isRaisedByWaiting(band, moment)) return { wholeMs: -Infinity, tiedMs: short === 0 ? Infinity : -Infinity }
  const reachesIt = priority <= boostedMax && short % boost === 0
  return {
    wholeMs: priority < boostedMax ? computeWaitStart(Math.floor(short / boost) + 1, moment) : -Infinity,
    tiedMs: short === 0 ? Infinity : reachesIt ? computeWaitStart(short / boost, moment) : -Infinity,
  }
}

/** SQL of the threshold in milliseconds over the alias `pl` (pool_limits); 0: ageing is off. */
export const thresholdSql = `(CASE pl."values"->'starvationThresholdSeconds' WHEN 'null' THEN 0
  ELSE coalesce((pl."values"->>'starvationThresholdSeconds')::float8, 3600) END * 1000)`

/** SQL of `computeEffectivePriority` over the aliases `q` (queue_entry), `l` (lane) and `pl` (pool_limits). */
export const effectivePrioritySql = `CASE WHEN l.overridden OR NOT q.open OR q.band >= ${boostedMax} OR q.band % ${boost} <> 0 OR ${thresholdSql} <= 0 THEN q.band
  ELSE least(${boostedMax}, q.band + ${boost} * greatest(0, floor(extract(epoch FROM berth_now() - q.eligible_at) * 1000 / (${thresholdSql})))) END`

export const sqlTime = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString() : ms > 0 ? 'infinity' : '-infinity'
