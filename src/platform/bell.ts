import type { Clock } from './clock.ts'

/**
 * A signal to wait for: a wait ends when the bell is rung, when `ms` are over, or when the signal fires, and does not
 * say which. The waiter reads the state again; if it does not await between reading and waiting, no ring is missed. A
 * wait costs one timer and one entry here, both gone when it ends.
 */

export interface Bell {
  ring(): void
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** Number of waits. */
  readonly waiting: number
}

/** Without a reason, each ring would make an exception with a stack for each waiter. */
const rung = 'rung'

export function createBell(clock: Clock): Bell {
  const waiters = new Set<AbortController>()
  return {
    ring() {
      for (const waiter of [...waiters]) waiter.abort(rung)
    },
    async wait(ms, signal) {
      if (signal.aborted) return
      const waiter = new AbortController()
      const stop = () => waiter.abort(rung)
      waiters.add(waiter)
      signal.addEventListener('abort', stop, { once: true })
      await clock.sleep(ms, waiter.signal)
      signal.removeEventListener('abort', stop)
      waiters.delete(waiter)
    },
    get waiting() {
      return waiters.size
    },
  }
}
