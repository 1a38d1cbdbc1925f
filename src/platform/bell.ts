import type { Clock, Wake } from './clock.ts'

/**
 * A wait ends when the bell rings, after `ms`, or when the signal fires; the waiter cannot see which. A waiter that
 * does not await between reading the state and waiting misses no ring. A ring ends at most `endsPerTurnMax` waits per
 * turn of the event loop, because the work of thousands of waiters would block it.
 */

export type Bell = ReturnType<typeof createBell>

export function createBell(clock: Clock) {
  const waiters = new Set<Waiter>()
  return {
    ring: () => wakeAll([...waiters]),
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return
      const same = waitersOf(signal)
      const alarm = alarmIn(clock, ms)
      let waiter: Waiter = () => {}
      await new Promise<void>((wake) => {
        waiter = wake
        for (const each of [waiters, same, alarm.waiters]) each.add(waiter)
      })
      waiters.delete(waiter)
      same.delete(waiter)
      alarm.leave(waiter)
    },
    /** Number of current waits. */
    get waiting() {
      return waiters.size
    },
  }
}

type Waiter = () => void

/** Each signal has one listener for all its waiters, because a listener for each wait would cost more than the wait. */
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
  for (const wake of waiters.splice(0, endsPerTurnMax)) wake()
  if (waiters.length > 0) setImmediate(wakeAll, waiters)
}

/** Waits that end within the same millisecond share a timer: thousands of silent streams send their heartbeats together. */
class Alarm implements Wake {
  readonly waiters = new Set<Waiter>()
  aborted = false
  #end: (() => void) | undefined

  /** Cancels the alarm when its last waiter leaves. */
  leave(waiter: Waiter) {
    this.waiters.delete(waiter)
    if (this.waiters.size > 0) return
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

const byClock = new WeakMap<Clock, Map<number, Alarm>>()

function alarmIn(clock: Clock, ms: number): Alarm {
  const dueMs = Math.floor(clock.monotonicMs() + ms)
  const alarms = byClock.get(clock) ?? new Map<number, Alarm>()
  byClock.set(clock, alarms)
  const known = alarms.get(dueMs)
  if (known && !known.aborted) return known
  const alarm = new Alarm()
  alarms.set(dueMs, alarm)
  void clock.sleep(ms, alarm).then(() => {
    alarm.aborted = true
    if (alarms.get(dueMs) === alarm) alarms.delete(dueMs)
    wakeAll([...alarm.waiters])
  })
  return alarm
}
