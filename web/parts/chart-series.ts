import type { ChartUnit } from './chart-units.ts'

export interface Series {
  name: string
  /** A colour of `tokens.css`: `var(--state-running)`. */
  color: string
  /** One value for each moment; null: not measured. */
  values: readonly (number | null)[]
  isDashed?: boolean
}

/** The colours of series without a state, told apart by all readers; further series are summed up as "other". */
export const seriesColors: readonly string[] = ['RUNNING', 'BLOCKED', 'SUCCEEDED', 'FAILED'].map(
  (state) => `var(--state-${state.toLowerCase()})`,
)
export const otherColor = 'var(--state-queued)'

/** The keys with the greatest sums, greatest first, and their colours; all others have `otherColor`. */
export function rankColors(weights: readonly (readonly [key: string, weight: number])[]): ReadonlyMap<string, string> {
  const sums = new Map<string, number>()
  for (const [key, weight] of weights) sums.set(key, (sums.get(key) ?? 0) + weight)
  const keys = [...sums].toSorted(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([key]) => key)
  return new Map(keys.slice(0, seriesColors.length).map((key, i) => [key, seriesColors[i] ?? otherColor]))
}

export interface TimeChartProps {
  /** Names the chart and its file. */
  title: string
  /** Places on the axis, rising: moments in ms, or steps. */
  at: readonly number[]
  series: readonly Series[]
  unit: ChartUnit
  /** First and last moment of the axis, also where there are no values; default: those of `at`. */
  span?: readonly [fromMs: number, toMs: number]
  /** Default: the clock. `ELAPSED`: ms since a start. */
  axis?: 'CLOCK' | 'ELAPSED' | 'STEP'
  /** `FIT`: values fill the chart, also on a logarithmic scale that the reader chooses; default: they begin at 0. */
  scale?: 'ZERO' | 'FIT'
  /** Charts with the same name have one pointer. */
  pointer?: string
  /** Series stand on each other. */
  isStacked?: boolean
  /** A line at a value: "asked 64 GiB". */
  reference?: { value: number; label: string } | undefined
  /** A range was chosen by dragging. */
  onZoom?: (fromMs: number, toMs: number) => void
  height?: number
}

/** Sums of each series and those below it; a moment without any value stays empty. */
export function stackValues(series: readonly Pick<Series, 'values'>[]): (number | null)[][] {
  const below: number[] = []
  return series.map(({ values }) =>
    values.map((value, i) => {
      below[i] = (below[i] ?? 0) + (value ?? 0)
      return series.every((each) => each.values[i] == null) ? null : below[i]
    }),
  )
}
