import type { JobState } from '../generated/graphql.ts'

/** Groups of states, by their names in filters. */
export const stateGroups: Readonly<Record<string, readonly JobState[]>> = {
  waiting: ['BLOCKED', 'QUEUED'],
  active: ['STARTING', 'RUNNING', 'CANCELLING'],
  final: ['SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED'],
}
