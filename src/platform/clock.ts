/**
 * Time as a dependency, in two kinds that cannot be taken for each other. Loops and waits measure with a `Clock`, moments
 * come from a `Time`. Neither reads the clock that people and NTP set on this machine, so it may be wrong or jump.
 */
export interface Clock {
  /** Milliseconds since some moment of no meaning, never less than before: only differences tell something. */
  monotonicMs(): number
  /** Resolves after `ms`, or at once when `signal` fires; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export interface Time {
  /** Milliseconds since 1970 by the clock of the database, to within a few. Steps when that is set. */
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
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}
