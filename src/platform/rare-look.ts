import type { Clock } from './clock.ts'

/**
 * Schedules a query over all rows, between queries over new rows only. During a long transaction (a backup), dead rows
 * make the full query slower by the minute. So it takes at most 1/`share` of the time, unless the pause has reached
 * `pauseMsMax`.
 */
export type RareLook = ReturnType<typeof createRareLook>

interface RareLookOptions {
  clock: Pick<Clock, 'monotonicMs'>
  everyMs: number
  pauseMsMax: number
}

const share = 20

export function createRareLook({ clock, everyMs, pauseMsMax }: RareLookOptions) {
  let dueMs = Number.NEGATIVE_INFINITY

  /** Sets the next time, unless a full query was requested during this one. */
  function rest(beganMs: number, atLeastMs: number) {
    const tookMs = clock.monotonicMs() - beganMs
    dueMs = Math.min(dueMs, beganMs + Math.min(pauseMsMax, Math.max(atLeastMs, share * tookMs)))
  }

  return {
    isDue: (): boolean => clock.monotonicMs() >= dueMs,
    ask(): void {
      dueMs = Number.NEGATIVE_INFINITY
    },
    async run<Result>(look: () => Promise<Result>): Promise<Result> {
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
