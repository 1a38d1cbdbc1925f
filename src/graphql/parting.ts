import type { Clock } from '../platform/clock.ts'

/**
 * The end of many streams at the stop of a server. Readers that are cut at one moment come back at one moment, to servers
 * that have their own; so streams end one after the other, in no order, over a time that grows with their number. They
 * deliver until then.
 */
const partingMsMax = 10_000
/** Fewer streams end faster: a server with a few is not kept from stopping. */
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
