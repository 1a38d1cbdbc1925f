import type { Clock } from '../../platform/clock.ts'

/** If the backend is unreachable for longer than `lateMs`, the start is given up and the job releases its resources. */
const lateMsDefault = 60_000
const pauseMsDefault = 1_000

/** The reason why a start waits. */
export interface StartWait {
  info: string
  pauseMs?: number
  /** true: the backend responded, so the time limit for an unreachable backend starts again. */
  isReachable?: boolean
}

interface StartRetry {
  clock: Clock
  lateMs?: number | undefined
  /** Ends the pause between two attempts. */
  signal: AbortSignal | undefined
  tell: ((info: string) => void) | undefined
  attempt(): Promise<unknown>
  /**
   * Decides after a failed attempt. Throws if a retry cannot help; null: the run has started nevertheless. `isLate`:
   * the backend has been unreachable for too long.
   */
  judge(error: unknown, isLate: boolean): Promise<StartWait | null> | StartWait | null
}

/** Repeats a start until it succeeds or `judge` throws. */
export async function retryStart({
  clock,
  lateMs = lateMsDefault,
  signal,
  tell,
  attempt,
  judge,
}: StartRetry): Promise<void> {
  for (let sinceMs = clock.monotonicMs(); ; )
    try {
      await attempt()
      return
    } catch (error) {
      const isLate = clock.monotonicMs() - sinceMs > lateMs
      const wait = await judge(error, isLate)
      if (wait === null) return
      const { info, pauseMs = pauseMsDefault, isReachable = false } = wait
      tell?.(info)
      await clock.sleep(pauseMs, signal)
      if (isReachable) sinceMs = clock.monotonicMs()
    }
}
