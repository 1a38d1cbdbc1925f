import type { Clock } from './clock.ts'

/** Work continues soon after a database is back. */
const pauseMsMax = 5_000

/** The pause after so many failures in a row; it doubles with each. */
export const retryPauseMs = (failures: number, firstMs: number, maxMs = pauseMsMax): number =>
  Math.min(maxMs, firstMs * 2 ** failures)

interface RetryOptions {
  clock: Clock
  signal: AbortSignal
  /** Throws an error that no retry helps. */
  onFailure: (error: unknown, failures: number) => void
}

/** Repeats the work with growing pauses until it succeeds. undefined: `signal` fired before. */
export async function retryUntilDone<T>(
  { clock, signal, onFailure }: RetryOptions,
  work: () => Promise<T>,
): Promise<T | undefined> {
  for (let failures = 0; !signal.aborted; failures++)
    try {
      return await work()
    } catch (error) {
      onFailure(error, failures)
      await clock.sleep(retryPauseMs(failures, 50), signal)
    }
  return undefined
}
