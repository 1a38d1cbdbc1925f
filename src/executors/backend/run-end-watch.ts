import type { Clock } from '../../platform/clock.ts'

const checkMs = 10_000

/**
 * Aborts the controller when the run is over, because a backend may leave the connection for its output open. Stops
 * watching when the controller aborts.
 */
export async function abortWhenOver(over: AbortController, clock: Clock, isOver: () => boolean): Promise<void> {
  while (!over.signal.aborted) {
    await clock.sleep(checkMs, over.signal)
    if (isOver()) over.abort()
  }
}
