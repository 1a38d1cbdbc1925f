import type { CompareJobsQuery } from '../../generated/graphql.ts'
import { seriesColors } from '../../parts/chart-series.ts'
import { nameJob } from '../../parts/server-text.ts'

export type ComparedJob = Extract<NonNullable<CompareJobsQuery['nodes'][number]>, { spec: unknown }>

/** Letters for the jobs, because several may have the same name. */
export const letters = ['A', 'B', 'C', 'D']

/** Returns the name and colour of a job's series in charts. */
export const describeSeries = (job: ComparedJob, i: number) => ({
  name: `${letters[i]} ${nameJob(job)}`,
  color: seriesColors[i] ?? 'var(--accent)',
})

/** A key that changes when a job gets another run, or when a run ends. */
export const runsKey = (jobs: readonly ComparedJob[]): string =>
  jobs.map(({ id, attempt, stateCategory }) => `${id} ${attempt} ${stateCategory}`).join()
