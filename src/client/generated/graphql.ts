/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** A machine that a pool gets. */
export type AddNodeInput = {
  /** Cores. */
  cpu: number;
  /** Processor, for filters. */
  cpuModel?: string | null | undefined;
  /** Its GPUs, at most 1,024. */
  gpus?: Array<DeviceInput> | null | undefined;
  /** Whether it has InfiniBand. */
  infiniband?: boolean | null | undefined;
  /** GiB of memory. */
  memoryGib: number;
  /** Name, unique in its pool. */
  name: string;
  /** The pool; not one that is bound to one machine. */
  pool: string;
};

/** A condition on a submission. */
export type ApprovalConditionInput =
  {   /** The submission costs more than this. */
  costAbove: number; executor?: never; firstJob?: never; hardware?: never; jobsPerDayAbove?: never; levelNotIn?: never; name?: never; }
  |  { costAbove?: never;   /** It runs on this executor. */
  executor: string; firstJob?: never; hardware?: never; jobsPerDayAbove?: never; levelNotIn?: never; name?: never; }
  |  { costAbove?: never; executor?: never;   /** Whether it is the first job of its user. */
  firstJob: boolean; hardware?: never; jobsPerDayAbove?: never; levelNotIn?: never; name?: never; }
  |  { costAbove?: never; executor?: never; firstJob?: never;   /** Glob over the GPU and CPU models that it asks for, whatever their case. */
  hardware: string; jobsPerDayAbove?: never; levelNotIn?: never; name?: never; }
  |  { costAbove?: never; executor?: never; firstJob?: never; hardware?: never;   /** It is one more than this many of its user in 24 hours. */
  jobsPerDayAbove: number; levelNotIn?: never; name?: never; }
  |  { costAbove?: never; executor?: never; firstJob?: never; hardware?: never; jobsPerDayAbove?: never;   /** The level of its user is none of these, at most 4. */
  levelNotIn: Array<UserLevel>; name?: never; }
  |  { costAbove?: never; executor?: never; firstJob?: never; hardware?: never; jobsPerDayAbove?: never; levelNotIn?: never;   /** Its name matches this glob, or this regular expression if it is written as ^…$. */
  name: string; };

/** Where an approval stands. PENDING is the only one that changes. */
export type ApprovalStatus =
  | 'APPROVED'
  | 'CANCELLED'
  | 'EXPIRED'
  | 'PENDING'
  | 'REJECTED';

/** A yes. */
export type ApproveJobInput = {
  /** For others to read; at most 1,000 characters. */
  comment?: string | null | undefined;
  /** The version of the job you looked at. */
  expectedVersion: number;
  /** The job. */
  jobId: string;
};

/** Which entries. Fields are joined by AND. */
export type AuditFilter = {
  /** Of this action. */
  action?: string | null | undefined;
  /** Of this user. */
  actor?: string | null | undefined;
  /** Later than this moment. */
  after?: string | null | undefined;
  /** Earlier than this moment. */
  before?: string | null | undefined;
  /** About this object. */
  objectId?: string | null | undefined;
};

/** Which job is to end. */
export type CancelJobInput = {
  /** Only if the job is still at this version. */
  expectedVersion?: number | null | undefined;
  /** The job. */
  jobId: string;
  /** Why, for others to read; at most 1,000 characters. */
  reason?: string | null | undefined;
};

/** A new rule. */
export type CreateApprovalRuleInput = {
  /** What it matches. */
  condition: ApprovalConditionInput;
  /** Whether it is tried at all. */
  enabled?: boolean | null | undefined;
  /** Levels that it does not apply to, at most 4. */
  exemptLevels?: Array<UserLevel> | null | undefined;
  /** How long a request waits. */
  expiresAfterSeconds?: number | null | undefined;
  /** Name to show, unique. */
  name: string;
  /** Rules are tried from the highest down. */
  priority?: number | null | undefined;
  /** The least level that may decide. */
  requiredLevel?: UserLevel | null | undefined;
};

/** Nodes for a project in a window of time. A node is in one reservation at a time. */
export type CreateCapacityReservationInput = {
  /** End of the window. */
  endsAt: string;
  /** End its jobs with it; else they finish. */
  hard?: boolean | null | undefined;
  /** Name to show, unique in its pool. */
  name: string;
  /** The backend's name of it. */
  nativeId?: string | null | undefined;
  /** Names of the nodes, at least 1, at most 1,000. */
  nodes: Array<string>;
  /** The pool. */
  pool: string;
  /** Whose jobs may use it. */
  project: string;
  /** Beginning of the window. */
  startsAt: string;
};

/** A new quota; there is one of each type, action, scope and key. */
export type CreateQuotaInput = {
  /** What crossing it does. */
  action: QuotaAction;
  /** Name of the level, user, team or account; not for GLOBAL. */
  key?: string | null | undefined;
  /** The most that is allowed; 0: nothing. */
  limit: number;
  /** Whom it limits. */
  scope: QuotaScope;
  /** What is counted. */
  type: QuotaType;
};

/** A new team. */
export type CreateTeamInput = {
  /** Unique; its account has the same name. Not `users`. */
  name: string;
};

/** A new token. */
export type CreateTokenInput = {
  /** When it ends by itself, not later than what you are logged in with; default: when that ends, or never if it does not. */
  expiresAt?: string | null | undefined;
  /** What it is for, 1 … 255 characters. */
  name: string;
  /** What it may be used for (default: all that you may), at most 4. */
  scopes?: Array<TokenScope> | null | undefined;
  /** Whom it stands for; default: you. Others with token.any. */
  userId?: string | null | undefined;
};

/** A new person. */
export type CreateUserInput = {
  /** Permissions beyond those of the level, at most 20. */
  allow?: Array<string> | null | undefined;
  /** The one of them for submissions that name none. */
  defaultTeam?: string | null | undefined;
  /** Permissions to take away, which wins, at most 20. */
  deny?: Array<string> | null | undefined;
  /** Name to show. */
  displayName?: string | null | undefined;
  /** Mail address. */
  email?: string | null | undefined;
  /** Decides base priority and permissions. */
  level: UserLevel;
  /** Log-in name, unique, for ever. */
  name: string;
  /** Names of all of their teams, at most 50. */
  teams?: Array<string> | null | undefined;
  /** Account of the machine that their jobs run as. */
  unixUser?: string | null | undefined;
};

/** Which rule is to go. */
export type DeleteApprovalRuleInput = {
  /** The rule. */
  id: string;
};

/** Which reservation is to go. */
export type DeleteCapacityReservationInput = {
  /** The reservation. */
  id: string;
};

/** Which job is to go. */
export type DeleteJobInput = {
  /** Only if the job is still at this version. */
  expectedVersion?: number | null | undefined;
  /** The job. */
  jobId: string;
};

/** Which quota is to go. */
export type DeleteQuotaInput = {
  /** quota_… */
  id: string;
};

/** Which team is to go. */
export type DeleteTeamInput = {
  /** The team. */
  id: string;
};

/** Who is to go. */
export type DeleteUserInput = {
  /** The person. */
  id: string;
};

/** A job that must end first. */
export type DependencyInput = {
  /** The job to wait for. */
  jobId: string;
  /** How it must end. */
  on?: DependencyOn | null | undefined;
};

/** How a dependency must end. FINISHED: in any way. */
export type DependencyOn =
  | 'FAILED'
  | 'FINISHED'
  | 'SUCCEEDED';

/** GPUs of one kind. */
export type DeviceInput = {
  /** How many; their indexes follow on each other. */
  count?: number | null | undefined;
  /** Lowest and highest CUDA version (default: every version), at most 2. */
  cuda?: Array<string> | null | undefined;
  /** GiB of memory of each. */
  memoryGib: number;
  /** Model. */
  model: string;
  /** Whether they have tensor cores. */
  tensorCores?: boolean | null | undefined;
};

/** A variable of the environment. */
export type EnvironmentVariableInput = {
  /** Its name. */
  name: string;
  /** Its value; dollar-brace names are expanded. */
  value: string;
};

/** A name under which other jobs reach this one. */
export type InternalDnsInput = {
  /** RFC 1035 label; "dns-<account>-" is put in front. */
  name?: string | null | undefined;
  /** The ports that can be reached, at most 1,024. */
  ports: Array<InternalDnsPortInput>;
};

/** A port under which other jobs reach this one. */
export type InternalDnsPortInput = {
  /** The port that others use. */
  port: number;
  /** Its protocol. */
  protocol?: NetworkProtocol | null | undefined;
  /** The port that the job listens on; default: `port`. */
  targetPort?: number | null | undefined;
};

/** Which jobs. Fields are joined by AND, entries of a list by OR, labels by AND. */
export type JobFilter = {
  /** Of this account. */
  account?: string | null | undefined;
  /** Submitted after this moment. */
  createdAfter?: string | null | undefined;
  /** Submitted before this moment. */
  createdBefore?: string | null | undefined;
  /** Run by this executor. */
  executor?: string | null | undefined;
  /** Over after this moment. */
  finishedAfter?: string | null | undefined;
  /** Over before this moment. */
  finishedBefore?: string | null | undefined;
  /** These jobs, at most 1,000. */
  ids?: Array<string> | null | undefined;
  /** With all of these labels, at most 64. */
  labels?: Array<LabelFilter> | null | undefined;
  /** Glob on the name: * any characters, ? one; at most 255 characters. */
  name?: string | null | undefined;
  /** In this pool. */
  pool?: string | null | undefined;
  /** Of this project. */
  project?: string | null | undefined;
  /** Come through this door. */
  queue?: string | null | undefined;
  /** In a state of one of these kinds, at most 9. */
  stateCategories?: Array<StateCategory> | null | undefined;
  /** In one of these states, at most 9. */
  states?: Array<JobState> | null | undefined;
  /** Submitted for this team. */
  team?: string | null | undefined;
  /** Submitted by this user. */
  user?: string | null | undefined;
};

/** What is to be run. Either `command`, or `executable` with `arguments`, or `handler`; with an image none of them is needed. */
export type JobSpecInput = {
  /** Unit of fair share to charge; default: your own. */
  account?: string | null | undefined;
  /** Arguments, in which dollar-brace names are expanded, at most 10,000. */
  arguments?: Array<string> | null | undefined;
  /** What it offers for its place. */
  bid?: number | null | undefined;
  /** Reservation whose nodes to use. */
  capacityReservationId?: string | null | undefined;
  /** Program and arguments, taken literally, at most 10,000. */
  command?: Array<string> | null | undefined;
  /** Further words for the backend. */
  customAttributes?: Record<string, unknown> | null | undefined;
  /** Data sets to mount, at most 256. */
  data?: Array<string> | null | undefined;
  /** Jobs that must end first, at most 100. */
  dependsOn?: Array<DependencyInput> | null | undefined;
  /** Expected seconds of a run. */
  durationSeconds?: number | null | undefined;
  /** Variables, in order (the last of a name wins), at most 10,000. */
  environment?: Array<EnvironmentVariableInput> | null | undefined;
  /** What you expect it to cost. */
  estimatedCost?: number | null | undefined;
  /** Program, where `arguments` are given apart. */
  executable?: string | null | undefined;
  /** The mechanism to run it with; default: by the other fields and the pool. */
  executor?: string | null | undefined;
  /** Registered handler to call instead of a command. */
  handler?: string | null | undefined;
  /** Container image. */
  image?: string | null | undefined;
  /** Whether to start from the environment of the server, as far as that is passed on. */
  inheritEnvironment?: boolean | null | undefined;
  /** What the handler is given. */
  input?: Record<string, unknown> | null | undefined;
  /** Whether a person sits in front of it. */
  interactive?: boolean | null | undefined;
  /** Name for other jobs. */
  internalDns?: InternalDnsInput | null | undefined;
  /** Keys and values, at most 64. */
  labels?: Array<LabelInput> | null | undefined;
  /** How its processes are launched. */
  launcher?: string | null | undefined;
  /** Seconds of one run at most; 0: no maximum. */
  maxRunTimeSeconds?: number | null | undefined;
  /** Name, at most 255 characters. */
  name?: string | null | undefined;
  /** Traffic to cut off. */
  networkIsolation?: NetworkIsolation | null | undefined;
  /** Not before this moment; in the past: now. */
  notBefore?: string | null | undefined;
  /** What becomes of it when they end otherwise. */
  onDependencyFailure?: OnDependencyFailure | null | undefined;
  /** Script to source after it ended. */
  postLaunch?: string | null | undefined;
  /** Script to source before it starts. */
  preLaunch?: string | null | undefined;
  /** Whether it may be stopped in favour of others. */
  preemptable?: boolean | null | undefined;
  /** Project it belongs to. */
  project?: string | null | undefined;
  /** The door to go through; default: the default queue. */
  queue?: string | null | undefined;
  /** What it asks for. */
  resources?: ResourcesInput | null | undefined;
  /** Whether it may be run again from the beginning. */
  restartable?: boolean | null | undefined;
  /** Whether it can go on from what it saved. */
  resumable?: boolean | null | undefined;
  /** When to run it again after a failure. */
  retry?: RetryInput | null | undefined;
  /** File to copy the errors to. */
  stderrPath?: string | null | undefined;
  /** File to read from. */
  stdinPath?: string | null | undefined;
  /** File to copy the output to. */
  stdoutPath?: string | null | undefined;
  /** Team to submit for. */
  team?: string | null | undefined;
  /** Working directory: absolute, or ~/… */
  workdir?: string | null | undefined;
  /** Display. */
  x11?: X11Input | null | undefined;
};

/** States of a job and of a run. BLOCKED: waits for an approval. SUCCEEDED, FAILED, INTERRUPTED and CANCELLED are final. */
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

/** Jobs with this label. */
export type LabelFilter = {
  /** Key of the label. */
  key: string;
  /** Its value; left out: any. */
  value?: string | null | undefined;
};

/** Key and value; a tag is a label with the value "". */
export type LabelInput = {
  /** What it says something about. */
  key: string;
  /** What it says. */
  value: string;
};

/** Whose running jobs and GPUs a limit counts. */
export type LimitScope =
  | 'PROJECT'
  | 'QUEUE'
  | 'TEAM'
  | 'USER';

/** Which traffic is cut off: from outside, to outside, or both. */
export type NetworkIsolation =
  | 'ALL'
  | 'IN'
  | 'OUT';

/** Protocol of a port. */
export type NetworkProtocol =
  | 'TCP'
  | 'UDP';

/** What becomes of a job whose dependency can no longer hold. */
export type OnDependencyFailure =
  | 'CANCEL'
  | 'WAIT';

/** READY takes new runs; CORDONED and DRAINING take none; LOST does not answer. */
export type PoolNodeState =
  | 'CORDONED'
  | 'DRAINING'
  | 'LOST'
  | 'READY';

/** What kind of failure it is, for programs. */
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

/** What crossing it does: refuse, warn, or ask for an approval. */
export type QuotaAction =
  | 'BLOCK'
  | 'REQUIRE_APPROVAL'
  | 'WARN';

/** Whom it limits. USER wins over LEVEL, and LEVEL over GLOBAL, each by the usage of one person; TEAM and ACCOUNT are ceilings over the usage of all together. */
export type QuotaScope =
  | 'ACCOUNT'
  | 'GLOBAL'
  | 'LEVEL'
  | 'TEAM'
  | 'USER';

/** What is counted: jobs that are not final, submissions or their cost in the last 60 min, 24 h or 30 d, GPUs. */
export type QuotaType =
  | 'CONCURRENT_JOBS'
  | 'COST_PER_DAY'
  | 'COST_PER_MONTH'
  | 'JOBS_PER_DAY'
  | 'JOBS_PER_HOUR'
  | 'LOCAL_GPUS';

/** A no. */
export type RejectJobInput = {
  /** The version of the job you looked at. */
  expectedVersion: number;
  /** The job. */
  jobId: string;
  /** Why, for the submitter to read; at most 1,000 characters. */
  reason: string;
};

/** Which machine is to go. */
export type RemoveNodeInput = {
  /** The node. */
  id: string;
};

/** What the job asks for; amounts are per copy. */
export type ResourcesInput = {
  /** Whether others are taken when `gpuIds` are busy. */
  anyGpu?: boolean | null | undefined;
  /** Cores, 0.001 or more; default 1. */
  cpu?: number | null | undefined;
  /** PSI/J: cores of each process. */
  cpuCoresPerProcess?: number | null | undefined;
  /** Filters on the processor (a leading ! excludes), at most 64. */
  cpuModel?: Array<string> | null | undefined;
  /** CUDA version that the GPUs support, e.g. 11.8. */
  cudaVersion?: string | null | undefined;
  /** Whether nobody else may be on its nodes. */
  exclusiveNodeUse?: boolean | null | undefined;
  /** GPUs; default 0. */
  gpu?: number | null | undefined;
  /** PSI/J: GPUs of each process. */
  gpuCoresPerProcess?: number | null | undefined;
  /** Exactly these GPUs of a one-node pool, at most 1,024. */
  gpuIds?: Array<number> | null | undefined;
  /** GiB of memory that each GPU has at least. */
  gpuMemoryGib?: number | null | undefined;
  /** Filters on the GPU model (a leading ! excludes), at most 64. */
  gpuModel?: Array<string> | null | undefined;
  /** Whether the GPUs have tensor cores; default: either. */
  gpuTensorCores?: boolean | null | undefined;
  /** Whether the nodes must have InfiniBand. */
  infiniband?: boolean | null | undefined;
  /** The same in bytes; give one of the two. */
  memoryBytes?: number | null | undefined;
  /** GiB of memory; default 1. */
  memoryGib?: number | null | undefined;
  /** PSI/J: nodes. */
  nodeCount?: number | null | undefined;
  /** PSI/J: processes in all. */
  processCount?: number | null | undefined;
  /** PSI/J: processes on each node. */
  processesPerNode?: number | null | undefined;
  /** Port of the first copy that the others are told. */
  replicaMasterPort?: number | null | undefined;
  /** Copies that start together; default 1. */
  replicas?: number | null | undefined;
};

/** When to run the job again after its command failed. */
export type RetryInput = {
  /** Runs at most that may end by exit code. */
  maxAttempts: number;
  /** Only after these exit codes (default: after any but 0), at most 255. */
  onExitCodes?: Array<number> | null | undefined;
};

/** Which job to submit once more, and with what changes. */
export type RetryJobInput = {
  /** Only say what would become of it; the answer is DryRun, and nothing is written. */
  dryRun?: boolean | null | undefined;
  /** Only if the original is still at this version. */
  expectedVersion?: number | null | undefined;
  /** Your name for this retry; as for `submitJob`. */
  idempotencyKey?: string | null | undefined;
  /** How long the key is kept, 60 … 2,592,000 s; default a day. */
  idempotencyTtlSeconds?: number | null | undefined;
  /** A job that is over. */
  jobId: string;
  /** Start it now or refuse it: then nothing is stored, its key neither. */
  noWait?: boolean | null | undefined;
  /** Fields that replace those of the original, in `resources` too; null: the default. A field at its default value leaves the original. */
  overrides?: JobSpecInput | null | undefined;
  /** A slot that you reserved. */
  slotReservationId?: string | null | undefined;
};

/** A priority that replaces the one of the level. */
export type SetJobPriorityInput = {
  /** The job. */
  jobId: string;
  /** 0 … 50, higher comes first; null: that of the level counts again. */
  priority?: number | null | undefined;
};

/** A limit of a queue, a project, a team or a user. Without maxJobs and maxGpus it goes. */
export type SetScopeLimitInput = {
  /** Only GPUs whose model contains this, whatever its case; default: all. */
  gpuModel?: string | null | undefined;
  /** Most GPUs in use; default: unlimited. */
  maxGpus?: number | null | undefined;
  /** Most running jobs; default: unlimited. */
  maxJobs?: number | null | undefined;
  /** Its name. */
  name: string;
  /** Name of the pool; default: the one that the default queue leads to. */
  pool?: string | null | undefined;
  /** What it is a limit of. */
  scope: LimitScope;
};

/** WAITING: BLOCKED, QUEUED. ACTIVE: STARTING, RUNNING, CANCELLING. FINAL: the four final states. */
export type StateCategory =
  | 'ACTIVE'
  | 'FINAL'
  | 'WAITING';

/** A submission. */
export type SubmitJobInput = {
  /** Only say what would become of it; the answer is DryRun, and nothing is written. */
  dryRun?: boolean | null | undefined;
  /** Your name for this submission, 1 … 255 characters: the same key again answers the same job. */
  idempotencyKey?: string | null | undefined;
  /** How long the key is kept, 60 … 2,592,000 s; default a day. */
  idempotencyTtlSeconds?: number | null | undefined;
  /** Start it now or refuse it: then nothing is stored, its key neither. */
  noWait?: boolean | null | undefined;
  /** Whether a person must say yes, whatever the rules say. */
  requiresApproval?: boolean | null | undefined;
  /** A slot that you reserved: it is consumed, and the submission counts once. */
  slotReservationId?: string | null | undefined;
  /** What is to be run. */
  spec: JobSpecInput;
};

/** What a token may be used for, as far as its user may. READ: queries and subscriptions; it comes with each of the others. SUBMIT: submit, retry, reserve, release, cancel and delete one's own. OPERATE: approve, reject, set priorities, cancel others', process, clean up. ADMIN: everything else. */
export type TokenScope =
  | 'ADMIN'
  | 'OPERATE'
  | 'READ'
  | 'SUBMIT';

/** A change of a rule; what is left out stays. */
export type UpdateApprovalRuleInput = {
  /** What it matches. */
  condition?: ApprovalConditionInput | null | undefined;
  /** Whether it is tried at all. */
  enabled?: boolean | null | undefined;
  /** Levels that it does not apply to, at most 4. */
  exemptLevels?: Array<UserLevel> | null | undefined;
  /** How long a request waits. */
  expiresAfterSeconds?: number | null | undefined;
  /** The rule. */
  id: string;
  /** Name to show, unique. */
  name?: string | null | undefined;
  /** Rules are tried from the highest down. */
  priority?: number | null | undefined;
  /** The least level that may decide. */
  requiredLevel?: UserLevel | null | undefined;
};

/** Limits of a pool. What is left out stays as it is; null: unlimited; 0: none. */
export type UpdateLimitsInput = {
  /** Whether teamMaxConcurrent holds. */
  enableFairShare?: boolean | null | undefined;
  /** GPUs in use in the pool. */
  localGpuMaxConcurrent?: number | null | undefined;
  /** Running jobs with GPUs in the pool. */
  localJobMaxConcurrent?: number | null | undefined;
  /** Running jobs of the pool. */
  maxConcurrent?: number | null | undefined;
  /** Name of the pool; default: the one that the default queue leads to. */
  pool?: string | null | undefined;
  /** The wait that raises a priority by 10, up to 30, in minutes; 0: never. Without effect under fair share. */
  starvationThresholdMinutes?: number | null | undefined;
  /** The same in seconds; not both. */
  starvationThresholdSeconds?: number | null | undefined;
  /** Running jobs of each team, with enableFairShare. */
  teamMaxConcurrent?: number | null | undefined;
  /** Jobs of a user that are not final, asked at submission. */
  userMaxActive?: number | null | undefined;
  /** Jobs of a user that wait for an approval. */
  userMaxBlocked?: number | null | undefined;
  /** Running jobs of each user. */
  userMaxConcurrent?: number | null | undefined;
};

/** A change of a machine. */
export type UpdateNodeInput = {
  /** The node. */
  id: string;
  /** READY takes runs; CORDONED takes no more; DRAINING neither, for it is to go. LOST cannot be set. */
  state: PoolNodeState;
};

/** A change of a quota; what is left out stays. */
export type UpdateQuotaInput = {
  /** What crossing it does. */
  action?: QuotaAction | null | undefined;
  /** quota_… */
  id: string;
  /** The most that is allowed. */
  limit?: number | null | undefined;
};

/** What is to change of a team; what is left out stays. */
export type UpdateTeamInput = {
  /** Users that come in, at most 1,000. */
  addMembers?: Array<string> | null | undefined;
  /** The team. */
  id: string;
  /** New name, and with it a new account for what comes. */
  name?: string | null | undefined;
  /** Users that go, at most 1,000. */
  removeMembers?: Array<string> | null | undefined;
};

/** What is to change of a person; what is left out stays. */
export type UpdateUserInput = {
  /** Permissions beyond those of the level, at most 20. */
  allow?: Array<string> | null | undefined;
  /** The one of them for submissions that name none. */
  defaultTeam?: string | null | undefined;
  /** Permissions to take away, which wins, at most 20. */
  deny?: Array<string> | null | undefined;
  /** Whether the person cannot log in; their jobs go on. */
  disabled?: boolean | null | undefined;
  /** Name to show. */
  displayName?: string | null | undefined;
  /** Mail address. */
  email?: string | null | undefined;
  /** The person. */
  id: string;
  /** Who logs in as this person by the OpenID provider; null: nobody any more. */
  identity?: UserIdentityInput | null | undefined;
  /** Decides base priority and permissions. */
  level?: UserLevel | null | undefined;
  /** Names of all of their teams, at most 50. */
  teams?: Array<string> | null | undefined;
  /** Account of the machine that their jobs run as. */
  unixUser?: string | null | undefined;
};

/** Who a person is at an OpenID provider. */
export type UserIdentityInput = {
  /** The provider: auth.oidc.issuer of the configuration. */
  issuer: string;
  /** The person: `sub` of the tokens of the provider. */
  subject: string;
};

/** What a person may do, as a ladder. */
export type UserLevel =
  | 'ADMIN'
  | 'LEAD'
  | 'RESEARCHER'
  | 'VIEWER';

/** A display for the job. */
export type X11Input = {
  /** Whether a GPU draws it. */
  gpu?: boolean | null | undefined;
};

export type LimitsRowFragment = { pool: string, maxConcurrent: number | null, userMaxConcurrent: number | null, teamMaxConcurrent: number | null, enableFairShare: boolean, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number, scopes: Array<{ scope: LimitScope, name: string, gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number }> };

export type DryRunRowFragment = { wouldBe: JobState, nodes: Array<string>, gpuIds: Array<number>, queuePosition: number | null, dryRunWarnings: Array<string>, reasons: Array<{ code: string, message: string, jobId: string | null, scope: string | null, limit: number | null, used: number | null }>, fit: { freeNow: boolean, couldEverFit: boolean, missing: Array<string> } | null, estimatedStart: { earliest: string, latest: string | null, basis: string } | null, idempotentJob: { id: string } | null };

export type LimitsQueryVariables = Exact<{
  pool?: string | null | undefined;
}>;


export type LimitsQuery = { limits: { pool: string, maxConcurrent: number | null, userMaxConcurrent: number | null, teamMaxConcurrent: number | null, enableFairShare: boolean, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number, scopes: Array<{ scope: LimitScope, name: string, gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number }> } };

export type UpdateLimitsMutationVariables = Exact<{
  input: UpdateLimitsInput;
}>;


export type UpdateLimitsMutation = { updateLimits:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateLimitsSuccess', limits: { pool: string, maxConcurrent: number | null, userMaxConcurrent: number | null, teamMaxConcurrent: number | null, enableFairShare: boolean, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number, scopes: Array<{ scope: LimitScope, name: string, gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number }> } }
   };

export type SetScopeLimitMutationVariables = Exact<{
  input: SetScopeLimitInput;
}>;


export type SetScopeLimitMutation = { setScopeLimit:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateLimitsSuccess', limits: { pool: string, maxConcurrent: number | null, userMaxConcurrent: number | null, teamMaxConcurrent: number | null, enableFairShare: boolean, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number, scopes: Array<{ scope: LimitScope, name: string, gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number }> } }
   };

export type SetJobPriorityMutationVariables = Exact<{
  input: SetJobPriorityInput;
}>;


export type SetJobPriorityMutation = { setJobPriority:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SetJobPrioritySuccess', job: { priority: number, id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type CleanupJobsMutationVariables = Exact<{
  olderThanDays?: number | null | undefined;
}>;


export type CleanupJobsMutation = { cleanupJobs:
    | { __typename: 'CleanupJobsSuccess', deletedCount: number }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type ProcessQueueMutationVariables = Exact<{ [key: string]: never; }>;


export type ProcessQueueMutation = { processQueue: { considered: number, started: number, preempted: number } };

export type SelfCheckQueryVariables = Exact<{ [key: string]: never; }>;


export type SelfCheckQuery = { selfCheck: { ok: boolean, at: string, findings: Array<{ rule: string, objectId: string | null, message: string }> }, system: { executors: Array<{ name: string, pool: string, version: string | null, available: boolean, message: string | null }> } };

export type NodeRowFragment = { id: string, name: string, pool: string, state: PoolNodeState, cpuModel: string | null, infiniband: boolean, lastSeenAt: string | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number } };

export type PoolNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type PoolNamesQuery = { pools: Array<{ id: string, name: string }> };

export type PoolNodesQueryVariables = Exact<{
  pool: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type PoolNodesQuery = { node:
    | { __typename: 'ApiToken' }
    | { __typename: 'Approval' }
    | { __typename: 'ApprovalRule' }
    | { __typename: 'AuditEntry' }
    | { __typename: 'CapacityReservation' }
    | { __typename: 'Hold' }
    | { __typename: 'Job' }
    | { __typename: 'JobEvent' }
    | { __typename: 'Pool', nodes: { nodes: Array<{ id: string, name: string, pool: string, state: PoolNodeState, cpuModel: string | null, infiniband: boolean, lastSeenAt: string | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } }
    | { __typename: 'PoolNode' }
    | { __typename: 'Quota' }
    | { __typename: 'Run' }
    | { __typename: 'SlotReservation' }
    | { __typename: 'SubmissionQueue' }
    | { __typename: 'Team' }
    | { __typename: 'User' }
   | null };

export type AddNodeMutationVariables = Exact<{
  input: AddNodeInput;
}>;


export type AddNodeMutation = { addNode:
    | { __typename: 'AddNodeSuccess', node: { id: string, name: string, pool: string, state: PoolNodeState, cpuModel: string | null, infiniband: boolean, lastSeenAt: string | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateNodeMutationVariables = Exact<{
  input: UpdateNodeInput;
}>;


export type UpdateNodeMutation = { updateNode:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateNodeSuccess', node: { id: string, name: string, pool: string, state: PoolNodeState, cpuModel: string | null, infiniband: boolean, lastSeenAt: string | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number } } }
   };

export type RemoveNodeMutationVariables = Exact<{
  input: RemoveNodeInput;
}>;


export type RemoveNodeMutation = { removeNode:
    | { __typename: 'DeleteSuccess', id: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type JobRowFragment = { id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } };

export type JobDetailFragment = { stateCategory: StateCategory, version: number, pool: string, executor: string, account: string, project: string | null, nativeId: string | null, priority: number, maxAttempts: number, cost: number | null, queuedAt: string | null, queuePosition: number | null, id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, scheduling: { jobsAhead: number, positionIsExact: boolean, lastConsideredAt: string | null, reasons: Array<{ code: string, message: string }>, gates: Array<{ code: string, open: boolean, opensAt: string | null }>, fit: { missing: Array<string> }, hold: { nodes: Array<string>, expectedAt: string | null, waitingForVictims: number } | null, estimatedStart: { earliest: string, latest: string | null } | null } | null, currentRun: { number: number, nodes: Array<string>, gpuIds: Array<number> }, spec: { command: Array<string> | null, executable: string | null, arguments: Array<string> | null, workdir: string | null, maxRunTimeSeconds: number, resources: { cpu: number, memoryBytes: number, gpu: number } }, user: { name: string } };

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
    | { __typename: 'DryRun', wouldBe: JobState, nodes: Array<string>, gpuIds: Array<number>, queuePosition: number | null, dryRunWarnings: Array<string>, reasons: Array<{ code: string, message: string, jobId: string | null, scope: string | null, limit: number | null, used: number | null }>, fit: { freeNow: boolean, couldEverFit: boolean, missing: Array<string> } | null, estimatedStart: { earliest: string, latest: string | null, basis: string } | null, idempotentJob: { id: string } | null }
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


export type JobQuery = { job: { stateCategory: StateCategory, version: number, pool: string, executor: string, account: string, project: string | null, nativeId: string | null, priority: number, maxAttempts: number, cost: number | null, queuedAt: string | null, queuePosition: number | null, id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, scheduling: { jobsAhead: number, positionIsExact: boolean, lastConsideredAt: string | null, reasons: Array<{ code: string, message: string }>, gates: Array<{ code: string, open: boolean, opensAt: string | null }>, fit: { missing: Array<string> }, hold: { nodes: Array<string>, expectedAt: string | null, waitingForVictims: number } | null, estimatedStart: { earliest: string, latest: string | null } | null } | null, currentRun: { number: number, nodes: Array<string>, gpuIds: Array<number> }, spec: { command: Array<string> | null, executable: string | null, arguments: Array<string> | null, workdir: string | null, maxRunTimeSeconds: number, resources: { cpu: number, memoryBytes: number, gpu: number } }, user: { name: string } } | null };

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


export type ServerInfoQuery = { serverInfo: { name: string, version: string, singleUser: boolean, oidcIssuer: string | null } };

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

export type RetryJobMutationVariables = Exact<{
  input: RetryJobInput;
}>;


export type RetryJobMutation = { retryJob:
    | { __typename: 'DryRun', wouldBe: JobState, nodes: Array<string>, gpuIds: Array<number>, queuePosition: number | null, dryRunWarnings: Array<string>, reasons: Array<{ code: string, message: string, jobId: string | null, scope: string | null, limit: number | null, used: number | null }>, fit: { freeNow: boolean, couldEverFit: boolean, missing: Array<string> } | null, estimatedStart: { earliest: string, latest: string | null, basis: string } | null, idempotentJob: { id: string } | null }
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

export type IdempotencyKeyQueryVariables = Exact<{
  key: string;
}>;


export type IdempotencyKeyQuery = { idempotencyKey: { key: string, createdAt: string, expiresAt: string, job: { id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } } } | null };

export type QuotaRowFragment = { id: string, type: QuotaType, action: QuotaAction, scope: QuotaScope, key: string | null, limit: number };

export type QuotasQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type QuotasQuery = { quotas: { nodes: Array<{ id: string, type: QuotaType, action: QuotaAction, scope: QuotaScope, key: string | null, limit: number }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type QuotaUsageRowFragment = { type: QuotaType, action: QuotaAction, scope: string, limit: number, used: number, warning: boolean, ceiling: string | null };

export type QuotaUsageQueryVariables = Exact<{ [key: string]: never; }>;


export type QuotaUsageQuery = { viewer: { activeSlots: number, quotas: Array<{ type: QuotaType, action: QuotaAction, scope: string, limit: number, used: number, warning: boolean, ceiling: string | null }> } };

export type CreateQuotaMutationVariables = Exact<{
  input: CreateQuotaInput;
}>;


export type CreateQuotaMutation = { createQuota:
    | { __typename: 'CreateQuotaSuccess', quota: { id: string, type: QuotaType, action: QuotaAction, scope: QuotaScope, key: string | null, limit: number } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateQuotaMutationVariables = Exact<{
  input: UpdateQuotaInput;
}>;


export type UpdateQuotaMutation = { updateQuota:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateQuotaSuccess', quota: { id: string, type: QuotaType, action: QuotaAction, scope: QuotaScope, key: string | null, limit: number } }
   };

export type DeleteQuotaMutationVariables = Exact<{
  input: DeleteQuotaInput;
}>;


export type DeleteQuotaMutation = { deleteQuota:
    | { __typename: 'DeleteSuccess', id: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type ApprovalRowFragment = { id: string, status: ApprovalStatus, reason: string, ruleName: string | null, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, requestedBy: { name: string }, job: { id: string, name: string | null, version: number, state: JobState } };

export type ApprovalsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ApprovalsQuery = { approvals: { nodes: Array<{ id: string, status: ApprovalStatus, reason: string, ruleName: string | null, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, requestedBy: { name: string }, job: { id: string, name: string | null, version: number, state: JobState } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ApproveJobMutationVariables = Exact<{
  input: ApproveJobInput;
}>;


export type ApproveJobMutation = { approveJob:
    | { __typename: 'ApprovalNotAllowedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ApproveJobSuccess', job: { id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type RejectJobMutationVariables = Exact<{
  input: RejectJobInput;
}>;


export type RejectJobMutation = { rejectJob:
    | { __typename: 'ApprovalNotAllowedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RejectJobSuccess', job: { id: string, name: string | null, state: JobState, stateReason: string | null, stateInfo: string | null, exitCode: number | null, attempt: number, queue: string, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type ApprovalRuleRowFragment = { id: string, name: string, priority: number, enabled: boolean, exemptLevels: Array<UserLevel>, requiredLevel: UserLevel, expiresAfterSeconds: number, condition: { costAbove: number | null, hardware: string | null, executor: string | null, levelNotIn: Array<UserLevel> | null, jobsPerDayAbove: number | null, firstJob: boolean | null, name: string | null } };

export type ApprovalRulesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ApprovalRulesQuery = { approvalRules: { nodes: Array<{ id: string, name: string, priority: number, enabled: boolean, exemptLevels: Array<UserLevel>, requiredLevel: UserLevel, expiresAfterSeconds: number, condition: { costAbove: number | null, hardware: string | null, executor: string | null, levelNotIn: Array<UserLevel> | null, jobsPerDayAbove: number | null, firstJob: boolean | null, name: string | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type CreateApprovalRuleMutationVariables = Exact<{
  input: CreateApprovalRuleInput;
}>;


export type CreateApprovalRuleMutation = { createApprovalRule:
    | { __typename: 'CreateApprovalRuleSuccess', rule: { id: string, name: string, priority: number, enabled: boolean, exemptLevels: Array<UserLevel>, requiredLevel: UserLevel, expiresAfterSeconds: number, condition: { costAbove: number | null, hardware: string | null, executor: string | null, levelNotIn: Array<UserLevel> | null, jobsPerDayAbove: number | null, firstJob: boolean | null, name: string | null } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateApprovalRuleMutationVariables = Exact<{
  input: UpdateApprovalRuleInput;
}>;


export type UpdateApprovalRuleMutation = { updateApprovalRule:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateApprovalRuleSuccess', rule: { id: string, name: string, priority: number, enabled: boolean, exemptLevels: Array<UserLevel>, requiredLevel: UserLevel, expiresAfterSeconds: number, condition: { costAbove: number | null, hardware: string | null, executor: string | null, levelNotIn: Array<UserLevel> | null, jobsPerDayAbove: number | null, firstJob: boolean | null, name: string | null } } }
   };

export type DeleteApprovalRuleMutationVariables = Exact<{
  input: DeleteApprovalRuleInput;
}>;


export type DeleteApprovalRuleMutation = { deleteApprovalRule:
    | { __typename: 'DeleteSuccess', id: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type AuditRowFragment = { id: string, seq: number, at: string, actorName: string, action: string, objectId: string | null, ip: string | null, token: string | null, detail: Record<string, unknown> | null, hash: string };

export type AuditLogQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: AuditFilter | null | undefined;
}>;


export type AuditLogQuery = { auditLog: { nodes: Array<{ id: string, seq: number, at: string, actorName: string, action: string, objectId: string | null, ip: string | null, token: string | null, detail: Record<string, unknown> | null, hash: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type VerifyAuditQueryVariables = Exact<{
  fromSeq?: number | null | undefined;
  toSeq?: number | null | undefined;
}>;


export type VerifyAuditQuery = { verifyAudit: { ok: boolean, fromSeq: number, toSeq: number, headSeq: number, firstBadSeq: number | null, message: string | null } };

export type UserRowFragment = { id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ name: string }> };

export type TeamRowFragment = { id: string, name: string, account: string, createdAt: string, members: { nodes: Array<{ name: string }>, pageInfo: { hasNextPage: boolean } } };

export type TokenRowFragment = { id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { name: string } };

export type UsersQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UsersQuery = { users: { nodes: Array<{ id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ name: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TeamsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type TeamsQuery = { teams: { nodes: Array<{ id: string, name: string, account: string, createdAt: string, members: { nodes: Array<{ name: string }>, pageInfo: { hasNextPage: boolean } } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TokensQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  userId?: string | null | undefined;
}>;


export type TokensQuery = { tokens: { nodes: Array<{ id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type CreateUserMutationVariables = Exact<{
  input: CreateUserInput;
}>;


export type CreateUserMutation = { createUser:
    | { __typename: 'CreateUserSuccess', user: { id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ name: string }> } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateUserMutationVariables = Exact<{
  input: UpdateUserInput;
}>;


export type UpdateUserMutation = { updateUser:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateUserSuccess', user: { id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ name: string }> } }
   };

export type DeleteUserMutationVariables = Exact<{
  input: DeleteUserInput;
}>;


export type DeleteUserMutation = { deleteUser:
    | { __typename: 'DeleteSuccess', id: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type CreateTeamMutationVariables = Exact<{
  input: CreateTeamInput;
}>;


export type CreateTeamMutation = { createTeam:
    | { __typename: 'CreateTeamSuccess', team: { id: string, name: string, account: string, createdAt: string, members: { nodes: Array<{ name: string }>, pageInfo: { hasNextPage: boolean } } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateTeamMutationVariables = Exact<{
  input: UpdateTeamInput;
}>;


export type UpdateTeamMutation = { updateTeam:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateTeamSuccess', team: { id: string, name: string, account: string, createdAt: string, members: { nodes: Array<{ name: string }>, pageInfo: { hasNextPage: boolean } } } }
   };

export type DeleteTeamMutationVariables = Exact<{
  input: DeleteTeamInput;
}>;


export type DeleteTeamMutation = { deleteTeam:
    | { __typename: 'DeleteSuccess', id: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type CreateTokenMutationVariables = Exact<{
  input: CreateTokenInput;
}>;


export type CreateTokenMutation = { createToken:
    | { __typename: 'CreateTokenSuccess', secret: string, token: { id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { name: string } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type RevokeTokenMutationVariables = Exact<{
  id: string;
}>;


export type RevokeTokenMutation = { revokeToken:
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RevokeTokenSuccess', token: { id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type QueueEntryFragment = { id: string, name: string | null, state: JobState, priority: number, queuePosition: number | null, user: { name: string }, currentRun: { nodes: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: string, message: string }>, estimatedStart: { earliest: string, latest: string | null } | null } | null };

export type QueueRowFragment = { pool: string, at: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, maxConcurrent: number | null, entries: { nodes: Array<{ id: string, name: string | null, state: JobState, priority: number, queuePosition: number | null, user: { name: string }, currentRun: { nodes: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: string, message: string }>, estimatedStart: { earliest: string, latest: string | null } | null } | null }>, pageInfo: { hasNextPage: boolean } } };

export type QueueQueryVariables = Exact<{
  pool?: string | null | undefined;
  first?: number | null | undefined;
  states?: Array<JobState> | JobState | null | undefined;
}>;


export type QueueQuery = { queue: { pool: string, at: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, maxConcurrent: number | null, entries: { nodes: Array<{ id: string, name: string | null, state: JobState, priority: number, queuePosition: number | null, user: { name: string }, currentRun: { nodes: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: string, message: string }>, estimatedStart: { earliest: string, latest: string | null } | null } | null }>, pageInfo: { hasNextPage: boolean } } } };

export type QueueStatusSubscriptionVariables = Exact<{
  pool?: string | null | undefined;
  first?: number | null | undefined;
  states?: Array<JobState> | JobState | null | undefined;
}>;


export type QueueStatusSubscription = { queueStatus: { pool: string, at: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, maxConcurrent: number | null, entries: { nodes: Array<{ id: string, name: string | null, state: JobState, priority: number, queuePosition: number | null, user: { name: string }, currentRun: { nodes: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: string, message: string }>, estimatedStart: { earliest: string, latest: string | null } | null } | null }>, pageInfo: { hasNextPage: boolean } } } };

export type GpusQueryVariables = Exact<{ [key: string]: never; }>;


export type GpusQuery = { system: { gpus: Array<{ node: string, index: number, name: string, memoryGib: number, tensorCores: boolean, cuda: Array<string>, allocated: boolean, job: { id: string, name: string | null, user: { name: string } } | null }> } };

export type CapacityReservationRowFragment = { id: string, name: string, pool: string, project: string, nodes: Array<string>, startsAt: string, endsAt: string, hard: boolean, nativeId: string | null };

export type CapacityReservationsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type CapacityReservationsQuery = { capacityReservations: { nodes: Array<{ id: string, name: string, pool: string, project: string, nodes: Array<string>, startsAt: string, endsAt: string, hard: boolean, nativeId: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type CreateCapacityReservationMutationVariables = Exact<{
  input: CreateCapacityReservationInput;
}>;


export type CreateCapacityReservationMutation = { createCapacityReservation:
    | { __typename: 'CreateCapacityReservationSuccess', capacityReservation: { id: string, name: string, pool: string, project: string, nodes: Array<string>, startsAt: string, endsAt: string, hard: boolean, nativeId: string | null } }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteCapacityReservationMutationVariables = Exact<{
  input: DeleteCapacityReservationInput;
}>;


export type DeleteCapacityReservationMutation = { deleteCapacityReservation:
    | { __typename: 'DeleteSuccess', id: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: string, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
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
export const LimitsRowFragmentDoc = new TypedDocumentString(`
    fragment LimitsRow on Limits {
  pool
  maxConcurrent
  userMaxConcurrent
  teamMaxConcurrent
  enableFairShare
  localJobMaxConcurrent
  localGpuMaxConcurrent
  userMaxActive
  userMaxBlocked
  starvationThresholdSeconds
  scopes {
    scope
    name
    gpuModel
    maxJobs
    maxGpus
    jobsInUse
    gpusInUse
  }
}
    `, {"fragmentName":"LimitsRow"}) as unknown as TypedDocumentString<LimitsRowFragment, unknown>;
export const DryRunRowFragmentDoc = new TypedDocumentString(`
    fragment DryRunRow on DryRun {
  wouldBe
  nodes
  gpuIds
  queuePosition
  reasons {
    code
    message
    jobId
    scope
    limit
    used
  }
  fit {
    freeNow
    couldEverFit
    missing
  }
  estimatedStart {
    earliest
    latest
    basis
  }
  dryRunWarnings: warnings
  idempotentJob {
    id
  }
}
    `, {"fragmentName":"DryRunRow"}) as unknown as TypedDocumentString<DryRunRowFragment, unknown>;
export const NodeRowFragmentDoc = new TypedDocumentString(`
    fragment NodeRow on PoolNode {
  id
  name
  pool
  state
  cpuModel
  infiniband
  capacity {
    cpu
    memoryBytes
    gpu
  }
  free {
    cpu
    memoryBytes
    gpu
  }
  lastSeenAt
}
    `, {"fragmentName":"NodeRow"}) as unknown as TypedDocumentString<NodeRowFragment, unknown>;
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
  cost
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
    positionIsExact
    reasons {
      code
      message
    }
    gates {
      code
      open
      opensAt
    }
    fit {
      missing
    }
    hold {
      nodes
      expectedAt
      waitingForVictims
    }
    estimatedStart {
      earliest
      latest
    }
    lastConsideredAt
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
export const QuotaRowFragmentDoc = new TypedDocumentString(`
    fragment QuotaRow on Quota {
  id
  type
  action
  scope
  key
  limit
}
    `, {"fragmentName":"QuotaRow"}) as unknown as TypedDocumentString<QuotaRowFragment, unknown>;
export const QuotaUsageRowFragmentDoc = new TypedDocumentString(`
    fragment QuotaUsageRow on QuotaUsage {
  type
  action
  scope
  limit
  used
  warning
  ceiling
}
    `, {"fragmentName":"QuotaUsageRow"}) as unknown as TypedDocumentString<QuotaUsageRowFragment, unknown>;
export const ApprovalRowFragmentDoc = new TypedDocumentString(`
    fragment ApprovalRow on Approval {
  id
  status
  reason
  ruleName
  requiredLevel
  requestedAt
  expiresAt
  requestedBy {
    name
  }
  job {
    id
    name
    version
    state
  }
}
    `, {"fragmentName":"ApprovalRow"}) as unknown as TypedDocumentString<ApprovalRowFragment, unknown>;
export const ApprovalRuleRowFragmentDoc = new TypedDocumentString(`
    fragment ApprovalRuleRow on ApprovalRule {
  id
  name
  priority
  enabled
  condition {
    costAbove
    hardware
    executor
    levelNotIn
    jobsPerDayAbove
    firstJob
    name
  }
  exemptLevels
  requiredLevel
  expiresAfterSeconds
}
    `, {"fragmentName":"ApprovalRuleRow"}) as unknown as TypedDocumentString<ApprovalRuleRowFragment, unknown>;
export const AuditRowFragmentDoc = new TypedDocumentString(`
    fragment AuditRow on AuditEntry {
  id
  seq
  at
  actorName
  action
  objectId
  ip
  token
  detail
  hash
}
    `, {"fragmentName":"AuditRow"}) as unknown as TypedDocumentString<AuditRowFragment, unknown>;
export const UserRowFragmentDoc = new TypedDocumentString(`
    fragment UserRow on User {
  id
  name
  displayName
  email
  level
  disabled
  teams {
    name
  }
  createdAt
}
    `, {"fragmentName":"UserRow"}) as unknown as TypedDocumentString<UserRowFragment, unknown>;
export const TeamRowFragmentDoc = new TypedDocumentString(`
    fragment TeamRow on Team {
  id
  name
  account
  members(first: 100) {
    nodes {
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  createdAt
}
    `, {"fragmentName":"TeamRow"}) as unknown as TypedDocumentString<TeamRowFragment, unknown>;
export const TokenRowFragmentDoc = new TypedDocumentString(`
    fragment TokenRow on ApiToken {
  id
  name
  prefix
  scopes
  user {
    name
  }
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
}
    `, {"fragmentName":"TokenRow"}) as unknown as TypedDocumentString<TokenRowFragment, unknown>;
export const QueueEntryFragmentDoc = new TypedDocumentString(`
    fragment QueueEntry on Job {
  id
  name
  state
  priority
  queuePosition
  user {
    name
  }
  currentRun {
    nodes
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      earliest
      latest
    }
  }
}
    `, {"fragmentName":"QueueEntry"}) as unknown as TypedDocumentString<QueueEntryFragment, unknown>;
export const QueueRowFragmentDoc = new TypedDocumentString(`
    fragment QueueRow on Queue {
  pool
  at
  depth
  running
  blocked
  avgWaitSeconds
  maxConcurrent
  entries(first: $first, states: $states) {
    nodes {
      ...QueueEntry
    }
    pageInfo {
      hasNextPage
    }
  }
}
    fragment QueueEntry on Job {
  id
  name
  state
  priority
  queuePosition
  user {
    name
  }
  currentRun {
    nodes
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      earliest
      latest
    }
  }
}`, {"fragmentName":"QueueRow"}) as unknown as TypedDocumentString<QueueRowFragment, unknown>;
export const CapacityReservationRowFragmentDoc = new TypedDocumentString(`
    fragment CapacityReservationRow on CapacityReservation {
  id
  name
  pool
  project
  nodes
  startsAt
  endsAt
  hard
  nativeId
}
    `, {"fragmentName":"CapacityReservationRow"}) as unknown as TypedDocumentString<CapacityReservationRowFragment, unknown>;
export const LimitsDocument = new TypedDocumentString(`
    query Limits($pool: String) {
  limits(pool: $pool) {
    ...LimitsRow
  }
}
    fragment LimitsRow on Limits {
  pool
  maxConcurrent
  userMaxConcurrent
  teamMaxConcurrent
  enableFairShare
  localJobMaxConcurrent
  localGpuMaxConcurrent
  userMaxActive
  userMaxBlocked
  starvationThresholdSeconds
  scopes {
    scope
    name
    gpuModel
    maxJobs
    maxGpus
    jobsInUse
    gpusInUse
  }
}`) as unknown as TypedDocumentString<LimitsQuery, LimitsQueryVariables>;
export const UpdateLimitsDocument = new TypedDocumentString(`
    mutation UpdateLimits($input: UpdateLimitsInput!) {
  updateLimits(input: $input) {
    __typename
    ... on UpdateLimitsSuccess {
      limits {
        ...LimitsRow
      }
    }
    ...Problem
  }
}
    fragment LimitsRow on Limits {
  pool
  maxConcurrent
  userMaxConcurrent
  teamMaxConcurrent
  enableFairShare
  localJobMaxConcurrent
  localGpuMaxConcurrent
  userMaxActive
  userMaxBlocked
  starvationThresholdSeconds
  scopes {
    scope
    name
    gpuModel
    maxJobs
    maxGpus
    jobsInUse
    gpusInUse
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
}`) as unknown as TypedDocumentString<UpdateLimitsMutation, UpdateLimitsMutationVariables>;
export const SetScopeLimitDocument = new TypedDocumentString(`
    mutation SetScopeLimit($input: SetScopeLimitInput!) {
  setScopeLimit(input: $input) {
    __typename
    ... on UpdateLimitsSuccess {
      limits {
        ...LimitsRow
      }
    }
    ...Problem
  }
}
    fragment LimitsRow on Limits {
  pool
  maxConcurrent
  userMaxConcurrent
  teamMaxConcurrent
  enableFairShare
  localJobMaxConcurrent
  localGpuMaxConcurrent
  userMaxActive
  userMaxBlocked
  starvationThresholdSeconds
  scopes {
    scope
    name
    gpuModel
    maxJobs
    maxGpus
    jobsInUse
    gpusInUse
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
}`) as unknown as TypedDocumentString<SetScopeLimitMutation, SetScopeLimitMutationVariables>;
export const SetJobPriorityDocument = new TypedDocumentString(`
    mutation SetJobPriority($input: SetJobPriorityInput!) {
  setJobPriority(input: $input) {
    __typename
    ... on SetJobPrioritySuccess {
      job {
        ...JobRow
        priority
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
}`) as unknown as TypedDocumentString<SetJobPriorityMutation, SetJobPriorityMutationVariables>;
export const CleanupJobsDocument = new TypedDocumentString(`
    mutation CleanupJobs($olderThanDays: Int) {
  cleanupJobs(olderThanDays: $olderThanDays) {
    __typename
    ... on CleanupJobsSuccess {
      deletedCount
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
}`) as unknown as TypedDocumentString<CleanupJobsMutation, CleanupJobsMutationVariables>;
export const ProcessQueueDocument = new TypedDocumentString(`
    mutation ProcessQueue {
  processQueue {
    considered
    started
    preempted
  }
}
    `) as unknown as TypedDocumentString<ProcessQueueMutation, ProcessQueueMutationVariables>;
export const SelfCheckDocument = new TypedDocumentString(`
    query SelfCheck {
  selfCheck {
    ok
    at
    findings {
      rule
      objectId
      message
    }
  }
  system {
    executors {
      name
      pool
      version
      available
      message
    }
  }
}
    `) as unknown as TypedDocumentString<SelfCheckQuery, SelfCheckQueryVariables>;
export const PoolNamesDocument = new TypedDocumentString(`
    query PoolNames {
  pools {
    id
    name
  }
}
    `) as unknown as TypedDocumentString<PoolNamesQuery, PoolNamesQueryVariables>;
export const PoolNodesDocument = new TypedDocumentString(`
    query PoolNodes($pool: ID!, $first: Int, $after: Cursor) {
  node(id: $pool) {
    __typename
    ... on Pool {
      nodes(first: $first, after: $after) {
        nodes {
          ...NodeRow
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
}
    fragment NodeRow on PoolNode {
  id
  name
  pool
  state
  cpuModel
  infiniband
  capacity {
    cpu
    memoryBytes
    gpu
  }
  free {
    cpu
    memoryBytes
    gpu
  }
  lastSeenAt
}`) as unknown as TypedDocumentString<PoolNodesQuery, PoolNodesQueryVariables>;
export const AddNodeDocument = new TypedDocumentString(`
    mutation AddNode($input: AddNodeInput!) {
  addNode(input: $input) {
    __typename
    ... on AddNodeSuccess {
      node {
        ...NodeRow
      }
    }
    ...Problem
  }
}
    fragment NodeRow on PoolNode {
  id
  name
  pool
  state
  cpuModel
  infiniband
  capacity {
    cpu
    memoryBytes
    gpu
  }
  free {
    cpu
    memoryBytes
    gpu
  }
  lastSeenAt
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
}`) as unknown as TypedDocumentString<AddNodeMutation, AddNodeMutationVariables>;
export const UpdateNodeDocument = new TypedDocumentString(`
    mutation UpdateNode($input: UpdateNodeInput!) {
  updateNode(input: $input) {
    __typename
    ... on UpdateNodeSuccess {
      node {
        ...NodeRow
      }
    }
    ...Problem
  }
}
    fragment NodeRow on PoolNode {
  id
  name
  pool
  state
  cpuModel
  infiniband
  capacity {
    cpu
    memoryBytes
    gpu
  }
  free {
    cpu
    memoryBytes
    gpu
  }
  lastSeenAt
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
}`) as unknown as TypedDocumentString<UpdateNodeMutation, UpdateNodeMutationVariables>;
export const RemoveNodeDocument = new TypedDocumentString(`
    mutation RemoveNode($input: RemoveNodeInput!) {
  removeNode(input: $input) {
    __typename
    ... on DeleteSuccess {
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
}`) as unknown as TypedDocumentString<RemoveNodeMutation, RemoveNodeMutationVariables>;
export const SubmitJobDocument = new TypedDocumentString(`
    mutation SubmitJob($input: SubmitJobInput!) {
  submitJob(input: $input) {
    __typename
    ...DryRunRow
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
    fragment DryRunRow on DryRun {
  wouldBe
  nodes
  gpuIds
  queuePosition
  reasons {
    code
    message
    jobId
    scope
    limit
    used
  }
  fit {
    freeNow
    couldEverFit
    missing
  }
  estimatedStart {
    earliest
    latest
    basis
  }
  dryRunWarnings: warnings
  idempotentJob {
    id
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
  cost
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
    positionIsExact
    reasons {
      code
      message
    }
    gates {
      code
      open
      opensAt
    }
    fit {
      missing
    }
    hold {
      nodes
      expectedAt
      waitingForVictims
    }
    estimatedStart {
      earliest
      latest
    }
    lastConsideredAt
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
    oidcIssuer
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
export const RetryJobDocument = new TypedDocumentString(`
    mutation RetryJob($input: RetryJobInput!) {
  retryJob(input: $input) {
    __typename
    ...DryRunRow
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
    fragment DryRunRow on DryRun {
  wouldBe
  nodes
  gpuIds
  queuePosition
  reasons {
    code
    message
    jobId
    scope
    limit
    used
  }
  fit {
    freeNow
    couldEverFit
    missing
  }
  estimatedStart {
    earliest
    latest
    basis
  }
  dryRunWarnings: warnings
  idempotentJob {
    id
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
}`) as unknown as TypedDocumentString<RetryJobMutation, RetryJobMutationVariables>;
export const IdempotencyKeyDocument = new TypedDocumentString(`
    query IdempotencyKey($key: String!) {
  idempotencyKey(key: $key) {
    key
    createdAt
    expiresAt
    job {
      ...JobRow
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
}`) as unknown as TypedDocumentString<IdempotencyKeyQuery, IdempotencyKeyQueryVariables>;
export const QuotasDocument = new TypedDocumentString(`
    query Quotas($first: Int, $after: Cursor) {
  quotas(first: $first, after: $after) {
    nodes {
      ...QuotaRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment QuotaRow on Quota {
  id
  type
  action
  scope
  key
  limit
}`) as unknown as TypedDocumentString<QuotasQuery, QuotasQueryVariables>;
export const QuotaUsageDocument = new TypedDocumentString(`
    query QuotaUsage {
  viewer {
    activeSlots
    quotas {
      ...QuotaUsageRow
    }
  }
}
    fragment QuotaUsageRow on QuotaUsage {
  type
  action
  scope
  limit
  used
  warning
  ceiling
}`) as unknown as TypedDocumentString<QuotaUsageQuery, QuotaUsageQueryVariables>;
export const CreateQuotaDocument = new TypedDocumentString(`
    mutation CreateQuota($input: CreateQuotaInput!) {
  createQuota(input: $input) {
    __typename
    ... on CreateQuotaSuccess {
      quota {
        ...QuotaRow
      }
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
}
fragment QuotaRow on Quota {
  id
  type
  action
  scope
  key
  limit
}`) as unknown as TypedDocumentString<CreateQuotaMutation, CreateQuotaMutationVariables>;
export const UpdateQuotaDocument = new TypedDocumentString(`
    mutation UpdateQuota($input: UpdateQuotaInput!) {
  updateQuota(input: $input) {
    __typename
    ... on UpdateQuotaSuccess {
      quota {
        ...QuotaRow
      }
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
}
fragment QuotaRow on Quota {
  id
  type
  action
  scope
  key
  limit
}`) as unknown as TypedDocumentString<UpdateQuotaMutation, UpdateQuotaMutationVariables>;
export const DeleteQuotaDocument = new TypedDocumentString(`
    mutation DeleteQuota($input: DeleteQuotaInput!) {
  deleteQuota(input: $input) {
    __typename
    ... on DeleteSuccess {
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
}`) as unknown as TypedDocumentString<DeleteQuotaMutation, DeleteQuotaMutationVariables>;
export const ApprovalsDocument = new TypedDocumentString(`
    query Approvals($first: Int, $after: Cursor) {
  approvals(first: $first, after: $after) {
    nodes {
      ...ApprovalRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment ApprovalRow on Approval {
  id
  status
  reason
  ruleName
  requiredLevel
  requestedAt
  expiresAt
  requestedBy {
    name
  }
  job {
    id
    name
    version
    state
  }
}`) as unknown as TypedDocumentString<ApprovalsQuery, ApprovalsQueryVariables>;
export const ApproveJobDocument = new TypedDocumentString(`
    mutation ApproveJob($input: ApproveJobInput!) {
  approveJob(input: $input) {
    __typename
    ... on ApproveJobSuccess {
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
}`) as unknown as TypedDocumentString<ApproveJobMutation, ApproveJobMutationVariables>;
export const RejectJobDocument = new TypedDocumentString(`
    mutation RejectJob($input: RejectJobInput!) {
  rejectJob(input: $input) {
    __typename
    ... on RejectJobSuccess {
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
}`) as unknown as TypedDocumentString<RejectJobMutation, RejectJobMutationVariables>;
export const ApprovalRulesDocument = new TypedDocumentString(`
    query ApprovalRules($first: Int, $after: Cursor) {
  approvalRules(first: $first, after: $after) {
    nodes {
      ...ApprovalRuleRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment ApprovalRuleRow on ApprovalRule {
  id
  name
  priority
  enabled
  condition {
    costAbove
    hardware
    executor
    levelNotIn
    jobsPerDayAbove
    firstJob
    name
  }
  exemptLevels
  requiredLevel
  expiresAfterSeconds
}`) as unknown as TypedDocumentString<ApprovalRulesQuery, ApprovalRulesQueryVariables>;
export const CreateApprovalRuleDocument = new TypedDocumentString(`
    mutation CreateApprovalRule($input: CreateApprovalRuleInput!) {
  createApprovalRule(input: $input) {
    __typename
    ... on CreateApprovalRuleSuccess {
      rule {
        ...ApprovalRuleRow
      }
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
}
fragment ApprovalRuleRow on ApprovalRule {
  id
  name
  priority
  enabled
  condition {
    costAbove
    hardware
    executor
    levelNotIn
    jobsPerDayAbove
    firstJob
    name
  }
  exemptLevels
  requiredLevel
  expiresAfterSeconds
}`) as unknown as TypedDocumentString<CreateApprovalRuleMutation, CreateApprovalRuleMutationVariables>;
export const UpdateApprovalRuleDocument = new TypedDocumentString(`
    mutation UpdateApprovalRule($input: UpdateApprovalRuleInput!) {
  updateApprovalRule(input: $input) {
    __typename
    ... on UpdateApprovalRuleSuccess {
      rule {
        ...ApprovalRuleRow
      }
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
}
fragment ApprovalRuleRow on ApprovalRule {
  id
  name
  priority
  enabled
  condition {
    costAbove
    hardware
    executor
    levelNotIn
    jobsPerDayAbove
    firstJob
    name
  }
  exemptLevels
  requiredLevel
  expiresAfterSeconds
}`) as unknown as TypedDocumentString<UpdateApprovalRuleMutation, UpdateApprovalRuleMutationVariables>;
export const DeleteApprovalRuleDocument = new TypedDocumentString(`
    mutation DeleteApprovalRule($input: DeleteApprovalRuleInput!) {
  deleteApprovalRule(input: $input) {
    __typename
    ... on DeleteSuccess {
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
}`) as unknown as TypedDocumentString<DeleteApprovalRuleMutation, DeleteApprovalRuleMutationVariables>;
export const AuditLogDocument = new TypedDocumentString(`
    query AuditLog($first: Int, $after: Cursor, $filter: AuditFilter) {
  auditLog(first: $first, after: $after, filter: $filter) {
    nodes {
      ...AuditRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment AuditRow on AuditEntry {
  id
  seq
  at
  actorName
  action
  objectId
  ip
  token
  detail
  hash
}`) as unknown as TypedDocumentString<AuditLogQuery, AuditLogQueryVariables>;
export const VerifyAuditDocument = new TypedDocumentString(`
    query VerifyAudit($fromSeq: UInt53, $toSeq: UInt53) {
  verifyAudit(fromSeq: $fromSeq, toSeq: $toSeq) {
    ok
    fromSeq
    toSeq
    headSeq
    firstBadSeq
    message
  }
}
    `) as unknown as TypedDocumentString<VerifyAuditQuery, VerifyAuditQueryVariables>;
export const UsersDocument = new TypedDocumentString(`
    query Users($first: Int, $after: Cursor) {
  users(first: $first, after: $after) {
    nodes {
      ...UserRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment UserRow on User {
  id
  name
  displayName
  email
  level
  disabled
  teams {
    name
  }
  createdAt
}`) as unknown as TypedDocumentString<UsersQuery, UsersQueryVariables>;
export const TeamsDocument = new TypedDocumentString(`
    query Teams($first: Int, $after: Cursor) {
  teams(first: $first, after: $after) {
    nodes {
      ...TeamRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment TeamRow on Team {
  id
  name
  account
  members(first: 100) {
    nodes {
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  createdAt
}`) as unknown as TypedDocumentString<TeamsQuery, TeamsQueryVariables>;
export const TokensDocument = new TypedDocumentString(`
    query Tokens($first: Int, $after: Cursor, $userId: ID) {
  tokens(first: $first, after: $after, userId: $userId) {
    nodes {
      ...TokenRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment TokenRow on ApiToken {
  id
  name
  prefix
  scopes
  user {
    name
  }
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
}`) as unknown as TypedDocumentString<TokensQuery, TokensQueryVariables>;
export const CreateUserDocument = new TypedDocumentString(`
    mutation CreateUser($input: CreateUserInput!) {
  createUser(input: $input) {
    __typename
    ... on CreateUserSuccess {
      user {
        ...UserRow
      }
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
}
fragment UserRow on User {
  id
  name
  displayName
  email
  level
  disabled
  teams {
    name
  }
  createdAt
}`) as unknown as TypedDocumentString<CreateUserMutation, CreateUserMutationVariables>;
export const UpdateUserDocument = new TypedDocumentString(`
    mutation UpdateUser($input: UpdateUserInput!) {
  updateUser(input: $input) {
    __typename
    ... on UpdateUserSuccess {
      user {
        ...UserRow
      }
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
}
fragment UserRow on User {
  id
  name
  displayName
  email
  level
  disabled
  teams {
    name
  }
  createdAt
}`) as unknown as TypedDocumentString<UpdateUserMutation, UpdateUserMutationVariables>;
export const DeleteUserDocument = new TypedDocumentString(`
    mutation DeleteUser($input: DeleteUserInput!) {
  deleteUser(input: $input) {
    __typename
    ... on DeleteSuccess {
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
}`) as unknown as TypedDocumentString<DeleteUserMutation, DeleteUserMutationVariables>;
export const CreateTeamDocument = new TypedDocumentString(`
    mutation CreateTeam($input: CreateTeamInput!) {
  createTeam(input: $input) {
    __typename
    ... on CreateTeamSuccess {
      team {
        ...TeamRow
      }
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
}
fragment TeamRow on Team {
  id
  name
  account
  members(first: 100) {
    nodes {
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  createdAt
}`) as unknown as TypedDocumentString<CreateTeamMutation, CreateTeamMutationVariables>;
export const UpdateTeamDocument = new TypedDocumentString(`
    mutation UpdateTeam($input: UpdateTeamInput!) {
  updateTeam(input: $input) {
    __typename
    ... on UpdateTeamSuccess {
      team {
        ...TeamRow
      }
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
}
fragment TeamRow on Team {
  id
  name
  account
  members(first: 100) {
    nodes {
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  createdAt
}`) as unknown as TypedDocumentString<UpdateTeamMutation, UpdateTeamMutationVariables>;
export const DeleteTeamDocument = new TypedDocumentString(`
    mutation DeleteTeam($input: DeleteTeamInput!) {
  deleteTeam(input: $input) {
    __typename
    ... on DeleteSuccess {
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
}`) as unknown as TypedDocumentString<DeleteTeamMutation, DeleteTeamMutationVariables>;
export const CreateTokenDocument = new TypedDocumentString(`
    mutation CreateToken($input: CreateTokenInput!) {
  createToken(input: $input) {
    __typename
    ... on CreateTokenSuccess {
      token {
        ...TokenRow
      }
      secret
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
}
fragment TokenRow on ApiToken {
  id
  name
  prefix
  scopes
  user {
    name
  }
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
}`) as unknown as TypedDocumentString<CreateTokenMutation, CreateTokenMutationVariables>;
export const RevokeTokenDocument = new TypedDocumentString(`
    mutation RevokeToken($id: ID!) {
  revokeToken(id: $id) {
    __typename
    ... on RevokeTokenSuccess {
      token {
        ...TokenRow
      }
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
}
fragment TokenRow on ApiToken {
  id
  name
  prefix
  scopes
  user {
    name
  }
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
}`) as unknown as TypedDocumentString<RevokeTokenMutation, RevokeTokenMutationVariables>;
export const QueueDocument = new TypedDocumentString(`
    query Queue($pool: String, $first: Int, $states: [JobState!]) {
  queue(pool: $pool) {
    ...QueueRow
  }
}
    fragment QueueEntry on Job {
  id
  name
  state
  priority
  queuePosition
  user {
    name
  }
  currentRun {
    nodes
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      earliest
      latest
    }
  }
}
fragment QueueRow on Queue {
  pool
  at
  depth
  running
  blocked
  avgWaitSeconds
  maxConcurrent
  entries(first: $first, states: $states) {
    nodes {
      ...QueueEntry
    }
    pageInfo {
      hasNextPage
    }
  }
}`) as unknown as TypedDocumentString<QueueQuery, QueueQueryVariables>;
export const QueueStatusDocument = new TypedDocumentString(`
    subscription QueueStatus($pool: String, $first: Int, $states: [JobState!]) {
  queueStatus(pool: $pool) {
    ...QueueRow
  }
}
    fragment QueueEntry on Job {
  id
  name
  state
  priority
  queuePosition
  user {
    name
  }
  currentRun {
    nodes
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      earliest
      latest
    }
  }
}
fragment QueueRow on Queue {
  pool
  at
  depth
  running
  blocked
  avgWaitSeconds
  maxConcurrent
  entries(first: $first, states: $states) {
    nodes {
      ...QueueEntry
    }
    pageInfo {
      hasNextPage
    }
  }
}`) as unknown as TypedDocumentString<QueueStatusSubscription, QueueStatusSubscriptionVariables>;
export const GpusDocument = new TypedDocumentString(`
    query Gpus {
  system {
    gpus {
      node
      index
      name
      memoryGib
      tensorCores
      cuda
      allocated
      job {
        id
        name
        user {
          name
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<GpusQuery, GpusQueryVariables>;
export const CapacityReservationsDocument = new TypedDocumentString(`
    query CapacityReservations($first: Int, $after: Cursor) {
  capacityReservations(first: $first, after: $after) {
    nodes {
      ...CapacityReservationRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment CapacityReservationRow on CapacityReservation {
  id
  name
  pool
  project
  nodes
  startsAt
  endsAt
  hard
  nativeId
}`) as unknown as TypedDocumentString<CapacityReservationsQuery, CapacityReservationsQueryVariables>;
export const CreateCapacityReservationDocument = new TypedDocumentString(`
    mutation CreateCapacityReservation($input: CreateCapacityReservationInput!) {
  createCapacityReservation(input: $input) {
    __typename
    ... on CreateCapacityReservationSuccess {
      capacityReservation {
        ...CapacityReservationRow
      }
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
}
fragment CapacityReservationRow on CapacityReservation {
  id
  name
  pool
  project
  nodes
  startsAt
  endsAt
  hard
  nativeId
}`) as unknown as TypedDocumentString<CreateCapacityReservationMutation, CreateCapacityReservationMutationVariables>;
export const DeleteCapacityReservationDocument = new TypedDocumentString(`
    mutation DeleteCapacityReservation($input: DeleteCapacityReservationInput!) {
  deleteCapacityReservation(input: $input) {
    __typename
    ... on DeleteSuccess {
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
}`) as unknown as TypedDocumentString<DeleteCapacityReservationMutation, DeleteCapacityReservationMutationVariables>;