import type { Clock, Time } from '../../platform/clock.ts'

/** Calls back for each handle at its time. All handles share one timer, which is set for the earliest time. */

export class Agenda {
  readonly #clock: Clock
  readonly #time: Time
  readonly #due = new Map<string, number>()
  #wake: AbortController | undefined

  constructor(clock: Clock, time: Time) {
    this.#clock = clock
    this.#time = time
  }

  /** Sets the time of the handle, replacing an earlier one. */
  set(handle: string, at: number): void {
    this.#due.set(handle, at)
    this.#wake?.abort()
  }

  delete(handle: string): void {
    this.#due.delete(handle)
  }

  async *handles(signal: AbortSignal): AsyncGenerator<string> {
    while (!signal.aborted) {
      const now = this.#time.nowMs()
      const due = [...this.#due].filter(([, at]) => at <= now).map(([handle]) => handle)
      for (const handle of due) this.#due.delete(handle)
      yield* due
      if (due.length === 0) await this.#sleep(signal)
    }
  }

  async #sleep(signal: AbortSignal): Promise<void> {
    const now = this.#time.nowMs()
    let earliest = now + pauseMsMax
    for (const at of this.#due.values()) earliest = Math.min(earliest, at)
    this.#wake = new AbortController()
    await this.#clock.sleep(Math.max(0, earliest - now), AbortSignal.any([signal, this.#wake.signal]))
    this.#wake = undefined
  }
}

const pauseMsMax = 60_000
