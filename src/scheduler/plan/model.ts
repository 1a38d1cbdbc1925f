import type { Lane, Policy } from '../../domain/lanes.ts'
import type { LimitRule } from '../../domain/limits/in-use.ts'
import type { ResourceAmounts } from '../../domain/machines/amounts.ts'
import type { FreeNode, Placement } from '../../domain/machines/placement.ts'
import type { Reason } from '../../domain/reason.ts'
import type { Settings } from '../../domain/scheduling.ts'
import type { HoldingState } from '../../domain/state.ts'

/**
 * Types of the planner. A leader keeps a *world* of its pool, loaded once when it takes over (`Snapshot`) and then
 * updated from changes (`Change`). `plan` decides over it, and each decision changes it at once; the store commits
 * the `Decisions` under the epoch of the leader. This folder has no I/O and no clock: times come from the database,
 * in milliseconds.
 */

/** Jobs among which a blocked head blocks the others. Interactive jobs are outside the classes and block no other job. */
export type JobClass = 'CPU' | 'CPU_PREEMPTABLE' | 'GPU1' | 'GPU1_PREEMPTABLE' | 'GPUN' | 'GPUN_PREEMPTABLE'

/** An open entry of the queue. The order of a lane is (-bid, sequence). */
export interface Waiting {
  jobId: string
  laneId: string
  runId: string
  run: number
  bid: number
  sequence: number
  /** Start of its wait, from which ageing counts. */
  sinceMs: number
}

/** A run that holds resources. */
export interface Running {
  runId: string
  jobId: string
  run: number
  lane: Lane
  state: HoldingState
  placements: readonly Placement[]
  /** When its start was committed. */
  sinceMs: number
  /** When its command began; null: it has not begun. */
  startedMs: number | null
  /** The preemption of the run was requested. */
  leaving: boolean
  /** The owner of the hold whose nodes the run uses until the owner needs them. */
  backfilledOn: string | null
  /** The tier of the preemption that freed its placements; null: they were free. */
  wonTier: Tier | null
  /** Run time that earlier runs of the job lost to preemptions; known once its command has begun. */
  lostMs: number
}

/**
 * Why a run is evicted: for an interactive job, strictly, by rotation, or from backfill of a hold. The numbers are
 * stored.
 */
export const tiers = { interactive: 0, strict: 1, rotation: 2, drain: 3 } as const
export type Tier = (typeof tiers)[keyof typeof tiers]

export interface Hold {
  id: string
  jobId: string
  kind: 'PREEMPTION' | 'DRAIN'
  class: JobClass | 'INTERACTIVE'
  /**
   * PREEMPTION: exactly the placements that the job gets. DRAIN: the nodes and amounts it waits for; devices may
   * change.
   */
  placements: readonly Placement[]
  sinceMs: number
  /** When the hold is expected to be complete; null: unknown. */
  expectedMs: number | null
}

export interface Reservation {
  id: string
  project: string
  /** Names of the nodes. */
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
  /** The accounts of both. */
  claimant: string
  victim: string
}

/** All settings of the pool that people may change. */
export interface PoolSettings extends Settings {
  pool: string
  policy: Policy
  /** A start is committed only if the pool still has this revision. */
  revision: number
  starvationThresholdMs: number
  /** Limits, in the order in which they are shown. */
  rules: readonly LimitRule[]
  /** Keys are accounts; default 1. */
  weights: ReadonlyMap<string, number>
  reservations: readonly Reservation[]
}

export interface LaneState {
  lane: Lane
  /** Names for messages. */
  userName: string
  team: string | null
  /** Number of open entries; `first` has the first of them. */
  waiting: number
  first: readonly Waiting[]
}

/** A start in the past. */
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
  /** Accounts of the latest starts, the oldest first. */
  served: readonly Served[]
  /** Decayed use of accounts until now; empty without a half-life. */
  decayedUse: ReadonlyMap<string, ResourceAmounts>
}

/**
 * Changes of the pool, in order. Applying one twice changes nothing. `isSpared`: the run ended, and no preemption of
 * it is recorded: a request was withdrawn.
 */
export type Change =
  | { kind: 'JOINED'; entry: Waiting }
  | { kind: 'LEFT'; jobId: string; laneId: string }
  /** null: the run does not hold resources any more. */
  | { kind: 'RUN'; runId: string; running: Running | null; isSpared?: boolean }
  | { kind: 'NODES'; nodes: readonly FreeNode[] }
  | { kind: 'SETTINGS'; settings: PoolSettings }

export interface Start {
  lane: Lane
  entry: Waiting
  placements: readonly Placement[]
  /** Models of these GPUs. */
  models: readonly string[]
  wonTier: Tier | null
  backfilledOn: string | null
}

/** Evicted runs, and the hold on their resources. */
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
  /** New drain holds, and jobs whose holds end. */
  holds: { put: Hold[]; drop: string[] }
  /** Interactive jobs of users who already have one: they end with this message. */
  refused: { entry: Waiting; info: string }[]
  /** Lanes whose next entries must be read before the pass continues. */
  needs: string[]
  /** Number of jobs that were considered. */
  considered: number
  /** When time alone may change a decision; null: never. */
  nextMs: number | null
}

/** An exact fraction, compared by cross-multiplication. */
export interface Fraction {
  num: bigint
  den: bigint
}

/** The read-only world for the parts of the planner. */
export interface WorldView {
  readonly nowMs: number
  readonly settings: PoolSettings
  /**
   * Nodes minus the amounts of runs. `take` and `giveBack` (placement.ts) change them; a caller that tries something
   * out restores them.
   */
  readonly nodes: readonly FreeNode[]
  /** Sorted by start. */
  readonly running: ReadonlyMap<string, Running>
  /** Keys are ids of jobs. */
  readonly holds: ReadonlyMap<string, Hold>
  readonly preemptions: readonly PastPreemption[]
  /** Runs with a placement on the node. */
  runsOn(nodeId: string): Iterable<Running>
  /**
   * The largest part of any resource of the pool that the runs of the account hold, divided by its weight, with
   * `extra` added and `without` removed. Runs whose preemption was requested do not count; the jobs that get their
   * resources do.
   */
  occupancy(account: string, change?: { extra?: ResourceAmounts; without?: ResourceAmounts }): Fraction
  /**
   * The job is permanently ahead of the owner of this hold: under PRIORITY only, since shares change with every
   * start.
   */
  precedes(job: { lane: Lane; entry: Waiting }, holdOf: string): boolean
  /** Under PRIORITY: the given level of the lane is higher than that of the owner of this hold. */
  outranks(lane: Lane, holdOf: string): boolean
  /** Jobs are ordered by this number: the occupancy, or with a half-life the decayed use of the near future. */
  share(account: string): Fraction
}

/** The outcome for a job, or the reason that keeps it from starting. */
export type Verdict =
  | { start: Pick<Start, 'placements' | 'models' | 'wonTier' | 'backfilledOn'> }
  | { start: null; reason: Reason; becomes: 'QUEUED' | 'FAILED' }
