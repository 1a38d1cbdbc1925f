import type { Lane, Policy } from '../../domain/lanes.ts'
import type { LimitRule } from '../../domain/limits/in-use.ts'
import type { ResourceAmounts } from '../../domain/machines/amounts.ts'
import type { FreeNode, Placement } from '../../domain/machines/placement.ts'
import type { Reason } from '../../domain/reason.ts'
import type { Settings } from '../../domain/scheduling.ts'
import type { HoldingState } from '../../domain/state.ts'

/**
 * Types of the planner. A leader keeps a *world* of its pool, loaded once (`Snapshot`) and then updated from changes
 * (`Change`). `plan` decides over it, and each decision changes it at once; the store commits the `Decisions` under
 * the epoch of the leader. This folder has no I/O and no clock.
 */

/** A blocked head blocks the jobs of its class. Interactive jobs are outside the classes and block no other job. */
export const jobClasses = ['CPU', 'CPU_PREEMPTABLE', 'GPU1', 'GPU1_PREEMPTABLE', 'GPUN', 'GPUN_PREEMPTABLE'] as const
export type JobClass = (typeof jobClasses)[number]

/** An open entry of the queue. The order of a lane is (-bid, sequence). */
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
  /** When its start was committed. */
  sinceMs: number
  /** null: its command has not begun. */
  startedMs: number | null
  leaving: boolean
  /** The owner of the hold whose nodes the run uses until then. */
  backfilledOn: string | null
  /** The tier of the preemption that freed its placements; null: they were free. */
  wonTier: Tier | null
  /** Run time that earlier runs of the job lost to preemptions. */
  lostMs: number
}

/** Causes of evictions; the numbers are stored. */
export const tiers = { interactive: 0, strict: 1, rotation: 2, drain: 3 } as const
export type Tier = (typeof tiers)[keyof typeof tiers]

export interface Hold {
  id: string
  jobId: string
  kind: 'PREEMPTION' | 'DRAIN'
  class: JobClass | 'INTERACTIVE'
  /** PREEMPTION: exactly the placements that the job gets. DRAIN: devices may change. */
  placements: readonly Placement[]
  sinceMs: number
  /** Expected completion; null: unknown. */
  expectedMs: number | null
}

export interface Reservation {
  id: string
  project: string
  nodes: readonly string[]
  startsMs: number
  endsMs: number
  hard: boolean
}

/** A preemption within the last quantum. */
export interface PastPreemption {
  atMs: number
  tier: Tier
  claimantJobId: string
  victimJobId: string
  claimant: string
  victim: string
}

export interface PoolSettings extends Settings {
  pool: string
  policy: Policy
  /** A start is committed only if the pool still has this revision. */
  revision: number
  starvationThresholdMs: number
  /** Order of display. */
  rules: readonly LimitRule[]
  /** Keys are accounts; default 1. */
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
  account: string
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
  /** The oldest start first. */
  served: readonly Served[]
  decayedUse: ReadonlyMap<string, ResourceAmounts>
}

/** Applying a change twice changes nothing. `isSpared`: the run ended, and no preemption of it is recorded. */
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
    /** [before, after] as compared. */
    shares: { claimant: [number, number]; victim: [number, number] }
  }[]
}

export interface Decisions {
  starts: Start[]
  evictions: Eviction[]
  holds: { put: Hold[]; drop: string[] }
  /** Interactive jobs of users who already have one. */
  refused: { entry: Waiting; info: string }[]
  /** Lanes whose next entries must be read before the pass continues. */
  needs: string[]
  considered: number
  /** When time alone may change a decision; null: never. */
  nextMs: number | null
}

/** An exact fraction, compared by cross-multiplication. */
export interface Fraction {
  num: bigint
  den: bigint
}

export interface WorldView {
  readonly nowMs: number
  readonly settings: PoolSettings
  /** Nodes minus the amounts of runs. A caller that changes them to try something out restores them. */
  readonly nodes: readonly FreeNode[]
  /** Sorted by start. */
  readonly running: ReadonlyMap<string, Running>
  /** Keys are ids of jobs. */
  readonly holds: ReadonlyMap<string, Hold>
  readonly preemptions: readonly PastPreemption[]
  runsOn(nodeId: string): Iterable<Running>
  /** The share of the pool that the account holds (accounts.ts), with `extra` added and `without` removed. */
  occupancy(account: string, change?: { extra?: ResourceAmounts; without?: ResourceAmounts }): Fraction
  /**
   * The job is permanently ahead of the owner of this hold; under PRIORITY only, since shares change with every start.
   */
  precedes(job: { lane: Lane; entry: Waiting }, holdOf: string): boolean
  /** Under PRIORITY: the given level of the lane is higher than that of the owner of this hold. */
  outranks(lane: Lane, holdOf: string): boolean
  share(account: string): Fraction
}

export type Verdict =
  | { start: Pick<Start, 'placements' | 'models' | 'wonTier' | 'backfilledOn'> }
  | { start: null; reason: Reason; becomes: 'QUEUED' | 'FAILED' }
