interface Timed {
  /** Time since the start of the run. */
  atMs: number
  value: number | null
}

const pointsMax = 240

/** Interpolates the values of all series at common times, from the start to the end of the longest series. */
export function alignSeries(series: readonly (readonly Timed[])[]): { at: number[]; values: (number | null)[][] } {
  const endMs = Math.max(0, ...series.map((each) => each.at(-1)?.atMs ?? 0))
  if (endMs === 0) return { at: [], values: series.map(() => []) }
  const at = Array.from({ length: pointsMax + 1 }, (_, i) => (endMs * i) / pointsMax)
  return { at, values: series.map((each) => at.map((ms) => valueAt(each, ms))) }
}

/** Interpolates the value at `ms`; null: outside of the series, or next to a sample without a value. */
function valueAt(series: readonly Timed[], ms: number): number | null {
  const after = series.findIndex(({ atMs }) => atMs >= ms)
  const right = series[after]
  const left = right?.atMs === ms ? right : series[after - 1]
  if (!left || !right || left.value === null || right.value === null) return null
  const share = right.atMs === left.atMs ? 0 : (ms - left.atMs) / (right.atMs - left.atMs)
  return left.value + (right.value - left.value) * share
}
