import type { Change, Decisions, LaneState, Snapshot, Waiting } from './model.ts'

/**
 * Where a leader reads its pool and commits its decisions. Everything is written under its epoch: a leader of an old
 * epoch gets `Fenced`. Over PostgreSQL: stored.ts; in memory, for the simulator: simulate/.
 */

export interface Store {
  /** The whole pool at one moment; earlier changes need not be heard any more. */
  load(): Promise<Snapshot>
  /**
   * The changes since then, in order, and the time; opens the gates that are due. `lanes`: those that the leader knows.
   */
  changes(lanes: KnownLanes): Promise<Heard>
  /** The first entries of these lanes, `windowSize` of each that has as many. */
  first(laneIds: readonly string[]): Promise<ReadonlyMap<string, readonly Waiting[]>>
  /**
   * All of it or nothing. Starts of jobs that another transaction moved meanwhile, and evictions for them, are left out
   * and named.
   */
  commit(decisions: Decisions, revision: number): Promise<Committed>
  /** Rows of the views that changed. */
  publish(changes: ViewChanges): Promise<void>
}

export interface KnownLanes {
  has(laneId: string): boolean
}

export interface Heard {
  nowMs: number
  changes: readonly Change[]
  /** Lanes of `changes` that were unknown; `first` and `waiting` are empty: entries join by changes. */
  lanes: readonly Omit<LaneState, 'waiting' | 'first'>[]
  /** When the next gate that time opens is due; null: none. */
  nextDueMs: number | null
  /** There are more changes to hear before anything is decided. */
  more: boolean
}

export type Committed =
  | { kind: 'committed'; lost: readonly string[] }
  /** The settings changed after they were read: hear, and plan again. */
  | { kind: 'stale' }
  /**
   * A device, an amount or a person's interactive run was not free: nothing was written, and the world must be loaded
   * again.
   */
  | { kind: 'conflict' }

/** What readers in every process are shown; null as a value deletes the row. */
export interface Views {
  lanes: ReadonlyMap<string, LaneRow | null>
  classes: ReadonlyMap<string, ClassRow | null>
  accounts: ReadonlyMap<string, AccountRow | null>
}

export interface ViewChanges extends Views {
  /** A row has other content, and not only another time. */
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
  /** By which jobs are ordered. */
  share: number
  weight: number
  running: number
  queued: number
}
