import { inspect } from 'node:util'
import { isUnavailable, Unavailable } from '../../src/platform/tx.ts'

export interface UntilOptions {
  /** Name of the condition, for the error message. */
  what: string
  timeoutMs?: number
  /** Returns the state to show in the error message. */
  seen?: () => unknown
}

const pollMs = { min: 10, max: 100 }
/** Long enough for everything that can happen, even on a machine that is ten times slower for a minute. */
const timeoutMsDefault = 90_000

/**
 * Polls a condition without an event, and returns its first truthy value. All tests use it to wait. Retries a statement
 * that times out on an overloaded machine.
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
    // Polls less often during a long wait, to save processor time.
    const pauseMs = Math.min(Math.max(pollMs.min, waitedMs / 10), pollMs.max)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
