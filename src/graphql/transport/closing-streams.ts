import type { Clock } from '../../platform/clock.ts'

/**
 * A stopping server closes its streams in random order, over a time that grows with their number. Otherwise all clients
 * would reconnect at the same moment and overload the other servers.
 */
const closingMsMax = 10_000
const msPerStream = 2
const stepMs = 20

export const computeClosingMs = (streams: number): number => Math.min(closingMsMax, streams * msPerStream)

export async function closeGradually<Stream>(
  streams: readonly Stream[],
  clock: Clock,
  close: (stream: Stream) => unknown,
): Promise<void> {
  const left = shuffle(streams)
  const perStep = Math.ceil((streams.length * stepMs) / Math.max(stepMs, computeClosingMs(streams.length)))
  const closed: unknown[] = []
  while (left.length > 0) {
    closed.push(...left.splice(0, perStep).map(close))
    if (left.length > 0) await clock.sleep(stepMs)
  }
  await Promise.all(closed)
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  const places = items.map((item) => ({ item, place: Math.random() }))
  return places.sort((a, b) => a.place - b.place).map(({ item }) => item)
}
