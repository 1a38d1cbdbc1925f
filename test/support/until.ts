import { inspect } from 'node:util'
import { isUnavailable, Unavailable } from '../../src/platform/tx.ts'

export interface UntilOptions {
  /** Name of the condition, for the message. */
  what: string
  timeoutMs?: number
  /** Reads the state that the message shows when the time is over. */
  seen?: () => unknown
}

const pollMs = 10
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
  const deadline = performance.now() + timeoutMs
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
    if (performance.now() > deadline) {
      const instead = seen ? `; instead: ${inspect(seen(), { depth: 5 })}` : ''
      throw new Error(`Waited ${timeoutMs} ms in vain until ${what}${instead}`, { cause })
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
