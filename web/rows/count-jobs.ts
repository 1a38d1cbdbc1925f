import { client } from '../app/connection.ts'
import { CountJobsDocument, type JobCountBy, type JobFilter, type JobState } from '../generated/graphql.ts'

export interface JobNumbers {
  /** All that were counted. */
  total: number
  /** Those that hold resources. */
  active: number
  /** Those that wait. */
  waiting: number
  /** Those among them that wait for an approval. */
  blocked: number
}

export const noJobs: JobNumbers = { total: 0, active: 0, waiting: 0, blocked: 0 }

/** Jobs by user, account or another key, without the final ones unless the filter says more; keys without jobs are missing. */
export async function countJobs(
  by: JobCountBy,
  filter: JobFilter,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, JobNumbers>> {
  const wanted: JobFilter = { stateCategories: ['WAITING', 'ACTIVE'], ...filter }
  const { jobCounts } = await client.request(CountJobsDocument, { by, filter: wanted }, signal ? { signal } : {})
  return new Map(
    jobCounts.rows.map(({ key, count, byState }) => {
      const countState = (state: JobState) => byState.find((each) => each.state === state)?.count ?? 0
      const blocked = countState('BLOCKED')
      const waiting = blocked + countState('QUEUED')
      const active = countState('STARTING') + countState('RUNNING') + countState('CANCELLING')
      return [key ?? '', { total: count, active, waiting, blocked }]
    }),
  )
}
