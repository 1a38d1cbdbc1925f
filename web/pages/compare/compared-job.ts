import type { CompareJobsQuery } from '../../generated/graphql.ts'
import { seriesColors } from '../../parts/chart-series.ts'
import { nameJob } from '../../parts/server-text.ts'

export type ComparedJob = Extract<NonNullable<CompareJobsQuery['nodes'][number]>, { spec: unknown }>

/** Names of the jobs on the page: their own names may be equal. */
export const letters = ['A', 'B', 'C', 'D']

/** Name and colour of the series of a job in a chart. */
export const seriesOf = (job: ComparedJob, i: number) => ({
  name: `${letters[i]} ${nameJob(job)}`,
  color: seriesColors[i] ?? 'var(--accent)',
})

/** Changes when another run is the last one, and when a run ends. */
export const runsKey = (jobs: readonly ComparedJob[]): string =>
  jobs.map(({ id, attempt, stateCategory }) => `${id} ${attempt} ${stateCategory}`).join()
