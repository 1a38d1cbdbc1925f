import type { Clock } from '../../platform/clock.ts'

/**
 * The end of many streams at the stop of a server. Readers that are cut at the same moment reconnect at the same
 * moment, to servers that have readers of their own. So streams end one after the other, in random order, over a time
 * that grows with their number. Each delivers messages until it ends.
 */
const partingMsMax = 10_000
/** Few streams end soon, so that they do not delay the stop of the server. */
const msPerStream = 2
const stepMs = 20

export const partingMs = (streams: number): number => Math.min(partingMsMax, streams * msPerStream)

export async function partOneByOne<Stream>(
  streams: readonly Stream[],
  clock: Clock,
  end: (stream: Stream) => unknown,
): Promise<void> {
  const left = shuffled(streams)
  const perStep = Math.ceil((streams.length * stepMs) / Math.max(stepMs, partingMs(streams.length)))
  const ended: unknown[] = []
  while (left.length > 0) {
    ended.push(...left.splice(0, perStep).map(end))
    if (left.length > 0) await clock.sleep(stepMs)
  }
  await Promise.all(ended)
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const places = items.map((item) => ({ item, place: Math.random() }))
  return places.sort((a, b) => a.place - b.place).map(({ item }) => item)
}
