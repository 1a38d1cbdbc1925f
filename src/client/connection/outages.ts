import type { RequestFailed } from './failure.ts'
import type { Sleep } from './sleep.ts'
import { runUserCallback } from './user-callbacks.ts'

export type Outages = ReturnType<typeof createOutages>

/** A connection that stays open for this long ends an outage. A server without its database refuses a stream sooner. */
const settledMs = 10_000

/**
 * Tracks which streams of a client have no connection. A server may accept a connection and refuse the stream a moment later,
 * so an outage ends with a message, or when a connection stays open for `settledMs`.
 */
export function createOutages(sleep: Sleep) {
  const failures = new Map<object, RequestFailed>()
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) runUserCallback(listener)
  }
  return {
    ofStream() {
      const stream = {}
      let settling = new AbortController()
      const ends = () => {
        settling.abort()
        if (failures.delete(stream)) changed()
      }
      return {
        begins(failure: RequestFailed) {
          settling.abort()
          failures.delete(stream)
          failures.set(stream, failure)
          changed()
        },
        /** The connection opened, but no message has arrived yet. */
        opens() {
          if (!failures.has(stream)) return
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
    /** The newest failure of a stream without a connection. */
    current: () => [...failures.values()].at(-1) ?? null,
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
