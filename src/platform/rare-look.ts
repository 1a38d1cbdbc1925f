import type { Clock } from './clock.ts'

/**
 * A look over everything, between looks at what is new. While a transaction that somebody holds open keeps dead rows, it
 * gets slower by the minute, so it takes at most one part in `share` of the time, also when it fails, up to a longest pause.
 */
export interface RareLook {
  isDue(): boolean
  /** The next question says that it is due. */
  ask(): void
  run<Result>(look: () => Promise<Result>): Promise<Result>
}

export interface RareLookOptions {
  clock: Pick<Clock, 'monotonicMs'>
  everyMs: number
  pauseMsMax: number
}

const share = 20

export function createRareLook({ clock, everyMs, pauseMsMax }: RareLookOptions): RareLook {
  let dueMs = Number.NEGATIVE_INFINITY

  /** Asked for during the look, it stays due. */
  function rest(beganMs: number, atLeastMs: number) {
    const tookMs = clock.monotonicMs() - beganMs
    dueMs = Math.min(dueMs, beganMs + Math.min(pauseMsMax, Math.max(atLeastMs, share * tookMs)))
  }

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
        rest(beganMs, everyMs)
        return result
      } catch (error) {
        rest(beganMs, 0)
        throw error
      }
    },
  }
}
