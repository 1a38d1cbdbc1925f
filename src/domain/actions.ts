import type { Viewer } from './access.ts'
import { isFinal, type JobState, jobStates, stateCategory } from './state.ts'

/** What people do with a job. The verbs ask `accepts`, and so do the buttons (control/allowed-actions.ts). */
export type JobAction = 'CANCEL' | 'RETRY' | 'APPROVE' | 'REJECT' | 'SET_PRIORITY' | 'DELETE'

/** The states in which an action changes something. */
const states: Readonly<Record<JobAction, readonly JobState[]>> = {
  CANCEL: ['BLOCKED', 'QUEUED', 'STARTING', 'RUNNING'],
  RETRY: jobStates.filter(isFinal),
  APPROVE: ['BLOCKED'],
  REJECT: ['BLOCKED'],
  SET_PRIORITY: jobStates.filter((state) => stateCategory[state] === 'WAITING'),
  DELETE: jobStates.filter(isFinal),
}

export const accepts = (action: JobAction, state: JobState): boolean => states[action].includes(state)

/** The variables of another's job are not copied into a retry: the retry has to give its own. */
export const needsOwnEnvironment = (viewer: Viewer, job: { userId: string; hasEnvironment: boolean }): boolean =>
  job.userId !== viewer.userId && job.hasEnvironment
