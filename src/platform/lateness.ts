/**
 * Detects whether this process runs late because its event loop or the machine is busy. Timeouts that fire while it is
 * late do not prove that the other side failed.
 */
type Lateness = ReturnType<typeof createLateness>

const tickMs = 250
/** A healthy process is late by a few milliseconds. */
const lateMs = 500
/** How long the process counts as late afterwards: longer than the time limit of every statement. */
const memoryMs = 10_000

export function createLateness(nowMs: () => number) {
  let dueMs = nowMs() + tickMs
  let lateAtMs = Number.NEGATIVE_INFINITY
  let worstMs = 0
  return {
    tick() {
      worstMs = Math.max(worstMs, nowMs() - dueMs)
      if (nowMs() - dueMs > lateMs) lateAtMs = nowMs()
      dueMs = nowMs() + tickMs
    },
    isLate: (): boolean => nowMs() - dueMs > lateMs || nowMs() - lateAtMs < memoryMs,
    /** Returns the worst lateness since the last call. */
    takeWorstMs(): number {
      const worst = Math.max(worstMs, nowMs() - dueMs)
      worstMs = 0
      return worst
    },
  }
}

/** Undefined before `watchLateness`: the process counts as punctual. */
let own: Lateness | undefined

/** Disposing stops the watch. */
export function watchLateness(): Disposable {
  const lateness = createLateness(() => performance.now())
  own = lateness
  const timer = setInterval(() => lateness.tick(), tickMs).unref()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      if (own === lateness) own = undefined
    },
  }
}

export const isLate = (): boolean => own?.isLate() ?? false

export const takeWorstLatenessMs = (): number => own?.takeWorstMs() ?? 0
