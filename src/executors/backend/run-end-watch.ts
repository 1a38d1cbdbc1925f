import type { Clock } from '../../platform/clock.ts'

const checkMs = 10_000

/** Aborts when the run is over, because a backend may leave the connection of its output open. Ends with the controller. */
export async function abortWhenOver(over: AbortController, clock: Clock, isOver: () => boolean): Promise<void> {
  while (!over.signal.aborted) {
    await clock.sleep(checkMs, over.signal)
    if (isOver()) over.abort()
  }
}
