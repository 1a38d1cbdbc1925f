import { tokenScopes } from '../../domain/access.ts'
import { jobStates } from '../../domain/state.ts'
import { builder } from '../builder.ts'

/** Words that several nouns use. */
export const JobState = builder.enumType('JobState', {
  description:
    'States of a job and of a run. BLOCKED: waits for an approval. SUCCEEDED, FAILED, INTERRUPTED and CANCELLED are final.',
  values: jobStates,
})

export const StateCategory = builder.enumType('StateCategory', {
  description: 'WAITING: BLOCKED, QUEUED. ACTIVE: STARTING, RUNNING, CANCELLING. FINAL: the four final states.',
  values: ['WAITING', 'ACTIVE', 'FINAL'] as const,
})

export const PsijState = builder.enumType('PsijState', {
  description: 'The state as PSI/J names it; its order is never violated.',
  values: ['NEW', 'QUEUED', 'ACTIVE', 'COMPLETED', 'FAILED', 'CANCELED'] as const,
})

export const UserLevel = builder.enumType('UserLevel', {
  description: 'What a person may do, as a ladder.',
  values: ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const,
})

export const TokenScope = builder.enumType('TokenScope', {
  description:
    "What a token may be used for, as far as its user may. READ: queries and subscriptions; it comes with each of the others. SUBMIT: submit, retry, reserve, release, cancel and delete one's own. OPERATE: approve, reject, set priorities, cancel others', process, clean up. ADMIN: everything else.",
  values: tokenScopes,
})

export const DependencyOn = builder.enumType('DependencyOn', {
  description: 'How a dependency must end. FINISHED: in any way.',
  values: ['SUCCEEDED', 'FAILED', 'FINISHED'] as const,
})

export const OnDependencyFailure = builder.enumType('OnDependencyFailure', {
  description: 'What becomes of a job whose dependency can no longer hold.',
  values: ['CANCEL', 'WAIT'] as const,
})

export const NetworkIsolation = builder.enumType('NetworkIsolation', {
  description: 'Which traffic is cut off: from outside, to outside, or both.',
  values: ['IN', 'OUT', 'ALL'] as const,
})

export const NetworkProtocol = builder.enumType('NetworkProtocol', {
  description: 'Protocol of a port.',
  values: ['TCP', 'UDP'] as const,
})
