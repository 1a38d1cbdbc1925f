import type { Clock } from '../../platform/clock.ts'

/** A start whose backend is unreachable is given up after this; then the job releases its place. */
const unreachableMsMax = 60_000
const pauseMsDefault = 1_000

/** Why a start waits. */
export interface StartWait {
  info: string
  pauseMs?: number
  /** The backend answered: its time limit begins again. */
  isReachable?: boolean
}

interface StartRetry {
  clock: Clock
  /** Ends a pause. */
  signal: AbortSignal | undefined
  tell: ((info: string) => void) | undefined
  attempt(): Promise<unknown>
  /** Throws if a retry cannot help; null: the run is started. `isLate`: the backend was unreachable for too long. */
  judge(error: unknown, isLate: boolean): Promise<StartWait | null> | StartWait | null
}

/** Repeats a start until it succeeds or `judge` throws. */
export async function retryStart({ clock, signal, tell, attempt, judge }: StartRetry): Promise<void> {
  for (let sinceMs = clock.monotonicMs(); ; )
    try {
      await attempt()
      return
    } catch (error) {
      const isLate = clock.monotonicMs() - sinceMs > unreachableMsMax
      const wait = await judge(error, isLate)
      if (wait === null) return
      const { info, pauseMs = pauseMsDefault, isReachable = false } = wait
      tell?.(info)
      await clock.sleep(pauseMs, signal)
      if (isReachable) sinceMs = clock.monotonicMs()
    }
}
