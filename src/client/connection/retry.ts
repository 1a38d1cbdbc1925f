import type { Sleep } from './sleep.ts'

export interface Retry<T> {
  attempts: number
  /** The minimum wait in ms before a retry; null: do not retry. */
  again: (outcome: { result: T } | { error: unknown }) => number | null
  sleep: Sleep
  signal?: AbortSignal | undefined
}

const firstWaitMs = 1_000
const waitMsMax = 30_000

/**
 * Returns the wait after attempt 0, 1, 2 …, with full jitter, so that the clients of a restarted server do not reconnect
 * at the same moment.
 */
export const retryWaitMs = (attempt: number) => Math.random() * Math.min(waitMsMax, firstWaitMs * 2 ** attempt)

export async function withAttempts<T>(
  work: () => Promise<T>,
  { attempts, again, sleep, signal }: Retry<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const last = attempt + 1 >= attempts
    let waitMs: number | null
    try {
      const result = await work()
      waitMs = last ? null : again({ result })
      if (waitMs === null) return result
    } catch (error) {
      waitMs = last ? null : again({ error })
      if (waitMs === null) throw error
    }
    await sleep(Math.max(waitMs, retryWaitMs(attempt)), signal)
  }
}
