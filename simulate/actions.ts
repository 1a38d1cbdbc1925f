import type { LimitChange } from '../src/domain/limits/limits.ts'
import type { QuotaRule } from '../src/domain/limits/quota-rules.ts'
import type { FreeNode } from '../src/domain/machines/placement.ts'
import type { DeclaredNode } from '../src/domain/machines/pools.ts'
import type { StoredSettings } from '../src/domain/scheduling.ts'
import type { JobState } from '../src/domain/state.ts'
import type { Report } from '../src/scheduler/outcome.ts'

/**
 * What happens to a pool, as data: chosen from a seed and what can be seen (choosing.ts), done over tables in memory or in
 * PostgreSQL. Both see jobs in the order in which they were submitted, so a seed means the same for both.
 */
export interface PoolPlan {
  policy: 'PRIORITY' | 'FAIR_SHARE'
  nodes: readonly DeclaredNode[]
  limits: LimitChange
  models: readonly ModelLimit[]
  planning: Planning
  quotas: readonly QuotaRule[]
}

/** GPUs of a model that all jobs of the queue may hold together; null: as many as there are. */
export interface ModelLimit {
  gpuModel: string
  maxGpus: number | null
}

export interface Planning {
  scheduling: StoredSettings
  /** By account. */
  weights: Readonly<Record<string, number>>
}

export const people = { ada: 'ADMIN', bob: 'LEAD', cyd: 'RESEARCHER', dan: 'VIEWER' } as const
export type Person = keyof typeof people
/** Everybody is in each. */
export const teams = ['a', 'b', 'c'] as const
/** Everybody may charge each. */
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
  /** Jobs that must have ended. */
  after: readonly string[]
  /** Name of a capacity reservation. */
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
  /** Of an executor; perhaps more than once, perhaps of a run that is over. */
  | { kind: 'REPORT'; job: string; run: number; report: Report; times: number }
  /** The runner asks whether the run is to leave still, and signals it. */
  | { kind: 'LEAVE'; job: string }
  /** The nodes of the run do not answer. */
  | { kind: 'LOSE'; job: string; run: number }
  /** A node does not answer, whatever runs there. */
  | { kind: 'SILENCE'; name: string }
  /** They do again. */
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
  /** It was asked to leave, or told so by a signal. */
  leaves: 'ASKED' | 'SIGNALLED' | null
  /** When its command would end by itself; null: it has not begun. */
  endsMs: number | null
}

export interface Seen {
  nowMs: number
  /** Those that are not over, in the order of submission. */
  jobs: readonly SeenJob[]
  nodes: readonly { name: string; state: FreeNode['state'] }[]
  /** Names of capacity reservations that are not over. */
  reservations: readonly string[]
}

/** Does what was chosen, over some tables. */
export interface Actor {
  see(): Promise<Seen> | Seen
  act(action: Action): Promise<void> | void
}
