/** The page that was shown before the page of a job, as an entry of the history of this tab. */
interface Origin {
  index: number
  search: string
}

const originKey = 'berth-origin'

const readEntry = (): Origin => ({ index: Number(history.state?.__TSR_index ?? 0), search: location.search })

/** Stores the current page as the one to return to. The entry survives a reload. */
export const noteOrigin = (): void => sessionStorage.setItem(originKey, JSON.stringify(readEntry()))

export const readOrigin = (): Origin | null => JSON.parse(sessionStorage.getItem(originKey) ?? 'null')

export function isShown(origin: Origin): boolean {
  const { index, search } = readEntry()
  return origin.index === index && origin.search === search
}

/** Goes back to the stored page; false: there is none, because this tab began at the page of a job. */
export function goToOrigin(): boolean {
  const origin = readOrigin()
  const steps = origin ? origin.index - readEntry().index : 0
  if (steps < 0) history.go(steps)
  return steps < 0
}
