/** Codes of the limits that delay starts. */
export type LimitCode =
  | 'POOL_PAUSED'
  | 'GLOBAL_LIMIT'
  | 'USER_LIMIT'
  | 'TEAM_LIMIT'
  | 'QUEUE_LIMIT'
  | 'PROJECT_LIMIT'
  | 'GPU_LIMIT'
  | 'LOCAL_JOB_LIMIT'
  | 'LOCAL_GPU_LIMIT'
  | 'USER_DISABLED'

export type ReasonCode =
  | LimitCode
  | 'APPROVAL_PENDING'
  | 'DEPENDENCY'
  | 'HOLD'
  | 'INTERACTIVE_QUOTA'
  | 'NODE_BACKS_OFF'
  | 'NON_PREEMPTABLE_POOL'
  | 'NOT_BEFORE'
  | 'NO_CAPACITY'
  | 'RESERVATION_WINDOW'
  | 'RESERVED_NODES'
  | 'RESTART_BACKOFF'
  | 'UNSATISFIABLE'
  | 'WAITING_FOR_PREEMPTION'

/** The reason why a job waits. `scope`, `limit` and `used` are set if a limit is the reason. */
export interface Reason {
  code: ReasonCode
  message: string
  jobId: string | null
  scope: string | null
  limit: number | null
  used: number | null
}

export const makeReason = (code: ReasonCode, message: string, jobId: string | null = null): Reason => ({
  code,
  message,
  jobId,
  scope: null,
  limit: null,
  used: null,
})

export const makeLimitReason = ({ code, message, scope, limit, used }: Omit<Reason, 'jobId'>): Reason => ({
  code,
  message,
  jobId: null,
  scope,
  limit,
  used,
})

/** `asks`: the requested resources in words. `reservationId`: the reservation to whose nodes the job is restricted. */
export const makeUnsatisfiableReason = (asks: string, reservationId: string | null) =>
  makeReason(
    'UNSATISFIABLE',
    `No node of ${reservationId === null ? 'the pool' : `reservation ${reservationId}`} can ever provide ${asks}`,
  )

export const makeOverPartReason = (part: number, asks: string, { isWhole }: { isWhole: boolean }) =>
  makeReason(
    'NON_PREEMPTABLE_POOL',
    `Non-preemptable jobs may together use at most ${part} of each resource of the pool${
      isWhole
        ? `, and this job alone requests more: ${asks}. Submit it as preemptable, or raise nonPreemptableFraction`
        : `; this job requests ${asks}`
    }`,
  )

interface Troubled {
  untilMs: number
  /** true: `untilMs` has passed, and the node gets one run at a time as a probe. */
  isOver: boolean
  because: string
}

export const makeNodeTroubleReason = (node: string, { untilMs, isOver, because: why }: Troubled) =>
  makeReason(
    'NODE_BACKS_OFF',
    isOver
      ? `Node ${node} could not start a run, and another one is tried there first: ${why}`
      : `Node ${node} could not start a run and is not used before ${new Date(untilMs).toISOString()}: ${why}`,
  )

export const makeNoCapacityReason = (asks: string) => makeReason('NO_CAPACITY', `Waiting for free resources: ${asks}`)

export const reservedForOthers = makeReason(
  'RESERVED_NODES',
  'The nodes that fit are reserved for other projects, now or before the job would end',
)

const nodesNamedMax = 3

/** `nodes`: nodes on which the job fits, but which take no runs now. */
export function makeNodesClosedReason(asks: string, nodes: readonly { name: string; state: string }[]): Reason {
  const named = nodes.slice(0, nodesNamedMax).map(({ name, state }) => `${name} is ${state.toLowerCase()}`)
  const more = nodes.length > nodesNamedMax ? [`${nodes.length - nodesNamedMax} more take no runs`] : []
  return makeReason('NO_CAPACITY', `Waiting for ${asks}: ${[...named, ...more].join(', ')}`)
}

/** The reason for a viewer who may not see the job that blocks this one. */
export const hideBlockingJob = (reason: Reason): Reason =>
  reason.jobId === null
    ? reason
    : { ...reason, jobId: null, message: unnamedMessages[reason.code] ?? 'Waiting for another job' }

const unnamedMessages: Readonly<Partial<Record<ReasonCode, string>>> = {
  HOLD: 'The free resources are kept for another job',
}
