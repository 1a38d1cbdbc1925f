import type { RequestFailed } from './failure.ts'
import type { Sleep } from './sleep.ts'
import { runUserCallback } from './user-callbacks.ts'

/**
 * Tracks which streams of a client have no connection. A server may accept a connection and refuse the stream a moment later,
 * so an outage ends with a message, or when a connection stays open for `settledMs`.
 */
export interface Outages {
  /** Tracks one stream. */
  ofStream(): StreamOutage
  /** The newest failure of a stream without a connection; null: every stream is connected. */
  current(): RequestFailed | null
  /** Calls the listener after every change; the returned function unsubscribes. */
  onChange(listener: () => void): () => void
}

export interface StreamOutage {
  begins(failure: RequestFailed): void
  /** The connection opened, but no message has arrived yet. */
  opens(): void
  ends(): void
}

/** Longer than a server without its database takes to refuse a stream. */
const settledMs = 10_000

export function createOutages(sleep: Sleep): Outages {
  const failures = new Map<StreamOutage, RequestFailed>()
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) runUserCallback(listener)
  }
  return {
    ofStream() {
      let settling = new AbortController()
      const outage: StreamOutage = {
        begins(failure) {
          settling.abort()
          failures.delete(outage)
          failures.set(outage, failure)
          changed()
        },
        opens() {
          if (!failures.has(outage)) return
          settling.abort()
          settling = new AbortController()
          const { signal } = settling
          sleep(settledMs, signal).then(
            () => signal.aborted || outage.ends(),
            () => {},
          )
        },
        ends() {
          settling.abort()
          if (failures.delete(outage)) changed()
        },
      }
      return outage
    },
    current: () => [...failures.values()].at(-1) ?? null,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
