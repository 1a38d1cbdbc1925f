import type { Clock, Wake } from './clock.ts'

/**
 * A wait ends when the bell rings, after `ms`, or when the signal fires, and does not tell which. A waiter that does
 * not await between reading the state and waiting misses no ring. A ring ends `endsPerTurnMax` waits per turn of the
 * event loop: the work of thousands of waiters would block it.
 */

export type Bell = ReturnType<typeof createBell>

export function createBell(clock: Clock) {
  const waiters = new Set<Waiter>()
  return {
    ring: () => wakeAll([...waiters]),
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return
      const waiter = new Waiter()
      const same = waitersOf(signal)
      waiters.add(waiter)
      same.add(waiter)
      await clock.sleep(ms, waiter)
      same.delete(waiter)
      waiters.delete(waiter)
    },
    /** Number of current waits. */
    get waiting() {
      return waiters.size
    },
  }
}

/** Each signal has one listener: one per wait would cost more than the wait. */
const bySignal = new WeakMap<AbortSignal, Set<Waiter>>()

function waitersOf(signal: AbortSignal): Set<Waiter> {
  const known = bySignal.get(signal)
  if (known) return known
  const waiters = new Set<Waiter>()
  bySignal.set(signal, waiters)
  signal.addEventListener('abort', () => wakeAll([...waiters]), { once: true })
  return waiters
}

const endsPerTurnMax = 200

function wakeAll(waiters: Waiter[]) {
  for (const waiter of waiters.splice(0, endsPerTurnMax)) waiter.wake()
  if (waiters.length > 0) setImmediate(wakeAll, waiters)
}

/** Used instead of one AbortController per sleep, which would be expensive for thousands of waiting streams. */
class Waiter implements Wake {
  aborted = false
  #end: (() => void) | undefined

  readonly wake = () => {
    this.aborted = true
    this.#end?.()
  }

  addEventListener(_: 'abort', end: () => void) {
    this.#end = end
  }

  removeEventListener() {
    this.#end = undefined
  }
}
