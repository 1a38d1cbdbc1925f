import type { Clock } from '../../platform/clock.ts'

/** How often it is checked that a run whose output is followed goes on. */
const lookMs = 10_000

/**
 * Aborts when the run is over: a backend may leave the connection of its output open after that, without a word, and the
 * rest is read anew then. Ends with the controller.
 */
export async function cutWhenOver(over: AbortController, clock: Clock, isOver: () => boolean): Promise<void> {
  while (!over.signal.aborted) {
    await clock.sleep(lookMs, over.signal)
    if (isOver()) over.abort()
  }
}
