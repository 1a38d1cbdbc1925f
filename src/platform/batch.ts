/**
 * Groups what arrives together: while one batch is under way, further items wait, and the next batch takes them all (up
 * to `max`). Nobody waits for a timer: alone and idle, an item runs at once, at the end of this turn of the event loop.
 */
export interface BatchOptions<Item, Result> {
  max: number
  /** One result per item, in order. */
  run: (items: readonly Item[]) => Promise<readonly Result[]>
  /** A batch that failed so is split in halves, until the bad item is alone; else all of it fails. */
  mayBeOneItem: (error: unknown) => boolean
}

export function createBatcher<Item, Result>(options: BatchOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let moving = false

  async function move() {
    moving = true
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) await settle(waiting.splice(0, options.max), options)
    moving = false
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!moving) void move()
    })
}

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
