import type { Clock, Wake } from './clock.ts'

/**
 * A signal to wait for: a wait ends when the bell is rung, when `ms` are over, or when the signal fires, and does not
 * say which. The waiter reads the state again; if it does not await between reading and waiting, no ring is missed. A
 * wait costs one timer and one entry here, both gone when it ends. Of many waits, `endsPerTurnMax` end in each turn of the
 * event loop: what thousands of waiters do next would keep it from everything else.
 */

export interface Bell {
  ring(): void
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** Number of waits. */
  readonly waiting: number
}

export function createBell(clock: Clock): Bell {
  const waiters = new Set<Waiter>()
  return {
    ring: () => wakeAll(waiters),
    async wait(ms, signal) {
      if (signal.aborted) return
      const waiter = new Waiter()
      const same = waitersOf(signal)
      waiters.add(waiter)
      same.add(waiter)
      await clock.sleep(ms, waiter)
      same.delete(waiter)
      waiters.delete(waiter)
    },
    get waiting() {
      return waiters.size
    },
  }
}

/** The waiters of each signal, which has one listener: adding and removing one for each wait costs more than the wait. */
const bySignal = new WeakMap<AbortSignal, Set<Waiter>>()

function waitersOf(signal: AbortSignal): Set<Waiter> {
  const known = bySignal.get(signal)
  if (known) return known
  const waiters = new Set<Waiter>()
  bySignal.set(signal, waiters)
  signal.addEventListener('abort', () => wakeAll(waiters), { once: true })
  return waiters
}

const endsPerTurnMax = 200

function wakeAll(waiters: ReadonlySet<Waiter>) {
  wakeNext([...waiters])
}

function wakeNext(waiters: Waiter[]) {
  for (const waiter of waiters.splice(0, endsPerTurnMax)) waiter.wake()
  if (waiters.length > 0) setImmediate(wakeNext, waiters)
}

/** Does for one sleep what an AbortController does; thousands of streams wait at a time. */
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
