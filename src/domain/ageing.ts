/** Under PRIORITY waiting raises a priority that comes from a level: by 10 for every full threshold, up to 30. */
export const boost = 10
export const boostedMax = 30

export interface Ageing {
  /** The priority of its lane. */
  band: number
  /** A person set it: waiting does not raise it. */
  overridden: boolean
  /** Gated ones do not age. */
  open: boolean
  sinceMs: number
}

export interface Moment {
  nowMs: number
  /** 0: nothing ages. */
  thresholdMs: number
}

export const ages = (band: number, { thresholdMs }: Moment): boolean =>
  thresholdMs > 0 && band < boostedMax && band % boost === 0

/** Priority now. */
export function effectivePriority({ band, overridden, open, sinceMs }: Ageing, moment: Moment): number {
  if (overridden || !open || !ages(band, moment)) return band
  const steps = Math.max(0, Math.floor((moment.nowMs - sinceMs) / moment.thresholdMs))
  return Math.min(boostedMax, band + boost * steps)
}

/** Milliseconds, over the alias `pl` (pool_limits). */
export const thresholdSql = `coalesce((pl."values"->>'starvationThresholdSeconds')::float8, 3600) * 1000`

/** The same over `q` (queue_entry), `l` (lane) and `pl`. */
export const effectiveSql = `CASE WHEN l.overridden OR NOT q.open OR q.band >= ${boostedMax} OR q.band % ${boost} <> 0 OR ${thresholdSql} <= 0 THEN q.band
  ELSE least(${boostedMax}, q.band + ${boost} * greatest(0, floor(extract(epoch FROM berth_now() - q.eligible_at) * 1000 / (${thresholdSql})))) END`

/** A moment for the database, or what is before or after all moments. */
export const timeText = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString() : ms > 0 ? 'infinity' : '-infinity'
