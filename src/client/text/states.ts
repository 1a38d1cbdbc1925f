import type { JobState } from '../generated/graphql.ts'

/** Words that stand for several states in a filter. */
export const stateGroups: Readonly<Record<string, readonly JobState[]>> = {
  waiting: ['BLOCKED', 'QUEUED'],
  active: ['STARTING', 'RUNNING', 'CANCELLING'],
  final: ['SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED'],
}
