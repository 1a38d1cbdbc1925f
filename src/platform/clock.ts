/**
 * Loops and waits use a `Clock`; timestamps come from a `Time`. Neither uses the settable clock of this machine, which
 * may be wrong or jump.
 */

export interface Clock {
  /** Milliseconds since an arbitrary moment, never decreasing: only differences are meaningful. */
  monotonicMs(): number
  /** Resolves after `ms`, or at once when `signal` fires; never rejects. */
  sleep(ms: number, signal?: Wake): Promise<void>
}

/** An AbortSignal, or a cheaper object with the same events. */
export interface Wake {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface Time {
  /** Milliseconds since 1970 by the clock of the database, accurate to a few ms. It jumps when that clock is set. */
  nowMs(): number
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      // A timer drops fractions, and Node warns about negative times.
      const timer = setTimeout(done, Math.max(0, Math.ceil(ms)))
      signal?.addEventListener('abort', done, { once: true })
    }),
}
