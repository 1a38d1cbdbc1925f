import type { Lane, Policy } from '../../domain/lanes.ts'
import type { LimitRule } from '../../domain/limits/limit-reached.ts'
import type { ResourceAmounts } from '../../domain/machines/amounts.ts'
import type { FreeNode, Placement } from '../../domain/machines/placement.ts'
import type { Reason } from '../../domain/reason.ts'
import type { Settings } from '../../domain/scheduling.ts'
import type { HoldingState } from '../../domain/state.ts'

/**
 * Types of the planner. A leader keeps a *world* of its pool in memory, which is loaded once (`Snapshot`) and then
 * updated by changes (`Change`). `plan` makes decisions and applies each to the world at once; the store commits the
 * `Decisions` under the epoch of the leader. This directory contains no I/O and reads no clock.
 */

/** A waiting job. Inside a lane, entries are ordered by descending bid, then by sequence. */
export interface Waiting {
  jobId: string
  laneId: string
  runId: string
  run: number
  bid: number
  sequence: number
  sinceMs: number
}

export interface Running {
  runId: string
  jobId: string
  run: number
  lane: Lane
  state: HoldingState
  placements: readonly Placement[]
  sinceMs: number
  /** null: the command has not begun. */
  startedMs: number | null
  leaving: boolean
  /** The job whose planned nodes the run uses until that job needs them. */
  backfilledOn: string | null
  /** The tier of the preemption that freed the placements; null: the placements were free. */
  wonTier: Tier | null
  /** Run time that earlier runs of this job lost to preemption. */
  lostMs: number
}

/** Causes of evictions; the numbers are stored. */
export const tiers = { interactive: 0, strict: 1, rotation: 2, backfilled: 3 } as const
export type Tier = (typeof tiers)[keyof typeof tiers]

/** Resources of victims, which exactly this job gets. */
export interface Hold {
  id: string
  jobId: string
  placements: readonly Placement[]
  sinceMs: number
  /** The job on whose planned nodes the job will be backfilled; null: none. */
  backfilledOn: string | null
}

/** The resources planned for a waiting job, and the time at which they are expected to be free (expected-ends.ts). */
export interface PlannedStart {
  lane: Lane
  entry: Waiting
  /** The job may start on other devices of these nodes. */
  placements: readonly Placement[]
  atMs: number
}

export interface Reservation {
  id: string
  project: string
  nodes: readonly string[]
  startsMs: number
  endsMs: number
  hard: boolean
}

/** A preemption within the last rotation quantum. */
export interface PastPreemption {
  atMs: number
  tier: Tier
  claimantJobId: string
  victimJobId: string
  /** The leaves of both jobs in the tree of shares. */
  claimant: string
  victim: string
}

export interface PoolSettings extends Settings {
  pool: string
  policy: Policy
  /** A start is committed only if the pool still has this settings revision. */
  revision: number
  starvationThresholdMs: number
  /** Limit rules in the order in which they are displayed. */
  rules: readonly LimitRule[]
  /** By account; default 1. */
  weights: ReadonlyMap<string, number>
  reservations: readonly Reservation[]
}

export interface LaneState {
  lane: Lane
  userName: string
  team: string | null
  waiting: number
  first: readonly Waiting[]
}

export interface Served {
  /** A person in an account (share-tree.ts). */
  leaf: string
  amounts: ResourceAmounts
}

export interface Snapshot {
  nowMs: number
  settings: PoolSettings
  nodes: readonly FreeNode[]
  lanes: readonly LaneState[]
  running: readonly Running[]
  holds: readonly Hold[]
  preemptions: readonly PastPreemption[]
  /** Leaves in the order of their last starts, oldest first. */
  served: readonly Served[]
  /** Keys are leaves of the tree of shares. */
  decayedUse: ReadonlyMap<string, ResourceAmounts>
}

/**
 * Applying a change twice is safe. `isSpared`: the run ended before its preemption was signalled, so the preemption
 * does not count.
 */
export type Change =
  | { kind: 'JOINED'; entry: Waiting }
  | { kind: 'LEFT'; jobId: string; laneId: string }
  | { kind: 'RUN'; runId: string; running: Running | null; isSpared?: boolean }
  | { kind: 'NODES'; nodes: readonly FreeNode[] }
  | { kind: 'SETTINGS'; settings: PoolSettings }

export interface Start {
  lane: Lane
  entry: Waiting
  placements: readonly Placement[]
  models: readonly string[]
  wonTier: Tier | null
  backfilledOn: string | null
}

export interface Eviction {
  hold: Hold
  claimant: { jobId: string; account: string }
  victims: readonly {
    running: Running
    tier: Tier
    /** The compared shares, as [before, after]. */
    shares: { claimant: [number, number]; victim: [number, number] }
  }[]
}

export interface Decisions {
  starts: Start[]
  evictions: Eviction[]
  dropped: string[]
  /** Interactive jobs whose user already has another interactive run. */
  refused: { entry: Waiting; info: string }[]
  /** Lanes whose next entries must be read before planning can continue. */
  needs: string[]
  considered: number
  /** Next time at which a decision may change without any change of data; null: never. */
  nextMs: number | null
}

export interface Fraction {
  num: bigint
  den: bigint
}

export interface WorldView {
  readonly nowMs: number
  readonly settings: PoolSettings
  /** Free resources: nodes minus the amounts of runs. A caller that changes nodes on trial must restore them. */
  readonly nodes: readonly FreeNode[]
  /** Sorted by start. */
  readonly running: ReadonlyMap<string, Running>
  /** Keys are ids of the owners. */
  readonly holds: ReadonlyMap<string, Hold>
  /** Keys are ids of jobs. */
  readonly plans: ReadonlyMap<string, PlannedStart>
  readonly preemptions: readonly PastPreemption[]
  runsOn(nodeId: string): readonly Running[]
  /** Lower bounds of the next end on each node, in the order of their names; NaN: not computed yet. */
  readonly nextEnds: Float64Array
  /** The share of the pool that the node holds (accounts.ts), after adding `extra` and subtracting `without`. */
  occupancy(node: string, change?: { extra?: ResourceAmounts; without?: ResourceAmounts }): Fraction
  /** Under PRIORITY, true: the configured priority of the lane is higher than that of the job with the planned start. */
  outranks(lane: Lane, plan: PlannedStart): boolean
  share(node: string): Fraction
}

export type Verdict =
  | { start: Pick<Start, 'placements' | 'models' | 'wonTier' | 'backfilledOn'> }
  /** `preempts`: jobs whose runs would be evicted for the candidate. */
  | { start: null; reason: Reason; becomes: 'QUEUED' | 'FAILED'; preempts?: string[] }
