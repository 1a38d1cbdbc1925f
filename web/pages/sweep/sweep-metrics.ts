/** The last value of each metric, by job and name. */
export type LastValues = ReadonlyMap<string, ReadonlyMap<string, number>>

export type Best = 'lowest' | 'highest'

/** Names whose lowest value is the best one. */
const isLowBetter = /loss|err|perplexity|ppl|mse|mae|rmse|nll|time|latency|seconds/i
export const guessBest = (name: string): Best => (isLowBetter.test(name) ? 'lowest' : 'highest')

/** Jobs with the best value first, then those without one. */
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

/** The metric that is shown first: one of a validation, if there is one. */
export const findTested = (names: readonly string[]): string | undefined =>
  names.find((name) => /val|test/i.test(name)) ?? names[0]

/** Adds "(metric)" if a label has the same name as the metric. */
export const titleMetric = (name: string, keys: readonly string[]): string =>
  keys.includes(name) ? `${name} (metric)` : name
