import { Unavailable } from './tx.ts'

/**
 * Groups items that arrive together. Items that arrive during a batch form the next batch. Batches have no timer: a
 * single item runs at the end of the current turn of the event loop. If a batch takes longer than `hangsAfterMs`,
 * waiting and new items fail with Unavailable until it ends; none of them was processed.
 */

export interface BatchOptions<Item, Result> {
  max: number
  run: (items: readonly Item[]) => Promise<readonly Result[]>
  /**
   * Returns whether a single item may have caused the failure. If so, the batch is split in halves until that item is
   * alone.
   */
  mayBeOneItem: (error: unknown) => boolean
}

/** Together with the duration of the next batch, this must be shorter than the timeout of callers. */
const hangsAfterMs = 5_000

export function createBatcher<Item, Result>(options: BatchOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let moving = false
  let hangs = false

  async function move() {
    moving = true
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) await watched(settle(waiting.splice(0, options.max), options))
    moving = false
  }

  async function watched(batch: Promise<void>) {
    const timer = setTimeout(() => {
      hangs = true
      for (const { reject } of waiting.splice(0)) reject(unavailable())
    }, hangsAfterMs)
    await batch
    clearTimeout(timer)
    hangs = false
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      if (hangs) return reject(unavailable())
      waiting.push({ item, resolve, reject })
      if (!moving) void move()
    })
}

const unavailable = () => new Unavailable('The database does not answer now')

interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

async function settle<Item, Result>(
  batch: readonly Waiting<Item, Result>[],
  options: BatchOptions<Item, Result>,
): Promise<void> {
  try {
    const results = await options.run(batch.map(({ item }) => item))
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
  } catch (error) {
    if (batch.length === 1 || !options.mayBeOneItem(error)) for (const { reject } of batch) reject(error)
    else {
      const middle = Math.ceil(batch.length / 2)
      await settle(batch.slice(0, middle), options)
      await settle(batch.slice(middle), options)
    }
  }
}
