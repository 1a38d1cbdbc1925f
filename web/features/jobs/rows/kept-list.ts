import { isShown, readOrigin } from '../../../ground/origin.ts'
import type { JobList } from './job-list.ts'

/** The list that was left last, for a reader who comes back to it. */
let kept: { list: JobList; origin: NonNullable<ReturnType<typeof readOrigin>> } | null = null

/** Stops a list and keeps its rows and its place. */
export function keepList(list: JobList): void {
  list.stop()
  const origin = readOrigin()
  kept = origin && { list, origin }
}

/** null: the page that is shown now is another one. */
export const findKeptList = (): JobList | null => (kept && isShown(kept.origin) ? kept.list : null)
