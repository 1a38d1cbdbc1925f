import type { Change, Decisions, LaneState, Snapshot, Waiting } from './model.ts'

/**
 * Reads the pool of a leader and commits its decisions. Every write carries the epoch: a leader of an old epoch gets
 * `Fenced`. Over PostgreSQL: stored-pool.ts; in memory, for the simulator: simulate/.
 */

export interface Store {
  /** The whole pool at one moment; it includes all earlier changes. */
  load(): Promise<Snapshot>
  /** The changes since then, in order, and the time; opens due gates. `lanes`: the known lanes. */
  changes(lanes: KnownLanes): Promise<ReceivedChanges>
  /** The first entries of these lanes, `windowSize` of each that has as many. */
  first(laneIds: readonly string[]): Promise<ReadonlyMap<string, readonly Waiting[]>>
  /**
   * Commits everything or nothing. Starts of jobs that another transaction moved, and evictions for them, are left
   * out and named.
   */
  commit(decisions: Decisions, revision: number): Promise<Committed>
  /** Rows of the views that changed. */
  publish(changes: ViewChanges): Promise<void>
}

export interface KnownLanes {
  has(laneId: string): boolean
}

export interface ReceivedChanges {
  nowMs: number
  changes: readonly Change[]
  /** Lanes of `changes` that were unknown; `first` and `waiting` are empty: entries join by changes. */
  lanes: readonly Omit<LaneState, 'waiting' | 'first'>[]
  /** The time at which the next time-dependent gate opens; null: never. */
  nextDueMs: number | null
  /** More changes must be read before the next decision. */
  more: boolean
}

export type Committed =
  | { kind: 'committed'; lost: readonly string[] }
  /** The settings changed after they were read: read changes and plan again. */
  | { kind: 'stale' }
  /**
   * A device, an amount or the interactive run of a user was not free: nothing was written, and the world must be
   * loaded again.
   */
  | { kind: 'conflict' }

/** Rows that readers of every process see; null deletes the row. */
export interface Views {
  lanes: ReadonlyMap<string, LaneRow | null>
  classes: ReadonlyMap<string, ClassRow | null>
  accounts: ReadonlyMap<string, AccountRow | null>
}

export interface ViewChanges extends Views {
  /** The content of a row changed, not only its time. */
  isNews: boolean
}

export interface LaneRow {
  waiting: number
  headJobId: string
  headBid: number
  headSequence: number
  /** Priority raised by waiting. */
  priority: number
  reason: unknown
  consideredMs: number
}

export interface ClassRow {
  blockedBy: string | null
  reason: unknown
  consideredMs: number
}

export interface AccountRow {
  occupancy: number
  /** null: the pool has no half-life. */
  decayedUse: number | null
  /** Jobs are ordered by this number. */
  share: number
  weight: number
  running: number
  queued: number
}
