import type { Log } from './log.ts'
import { isUnavailable, Unavailable } from './tx.ts'

/** Pause before a stream reads again after the database did not answer. */
export const retryMs = 1_000

/**
 * A read of a stream that survives a database that does not answer: the result is undefined, and the stream tries again
 * later. Every other error is thrown.
 */
export async function readIfAvailable<T>(log: Log, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Unavailable) && !isUnavailable(error)) throw error
    log.warn({ err: error }, 'a stream is waiting for the database')
    return undefined
  }
}
