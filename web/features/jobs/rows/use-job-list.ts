import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { emptyView, JobList, type JobListOptions, type ListView } from './job-list.ts'

const noSubscription = () => () => undefined
const noView = () => emptyView

interface ShownList {
  /** The key that the list was made for; another than the wanted one while the next list is read. */
  key: string
  list: JobList | null
  view: ListView
}

/** A live list. With another key the old list stays until the first page of the next one was read. */
export function useJobList(key: string, options: JobListOptions): ShownList {
  const [shown, setShown] = useState<{ key: string; list: JobList } | null>(null)
  const current = useRef<JobList | null>(null)
  // Other options come with another key.
  useEffect(() => {
    const list = new JobList(options)
    let isShown = false
    const unsubscribe = list.subscribe(() => {
      if (isShown || list.view().isLoading) return
      isShown = true
      current.current?.stop()
      current.current = list
      setShown({ key, list })
    })
    list.start()
    return () => {
      unsubscribe()
      if (!isShown) list.stop()
    }
  }, [key])
  useEffect(() => () => current.current?.stop(), [])
  const view = useSyncExternalStore(shown?.list.subscribe ?? noSubscription, shown?.list.view ?? noView)
  return { key: shown?.key ?? key, list: shown?.list ?? null, view }
}
