import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { client } from '../../../ground/connection.ts'
import { beforeNextPicture } from '../../../ground/next-picture.ts'
import { isShown, readOrigin } from '../../../ground/origin.ts'
import { emptyView, JobList, type JobListOptions, type ListView } from './job-list.ts'
import { jobStore } from './job-store.ts'

/** The lists of the page that was left last, by name, for a reader who comes back to it. */
let kept: { lists: Map<string, JobList>; origin: ReturnType<typeof readOrigin> } = { lists: new Map(), origin: null }

/** Stops a list and keeps its rows and its place. */
function keepList(name: string, list: JobList): void {
  list.stop()
  const origin = readOrigin()
  if (!origin || origin.index !== kept.origin?.index || origin.search !== kept.origin.search)
    kept = { lists: new Map(), origin }
  kept.lists.set(name, list)
}

/** null: the page that is shown now is another one. */
export const findKeptList = (name: string): JobList | null =>
  (kept.origin && isShown(kept.origin) && kept.lists.get(name)) || null

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
export function useJobList(
  name: string,
  key: string,
  options: Pick<JobListOptions, 'filter' | 'order' | 'fromEnd'>,
): ShownList {
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
