/** Time as a dependency: rules get moments passed in, loops get a clock. Tests hand in one that they move themselves. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` fires; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
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
