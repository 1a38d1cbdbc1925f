import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { client } from '../../../ground/connection.ts'
import { beforeNextPicture } from '../../../ground/next-picture.ts'
import { isShown, readOrigin } from '../../../ground/origin.ts'
import { emptyView, JobList, type JobListOptions, type ListView } from './job-list.ts'
import { jobStore } from './job-store.ts'

/** The lists of the last page by name, so that going back shows them at once. */
let kept: { lists: Map<string, JobList>; origin: ReturnType<typeof readOrigin> } = { lists: new Map(), origin: null }

/** Stops a list, and keeps its rows and scroll position. */
function keepList(name: string, list: JobList): void {
  list.stop()
  const origin = readOrigin()
  if (!origin || origin.index !== kept.origin?.index || origin.search !== kept.origin.search)
    kept = { lists: new Map(), origin }
  kept.lists.set(name, list)
}

/** Returns the kept list of the current page; null: no list is kept for this page. */
export const findKeptList = (name: string): JobList | null =>
  (kept.origin && isShown(kept.origin) && kept.lists.get(name)) || null

const noSubscription = () => () => undefined
const noView = () => emptyView

interface ShownList {
  /** The key of the shown list. It differs from the wanted key while the next list is loading. */
  key: string
  list: JobList | null
  view: ListView
}

/**
 * Returns a live list. If `key` changes, the old list stays until the first page of the new one has loaded. After going
 * back to the page, the list with this name is as it was.
 */
export function useJobList(
  name: string,
  key: string,
  options: Pick<JobListOptions, 'filter' | 'order' | 'fromEnd'>,
): ShownList {
  const [kept] = useState(() => findKeptList(name))
  const [shown, setShown] = useState(kept && { key, list: kept })
  const current = useRef<JobList | null>(null)
  // `options` change only together with `key`.
  useEffect(() => {
    if (kept && current.current === null) {
      current.current = kept
      kept.start()
      return undefined
    }
    const list = new JobList({ client, store: jobStore, schedule: beforeNextPicture, ...options })
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
