import { client } from '../app/connection.ts'
import { CountJobsDocument, type JobCountBy, type JobFilter } from '../generated/graphql.ts'

/** Jobs that hold resources, and those that wait. */
export interface JobNumbers {
  active: number
  waiting: number
}

export const noJobs: JobNumbers = { active: 0, waiting: 0 }

/** Jobs that are not final, by user, account or another key; keys without jobs are missing. */
export async function countJobs(
  by: JobCountBy,
  filter: JobFilter,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, JobNumbers>> {
  const wanted: JobFilter = { stateCategories: ['WAITING', 'ACTIVE'], ...filter }
  const { jobCounts } = await client.request(CountJobsDocument, { by, filter: wanted }, signal ? { signal } : {})
  return new Map(
    jobCounts.rows.map(({ key, count, byState }) => {
      const waiting = byState
        .filter(({ state }) => state === 'BLOCKED' || state === 'QUEUED')
        .reduce((sum, each) => sum + each.count, 0)
      return [key ?? '', { waiting, active: count - waiting }]
    }),
  )
}
