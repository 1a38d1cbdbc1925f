import { CountJobsDocument, type JobCountBy, type JobFilter, type JobState } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { useResource } from '../../../ground/resource.ts'
import { useJobChanges } from './use-job-changes.ts'

export interface JobNumbers {
  total: number
  /** Jobs that hold resources: STARTING, RUNNING or CANCELLING. */
  active: number
  /** BLOCKED and QUEUED jobs. */
  waiting: number
  /** Jobs that wait for an approval. */
  blocked: number
}

export const noJobs: JobNumbers = { total: 0, active: 0, waiting: 0, blocked: 0 }

/** Counts jobs by user, account or another key, without final jobs unless the filter asks for them. */
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

const readMs = 10_000
/** Maximum number of keys that the server counts in one request. */
const keysMax = 100

/** Returns the numbers of jobs of each of these users or accounts; undefined: not read yet. */
export function useJobNumbers(
  by: 'USER' | 'ACCOUNT',
  keys: readonly string[],
): ReadonlyMap<string, JobNumbers> | undefined {
  const pieces = Array.from({ length: Math.ceil(keys.length / keysMax) }, (_, at) =>
    keys.slice(at * keysMax, (at + 1) * keysMax),
  )
  const count = async (signal: AbortSignal) => {
    const counts = await Promise.all(
      pieces.map((piece) => countJobs(by, by === 'USER' ? { users: piece } : { accounts: piece }, signal)),
    )
    return new Map(counts.flatMap((each) => [...each]))
  }
  return useResource(`jobs by ${by} ${keys.join()}`, count, {
    version: useJobChanges(),
    pauseMs: readMs,
    isOff: keys.length === 0,
  }).value
}
