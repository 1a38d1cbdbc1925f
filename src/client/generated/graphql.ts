/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type CancelJobInput = {
  expectedVersion?: number | null | undefined;
  jobId: string;
  reason?: string | null | undefined;
};

export type DeleteJobInput = {
  expectedVersion?: number | null | undefined;
  jobId: string;
};

export type DependencyInput = {
  jobId: string;
  on?: DependencyOn | null | undefined;
};

export type DependencyOn =
  | 'FAILED'
  | 'FINISHED'
  | 'SUCCEEDED';

export type EnvironmentVariableInput = {
  name: string;
  value: string;
};

export type InternalDnsInput = {
  name?: string | null | undefined;
  ports: Array<InternalDnsPortInput>;
};

export type InternalDnsPortInput = {
  port: number;
  protocol?: NetworkProtocol | null | undefined;
  targetPort?: number | null | undefined;
};

export type JobFilter = {
  account?: string | null | undefined;
  createdAfter?: string | null | undefined;
  createdBefore?: string | null | undefined;
  executor?: string | null | undefined;
  finishedAfter?: string | null | undefined;
  finishedBefore?: string | null | undefined;
  ids?: Array<string> | null | undefined;
  labels?: Array<LabelFilter> | null | undefined;
  name?: string | null | undefined;
  pool?: string | null | undefined;
  project?: string | null | undefined;
  queue?: string | null | undefined;
  stateCategories?: Array<StateCategory> | null | undefined;
  states?: Array<JobState> | null | undefined;
  team?: string | null | undefined;
  user?: string | null | undefined;
};

export type JobSpecInput = {
  account?: string | null | undefined;
  arguments?: Array<string> | null | undefined;
  bid?: number | null | undefined;
  capacityReservationId?: string | null | undefined;
  command?: Array<string> | null | undefined;
  customAttributes?: Record<string, unknown> | null | undefined;
  data?: Array<string> | null | undefined;
  dependsOn?: Array<DependencyInput> | null | undefined;
  durationSeconds?: number | null | undefined;
  environment?: Array<EnvironmentVariableInput> | null | undefined;
  estimatedCost?: number | null | undefined;
  executable?: string | null | undefined;
  executor?: string | null | undefined;
  handler?: string | null | undefined;
  image?: string | null | undefined;
  inheritEnvironment?: boolean | null | undefined;
  input?: Record<string, unknown> | null | undefined;
  interactive?: boolean | null | undefined;
  internalDns?: InternalDnsInput | null | undefined;
  labels?: Array<LabelInput> | null | undefined;
  launcher?: string | null | undefined;
  maxRunTimeSeconds?: number | null | undefined;
  name?: string | null | undefined;
  networkIsolation?: NetworkIsolation | null | undefined;
  notBefore?: string | null | undefined;
  onDependencyFailure?: OnDependencyFailure | null | undefined;
  postLaunch?: string | null | undefined;
  preLaunch?: string | null | undefined;
  preemptable?: boolean | null | undefined;
  project?: string | null | undefined;
  queue?: string | null | undefined;
  resources?: ResourcesInput | null | undefined;
  restartable?: boolean | null | undefined;
  resumable?: boolean | null | undefined;
  retry?: RetryInput | null | undefined;
  stderrPath?: string | null | undefined;
  stdinPath?: string | null | undefined;
  stdoutPath?: string | null | undefined;
  team?: string | null | undefined;
  workdir?: string | null | undefined;
  x11?: X11Input | null | undefined;
};

export type JobState =
  | 'BLOCKED'
  | 'CANCELLED'
  | 'CANCELLING'
  | 'FAILED'
  | 'INTERRUPTED'
  | 'QUEUED'
  | 'RUNNING'
  | 'STARTING'
  | 'SUCCEEDED';

export type LabelFilter = {
  key: string;
  value?: string | null | undefined;
};

export type LabelInput = {
  key: string;
  value: string;
};

export type NetworkIsolation =
  | 'ALL'
  | 'IN'
  | 'OUT';

export type NetworkProtocol =
  | 'TCP'
  | 'UDP';

export type OnDependencyFailure =
  | 'CANCEL'
  | 'WAIT';

export type ProblemCode =
  | 'APPROVAL_NOT_ALLOWED'
  | 'COST_LIMIT_EXCEEDED'
  | 'FORBIDDEN'
  | 'IDEMPOTENCY_CONFLICT'
  | 'INVALID_INPUT'
  | 'INVALID_STATE'
  | 'NOT_FOUND'
  | 'QUOTA_EXCEEDED'
  | 'REJECTED'
  | 'RESERVATION_EXPIRED'
  | 'UNAVAILABLE'
  | 'VERSION_CONFLICT';

export type ResourcesInput = {
  anyGpu?: boolean | null | undefined;
  cpu?: number | null | undefined;
  cpuCoresPerProcess?: number | null | undefined;
  cpuModel?: Array<string> | null | undefined;
  cudaVersion?: string | null | undefined;
  exclusiveNodeUse?: boolean | null | undefined;
  gpu?: number | null | undefined;
  gpuCoresPerProcess?: number | null | undefined;
  gpuIds?: Array<number> | null | undefined;
  gpuMemoryGib?: number | null | undefined;
  gpuModel?: Array<string> | null | undefined;
  gpuTensorCores?: boolean | null | undefined;
  infiniband?: boolean | null | undefined;
  memoryBytes?: number | null | undefined;
  memoryGib?: number | null | undefined;
  nodeCount?: number | null | undefined;
  processCount?: number | null | undefined;
  processesPerNode?: number | null | undefined;
  replicaMasterPort?: number | null | undefined;
  replicas?: number | null | undefined;
};

export type RetryInput = {
  maxAttempts: number;
  onExitCodes?: Array<number> | null | undefined;
};

export type StateCategory =
  | 'ACTIVE'
  | 'FINAL'
  | 'WAITING';

export type SubmitJobInput = {
  dryRun?: boolean | null | undefined;
  idempotencyKey?: string | null | undefined;
  idempotencyTtlSeconds?: number | null | undefined;
  noWait?: boolean | null | undefined;
  requiresApproval?: boolean | null | undefined;
  slotReservationId?: string | null | undefined;
  spec: JobSpecInput;
};

export type X11Input = {
  gpu?: boolean | null | undefined;
};

export type JobRowFragment = { id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } };

export type JobDetailFragment = { stateCategory: StateCategory, version: number, pool: string, executor: string, account: string, project: string | null, nativeId: string | null, priority: number, maxAttempts: number, queuedAt: string | null, queuePosition: number | null, id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, scheduling: { jobsAhead: number, reasons: Array<{ code: string, message: string }> } | null, currentRun: { number: number, nodes: Array<string>, gpuIds: Array<number> }, spec: { command: Array<string> | null, executable: string | null, arguments: Array<string> | null, workdir: string | null, maxRunTimeSeconds: number, resources: { cpu: number, memoryBytes: number, gpu: number } }, user: { name: string } };

export type JobEventRowFragment = { seq: number, at: string, type: string, from: JobState | null, to: JobState | null, reason: string | null, message: string | null, exitCode: number | null, run: number | null };

type Problem_ApprovalNotAllowedProblem_Fragment = { __typename: 'ApprovalNotAllowedProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_ForbiddenProblem_Fragment = { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean };

type Problem_IdempotencyConflictProblem_Fragment = { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_InvalidInputProblem_Fragment = { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> };

type Problem_InvalidStateProblem_Fragment = { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_NotFoundProblem_Fragment = { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_QuotaExceededProblem_Fragment = { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_RejectedProblem_Fragment = { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_ReservationExpiredProblem_Fragment = { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_UnavailableProblem_Fragment = { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_VersionConflictProblem_Fragment = { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean };

export type ProblemFragment =
  | Problem_ApprovalNotAllowedProblem_Fragment
  | Problem_ForbiddenProblem_Fragment
  | Problem_IdempotencyConflictProblem_Fragment
  | Problem_InvalidInputProblem_Fragment
  | Problem_InvalidStateProblem_Fragment
  | Problem_NotFoundProblem_Fragment
  | Problem_QuotaExceededProblem_Fragment
  | Problem_RejectedProblem_Fragment
  | Problem_ReservationExpiredProblem_Fragment
  | Problem_UnavailableProblem_Fragment
  | Problem_VersionConflictProblem_Fragment
;

export type SubmitJobMutationVariables = Exact<{
  input: SubmitJobInput;
}>;


export type SubmitJobMutation = { submitJob:
    | { __typename: 'DryRun' }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SubmitJobSuccess', idempotentHit: boolean, warnings: Array<string>, job: { id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type CancelJobMutationVariables = Exact<{
  input: CancelJobInput;
}>;


export type CancelJobMutation = { cancelJob:
    | { __typename: 'CancelJobSuccess', changed: boolean, job: { id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteJobMutationVariables = Exact<{
  input: DeleteJobInput;
}>;


export type DeleteJobMutation = { deleteJob:
    | { __typename: 'DeleteJobSuccess', id: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type JobsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: JobFilter | null | undefined;
}>;


export type JobsQuery = { jobs: { nodes: Array<{ id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type JobQueryVariables = Exact<{
  id: string;
}>;


export type JobQuery = { job: { stateCategory: StateCategory, version: number, pool: string, executor: string, account: string, project: string | null, nativeId: string | null, priority: number, maxAttempts: number, queuedAt: string | null, queuePosition: number | null, id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, scheduling: { jobsAhead: number, reasons: Array<{ code: string, message: string }> } | null, currentRun: { number: number, nodes: Array<string>, gpuIds: Array<number> }, spec: { command: Array<string> | null, executable: string | null, arguments: Array<string> | null, workdir: string | null, maxRunTimeSeconds: number, resources: { cpu: number, memoryBytes: number, gpu: number } }, user: { name: string } } | null };

export type JobEventsQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type JobEventsQuery = { job: { eventCursor: string, events: { nodes: Array<{ seq: number, at: string, type: string, from: JobState | null, to: JobState | null, reason: string | null, message: string | null, exitCode: number | null, run: number | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type JobLogsQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  lastLines?: number | null | undefined;
}>;


export type JobLogsQuery = { job: { logs: { text: string, cursor: string, isFinal: boolean, gaps: Array<{ run: number, startOffset: number, endOffset: number, reason: string }> } } | null };

export type ServerInfoQueryVariables = Exact<{ [key: string]: never; }>;


export type ServerInfoQuery = { serverInfo: { name: string, version: string, singleUser: boolean } };

export type JobStatusSubscriptionVariables = Exact<{
  jobId: string;
  after?: string | null | undefined;
}>;


export type JobStatusSubscription = { jobStatus:
    | { __typename: 'JobTransitions', cursor: string, isFinal: boolean, job: { id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } }, transitions: Array<{ seq: number, at: string, type: string, from: JobState | null, to: JobState | null, reason: string | null, message: string | null, exitCode: number | null, run: number | null }> }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', cursor: string, resetReason: string }
   };

export type TailSubscriptionVariables = Exact<{
  jobId: string;
  after?: string | null | undefined;
  lastLines?: number | null | undefined;
}>;


export type TailSubscription = { tail:
    | { __typename: 'LogBatch', text: string, cursor: string, isFinal: boolean }
    | { __typename: 'LogGap', run: number, startOffset: number, endOffset: number, cursor: string, gapReason: string }
    | { __typename: 'RunChanged', cursor: string, newRun: { number: number } }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', cursor: string, resetReason: string }
   };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const JobRowFragmentDoc = new TypedDocumentString(`
    fragment JobRow on Job {
  id
  name
  state
  stateReason
  stateInfo
  exitCode
  attempt
  queue
  user {
    name
  }
  createdAt
  startedAt
  finishedAt
}
    `, {"fragmentName":"JobRow"}) as unknown as TypedDocumentString<JobRowFragment, unknown>;
export const JobDetailFragmentDoc = new TypedDocumentString(`
    fragment JobDetail on Job {
  ...JobRow
  stateCategory
  version
  pool
  executor
  account
  project
  nativeId
  priority
  maxAttempts
  queuedAt
  labels {
    key
    value
  }
  progress {
    fraction
    message
    at
  }
  queuePosition
  scheduling {
    jobsAhead
    reasons {
      code
      message
    }
  }
  currentRun {
    number
    nodes
    gpuIds
  }
  spec {
    command
    executable
    arguments
    workdir
    maxRunTimeSeconds
    resources {
      cpu
      memoryBytes
      gpu
    }
  }
}
    fragment JobRow on Job {
  id
  name
  state
  stateReason
  stateInfo
  exitCode
  attempt
  queue
  user {
    name
  }
  createdAt
  startedAt
  finishedAt
}`, {"fragmentName":"JobDetail"}) as unknown as TypedDocumentString<JobDetailFragment, unknown>;
export const JobEventRowFragmentDoc = new TypedDocumentString(`
    fragment JobEventRow on JobEvent {
  seq
  at
  type
  from
  to
  reason
  message
  exitCode
  run
}
    `, {"fragmentName":"JobEventRow"}) as unknown as TypedDocumentString<JobEventRowFragment, unknown>;
export const ProblemFragmentDoc = new TypedDocumentString(`
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
  }
}
    `, {"fragmentName":"Problem"}) as unknown as TypedDocumentString<ProblemFragment, unknown>;
export const SubmitJobDocument = new TypedDocumentString(`
    mutation SubmitJob($input: SubmitJobInput!) {
  submitJob(input: $input) {
    __typename
    ... on SubmitJobSuccess {
      idempotentHit
      warnings
      job {
        ...JobRow
      }
    }
    ...Problem
  }
}
    fragment JobRow on Job {
  id
  name
  state
  stateReason
  stateInfo
  exitCode
  attempt
  queue
  user {
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
  }
}`) as unknown as TypedDocumentString<SubmitJobMutation, SubmitJobMutationVariables>;
export const CancelJobDocument = new TypedDocumentString(`
    mutation CancelJob($input: CancelJobInput!) {
  cancelJob(input: $input) {
    __typename
    ... on CancelJobSuccess {
      changed
      job {
        ...JobRow
      }
    }
    ...Problem
  }
}
    fragment JobRow on Job {
  id
  name
  state
  stateReason
  stateInfo
  exitCode
  attempt
  queue
  user {
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
  }
}`) as unknown as TypedDocumentString<CancelJobMutation, CancelJobMutationVariables>;
export const DeleteJobDocument = new TypedDocumentString(`
    mutation DeleteJob($input: DeleteJobInput!) {
  deleteJob(input: $input) {
    __typename
    ... on DeleteJobSuccess {
      id
    }
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
  }
}`) as unknown as TypedDocumentString<DeleteJobMutation, DeleteJobMutationVariables>;
export const JobsDocument = new TypedDocumentString(`
    query Jobs($first: Int, $after: Cursor, $filter: JobFilter) {
  jobs(first: $first, after: $after, filter: $filter) {
    nodes {
      ...JobRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment JobRow on Job {
  id
  name
  state
  stateReason
  stateInfo
  exitCode
  attempt
  queue
  user {
    name
  }
  createdAt
  startedAt
  finishedAt
}`) as unknown as TypedDocumentString<JobsQuery, JobsQueryVariables>;
export const JobDocument = new TypedDocumentString(`
    query Job($id: ID!) {
  job(id: $id) {
    ...JobDetail
  }
}
    fragment JobRow on Job {
  id
  name
  state
  stateReason
  stateInfo
  exitCode
  attempt
  queue
  user {
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment JobDetail on Job {
  ...JobRow
  stateCategory
  version
  pool
  executor
  account
  project
  nativeId
  priority
  maxAttempts
  queuedAt
  labels {
    key
    value
  }
  progress {
    fraction
    message
    at
  }
  queuePosition
  scheduling {
    jobsAhead
    reasons {
      code
      message
    }
  }
  currentRun {
    number
    nodes
    gpuIds
  }
  spec {
    command
    executable
    arguments
    workdir
    maxRunTimeSeconds
    resources {
      cpu
      memoryBytes
      gpu
    }
  }
}`) as unknown as TypedDocumentString<JobQuery, JobQueryVariables>;
export const JobEventsDocument = new TypedDocumentString(`
    query JobEvents($id: ID!, $first: Int, $after: Cursor) {
  job(id: $id) {
    eventCursor
    events(first: $first, after: $after) {
      nodes {
        ...JobEventRow
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
    fragment JobEventRow on JobEvent {
  seq
  at
  type
  from
  to
  reason
  message
  exitCode
  run
}`) as unknown as TypedDocumentString<JobEventsQuery, JobEventsQueryVariables>;
export const JobLogsDocument = new TypedDocumentString(`
    query JobLogs($id: ID!, $first: Int, $after: Cursor, $lastLines: Int) {
  job(id: $id) {
    logs(first: $first, after: $after, lastLines: $lastLines) {
      text
      gaps {
        run
        startOffset
        endOffset
        reason
      }
      cursor
      isFinal
    }
  }
}
    `) as unknown as TypedDocumentString<JobLogsQuery, JobLogsQueryVariables>;
export const ServerInfoDocument = new TypedDocumentString(`
    query ServerInfo {
  serverInfo {
    name
    version
    singleUser
  }
}
    `) as unknown as TypedDocumentString<ServerInfoQuery, ServerInfoQueryVariables>;
export const JobStatusDocument = new TypedDocumentString(`
    subscription JobStatus($jobId: ID!, $after: Cursor) {
  jobStatus(jobId: $jobId, after: $after) {
    __typename
    ... on JobTransitions {
      job {
        ...JobRow
      }
      transitions {
        ...JobEventRow
      }
      cursor
      isFinal
    }
    ... on StreamReset {
      resetReason: reason
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment JobRow on Job {
  id
  name
  state
  stateReason
  stateInfo
  exitCode
  attempt
  queue
  user {
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment JobEventRow on JobEvent {
  seq
  at
  type
  from
  to
  reason
  message
  exitCode
  run
}`) as unknown as TypedDocumentString<JobStatusSubscription, JobStatusSubscriptionVariables>;
export const TailDocument = new TypedDocumentString(`
    subscription Tail($jobId: ID!, $after: Cursor, $lastLines: Int) {
  tail(jobId: $jobId, after: $after, lastLines: $lastLines) {
    __typename
    ... on LogBatch {
      text
      cursor
      isFinal
    }
    ... on LogGap {
      run
      startOffset
      endOffset
      gapReason: reason
      cursor
    }
    ... on RunChanged {
      newRun: run {
        number
      }
      cursor
    }
    ... on StreamReset {
      resetReason: reason
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    `) as unknown as TypedDocumentString<TailSubscription, TailSubscriptionVariables>;