import type { RequestFailed } from './failure.ts'
import type { Sleep } from './sleep.ts'
import { runUserCallback } from './user-callbacks.ts'

export type Outages = ReturnType<typeof createOutages>

/** A connection that stays open for this long ends an outage. A server without its database refuses a stream sooner. */
const settledMs = 10_000

/**
 * Tracks which streams of a client have no connection, and which requests wait for another try. A server may accept a
 * connection and refuse the stream a moment later, so the outage of a stream ends with a message, or when a connection stays
 * open for `settledMs`.
 */
export function createOutages(sleep: Sleep) {
  const failures = new Map<object, RequestFailed>()
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) runUserCallback(listener)
  }
  return {
    track() {
      const tracked = {}
      let settling = new AbortController()
      const ends = () => {
        settling.abort()
        if (failures.delete(tracked)) changed()
      }
      return {
        begins(failure: RequestFailed) {
          settling.abort()
          failures.delete(tracked)
          failures.set(tracked, failure)
          changed()
        },
        /** The connection opened, but no message has arrived yet. */
        opens() {
          if (!failures.has(tracked)) return
          settling.abort()
          settling = new AbortController()
          const { signal } = settling
          sleep(settledMs, signal).then(
            () => signal.aborted || ends(),
            () => {},
          )
        },
        ends,
      }
    },
    /** Returns the failure that began last and has not ended; null: no outage. */
    current: () => [...failures.values()].at(-1) ?? null,
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
