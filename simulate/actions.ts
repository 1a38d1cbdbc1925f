import type { LimitChange } from '../src/domain/limits/limits.ts'
import type { QuotaRule } from '../src/domain/limits/quota-rules.ts'
import type { FreeNode } from '../src/domain/machines/placement.ts'
import type { DeclaredNode } from '../src/domain/machines/pools.ts'
import type { StoredSettings } from '../src/domain/scheduling.ts'
import type { JobState } from '../src/domain/state.ts'
import type { Report } from '../src/scheduler/outcome.ts'

/**
 * Events of a pool, as data. An action is chosen by a seed and the visible state (choosing.ts), and performed on tables
 * in memory or in PostgreSQL. Both list jobs in the order of submission, so a seed has the same actions in both.
 */
export interface PoolPlan {
  policy: 'PRIORITY' | 'FAIR_SHARE'
  nodes: readonly DeclaredNode[]
  limits: LimitChange
  models: readonly ModelLimit[]
  planning: Planning
  quotas: readonly QuotaRule[]
}

/** GPUs of one model that all jobs of the queue may hold together; null: no limit. */
export interface ModelLimit {
  gpuModel: string
  maxGpus: number | null
}

export interface Planning {
  scheduling: StoredSettings
  weights: Readonly<Record<string, number>>
}

export const people = { ada: 'ADMIN', bob: 'LEAD', cyd: 'RESEARCHER', dan: 'VIEWER' } as const
export type Person = keyof typeof people
/** Every user is a member of every team. */
export const teams = ['a', 'b', 'c'] as const
/** Every user may charge every account. */
export const accounts = [...teams, 'a.sub'] as const
export const project = 'apollo'

export interface Asks {
  by: Person
  account: string
  bid: number
  interactive: boolean
  preemptable: boolean
  restartable: boolean
  gpu: number
  gpuModel: string | null
  cpu: number
  infiniband: boolean
  copies: number
  maxRunTimeSeconds: number
  runSeconds: number
  eligibleInMs: number
  needsApproval: boolean
  /** Jobs that must end before this job may start. */
  after: readonly string[]
  reservation: string | null
}

export interface Reserving {
  name: string
  nodes: readonly string[]
  startsInMs: number
  endsInMs: number
}

export type Action =
  | { kind: 'SUBMIT'; asks: Asks; times: number }
  | { kind: 'CANCEL'; job: string }
  | { kind: 'DECIDE'; job: string; approve: boolean }
  | { kind: 'PRIORITISE'; job: string; priority: number }
  /** A report of an executor. It may be repeated, or be about a run that is over. */
  | { kind: 'REPORT'; job: string; run: number; report: Report; times: number }
  /** The runner checks whether the run must still be preempted, and signals it. */
  | { kind: 'LEAVE'; job: string }
  /** The nodes of the run become unreachable. */
  | { kind: 'LOSE'; job: string; run: number }
  /** A node becomes unreachable, even with runs on it. */
  | { kind: 'SILENCE'; name: string }
  /** All unreachable nodes become reachable again. */
  | { kind: 'FIND' }
  | { kind: 'NODE'; name: string; state: 'READY' | 'CORDONED' | 'DRAINING' }
  | { kind: 'ADD_NODE'; node: DeclaredNode }
  | { kind: 'LIMITS'; limits: LimitChange; model: ModelLimit }
  | { kind: 'PLAN'; planning: Planning }
  | { kind: 'RESERVE'; reserving: Reserving }
  | { kind: 'TIME'; ms: number }
  | { kind: 'NOTHING' }

export interface SeenJob {
  id: string
  state: JobState
  run: number
  /** ASKED: the preemption of its run was requested; SIGNALLED: the runner has sent the signal. */
  leaves: 'ASKED' | 'SIGNALLED' | null
  /** When its command ends by itself; null: the command has not begun. */
  endsMs: number | null
}

export interface Seen {
  nowMs: number
  /** Jobs that are not over, in the order of submission. */
  jobs: readonly SeenJob[]
  nodes: readonly { name: string; state: FreeNode['state'] }[]
  /** Names of capacity reservations that have not ended. */
  reservations: readonly string[]
}

export interface Actor {
  see(): Promise<Seen> | Seen
  act(action: Action): Promise<void> | void
}
