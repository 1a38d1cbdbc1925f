import { setImmediate } from 'node:timers/promises'
import type { Clock, Time } from '../../src/platform/clock.ts'

/** The clock of this machine, which the test database shares. */
export const machineTime: Time = { nowMs: () => Date.now() }

/** A clock that stands still until the test advances it; timestamps follow it. */
export interface FakeClock extends Clock, Time {
  /** Advances the time and wakes the sleepers that are due, in order. */
  advance(ms: number): Promise<void>
  /** Time until the next sleeper is due. */
  readonly nextInMs: number
  /** Number of sleepers. A test polls it until a loop is idle. */
  readonly sleeping: number
}

export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let nowMs = startMs
  const sleepers = new Set<{ dueMs: number; wake: () => void }>()

  /** Lets all woken work run until it waits again. */
  const settle = () => setImmediate()

  return {
    monotonicMs: () => nowMs - startMs,
    nowMs: () => nowMs,
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
    get nextInMs() {
      return Math.min(...[...sleepers].map(({ dueMs }) => dueMs)) - nowMs
    },
    get sleeping() {
      return sleepers.size
    },
  }
}

/** Sleeps of the loops behind a stream: the pause between two polls, and the minimum pause. */
const loopPausesMs: readonly number[] = [5, 1_000]

/** Many heartbeats may pass while one statement of a loop takes its real time. */
const heartbeatsMax = 10_000

/**
 * Measures the time between two heartbeats of a stream, and the sleeps in it. Timers end half a millisecond late, like
 * real ones. If a wake-up by an earlier write interrupts a sleep, the next heartbeats are measured.
 */
export async function measureHeartbeat(
  open: (own: { clock: Clock; time: Time }) => AsyncIterable<{ kind: string }>,
): Promise<{ afterMs: number; sleeps: number[] }> {
  const time = createFakeClock()
  let [beats, beatMs, afterMs] = [0, 0, 0]
  let sleeps: number[] = []
  let counted: number[] = []
  let asleep = 0
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (loopPausesMs.includes(ms)) return time.sleep(ms + 0.5, signal)
    sleeps.push(ms)
    asleep += 1
    await time.sleep(ms + 0.5, signal)
    asleep -= 1
  }
  async function follow() {
    for await (const { kind } of open({ clock: { ...time, sleep }, time })) {
      if (kind !== 'heartbeat') continue
      afterMs = time.nowMs() - beatMs
      beatMs = time.nowMs()
      beats += 1
      // A loop that ends its pass while the stream closes sleeps once more.
      counted = sleeps
      sleeps = []
      if ((beats > 2 && counted.length === 1) || beats === heartbeatsMax) return
    }
  }
  let isOver = false
  const following = follow().finally(() => {
    isOver = true
  })
  // The clock does not advance while the stream reads the database.
  while (!isOver) await (asleep > 0 ? time.advance(time.nextInMs) : setImmediate())
  await following
  return { afterMs, sleeps: counted }
}
