import { useEffect, useRef } from 'react'
import { jobStore } from '../../features/jobs/rows/job-store.ts'
import { CountStatesDocument, type JobFilter, type JobState } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'

export interface StateCounts {
  byState: ReadonlyMap<JobState, number>
  /** false: more jobs match than the server counts. */
  isExact: boolean
}

const readMs = 4_000
/** After a change of a job that this page has heard of. */
const changedMs = 1_000

/** Numbers of jobs by state; the states of the filter do not count, its other terms do. */
export function useStateCounts({ states: _, ...rest }: JobFilter): StateCounts | null {
  const isReading = useRef(false)
  const read = async (signal: AbortSignal): Promise<StateCounts> => {
    isReading.current = true
    const counted = client.request(CountStatesDocument, { filter: rest }, { signal })
    const { jobCounts } = await counted.finally(() => {
      isReading.current = false
    })
    const byState = new Map(jobCounts.rows.map(({ key, count }) => [key as JobState, count]))
    return { byState, isExact: jobCounts.isExact }
  }
  const { value, read: readAgain } = useResource(JSON.stringify(rest), read, { everyMs: readMs })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    // A second read would end one that is in flight.
    const readSoon = () => {
      if (document.hidden) return
      timer ??= setTimeout(() => {
        timer = undefined
        if (isReading.current) readSoon()
        else readAgain()
      }, changedMs)
    }
    const unsubscribe = jobStore.onStateChange(readSoon)
    return () => {
      clearTimeout(timer)
      unsubscribe()
    }
  }, [readAgain])
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
