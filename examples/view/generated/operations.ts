/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** A kind of backend that executes runs. The configuration writes SLURM as slurm. */
export type Executor =
  /** Containers of Docker or Podman on the machine of the server. */
  | 'CONTAINER'
  /** Modules, each in a process of the machine of the server. */
  | 'HANDLER'
  /** Pods of a Kubernetes cluster. */
  | 'KUBERNETES'
  /** Processes of the machine of the server. */
  | 'LOCAL'
  /** Nothing runs: for tests and simulations. */
  | 'SIMULATED'
  /** Jobs of a Slurm cluster. */
  | 'SLURM';

/** An action on a job. */
export type JobAction =
  /** `approveJob`. */
  | 'APPROVE'
  /** `cancelJob`. */
  | 'CANCEL'
  /** `deleteJob`. */
  | 'DELETE'
  /** `openForward`. */
  | 'OPEN_FORWARD'
  /** `openSession`. */
  | 'OPEN_SESSION'
  /** `rejectJob`. */
  | 'REJECT'
  /** `retryJob`. */
  | 'RETRY'
  /** `setJobPriority`. */
  | 'SET_PRIORITY';

/** Kind of an event of a job. */
export type JobEventType =
  /** The approval was granted or rejected. */
  | 'APPROVAL_DECIDED'
  /** The job needs an approval. */
  | 'APPROVAL_REQUESTED'
  /** The job published an artifact. */
  | 'ARTIFACT_PUBLISHED'
  /** The job was submitted. */
  | 'CREATED'
  /** A report about a run arrived after its end; the state did not change. */
  | 'LATE_REPORT'
  /** The run was asked to leave for another job. */
  | 'PREEMPT_REQUESTED'
  /** The run no longer has to leave. */
  | 'PREEMPT_WITHDRAWN'
  /** A user set or cleared the priority. */
  | 'PRIORITY_CHANGED'
  /** A session in the job ended: `message` has its duration and bytes. */
  | 'SESSION_ENDED'
  /** A user entered the job: `message` has the command or the port. */
  | 'SESSION_OPENED'
  /** The job has another state. */
  | 'STATE_CHANGED';

/** State of a job or a run. */
export type JobState =
  /** Waits for an approval. */
  | 'BLOCKED'
  /** Final: the job was cancelled. */
  | 'CANCELLED'
  /** The job was cancelled, and the executor stops the command. */
  | 'CANCELLING'
  /** Final: the command failed or could not be started, or the approval was rejected or expired. */
  | 'FAILED'
  /** Final: the run was preempted or its node was lost, and the job is not run again. */
  | 'INTERRUPTED'
  /** Waits to be started. */
  | 'QUEUED'
  /** The command runs. */
  | 'RUNNING'
  /** The scheduler has assigned resources, and the executor starts the command. */
  | 'STARTING'
  /** Final: the command ended with exit code 0. */
  | 'SUCCEEDED';

/** Kind of failure. */
export type ProblemCode =
  /** You cannot decide on a job that you submitted yourself. */
  | 'APPROVAL_NOT_ALLOWED'
  /** A quota on cost would be exceeded. */
  | 'COST_LIMIT_EXCEEDED'
  /** `expectedCount` is not the number of jobs that would change. */
  | 'COUNT_MISMATCH'
  /** A permission, a scope of the token or a level is missing. */
  | 'FORBIDDEN'
  /** The idempotency key was used before with a different payload. */
  | 'IDEMPOTENCY_CONFLICT'
  /** The input is invalid; `violations` lists what to correct. */
  | 'INVALID_INPUT'
  /** The state of the job does not allow the operation. */
  | 'INVALID_STATE'
  /** The object does not exist, or you may not see it. */
  | 'NOT_FOUND'
  /** A quota or a limit on submissions would be exceeded. */
  | 'QUOTA_EXCEEDED'
  /** The job would not start now, and `noWait` was set. */
  | 'REJECTED'
  /** The slot reservation cannot be used. */
  | 'RESERVATION_EXPIRED'
  /** The server cannot process the request right now; try again. */
  | 'UNAVAILABLE'
  /** The object has changed since the expected version. */
  | 'VERSION_CONFLICT';

/** Category of a state. */
export type StateCategory =
  /** STARTING, RUNNING or CANCELLING: the job holds resources. */
  | 'ACTIVE'
  /** SUCCEEDED, FAILED, INTERRUPTED or CANCELLED: the state never changes again. */
  | 'FINAL'
  /** BLOCKED or QUEUED. */
  | 'WAITING';

/** Why earlier messages of a stream are no longer valid. */
export type StreamResetReason =
  /** The jobs were deleted. */
  | 'DELETED'
  /** The skipped events are no longer kept, or the database lost events in a failover or a restore. */
  | 'RETENTION';

export type ListedJobFragment = { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, priority: number | null, createdAt: string, startedAt: string | null, finishedAt: string | null, exitCode: number | null, allowedActions: Array<JobAction>, user: { id: string, name: string }, progress: { fraction: number | null, message: string | null } | null };

export type ShownJobFragment = { stateInfo: string | null, attempt: number, maxAttempts: number, executor: Executor, id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, priority: number | null, createdAt: string, startedAt: string | null, finishedAt: string | null, exitCode: number | null, allowedActions: Array<JobAction>, pool: { id: string, name: string }, spec: { command: Array<string> | null } | null, events: { nodes: Array<{ id: string, seq: number, at: string, type: JobEventType, to: JobState | null, message: string | null }> }, user: { id: string, name: string }, progress: { fraction: number | null, message: string | null } | null };

type Refusal_ApprovalNotAllowedProblem_Fragment = { __typename: 'ApprovalNotAllowedProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_CountMismatchProblem_Fragment = { __typename: 'CountMismatchProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_ForbiddenProblem_Fragment = { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_IdempotencyConflictProblem_Fragment = { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_InvalidInputProblem_Fragment = { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> };

type Refusal_InvalidStateProblem_Fragment = { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_NotFoundProblem_Fragment = { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_QuotaExceededProblem_Fragment = { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_RejectedProblem_Fragment = { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_ReservationExpiredProblem_Fragment = { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_UnavailableProblem_Fragment = { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_VersionConflictProblem_Fragment = { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean };

export type RefusalFragment =
  | Refusal_ApprovalNotAllowedProblem_Fragment
  | Refusal_CountMismatchProblem_Fragment
  | Refusal_ForbiddenProblem_Fragment
  | Refusal_IdempotencyConflictProblem_Fragment
  | Refusal_InvalidInputProblem_Fragment
  | Refusal_InvalidStateProblem_Fragment
  | Refusal_NotFoundProblem_Fragment
  | Refusal_QuotaExceededProblem_Fragment
  | Refusal_RejectedProblem_Fragment
  | Refusal_ReservationExpiredProblem_Fragment
  | Refusal_UnavailableProblem_Fragment
  | Refusal_VersionConflictProblem_Fragment
;

export type OneJobQueryVariables = Exact<{
  id: string;
}>;


export type OneJobQuery = { job: { stateInfo: string | null, attempt: number, maxAttempts: number, executor: Executor, id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, priority: number | null, createdAt: string, startedAt: string | null, finishedAt: string | null, exitCode: number | null, allowedActions: Array<JobAction>, pool: { id: string, name: string }, spec: { command: Array<string> | null } | null, events: { nodes: Array<{ id: string, seq: number, at: string, type: JobEventType, to: JobState | null, message: string | null }> }, user: { id: string, name: string }, progress: { fraction: number | null, message: string | null } | null } | null };

export type FollowJobSubscriptionVariables = Exact<{
  id: string;
  after?: string | null | undefined;
}>;


export type FollowJobSubscription = { jobStatus:
    | { cursor: string, job: { stateInfo: string | null, attempt: number, maxAttempts: number, executor: Executor, id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, priority: number | null, createdAt: string, startedAt: string | null, finishedAt: string | null, exitCode: number | null, allowedActions: Array<JobAction>, pool: { id: string, name: string }, spec: { command: Array<string> | null } | null, events: { nodes: Array<{ id: string, seq: number, at: string, type: JobEventType, to: JobState | null, message: string | null }> }, user: { id: string, name: string }, progress: { fraction: number | null, message: string | null } | null } }
    | { cursor: string }
    | { cursor: string, resetReason: StreamResetReason, jobIds: Array<string> }
   };

export type CancelOneMutationVariables = Exact<{
  id: string;
}>;


export type CancelOneMutation = { cancelJob:
    | { job: { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, priority: number | null, createdAt: string, startedAt: string | null, finishedAt: string | null, exitCode: number | null, allowedActions: Array<JobAction>, user: { id: string, name: string }, progress: { fraction: number | null, message: string | null } | null } }
    | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteOneMutationVariables = Exact<{
  id: string;
}>;


export type DeleteOneMutation = { deleteJob:
    | { deletedId: string }
    | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export const ListedJobFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ListedJob"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Job"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"stateCategory"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"finishedAt"}},{"kind":"Field","name":{"kind":"Name","value":"exitCode"}},{"kind":"Field","name":{"kind":"Name","value":"allowedActions"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"progress"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fraction"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]} as unknown as DocumentNode<ListedJobFragment, unknown>;
export const ShownJobFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ShownJob"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Job"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ListedJob"}},{"kind":"Field","name":{"kind":"Name","value":"stateInfo"}},{"kind":"Field","name":{"kind":"Name","value":"attempt"}},{"kind":"Field","name":{"kind":"Name","value":"maxAttempts"}},{"kind":"Field","name":{"kind":"Name","value":"executor"}},{"kind":"Field","name":{"kind":"Name","value":"pool"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"spec"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"command"}}]}},{"kind":"Field","name":{"kind":"Name","value":"events"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"IntValue","value":"20"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"seq"}},{"kind":"Field","name":{"kind":"Name","value":"at"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ListedJob"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Job"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"stateCategory"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"finishedAt"}},{"kind":"Field","name":{"kind":"Name","value":"exitCode"}},{"kind":"Field","name":{"kind":"Name","value":"allowedActions"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"progress"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fraction"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]} as unknown as DocumentNode<ShownJobFragment, unknown>;
export const RefusalFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Refusal"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Problem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"retryable"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidInputProblem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"violations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<RefusalFragment, unknown>;
export const OneJobDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OneJob"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"job"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ShownJob"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ListedJob"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Job"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"stateCategory"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"finishedAt"}},{"kind":"Field","name":{"kind":"Name","value":"exitCode"}},{"kind":"Field","name":{"kind":"Name","value":"allowedActions"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"progress"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fraction"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ShownJob"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Job"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ListedJob"}},{"kind":"Field","name":{"kind":"Name","value":"stateInfo"}},{"kind":"Field","name":{"kind":"Name","value":"attempt"}},{"kind":"Field","name":{"kind":"Name","value":"maxAttempts"}},{"kind":"Field","name":{"kind":"Name","value":"executor"}},{"kind":"Field","name":{"kind":"Name","value":"pool"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"spec"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"command"}}]}},{"kind":"Field","name":{"kind":"Name","value":"events"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"IntValue","value":"20"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"seq"}},{"kind":"Field","name":{"kind":"Name","value":"at"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<OneJobQuery, OneJobQueryVariables>;
export const FollowJobDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"FollowJob"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"jobStatus"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"jobId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"JobTransitions"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"job"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ShownJob"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"StreamReset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"resetReason"}},{"kind":"Field","name":{"kind":"Name","value":"jobIds"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"StreamHeartbeat"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ListedJob"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Job"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"stateCategory"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"finishedAt"}},{"kind":"Field","name":{"kind":"Name","value":"exitCode"}},{"kind":"Field","name":{"kind":"Name","value":"allowedActions"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"progress"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fraction"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ShownJob"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Job"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ListedJob"}},{"kind":"Field","name":{"kind":"Name","value":"stateInfo"}},{"kind":"Field","name":{"kind":"Name","value":"attempt"}},{"kind":"Field","name":{"kind":"Name","value":"maxAttempts"}},{"kind":"Field","name":{"kind":"Name","value":"executor"}},{"kind":"Field","name":{"kind":"Name","value":"pool"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"spec"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"command"}}]}},{"kind":"Field","name":{"kind":"Name","value":"events"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"IntValue","value":"20"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"seq"}},{"kind":"Field","name":{"kind":"Name","value":"at"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<FollowJobSubscription, FollowJobSubscriptionVariables>;
export const CancelOneDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CancelOne"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cancelJob"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"jobId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CancelJobSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"job"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ListedJob"}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"Refusal"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ListedJob"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Job"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"stateCategory"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"finishedAt"}},{"kind":"Field","name":{"kind":"Name","value":"exitCode"}},{"kind":"Field","name":{"kind":"Name","value":"allowedActions"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"progress"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fraction"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Refusal"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Problem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"retryable"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidInputProblem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"violations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CancelOneMutation, CancelOneMutationVariables>;
export const DeleteOneDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteOne"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteJob"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"jobId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeleteJobSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deletedId"}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"Refusal"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Refusal"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Problem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"retryable"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidInputProblem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"violations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<DeleteOneMutation, DeleteOneMutationVariables>;