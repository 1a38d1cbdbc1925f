import { baseUrl } from './base-url.ts'
import { createListeners } from './store.ts'

/**
 * After an outage the page is up to date within two seconds, however long it was: while the server is away it is asked
 * twice a second whether it is ready, and its return ends the waits between two tries.
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
/** A server that has just started needs time for the reads that follow an announcement. */
const announcedMs = 1_000
const announcedMsMax = 16_000
const growth = 1.3
const answerMsMax = 5_000

/** Half of it is random: the pages of all readers do not return at the same moment. */
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms * (0.5 + Math.random() / 2)))

/** Announces that the server is ready; more and more rarely if the outage goes on. */
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
    // An answer that is not read keeps one of the few connections.
    await response.text()
    return response.ok
  } catch {
    // The browser names no reason; the failure of the stream does.
    return false
  }
}
