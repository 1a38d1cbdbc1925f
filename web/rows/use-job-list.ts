import { useEffect, useState, useSyncExternalStore } from 'react'
import { JobList, type JobListOptions, type ListView } from './job-list.ts'

const noView: ListView = {
  ids: [],
  departed: new Set(),
  changes: 0,
  isLoading: true,
  hasMore: false,
  totalCount: null,
  failure: null,
}
const noSubscription = () => () => undefined

/** A live list for as long as the component is shown. Give the component a key of filter and order. */
export function useJobList(options: JobListOptions): { list: JobList | null; view: ListView } {
  const [list, setList] = useState<JobList | null>(null)
  // Other options come with another key.
  useEffect(() => {
    const created = new JobList(options)
    created.start()
    setList(created)
    return () => created.stop()
  }, [])
  const view = useSyncExternalStore(list?.subscribe ?? noSubscription, list?.view ?? (() => noView))
  return { list, view }
}
