import type { Waiting } from './model.ts'

/** A search takes milliseconds in a large pool, so one round makes at most this many. */
const perRoundMax = 6
export const searchPauseMs = 250

/**
 * Decides which jobs may search for runs to evict. Jobs that may not search in a round search in later rounds: at the
 * next change, or after a pause. After a change each job may search again, but not before all others have searched.
 */
export class EvictionSearches {
  private readonly searched = new Set<string>()
  private left = perRoundMax
  private leftOut = false
  private isOutdated = false
  private allMs = 0

  /** When all jobs are considered again; null: only after a change. */
  get nextMs(): number | null {
    return this.leftOut || this.isOutdated ? this.allMs + searchPauseMs : null
  }

  /** `hasMoved`: shares, resources or runs changed since the last round. `all`: this round considers all jobs. */
  begin(nowMs: number, { hasMoved, all }: { hasMoved: boolean; all: boolean }): void {
    const isOver = !this.leftOut && (all || !this.isOutdated)
    this.isOutdated = !isOver && (this.isOutdated || hasMoved)
    if (isOver && (all || hasMoved)) this.searched.clear()
    this.left = perRoundMax
    if (!all) return
    this.leftOut = false
    this.allMs = nowMs
  }

  /** true: the job may search now. A job that moved to another lane may search again. */
  take({ jobId, laneId }: Waiting): boolean {
    const search = `${jobId} ${laneId}`
    if (this.searched.has(search)) return false
    if (this.left === 0) {
      this.leftOut = true
      return false
    }
    this.left--
    this.searched.add(search)
    return true
  }
}
