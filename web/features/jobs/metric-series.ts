import type { MetricSeriesFragment } from '../../generated/graphql.ts'

interface StepValue {
  step: number
  value: number
}

export interface MetricValues {
  name: string
  points: readonly StepValue[]
}

/** Values that were read, and the last one, which may be newer. */
export function readMetric({ name, points, last }: MetricSeriesFragment, live: StepValue = last): MetricValues {
  const known = points ?? []
  return { name, points: live.step > (known.at(-1)?.step ?? -1) ? [...known, live] : known }
}

/** All steps of these series, and the value of each series at each step; null: it has none there. */
export function joinSteps(series: readonly (readonly StepValue[])[]): { at: number[]; values: (number | null)[][] } {
  const at = [...new Set(series.flat().map(({ step }) => step))].sort((a, b) => a - b)
  const values = series.map((points) => {
    const known = new Map(points.map(({ step, value }) => [step, value]))
    return at.map((step) => known.get(step) ?? null)
  })
  return { at, values }
}
