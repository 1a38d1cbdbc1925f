import type { Clock } from '../../platform/clock.ts'

/** Interval of the checks whether a followed run is over. */
const checkMs = 10_000

/** Aborts when the run is over, because a backend may leave the connection of its output open. Ends with the controller. */
export async function abortWhenOver(over: AbortController, clock: Clock, isOver: () => boolean): Promise<void> {
  while (!over.signal.aborted) {
    await clock.sleep(checkMs, over.signal)
    if (isOver()) over.abort()
  }
}
