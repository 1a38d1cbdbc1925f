import type { Clock } from './clock.ts'

/**
 * A look over everything, between looks at what is new. A transaction that stays open, such as a backup, keeps dead
 * rows, and the look over everything gets slower by the minute. So it runs for at most one part in `share` of the time,
 * unless the pause since the last one has reached `pauseMsMax`. A look that failed counts too.
 */
export interface RareLook {
  isDue(): boolean
  /** Makes it due now. */
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

  /** Sets when the next look is due. If it was asked for during this look, it is due already. */
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
