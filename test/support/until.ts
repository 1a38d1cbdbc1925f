import { inspect } from 'node:util'
import { isUnavailable, Unavailable } from '../../src/platform/tx.ts'

export interface UntilOptions {
  /** Name of the condition, for the message. */
  what: string
  timeoutMs?: number
  /** Reads the state that the message shows when the time is over. */
  seen?: () => unknown
}

const pollMs = { min: 10, max: 100 }
/** Only what never happens takes so long, also on a machine that is ten times slower for a minute. */
const timeoutMsDefault = 90_000

/**
 * Waits for a condition that no event announces, and returns its first truthy value. All tests wait with it. A statement
 * that an overloaded machine does not answer in time is tried again.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { what, timeoutMs = timeoutMsDefault, seen }: UntilOptions,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const began = performance.now()
  let cause: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value) return value as Exclude<T, false | null | undefined | 0 | ''>
      cause = undefined
    } catch (error) {
      if (!isUnavailable(error) && !(error instanceof Unavailable)) throw error
      cause = error
    }
    const waitedMs = performance.now() - began
    if (waitedMs > timeoutMs) {
      const instead = seen ? `; instead: ${inspect(seen(), { depth: 5 })}` : ''
      throw new Error(`Waited ${timeoutMs} ms in vain until ${what}${instead}`, { cause })
    }
    // A long wait polls less often: in the whole suite, polls would use much processor time.
    const pauseMs = Math.min(Math.max(pollMs.min, waitedMs / 10), pollMs.max)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
