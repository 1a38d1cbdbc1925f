import { useEffect, useMemo, useRef } from 'react'
import { jobStore } from '../../features/jobs/rows/job-store.ts'
import { CountStatesDocument, type JobFilter, type JobState } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'

export interface StateCounts {
  byState: ReadonlyMap<JobState, number>
  /** false: more jobs match, but the server stops counting. */
  isExact: boolean
}

const readMs = 4_000
/** Minimum time between two counts after changes of jobs. */
const pauseMs = 1_000

/** Counts the jobs in each state that match the other terms of the filter. */
export function useStateCounts({ states: _, ...filter }: JobFilter): StateCounts | null {
  const { value, read } = useQuery(CountStatesDocument, { filter }, { everyMs: readMs, pauseMs })
  useEffect(() => jobStore.onStateChange(read), [read])
  const last = useRef(value)
  if (value) last.current = value
  const counted = last.current?.jobCounts
  return useMemo(
    () =>
      counted
        ? { byState: new Map(counted.rows.map((row) => [row.key as JobState, row.count])), isExact: counted.isExact }
        : null,
    [counted],
  )
}

export function countStates({ byState }: StateCounts, states: readonly JobState[] | null | undefined): number {
  let sum = 0
  for (const [state, count] of byState) if (!states || states.includes(state)) sum += count
  return sum
}
