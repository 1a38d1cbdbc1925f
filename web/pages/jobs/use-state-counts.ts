import { useEffect, useRef } from 'react'
import { client } from '../../app/connection.ts'
import { useResource } from '../../app/resource.ts'
import { CountStatesDocument, type JobFilter, type JobState } from '../../generated/graphql.ts'

export interface StateCounts {
  byState: ReadonlyMap<JobState, number>
  /** false: more jobs match than the server counts. */
  isExact: boolean
}

const readMs = 4_000

/** Numbers of jobs by state; the states of the filter do not count, its other terms do. */
export function useStateCounts({ states: _, ...rest }: JobFilter): StateCounts | null {
  const read = async (signal: AbortSignal): Promise<StateCounts> => {
    const { jobCounts } = await client.request(CountStatesDocument, { filter: rest }, { signal })
    const byState = new Map(jobCounts.rows.map(({ key, count }) => [key as JobState, count]))
    return { byState, isExact: jobCounts.isExact }
  }
  const { value } = useResource(JSON.stringify(rest), read, { everyMs: readMs })
  const last = useRef(value)
  useEffect(() => {
    if (value) last.current = value
  }, [value])
  return value ?? last.current ?? null
}

export function countStates({ byState }: StateCounts, states: readonly JobState[] | null | undefined): number {
  let sum = 0
  for (const [state, count] of byState) if (!states || states.includes(state)) sum += count
  return sum
}
