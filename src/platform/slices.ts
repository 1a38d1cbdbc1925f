import { setImmediate as otherTurn } from 'node:timers/promises'

/** Items per slice, so that a slice takes a few milliseconds. */
const itemsPerSlice = 50

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
