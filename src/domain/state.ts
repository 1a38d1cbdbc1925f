/** The states of a job and the transitions between them; `transition` executes them. */

export const jobStates = [
  'BLOCKED',
  'QUEUED',
  'STARTING',
  'RUNNING',
  'CANCELLING',
  'SUCCEEDED',
  'FAILED',
  'INTERRUPTED',
  'CANCELLED',
] as const
export type JobState = (typeof jobStates)[number]
export type FinalState = 'SUCCEEDED' | 'FAILED' | 'INTERRUPTED' | 'CANCELLED'
export type StateCategory = 'WAITING' | 'ACTIVE' | 'FINAL'
export type PsijState = 'NEW' | 'QUEUED' | 'ACTIVE' | 'COMPLETED' | 'FAILED' | 'CANCELED'

const failures = [
  'EXIT_CODE',
  'SIGNAL',
  'MAX_RUN_TIME',
  'OOM_KILLED',
  'RESUME_FAILED',
  // A backend may report an invalid spec only after it reported the run as running.
  'BAD_SPEC',
  'WORKDIR_NOT_FOUND',
] as const

/** For every state, the states that may follow, each with its permitted reasons. null: no reason is needed. */
export const moves = {
  BLOCKED: {
    QUEUED: ['APPROVED'],
    FAILED: ['APPROVAL_REJECTED', 'APPROVAL_EXPIRED'],
    CANCELLED: ['CANCELLED'],
  },
  QUEUED: {
    STARTING: [null],
    FAILED: ['INTERACTIVE_QUOTA'],
    CANCELLED: ['CANCELLED', 'DEPENDENCY_FAILED'],
  },
  STARTING: {
    RUNNING: [null, 'PREEMPTING'],
    QUEUED: ['START_FAILED', 'NODE_TROUBLE', 'NOT_TOGETHER', 'PREEMPTED', 'NODE_LOST'],
    FAILED: ['BAD_SPEC', 'START_FAILED', 'WORKDIR_NOT_FOUND'],
    INTERRUPTED: ['PREEMPTED', 'NODE_LOST'],
    CANCELLING: ['CANCELLED'],
  },
  RUNNING: {
    SUCCEEDED: [null],
    FAILED: failures,
    QUEUED: ['PREEMPTED', 'NODE_LOST', 'EXIT_CODE', 'SIGNAL', 'OOM_KILLED'],
    INTERRUPTED: ['PREEMPTED', 'NODE_LOST'],
    CANCELLING: ['CANCELLED'],
  },
  CANCELLING: {
    CANCELLED: ['CANCELLED', 'NODE_LOST'],
    SUCCEEDED: [null],
    FAILED: [...failures, 'START_FAILED'],
  },
  SUCCEEDED: {},
  FAILED: {},
  INTERRUPTED: {},
  CANCELLED: {},
} as const satisfies Record<JobState, Partial<Record<JobState, readonly (string | null)[]>>>

export type StateReason = Exclude<
  {
    [F in JobState]: {
      [T in keyof (typeof moves)[F]]: (typeof moves)[F][T] extends readonly (infer R)[] ? R : never
    }[keyof (typeof moves)[F]]
  }[JobState],
  null
>

export function mayMove(from: JobState, to: JobState, reason: string | null): boolean {
  const reasons = (moves[from] as Partial<Record<JobState, readonly (string | null)[]>>)[to]
  return reasons?.includes(reason) ?? false
}

export const stateCategory = {
  BLOCKED: 'WAITING',
  QUEUED: 'WAITING',
  STARTING: 'ACTIVE',
  RUNNING: 'ACTIVE',
  CANCELLING: 'ACTIVE',
  SUCCEEDED: 'FINAL',
  FAILED: 'FINAL',
  INTERRUPTED: 'FINAL',
  CANCELLED: 'FINAL',
} as const satisfies Record<JobState, StateCategory>

export type HoldingState = { [S in JobState]: (typeof stateCategory)[S] extends 'ACTIVE' ? S : never }[JobState]

export const isHolding = (state: JobState): state is HoldingState => stateCategory[state] === 'ACTIVE'
export const holdingStates = jobStates.filter(isHolding)

/** The states as an SQL list for `state IN …`. Partial indexes of the migrations use the same states. */
export const holdingSql = `(${holdingStates.map((state) => `'${state}'`).join(', ')})`

export const isFinal = (state: JobState): state is FinalState => stateCategory[state] === 'FINAL'
export const finalSql = `(${jobStates
  .filter(isFinal)
  .map((state) => `'${state}'`)
  .join(', ')})`
export const isAlive = (state: JobState): state is Exclude<JobState, FinalState> => !isFinal(state)

const psijStates = {
  BLOCKED: 'NEW',
  QUEUED: 'QUEUED',
  STARTING: 'QUEUED',
  RUNNING: 'ACTIVE',
  CANCELLING: 'ACTIVE',
  SUCCEEDED: 'COMPLETED',
  FAILED: 'FAILED',
  INTERRUPTED: 'FAILED',
  CANCELLED: 'CANCELED',
} as const satisfies Record<JobState, PsijState>

/** A job that has run stays ACTIVE while it waits for its next run, because PSI/J has no transition back. */
export const toPsijState = (state: JobState, wasRunning: boolean): PsijState =>
  wasRunning && psijStates[state] === 'QUEUED' ? 'ACTIVE' : psijStates[state]
