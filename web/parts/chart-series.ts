import type { ChartUnit } from './chart-units.ts'

export interface Series {
  name: string
  /** A colour of `tokens.css`: `var(--state-running)`. */
  color: string
  /** One value for each item of `at`; null: not measured. */
  values: readonly (number | null)[]
  isDashed?: boolean
}

/** Distinct colours, also for colour-blind users, for series that are not states. Further series are summed up as "other". */
export const seriesColors: readonly string[] = ['RUNNING', 'BLOCKED', 'SUCCEEDED', 'FAILED'].map(
  (state) => `var(--state-${state.toLowerCase()})`,
)
export const otherColor = 'var(--state-queued)'

/** Gives each of the keys with the greatest weights its colour. Other keys are missing and get `otherColor`. */
export function rankColors(weights: readonly (readonly [key: string, weight: number])[]): ReadonlyMap<string, string> {
  const sums = new Map<string, number>()
  for (const [key, weight] of weights) sums.set(key, (sums.get(key) ?? 0) + weight)
  const keys = [...sums].toSorted(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([key]) => key)
  return new Map(keys.slice(0, seriesColors.length).map((key, i) => [key, seriesColors[i] ?? otherColor]))
}

export interface TimeChartProps {
  /** Names the chart and its file. */
  title: string
  /** Positions of the values on the horizontal axis, ascending: times in ms, or steps. */
  at: readonly number[]
  series: readonly Series[]
  unit: ChartUnit
  /** Range of the horizontal axis; default: the range of `at`. */
  span?: readonly [fromMs: number, toMs: number]
  /** What `at` is: times (default), ms since a start, or steps. */
  axis?: 'CLOCK' | 'ELAPSED' | 'STEP'
  /** `ZERO` (default): the vertical axis begins at 0. `FIT`: the values fill it; the user may choose a logarithmic scale. */
  scale?: 'ZERO' | 'FIT'
  /** Charts with the same name share the position of the pointer. */
  pointer?: string
  /** true: stacks the series. */
  isStacked?: boolean
  /** A line at a value: "asked 64 GiB". */
  reference?: { value: number; label: string } | undefined
  /** Called with the range that the user selects by dragging. */
  onZoom?: (fromMs: number, toMs: number) => void
  height?: number
}

/** Adds to each series the series below it. The sum is null where no series has a value. */
export function stackValues(series: readonly Pick<Series, 'values'>[]): (number | null)[][] {
  const below: number[] = []
  return series.map(({ values }) =>
    values.map((value, i) => {
      below[i] = (below[i] ?? 0) + (value ?? 0)
      return series.every((each) => each.values[i] == null) ? null : below[i]
    }),
  )
}
