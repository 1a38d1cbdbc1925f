import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../domain/access.ts'
import type { Domain } from '../domain/domain.ts'
import { type QueueNumbers, queueNumbers } from '../domain/queue.ts'
import { createBell } from '../platform/bell.ts'
import { steadily } from '../platform/steadily.ts'
import { stoppable } from '../platform/stoppable.ts'

/**
 * Snapshots of a queue: the first at once, so that an unknown pool is refused before anything is sent; then one whenever
 * the numbers changed, at most four a second, and one at least every 15 s. It looks when jobs moved, and once a second in
 * case a wake-up was lost. The database may be away meanwhile: then nothing is sent until it is back.
 */
const gapMs = 250
const pollMs = 1_000
const silenceMsMax = 15_000

export async function watchQueue(
  domain: Domain,
  viewer: Viewer,
  pool: string | null,
): Promise<AsyncGenerator<QueueNumbers, void, void>> {
  const first = await queueNumbers(domain, viewer, pool)
  return stoppable((signal) => snapshots(domain, { viewer, first }, signal))
}

async function* snapshots(
  domain: Domain,
  { viewer, first }: { viewer: Viewer; first: QueueNumbers },
  signal: AbortSignal,
): AsyncGenerator<QueueNumbers, void, void> {
  const { clock, log, wakeups } = domain
  const bell = createBell(clock)
  const unlisten = wakeups.on('feed', () => bell.ring())
  let sent = { numbers: first, at: clock.now() }
  try {
    yield first
    while (!signal.aborted) {
      await clock.sleep(gapMs, signal)
      await bell.wait(pollMs - gapMs, signal)
      if (signal.aborted) return
      const numbers = await steadily(log, () => queueNumbers(domain, viewer, first.pool))
      if (!numbers || (same(numbers, sent.numbers) && clock.now() - sent.at < silenceMsMax)) continue
      sent = { numbers, at: clock.now() }
      yield numbers
    }
  } finally {
    unlisten()
  }
}

const same = (one: QueueNumbers, other: QueueNumbers) => isDeepStrictEqual({ ...one, at: null }, { ...other, at: null })
