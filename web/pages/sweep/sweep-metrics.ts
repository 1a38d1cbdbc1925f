/** The last value of each metric, by job id and metric name. */
export type LastValues = ReadonlyMap<string, ReadonlyMap<string, number>>

export type Best = 'lowest' | 'highest'

/** Matches names of metrics whose lowest value is the best. */
const isLowBetter = /loss|err|perplexity|ppl|mse|mae|rmse|nll|time|latency|seconds/i
export const guessBest = (name: string): Best => (isLowBetter.test(name) ? 'lowest' : 'highest')

/** Sorts jobs by their value, the best first; jobs without a value are last. */
export function sortByMetric<Row extends { id: string }>(
  jobs: readonly Row[],
  { name, best }: { name: string; best: Best },
  values: LastValues,
): Row[] {
  const sign = best === 'lowest' ? 1 : -1
  const placeOf = ({ id }: Row) => {
    const value = values.get(id)?.get(name)
    return value === undefined ? Number.POSITIVE_INFINITY : sign * value
  }
  return jobs.toSorted((a, b) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)))
}

/** Finds the metric to show first: a validation metric, if there is one. */
export const findTested = (names: readonly string[]): string | undefined =>
  names.find((name) => /val|test/i.test(name)) ?? names[0]

/** Adds "(metric)" if a label has the same name as the metric. */
export const titleMetric = (name: string, keys: readonly string[]): string =>
  keys.includes(name) ? `${name} (metric)` : name
