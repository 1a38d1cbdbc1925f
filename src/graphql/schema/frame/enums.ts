import type { Permission as Granted, tokenScopes } from '../../../domain/access.ts'
import type { ExecutorName } from '../../../domain/executors.ts'
import type { JobEventType as EventType } from '../../../domain/jobs/job-change.ts'
import type { ReasonCode } from '../../../domain/reason.ts'
import type { jobStates, StateReason as Reason } from '../../../domain/state.ts'
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

const executorWords = {
  local: 'Processes of the machine of the server.',
  handler: 'Modules, each in a process of the machine of the server.',
  container: 'Containers of Docker or Podman on the machine of the server.',
  kubernetes: 'Pods of a Kubernetes cluster.',
  slurm: 'Jobs of a Slurm cluster.',
  simulated: 'Nothing runs: for tests and simulations.',
} as const satisfies Record<ExecutorName, string>

export const ExecutorKind = builder.enumType('Executor', {
  description: 'A kind of backend that executes runs. The configuration writes SLURM as slurm.',
  values: Object.fromEntries(
    Object.entries(executorWords).map(([value, description]) => [value.toUpperCase(), { value, description }]),
  ),
})

export const StateReason = builder.enumType('StateReason', {
  description: 'Why a job or a run has its state.',
  values: describeValues({
    APPROVAL_PENDING: 'The job waits for an approval.',
    APPROVED: 'The job was approved.',
    APPROVAL_REJECTED: 'The approval was rejected.',
    APPROVAL_EXPIRED: 'The approval was not decided in time.',
    CANCELLED: 'A user cancelled the job.',
    DEPENDENCY_FAILED: 'A job that this one depends on ended otherwise than required.',
    INTERACTIVE_QUOTA: 'The user already has an interactive job.',
    START_FAILED: 'The executor could not start the run.',
    BAD_SPEC: 'The executor cannot run this spec.',
    WORKDIR_NOT_FOUND: 'The working directory does not exist, or the account of the job may not enter it.',
    NODE_TROUBLE: 'The machine or the backend could not start the run; the attempt does not count.',
    NOT_TOGETHER: 'The backend had no place for all parts of the run at once.',
    NODE_LOST: 'The node of the run is unreachable or was restarted.',
    PREEMPTING: 'The run was asked to leave for another job.',
    PREEMPTED: 'The run left for another job.',
    EXIT_CODE: 'The command ended with another exit code than 0.',
    SIGNAL: 'A signal ended the command.',
    OOM_KILLED: 'The job needed more memory than it has.',
    MAX_RUN_TIME: 'The run reached its maximum duration.',
    RESUME_FAILED: 'The handler could not continue the run after a restart of the server.',
  } satisfies Record<Reason | 'APPROVAL_PENDING', string>),
})

export const PendingReasonCode = builder.enumType('PendingReasonCode', {
  description: 'Kind of a reason why a job waits.',
  values: describeValues({
    APPROVAL_PENDING: 'The job needs an approval.',
    NOT_BEFORE: 'The earliest start of the job is in the future.',
    DEPENDENCY: 'Another job must end first.',
    RESERVATION_WINDOW: 'The window of its capacity reservation is not open.',
    RESTART_BACKOFF: 'The job waits before its next run.',
    POOL_PAUSED: 'The pool starts no jobs: its limit `maxConcurrent` is 0.',
    GLOBAL_LIMIT: 'The limit on running jobs of the pool is reached.',
    USER_LIMIT: 'The limit on running jobs of the user is reached.',
    TEAM_LIMIT: 'The limit on running jobs of the team is reached.',
    QUEUE_LIMIT: 'The limit on running jobs of the submission queue is reached.',
    PROJECT_LIMIT: 'The limit on running jobs of the project is reached.',
    GPU_LIMIT: 'A limit on GPUs of a queue, project, team or user is reached.',
    LOCAL_JOB_LIMIT: 'The limit on running jobs with GPUs is reached.',
    LOCAL_GPU_LIMIT: 'The limit on GPUs in use is reached.',
    USER_DISABLED: 'The user of the job is disabled.',
    INTERACTIVE_QUOTA: 'The user already has an interactive job.',
    NON_PREEMPTABLE_POOL: 'Jobs that cannot be preempted hold their share of the pool.',
    UNSATISFIABLE: 'No node can ever provide the requested resources.',
    NO_CAPACITY: 'The requested resources are not free.',
    HOLD: 'The free resources are kept for a job before it.',
    RESERVED_NODES: 'The nodes that fit are reserved for other projects, now or before the job would end.',
    WAITING_FOR_PREEMPTION: 'Preempted jobs must leave first.',
    NODE_BACKS_OFF: 'The node could not start a run and waits.',
  } satisfies Record<ReasonCode, string>),
})

export const JobEventType = builder.enumType('JobEventType', {
  description: 'Kind of an event of a job.',
  values: describeValues({
    CREATED: 'The job was submitted.',
    STATE_CHANGED: 'The job has another state.',
    APPROVAL_REQUESTED: 'The job needs an approval.',
    APPROVAL_DECIDED: 'The approval was granted or rejected.',
    ARTIFACT_PUBLISHED: 'The job published an artifact.',
    LATE_REPORT: 'A report about a run arrived after its end; the state did not change.',
    PREEMPT_REQUESTED: 'The run was asked to leave for another job.',
    PREEMPT_WITHDRAWN: 'The run no longer has to leave.',
    PRIORITY_CHANGED: 'A user set or cleared the priority.',
    SESSION_OPENED: 'A user entered the job: `message` has the command or the port.',
    SESSION_ENDED: 'A session in the job ended: `message` has its duration and bytes.',
  } satisfies Record<EventType, string>),
})

export const StreamResetReason = builder.enumType('StreamResetReason', {
  description: 'Why earlier messages of a stream are no longer valid.',
  values: describeValues({
    RETENTION: 'The skipped events are no longer kept, or the database lost events in a failover or a restore.',
    DELETED: 'The jobs were deleted.',
  }),
})

export const LogGapReason = builder.enumType('LogGapReason', {
  description: 'Why output is not available.',
  values: describeValues({
    RETENTION: 'The output was deleted by age.',
    LOST: 'The output never reached the server.',
    OVER_LIMIT: 'The log is over its size limit; the gap may be larger.',
    NOT_VISIBLE: 'You may not read it.',
    DISK_FULL: 'The machine had no space to store it.',
  }),
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
    RESEARCHER: 'May submit, cancel and delete own jobs, and manage own tokens and secrets.',
    LEAD: 'May see all jobs, decide on approvals, set priorities and secrets of own teams, and read the audit log.',
    ADMIN: 'Has all permissions.',
  }),
})

export const TokenScope = builder.enumType('TokenScope', {
  description: 'Permitted use of a token; a token never permits more than its user may do.',
  values: describeValues({
    READ: 'Queries and subscriptions; every token has this scope.',
    SUBMIT: 'Submit and retry jobs, reserve and release slots, cancel and delete own jobs, set own secrets.',
    OPERATE:
      'Approve, reject, set priorities, cancel jobs of others, set secrets of teams, run scheduling passes, clean up.',
    ADMIN:
      'Everything else: users, teams, tokens, quotas, limits, rules, nodes, reservations, webhooks, deleting jobs of others.',
    EXEC: 'Open sessions in running jobs of others.',
  } satisfies Record<(typeof tokenScopes)[number], string>),
})

const permissionWords = {
  'job.view.own': 'See own jobs.',
  'job.view.all': 'See the jobs of all users.',
  'view.write': 'Save views for oneself and own teams; an ADMIN also for everyone.',
  'job.submit': 'Submit and retry jobs, and reserve slots.',
  'job.cancel.own': 'Cancel own jobs.',
  'job.cancel.team': 'Cancel the jobs of own teams.',
  'job.cancel.all': 'Cancel all jobs.',
  'job.delete.own': 'Delete own jobs.',
  'job.delete.all': 'Delete all jobs.',
  'job.exec.own': 'Open sessions in own running jobs.',
  'job.exec.team': 'Open sessions in the running jobs of own teams.',
  'job.exec.all': 'Open sessions in all running jobs.',
  'job.approve': 'Decide on approvals.',
  'job.priority': 'Set priorities.',
  'pool.plan': 'Run scheduling passes.',
  'limits.write': 'Change limits.',
  'quota.write': 'Create, change and delete quotas.',
  'rule.write': 'Create, change and delete approval rules.',
  'user.write': 'Manage users and teams.',
  'token.own': 'Manage own tokens.',
  'token.any': 'Manage the tokens of all users.',
  'secret.own': 'Set and delete own secrets.',
  'secret.team': 'Set and delete the secrets of own teams; an ADMIN those of all teams.',
  'node.write': 'Add, change and delete nodes.',
  'reservation.write': 'Create and delete capacity reservations.',
  'webhook.write': 'See, test, resend and enable webhooks.',
  'audit.read': 'Read the audit log.',
} as const satisfies Record<Granted, string>

/** `job.view.own` → JOB_VIEW_OWN. */
type EnumName<Name extends string> = Name extends `${infer First}.${infer Rest}`
  ? `${Uppercase<First>}_${EnumName<Rest>}`
  : Uppercase<Name>

type PermissionValues = { [P in Granted as EnumName<P>]: { value: P; description: string } }

export const Permission = builder.enumType('Permission', {
  description: 'A permission of a user. The configuration and the command line write JOB_VIEW_OWN as job.view.own.',
  values: Object.fromEntries(
    Object.entries(permissionWords).map(([value, description]) => [
      value.toUpperCase().replaceAll('.', '_'),
      { value, description },
    ]),
  ) as PermissionValues,
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

export const ImagePull = builder.enumType('ImagePull', {
  description: 'When the image of a job is pulled from its registry.',
  values: describeValues({
    MISSING: 'If the machine does not have it.',
    ALWAYS:
      'At every start, so that a tag that was moved is up to date. The start fails if the registry does not have it.',
  }),
})

export const NetworkProtocol = builder.enumType('NetworkProtocol', {
  description: 'Protocol of a port.',
  values: describeValues({
    TCP: 'TCP.',
    UDP: 'UDP.',
  }),
})
