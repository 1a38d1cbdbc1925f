import type { PendingReasonCode } from '../../generated/graphql.ts'

const words: Readonly<Record<PendingReasonCode, string>> = {
  APPROVAL_PENDING: 'approval',
  DEPENDENCY: 'dependency',
  GLOBAL_LIMIT: 'pool limit',
  GPU_LIMIT: 'GPU limit',
  HOLD: 'kept for a job before it',
  INTERACTIVE_QUOTA: 'interactive quota',
  LOCAL_GPU_LIMIT: 'limit of GPUs in use',
  LOCAL_JOB_LIMIT: 'limit of GPU jobs',
  NODE_BACKS_OFF: 'node backs off',
  NON_PREEMPTABLE_POOL: 'share of jobs without preemption',
  NOT_BEFORE: 'start time',
  NO_CAPACITY: 'capacity',
  POOL_PAUSED: 'pool is paused',
  PROJECT_LIMIT: 'project limit',
  QUEUE_LIMIT: 'queue limit',
  RESERVATION_WINDOW: 'reservation window',
  RESERVED_NODES: 'reserved nodes',
  RESTART_BACKOFF: 'pause before the next run',
  TEAM_LIMIT: 'team limit',
  UNSATISFIABLE: 'no node fits',
  USER_DISABLED: 'user is disabled',
  USER_LIMIT: 'user limit',
  WAITING_FOR_PREEMPTION: 'preemption',
}

/** Names a reason in a list of counts: "20 user limit, 15 capacity". */
export const describeCode = (code: PendingReasonCode): string => words[code] ?? code.toLowerCase().replaceAll('_', ' ')

export const isReasonCode = (text: string): text is PendingReasonCode => text in words
