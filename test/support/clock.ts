import type { Clock } from '../../src/platform/clock.ts'

/** A clock that stands still until the test moves it. */
export interface FakeClock extends Clock {
  /** Moves time on and wakes the sleepers whose time has come, in order. */
  advance(ms: number): Promise<void>
  /** How many sleep now: lets a test wait until a loop has come to rest. */
  readonly sleeping: number
}

export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let nowMs = startMs
  const sleepers = new Set<{ dueMs: number; wake: () => void }>()

  /** Lets everything that was woken run until it waits again. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

  return {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = () => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper = { dueMs: nowMs + ms, wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
      }),
    async advance(ms) {
      const endMs = nowMs + ms
      for (;;) {
        const due = [...sleepers].sort((a, b) => a.dueMs - b.dueMs)[0]
        if (!due || due.dueMs > endMs) break
        nowMs = Math.max(nowMs, due.dueMs)
        due.wake()
        await settle()
      }
      nowMs = endMs
      await settle()
    },
    get sleeping() {
      return sleepers.size
    },
  }
}
