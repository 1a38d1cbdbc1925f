import { isShown, readOrigin } from '../../../ground/origin.ts'
import type { JobList } from './job-list.ts'

/** The lists of the page that was left last, by name, for a reader who comes back to it. */
let kept: { lists: Map<string, JobList>; origin: ReturnType<typeof readOrigin> } = { lists: new Map(), origin: null }

/** Stops a list and keeps its rows and its place. */
export function keepList(name: string, list: JobList): void {
  list.stop()
  const origin = readOrigin()
  if (!origin || origin.index !== kept.origin?.index || origin.search !== kept.origin.search)
    kept = { lists: new Map(), origin }
  kept.lists.set(name, list)
}

/** null: the page that is shown now is another one. */
export const findKeptList = (name: string): JobList | null =>
  (kept.origin && isShown(kept.origin) && kept.lists.get(name)) || null
