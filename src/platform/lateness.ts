/**
 * Whether this process runs late: its event loop is kept busy, or the machine gives it too little time. Time limits then
 * pass though the other side has answered, so they say nothing about that side.
 */
export interface Lateness {
  tick(): void
  isLate(): boolean
}

const tickMs = 250
/** A healthy process is late by some milliseconds. */
const lateMs = 500
/** Longer than every time limit of a statement: the process may have been late during such a statement. */
const memoryMs = 10_000

export function createLateness(nowMs: () => number): Lateness {
  let dueMs = nowMs() + tickMs
  let lateAtMs = Number.NEGATIVE_INFINITY
  return {
    tick() {
      if (nowMs() - dueMs > lateMs) lateAtMs = nowMs()
      dueMs = nowMs() + tickMs
    },
    isLate: () => nowMs() - dueMs > lateMs || nowMs() - lateAtMs < memoryMs,
  }
}

/** Lateness of this process. Undefined until `watchLateness`; the process then counts as on time. */
let own: Lateness | undefined

export function watchLateness(): void {
  if (own) return
  const lateness = createLateness(() => performance.now())
  own = lateness
  setInterval(() => lateness.tick(), tickMs).unref()
}

export const isLate = (): boolean => own?.isLate() ?? false
