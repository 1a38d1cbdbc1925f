import { baseUrl } from './base-url.ts'
import { createListeners } from './store.ts'

/**
 * After an outage of any length the page is up to date within two seconds: during the outage `awaitReturn` asks twice a
 * second whether the server is ready, and `sleepUntilReturn` ends the back-off of requests once it is.
 */
const listeners = createListeners()

/** Calls the listener when the server is ready again; the returned function unsubscribes. */
export const onReturn = listeners.add

/** Ends early when the server is ready again. */
export function sleepUntilReturn(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const end = () => {
      clearTimeout(timer)
      unsubscribe()
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, ms)
    const unsubscribe = onReturn(end)
    signal?.addEventListener('abort', end)
  })
}

const pauseMs = 500
/** Minimum time between two announcements: a server that has just started needs time for the reads that follow. */
const announcedMs = 1_000
const announcedMsMax = 16_000
const growth = 1.3
const answerMsMax = 5_000

/** Half of the time is random, so that not all open pages reconnect at the same moment. */
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms * (0.5 + Math.random() / 2)))

/** Polls the server while `isAway`, and calls the listeners when it is ready; less and less often if the outage goes on. */
export async function awaitReturn(isAway: () => boolean): Promise<void> {
  let [nextMs, laterMs] = [pauseMs, announcedMs]
  let isAnnounced = false
  while (isAway()) {
    await sleep(nextMs)
    if (isAway() && !(await isReady())) [nextMs, laterMs] = [pauseMs, announcedMs]
    else if (isAway() || !isAnnounced) {
      isAnnounced = true
      nextMs = laterMs
      laterMs = Math.min(laterMs * growth, announcedMsMax)
      listeners.call()
    }
  }
}

async function isReady(): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}readyz`, { cache: 'no-store', signal: AbortSignal.timeout(answerMsMax) })
    // A response whose body is not read keeps its connection occupied.
    await response.text()
    return response.ok
  } catch {
    // The browser gives no reason here. The page shows the failure of the stream instead.
    return false
  }
}
