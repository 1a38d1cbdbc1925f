import type { Lane, Policy } from '../../domain/lanes.ts'
import type { LimitRule } from '../../domain/limits/in-use.ts'
import type { FreeNode, Placement } from '../../domain/machines/placement.ts'
import type { Reason } from '../../domain/reason.ts'
import type { Settings } from '../../domain/scheduling.ts'
import type { HoldingState } from '../../domain/state.ts'

/**
 * The words of the planner. A leader keeps a *world* of its pool: loaded once when it takes over (`Snapshot`), then kept up
 * by what it hears (`Change`). `plan` decides over it, and each decision is true in it at once; the store commits the
 * `Decisions` under the leader's epoch. This folder has no I/O and no clock: times are the database's, in milliseconds.
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
  /** Since when it may start: its wait, and so its ageing, count from here. */
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
  /** When its command began; null: not yet. */
  startedMs: number | null
  /** It was asked to leave. */
  leaving: boolean
  /** The job of the hold on whose nodes it runs until that job needs them. */
  backfilledOn: string | null
  /** The tier of the preemption that freed its placements; null: they were free. */
  wonTier: Tier | null
}

/** 0: for an interactive job; 1: strict; 2: rotation; 3: backfill that has to leave its hold. */
export type Tier = 0 | 1 | 2 | 3

export interface Hold {
  id: string
  jobId: string
  kind: 'PREEMPTION' | 'DRAIN'
  class: JobClass | 'INTERACTIVE'
  /** Of a PREEMPTION: exactly what the job will be given. Of a DRAIN: the nodes and amounts it waits for; devices may change. */
  placements: readonly Placement[]
  sinceMs: number
  /** When it is expected to be complete; null: not known. */
  expectedMs: number | null
}

export interface Reservation {
  id: string
  project: string
  /** Names. */
  nodes: readonly string[]
  startsMs: number
  endsMs: number
  hard: boolean
}

/** A run that was asked to leave, within the last quantum. */
export interface PastPreemption {
  atMs: number
  tier: Tier
  claimantJobId: string
  victimJobId: string
}

/** Everything of the pool that people set. */
export interface PoolSettings extends Settings {
  pool: string
  policy: Policy
  /** A start is committed only while this is still the pool's. */
  revision: number
  starvationThresholdMs: number
  /** Limits, in the order in which they are told. */
  rules: readonly LimitRule[]
  /** By account; a missing one is 1. */
  weights: ReadonlyMap<string, number>
  reservations: readonly Reservation[]
}

export interface LaneState {
  lane: Lane
  /** Names for messages. */
  userName: string
  team: string | null
  /** Open entries, of which `first` are the first. */
  waiting: number
  first: readonly Waiting[]
}

export interface Snapshot {
  nowMs: number
  settings: PoolSettings
  nodes: readonly FreeNode[]
  lanes: readonly LaneState[]
  running: readonly Running[]
  holds: readonly Hold[]
  preemptions: readonly PastPreemption[]
}

/** What the leader hears, in order. Hearing the same twice changes nothing. */
export type Change =
  | { kind: 'JOINED'; entry: Waiting }
  | { kind: 'LEFT'; jobId: string; laneId: string }
  /** null: it holds nothing any more. */
  | { kind: 'RUN'; runId: string; running: Running | null }
  | { kind: 'NODES'; nodes: readonly FreeNode[] }
  | { kind: 'SETTINGS'; settings: PoolSettings }

export interface Start {
  lane: Lane
  entry: Waiting
  placements: readonly Placement[]
  /** Of the GPUs among them. */
  models: readonly string[]
  wonTier: Tier | null
  backfilledOn: string | null
}

/** Runs that have to leave, and the hold on what they use. */
export interface Eviction {
  hold: Hold
  claimant: { jobId: string; account: string }
  victims: readonly {
    running: Running
    tier: Tier
    /** [before, after], as they were compared. */
    shares: { claimant: [number, number]; victim: [number, number] }
  }[]
}

export interface Decisions {
  starts: Start[]
  evictions: Eviction[]
  /** New drain holds, and the jobs whose holds are over. */
  holds: { put: Hold[]; drop: string[] }
  /** Interactive jobs of users who have one: they end with this message. */
  refused: { entry: Waiting; info: string }[]
  /** Lanes whose next entries must be read before the pass can go on. */
  needs: string[]
  /** Jobs that were looked at. */
  considered: number
  /** When time alone may change a decision; null: never. */
  nextMs: number | null
}

/** Of what is shared: processors in thousandths, bytes of memory, GPUs. */
export interface ResourceAmounts {
  cpu: number
  memory: number
  gpu: number
}

/** A share of the pool, exact: compared by cross-multiplication. */
export interface Fraction {
  num: bigint
  den: bigint
}

/** What the parts of the planner may know of the world. */
export interface WorldView {
  readonly nowMs: number
  readonly settings: PoolSettings
  /** As they are now, without what runs use. `take` and `giveBack` (placement.ts) change them; code that tries something out puts it back. */
  readonly nodes: readonly FreeNode[]
  /** In the order in which they were started. */
  readonly running: ReadonlyMap<string, Running>
  /** By job. */
  readonly holds: ReadonlyMap<string, Hold>
  readonly preemptions: readonly PastPreemption[]
  /** Runs with a placement on the node. */
  runsOn(nodeId: string): Iterable<Running>
  /** The greatest part of any resource of the pool that the account's runs hold, over its weight; as it would be with `extra` and `without` these amounts. Runs that were asked to leave do not count, and the jobs that what they use is held for do. */
  share(account: string, change?: { extra?: ResourceAmounts; without?: ResourceAmounts }): Fraction
}

/** What would become of a job, and why it would not start. */
export type Verdict =
  | { start: Pick<Start, 'placements' | 'models' | 'wonTier' | 'backfilledOn'> }
  | { start: null; reason: Reason; becomes: 'QUEUED' | 'FAILED' }
