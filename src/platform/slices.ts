import { setImmediate as otherTurn } from 'node:timers/promises'

/** Items per slice, so that a slice takes a few milliseconds. */
const itemsPerSlice = 50

export async function mapInSlices<Item, Result>(
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

/** Waits for a turn of the event loop that no other caller gets, so slices of several callers do not add up. */
export async function yieldAlone(): Promise<void> {
  lastTurn = lastTurn.then(() => otherTurn())
  await lastTurn
}

/** Processor time of this thread, without that of other threads and processes. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
