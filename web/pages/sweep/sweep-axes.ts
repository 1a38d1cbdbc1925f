import type { JobRow } from '../../features/jobs/rows/job-store.ts'

/** Finds the label keys whose values differ between the jobs, with their sorted values. */
export function findAxes(
  jobs: readonly Pick<JobRow, 'labels'>[],
  except: string,
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, Set<string>>()
  for (const { labels } of jobs)
    for (const { key, value } of labels) values.set(key, (values.get(key) ?? new Set()).add(value))
  return new Map(
    [...values]
      .filter(([key, found]) => key !== except && found.size > 1)
      .map(([key, found]) => [key, sortValues([...found])]),
  )
}

const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text))

/** Sorts values as numbers if all are numbers, otherwise as texts. */
export const sortValues = (values: readonly string[]): readonly string[] =>
  values.every(isNumber)
    ? values.toSorted((a, b) => Number(a) - Number(b))
    : values.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))

export const readLabel = ({ labels }: Pick<JobRow, 'labels'>, key: string): string | undefined =>
  labels.find((label) => label.key === key)?.value

/** Returns the run time of a job, so far if it is running; null: it did not run. */
export function measureRunMs({ startedAt, finishedAt }: Pick<JobRow, 'startedAt' | 'finishedAt'>, nowMs: number) {
  return startedAt === null ? null : Math.max(0, (finishedAt ? Date.parse(finishedAt) : nowMs) - Date.parse(startedAt))
}

const heatSteps = 5

/** Returns the step of a value on the heat scale, 1 … 5; null: no value. */
export function chooseHeatStep(value: number | null, all: readonly (number | null)[]): number | null {
  if (value === null) return null
  const known = all.filter((each) => each !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return high === low ? 1 : 1 + Math.min(heatSteps - 1, Math.floor(((value - low) / (high - low)) * heatSteps))
}
