import { createBell } from '../../platform/bell.ts'
import type { Clock } from '../../platform/clock.ts'

/** Notifies waiters of changes of one key or of all keys. A change before a wait ends that wait at once. */

export interface Alarm extends Disposable {
  /** Waits for a change, at most for `ms` or until the signal fires. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  ring(): void
}

function createAlarm(clock: Clock, onDispose: () => void = () => undefined): Alarm {
  const bell = createBell(clock)
  let isRung = false
  return {
    ring() {
      isRung = true
      bell.ring()
    },
    async wait(ms, signal) {
      if (!isRung) await bell.wait(ms, signal)
      isRung = false
    },
    [Symbol.dispose]: onDispose,
  }
}

export class Alarms {
  readonly #clock: Clock
  readonly #byKey = new Map<string, Set<Alarm>>()
  readonly #listeners = new Set<(key: string) => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  ring(key: string): void {
    for (const alarm of this.#byKey.get(key) ?? []) alarm.ring()
    for (const listener of this.#listeners) listener(key)
  }

  /** An alarm for changes of the key. Dispose of it after the wait. */
  of(key: string): Alarm {
    const alarms = this.#byKey.get(key) ?? new Set()
    this.#byKey.set(key, alarms)
    const alarm = createAlarm(this.#clock, () => {
      alarms.delete(alarm)
      if (alarms.size === 0 && this.#byKey.get(key) === alarms) this.#byKey.delete(key)
    })
    alarms.add(alarm)
    return alarm
  }

  /**
   * Yields changed keys in the order of their changes. A key that changes several times before it is yielded is yielded
   * once.
   */
  async *keys(signal: AbortSignal): AsyncGenerator<string> {
    const changed = new Set<string>()
    const alarm = createAlarm(this.#clock)
    const listener = (key: string) => {
      changed.add(key)
      alarm.ring()
    }
    this.#listeners.add(listener)
    try {
      while (!signal.aborted) {
        for (const key of changed) {
          changed.delete(key)
          yield key
        }
        await alarm.wait(longWaitMs, signal)
      }
    } finally {
      this.#listeners.delete(listener)
    }
  }
}

const longWaitMs = 60_000
