import { useCallback, useSyncExternalStore } from 'react'
import { type JobRow, jobStore } from './job-store.ts'

/** The newest row of a job that is known; undefined: none. */
export function useJobRow(id: string): JobRow | undefined {
  const subscribe = useCallback((listener: () => void) => jobStore.subscribe(id, listener), [id])
  return useSyncExternalStore(subscribe, () => jobStore.get(id))
}
