import type { tokenScopes } from '../../domain/access.ts'
import type { jobStates } from '../../domain/state.ts'
import { builder } from './builder.ts'
import { describeValues } from './enum-values.ts'

export const JobState = builder.enumType('JobState', {
  description: 'State of a job or a run.',
  values: describeValues({
    BLOCKED: 'Waits for an approval.',
    QUEUED: 'Waits to be started.',
    STARTING: 'The scheduler has assigned resources, and the executor starts the command.',
    RUNNING: 'The command runs.',
    CANCELLING: 'The job was cancelled, and the executor stops the command.',
    SUCCEEDED: 'Final: the command ended with exit code 0.',
    FAILED: 'Final: the command failed or could not be started, or the approval was rejected or expired.',
    INTERRUPTED: 'Final: the run was preempted or its node was lost, and the job is not run again.',
    CANCELLED: 'Final: the job was cancelled.',
  } satisfies Record<(typeof jobStates)[number], string>),
})

export const StateCategory = builder.enumType('StateCategory', {
  description: 'Category of a state.',
  values: describeValues({
    WAITING: 'BLOCKED or QUEUED.',
    ACTIVE: 'STARTING, RUNNING or CANCELLING: the job holds resources.',
    FINAL: 'SUCCEEDED, FAILED, INTERRUPTED or CANCELLED: the state never changes again.',
  }),
})

export const PsijState = builder.enumType('PsijState', {
  description: 'State of a job in PSI/J terms; the sequence of states never goes back.',
  values: describeValues({
    NEW: 'The job is BLOCKED.',
    QUEUED: 'The job is QUEUED or STARTING and has never run.',
    ACTIVE: 'The job runs, or has run and waits for its next run.',
    COMPLETED: 'The job is SUCCEEDED.',
    FAILED: 'The job is FAILED or INTERRUPTED.',
    CANCELED: 'The job is CANCELLED.',
  }),
})

export const UserLevel = builder.enumType('UserLevel', {
  description: 'Level of a user. Each level includes the permissions of the levels below.',
  values: describeValues({
    VIEWER: 'May see own jobs.',
    RESEARCHER: 'May submit, cancel and delete own jobs, and manage own tokens.',
    LEAD: 'May see all jobs, decide on approvals, set priorities, and read the audit log.',
    ADMIN: 'Has all permissions.',
  }),
})

export const TokenScope = builder.enumType('TokenScope', {
  description: 'Permitted use of a token; a token never permits more than its user may do.',
  values: describeValues({
    READ: 'Queries and subscriptions; every token has this scope.',
    SUBMIT: 'Submit and retry jobs, reserve and release slots, cancel and delete own jobs.',
    OPERATE: 'Approve, reject, set priorities, cancel jobs of others, run scheduling passes, clean up.',
    ADMIN:
      'Everything else: users, teams, tokens, quotas, limits, rules, nodes, reservations, deleting jobs of others.',
  } satisfies Record<(typeof tokenScopes)[number], string>),
})

export const DependencyOn = builder.enumType('DependencyOn', {
  description: 'Required outcome of a dependency.',
  values: describeValues({
    SUCCEEDED: 'The other job must end SUCCEEDED.',
    FAILED: 'The other job must end FAILED.',
    FINISHED: 'The other job must end, in any final state.',
  }),
})

export const OnDependencyFailure = builder.enumType('OnDependencyFailure', {
  description: 'Action for a job whose dependency can no longer be satisfied.',
  values: describeValues({
    CANCEL: 'The job is cancelled with reason DEPENDENCY_FAILED.',
    WAIT: 'The job stays QUEUED until it is cancelled.',
  }),
})

export const NetworkIsolation = builder.enumType('NetworkIsolation', {
  description: 'Network traffic that is blocked for a job.',
  values: describeValues({
    IN: 'Incoming traffic is blocked.',
    OUT: 'Outgoing traffic is blocked.',
    ALL: 'Incoming and outgoing traffic is blocked.',
  }),
})

export const NetworkProtocol = builder.enumType('NetworkProtocol', {
  description: 'Protocol of a port.',
  values: describeValues({
    TCP: 'TCP.',
    UDP: 'UDP.',
  }),
})
