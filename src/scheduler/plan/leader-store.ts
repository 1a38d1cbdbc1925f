import type { Change, Decisions, LaneState, Snapshot, Waiting } from './model.ts'

/**
 * Every write carries the epoch: a leader of an old epoch gets `Fenced`. Over PostgreSQL: stored-pool.ts; in memory:
 * simulate/.
 */

export interface Store {
  load(): Promise<Snapshot>
  /** The changes since then, in order; opens due gates. */
  changes(lanes: KnownLanes): Promise<ReceivedChanges>
  /** `windowSize` entries of each lane that has as many. */
  first(laneIds: readonly string[]): Promise<ReadonlyMap<string, readonly Waiting[]>>
  /** Commits everything or nothing, except for jobs that another transaction moved: `lost`. */
  commit(decisions: Decisions, revision: number): Promise<Committed>
  publish(changes: ViewChanges): Promise<void>
}

export interface KnownLanes {
  has(laneId: string): boolean
}

export interface ReceivedChanges {
  nowMs: number
  changes: readonly Change[]
  /** Lanes of `changes` that were unknown; entries join by changes. */
  lanes: readonly Omit<LaneState, 'waiting' | 'first'>[]
  /** When the next gate of time opens; null: never. */
  nextDueMs: number | null
  more: boolean
}

/** When the start of each job was committed. */
export type CommitTimes = ReadonlyMap<string, number>

export type Committed =
  | { kind: 'committed'; lost: readonly string[]; sinceMs: CommitTimes }
  /** The settings changed meanwhile: plan again. */
  | { kind: 'stale' }
  /** Nothing was written, and the world must be loaded again. */
  | { kind: 'conflict' }

export interface Views {
  lanes: ReadonlyMap<string, LaneRow | null>
  classes: ReadonlyMap<string, ClassRow | null>
  accounts: ReadonlyMap<string, AccountRow | null>
}

export interface ViewChanges extends Views {
  isNews: boolean
}

export interface LaneRow {
  waiting: number
  headJobId: string
  headBid: number
  headSequence: number
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
  decayedUse: number | null
  share: number
  weight: number
  running: number
  queued: number
}
