interface Timed {
  /** Since the start. */
  atMs: number
  value: number | null
}

const pointsMax = 240

/** Moments from the start to the end of the longest series, and the last value that each series had then. */
export function alignSeries(series: readonly (readonly Timed[])[]): { at: number[]; values: (number | null)[][] } {
  const endMs = Math.max(0, ...series.map((each) => each.at(-1)?.atMs ?? 0))
  if (endMs === 0) return { at: [], values: series.map(() => []) }
  const at = Array.from({ length: pointsMax + 1 }, (_, i) => (endMs * i) / pointsMax)
  return { at, values: series.map((each) => at.map((ms) => valueAt(each, ms, endMs / pointsMax))) }
}

/** null: before the first sample, or after the end. */
function valueAt(series: readonly Timed[], ms: number, toleranceMs: number): number | null {
  const last = series.at(-1)
  if (!last || ms > last.atMs + toleranceMs) return null
  return series.findLast(({ atMs }) => atMs <= ms)?.value ?? null
}
