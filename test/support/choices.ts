/**
 * Enumerates the branches of a computation without all of their combinations. Repeats the computation until each
 * alternative of each choice was taken at least once. A choice that occurs twice in one run has the same result.
 */
export interface Choices {
  /** An index below `count`. */
  choose(point: unknown, count: number): number
  /** Number of choices with more than one alternative. A result without a choice is the same in each run. */
  readonly made: number
}

const runsMax = 500

export function runAllChoices<T>(work: (choices: Choices) => T): T[] {
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
