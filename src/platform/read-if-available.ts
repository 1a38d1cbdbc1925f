import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { isUnavailable, Unavailable } from './tx.ts'

/** Pause before a stream reads again after the database did not respond. */
export const retryMs = 1_000

/** Returns undefined if the database did not respond; the stream then tries again later. */
export async function readIfAvailable<T>(log: Log, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Unavailable) && !isUnavailable(error)) throw error
    log.warn({ err: error }, 'a stream is waiting for the database')
    return undefined
  }
}

/** Repeats the read until the database responds. Returns undefined if `signal` fires first. */
export async function readWhenAvailable<T extends object | null>(
  { log, clock }: { log: Log; clock: Clock },
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T | undefined> {
  while (!signal.aborted) {
    const result = await readIfAvailable(log, read)
    if (result !== undefined) return result
    await clock.sleep(retryMs, signal)
  }
  return undefined
}
