import type { Clock } from './clock.ts'

/**
 * A look over everything, between looks at what is new. While a transaction that somebody holds open keeps dead rows, it
 * gets slower by the minute, so it takes at most one part in `share` of the time.
 */
export interface RareLook {
  isDue(): boolean
  /** The next question says that it is due. */
  ask(): void
  /** One that fails stays due. */
  run<Result>(look: () => Promise<Result>): Promise<Result>
}

const share = 20

export function createRareLook(clock: Pick<Clock, 'monotonicMs'>, everyMs: number): RareLook {
  let dueMs = Number.NEGATIVE_INFINITY
  return {
    isDue: () => clock.monotonicMs() >= dueMs,
    ask() {
      dueMs = Number.NEGATIVE_INFINITY
    },
    async run(look) {
      const beganMs = clock.monotonicMs()
      dueMs = Number.POSITIVE_INFINITY
      try {
        const result = await look()
        const nextMs = beganMs + Math.max(everyMs, share * (clock.monotonicMs() - beganMs))
        dueMs = Math.min(dueMs, nextMs)
        return result
      } catch (error) {
        dueMs = Number.NEGATIVE_INFINITY
        throw error
      }
    },
  }
}
