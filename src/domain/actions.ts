import type { Viewer } from './access.ts'
import { isFinal, type JobState, jobStates, stateCategory } from './state.ts'

/** Actions of users on a job. Both the verbs and the list of buttons (control/allowed-actions.ts) check `accepts`. */
export type JobAction = 'CANCEL' | 'RETRY' | 'APPROVE' | 'REJECT' | 'SET_PRIORITY' | 'DELETE'

const states: Readonly<Record<JobAction, readonly JobState[]>> = {
  CANCEL: ['BLOCKED', 'QUEUED', 'STARTING', 'RUNNING'],
  RETRY: jobStates.filter(isFinal),
  APPROVE: ['BLOCKED'],
  REJECT: ['BLOCKED'],
  SET_PRIORITY: jobStates.filter((state) => stateCategory[state] === 'WAITING'),
  DELETE: jobStates.filter(isFinal),
}

export const accepts = (action: JobAction, state: JobState): boolean => states[action].includes(state)

/** A retry never copies the environment variables of another person's job. */
export const needsOwnEnvironment = (viewer: Viewer, job: { userId: string; hasEnvironment: boolean }): boolean =>
  job.userId !== viewer.userId && job.hasEnvironment
