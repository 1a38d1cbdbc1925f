/** Where the reader was before the page of a job: an entry of the history of this tab. */
interface Origin {
  index: number
  search: string
}

const originKey = 'berth-origin'

const readEntry = (): Origin => ({ index: Number(history.state?.__TSR_index ?? 0), search: location.search })

/** The page that is shown now is one to come back to. It outlives a reload. */
export const noteOrigin = (): void => sessionStorage.setItem(originKey, JSON.stringify(readEntry()))

export const readOrigin = (): Origin | null => JSON.parse(sessionStorage.getItem(originKey) ?? 'null')

export function isShown(origin: Origin): boolean {
  const { index, search } = readEntry()
  return origin.index === index && origin.search === search
}

/** Goes back past all pages of jobs; false: this tab began with one. */
export function goToOrigin(): boolean {
  const origin = readOrigin()
  const steps = origin ? origin.index - readEntry().index : 0
  if (steps < 0) history.go(steps)
  return steps < 0
}
