import type { RequestFailed } from './failure.ts'

/** Which streams of a client are without a connection, for pages that say so. */
export interface Outages {
  /** The outages of one stream. */
  ofStream(): StreamOutage
  /** The newest failure of a stream without a connection; null: every stream is connected. */
  current(): RequestFailed | null
  /** Calls the listener after every change, until the function that it answers is called. */
  onChange(listener: () => void): () => void
}

export interface StreamOutage {
  begins(failure: RequestFailed): void
  ends(): void
}

export function createOutages(): Outages {
  const failures = new Map<StreamOutage, RequestFailed>()
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  return {
    ofStream() {
      const outage: StreamOutage = {
        begins(failure) {
          failures.delete(outage)
          failures.set(outage, failure)
          changed()
        },
        ends() {
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
