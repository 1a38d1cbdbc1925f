import type { Placement } from '../../domain/machines/placement.ts'
import type { Change, Decisions, LaneState, Snapshot, Waiting } from './model.ts'

/**
 * Stores the decisions of a leader. Every write carries the epoch; a leader of an older epoch gets `Fenced`.
 * stored-pool.ts implements it with PostgreSQL, simulate/ in memory.
 */

export interface Store {
  load(): Promise<Snapshot>
  /** Opens gates that are due. Returns the changes since the last call, in order. */
  changes(lanes: KnownLanes): Promise<ReceivedChanges>
  /** Returns the first `windowSize` entries of each lane. */
  first(laneIds: readonly string[]): Promise<ReadonlyMap<string, readonly Waiting[]>>
  /**
   * Commits all decisions or none, except those about jobs that another transaction moved; these are returned as
   * `lost`.
   */
  commit(decisions: Decisions, revision: number): Promise<Committed>
  publish(changes: ViewChanges): Promise<void>
}

export interface KnownLanes {
  has(laneId: string): boolean
}

export interface ReceivedChanges {
  nowMs: number
  changes: readonly Change[]
  /** Lanes of `changes` that were unknown, without entries: these arrive as changes. */
  lanes: readonly Omit<LaneState, 'waiting' | 'first'>[]
  /** Time at which the next time gate opens; null: never. */
  nextDueMs: number | null
  more: boolean
}

export type CommitTimes = ReadonlyMap<string, number>

export type Committed =
  | { kind: 'committed'; lost: readonly string[]; sinceMs: CommitTimes }
  /** The settings changed since the plan, so the leader must plan again. */
  | { kind: 'stale' }
  /** Nothing was written, because the tables contradict the world, so the leader must load it again. */
  | { kind: 'conflict' }

export interface Views {
  lanes: ReadonlyMap<string, LaneRow | null>
  plans: ReadonlyMap<string, PlanRow | null>
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

/** A planned start; the key is the id of the job. */
export interface PlanRow {
  placements: readonly Placement[]
  /** null: unknown. */
  expectedMs: number | null
}

export interface AccountRow {
  occupancy: number
  decayedUse: number | null
  share: number
  weight: number
  running: number
  queued: number
}
