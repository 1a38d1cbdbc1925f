import type { Clock } from './clock.ts'

/** Maximum pause, so that work resumes soon after the database is back. */
const pauseMsMax = 5_000

/** Exponential back-off: `firstMs`, doubled for each earlier failure, at most `maxMs`. */
export const backOffMs = (failures: number, firstMs: number, maxMs = pauseMsMax): number =>
  Math.min(maxMs, firstMs * 2 ** failures)

interface RetryOptions {
  clock: Clock
  signal: AbortSignal
  /** Called after each failure; throws to stop retrying. */
  onFailure: (error: unknown, failures: number) => void
}

/** Repeats the work with growing pauses until it succeeds. Returns undefined if `signal` fires first. */
export async function retryUntilSuccess<T>(
  { clock, signal, onFailure }: RetryOptions,
  work: () => Promise<T>,
): Promise<T | undefined> {
  for (let failures = 0; !signal.aborted; failures++)
    try {
      return await work()
    } catch (error) {
      onFailure(error, failures)
      await clock.sleep(backOffMs(failures, 50), signal)
    }
  return undefined
}
