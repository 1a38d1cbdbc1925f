export const TimeUnit = { SECOND: 1, MINUTE: 60, HOUR: 3_600 } as const
export type TimeUnit = (typeof TimeUnit)[keyof typeof TimeUnit]

/** A duration: `new TimeInterval(90, TimeUnit.MINUTE)` or `TimeInterval.of(1, 30, 0)`. */
export class TimeInterval {
  readonly #seconds: number

  constructor(amount: number, unit: TimeUnit = TimeUnit.SECOND) {
    const seconds = amount * unit
    if (!Number.isFinite(seconds) || seconds < 0) throw new RangeError('A time interval must be a number from 0')
    this.#seconds = seconds
  }

  static of(hours: number, minutes: number, seconds: number): TimeInterval {
    return new TimeInterval(hours * TimeUnit.HOUR + minutes * TimeUnit.MINUTE + seconds)
  }

  /** Returns the seconds, rounded up. */
  toSeconds(): number {
    return Math.ceil(this.#seconds)
  }

  toMilliseconds(): number {
    return this.#seconds * 1_000
  }
}
