import type { Viewer } from './access.ts'
import { isFinal, type JobState, jobStates, stateCategory } from './state.ts'

/**
 * Actions of users on a job. The operations and the list of allowed actions (control/allowed-actions.ts) both call
 * `isActionAccepted`.
 */
export type JobAction =
  | 'CANCEL'
  | 'RETRY'
  | 'APPROVE'
  | 'REJECT'
  | 'SET_PRIORITY'
  | 'DELETE'
  | 'OPEN_SESSION'
  | 'OPEN_FORWARD'

const states: Readonly<Record<JobAction, readonly JobState[]>> = {
  CANCEL: ['BLOCKED', 'QUEUED', 'STARTING', 'RUNNING'],
  RETRY: jobStates.filter(isFinal),
  APPROVE: ['BLOCKED'],
  REJECT: ['BLOCKED'],
  SET_PRIORITY: jobStates.filter((state) => stateCategory[state] === 'WAITING'),
  DELETE: jobStates.filter(isFinal),
  OPEN_SESSION: ['RUNNING'],
  OPEN_FORWARD: ['RUNNING'],
}

export const listAcceptingStates = (action: JobAction): readonly JobState[] => states[action]

export const isActionAccepted = (action: JobAction, state: JobState): boolean => states[action].includes(state)

/** true: a retry would copy the environment variables of another person's job, which is never allowed. */
export const needsOwnEnvironment = (viewer: Viewer, job: { userId: string; hasEnvironment: boolean }): boolean =>
  job.userId !== viewer.userId && job.hasEnvironment
