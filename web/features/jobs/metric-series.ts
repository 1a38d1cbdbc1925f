import type { MetricSeriesFragment } from '../../generated/graphql.ts'

interface StepValue {
  step: number
  value: number
}

export interface MetricValues {
  name: string
  points: readonly StepValue[]
}

/** Returns the stored points of a metric, and `live` if it is newer than the last of them. */
export function readMetric({ name, points, last }: MetricSeriesFragment, live: StepValue = last): MetricValues {
  const known = points ?? []
  return { name, points: live.step > (known.at(-1)?.step ?? -1) ? [...known, live] : known }
}

/** Returns the steps of all series, and the values of each series at these steps; null: no value at the step. */
export function joinSteps(series: readonly (readonly StepValue[])[]): { at: number[]; values: (number | null)[][] } {
  const at = [...new Set(series.flat().map(({ step }) => step))].sort((a, b) => a - b)
  const values = series.map((points) => {
    const known = new Map(points.map(({ step, value }) => [step, value]))
    return at.map((step) => known.get(step) ?? null)
  })
  return { at, values }
}
