import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { emptyView, JobList, type JobListOptions, type ListView } from './job-list.ts'
import { findKeptList, keepList } from './kept-list.ts'

const noSubscription = () => () => undefined
const noView = () => emptyView

interface ShownList {
  /** The key that the list was made for; another than the wanted one while the next list is read. */
  key: string
  list: JobList | null
  view: ListView
}

/**
 * A live list. With another key the old list stays until the first page of the next one was read. A reader who comes back
 * to the page finds its list of this name as it was.
 */
export function useJobList(name: string, key: string, options: JobListOptions): ShownList {
  const [kept] = useState(() => findKeptList(name))
  const [shown, setShown] = useState(kept && { key, list: kept })
  const current = useRef<JobList | null>(null)
  // Other options come with another key.
  useEffect(() => {
    if (kept && current.current === null) {
      current.current = kept
      kept.start()
      return undefined
    }
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
  useEffect(
    () => () => {
      if (current.current) keepList(name, current.current)
      current.current = null
    },
    [],
  )
  const view = useSyncExternalStore(shown?.list.subscribe ?? noSubscription, shown?.list.view ?? noView)
  return { key: shown?.key ?? key, list: shown?.list ?? null, view }
}
