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

let lastTurn: Promise<unknown> = Promise.resolve()

/** Waits for a turn of the event loop for this caller alone: the slices of several callers do not add up to a long one. */
export async function yieldAlone(): Promise<void> {
  lastTurn = lastTurn.then(() => otherTurn())
  await lastTurn
}

/** Processor time of this thread: work of other processes does not count. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
