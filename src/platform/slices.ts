import { setImmediate as otherTurn } from 'node:timers/promises'

/** Some milliseconds of the work that entries of a request take. */
const itemsPerSlice = 50

/** `map` that leaves the event loop to others after each slice: a thousand entries at once would hold it for long. */
export async function inSlices<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % itemsPerSlice === 0) await otherTurn()
    results.push(work(item, index))
  }
  return results
}
