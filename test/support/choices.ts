/**
 * Enumerates the branches of a computation without all of their combinations: the computation repeats until each
 * alternative of each point of choice was taken in at least one run. A point that occurs twice in one run is decided
 * the same way.
 */
export interface Choices {
  /** An index below `count`. */
  choose(point: unknown, count: number): number
  /** How often there was more than one alternative: what did not need a choice is the same in each run. */
  readonly made: number
}

const runsMax = 500

export function runsOf<T>(work: (choices: Choices) => T): T[] {
  const results: T[] = []
  const seen = new Map<unknown, number>()
  const wanted: ReadonlyMap<unknown, number>[] = [new Map()]
  for (const decided of wanted) {
    if (results.length === runsMax) throw new Error(`More than ${runsMax} runs`)
    const taken = new Map<unknown, number>()
    let made = 0
    results.push(
      work({
        get made() {
          return made
        },
        choose(point, count) {
          if (count > 1) made++
          const index = taken.get(point) ?? decided.get(point) ?? 0
          if (!seen.has(point)) {
            seen.set(point, count)
            for (let other = 1; other < count; other++) wanted.push(new Map([...taken, [point, other]]))
          }
          taken.set(point, index)
          return index
        },
      }),
    )
  }
  return results
}
