import { describeInfo, describeReason, stateWords } from '../../parts/states.ts'
import type { JobEvent } from './use-job.ts'

const typeWords: Readonly<Record<JobEvent['type'], string>> = {
  APPROVAL_DECIDED: 'Approval decided',
  APPROVAL_REQUESTED: 'Approval requested',
  ARTIFACT_PUBLISHED: 'Artifact published',
  CREATED: 'Submitted',
  LATE_REPORT: 'Late report',
  PREEMPT_REQUESTED: 'Preemption requested',
  PREEMPT_WITHDRAWN: 'Preemption withdrawn',
  PRIORITY_CHANGED: 'Priority changed',
  SESSION_ENDED: 'Session ended',
  SESSION_OPENED: 'Session opened',
  STATE_CHANGED: 'State changed',
}

export const nameEvent = ({ type, to }: Pick<JobEvent, 'type' | 'to'>): string =>
  type === 'STATE_CHANGED' && to ? stateWords[to] : typeWords[type]

/** Describes the cause of an event: reason, exit code and message. */
export const explainEvent = ({ stateReason: reason, exitCode, message }: JobEvent): string =>
  [
    reason && reason !== 'EXIT_CODE' && describeReason(reason),
    exitCode !== null && `exit code ${exitCode}`,
    describeInfo(message),
  ]
    .filter(Boolean)
    .join(' · ')
