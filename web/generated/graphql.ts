/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** A machine to add to a pool. */
export type AddNodeInput = {
  /** Number of cores; default: what the engine says. Required without `engine`. */
  cpu?: number | null | undefined;
  /** Processor model, matched by `cpuModel` filters. */
  cpuModel?: string | null | undefined;
  /** Address of the container engine of the machine: ssh://user@host:port/path/of/socket. The server asks it first, and refuses the node with the remedy if it does not answer. Required in a pool whose nodes have engines; refused in others. */
  engine?: string | null | undefined;
  /** GPUs of the machine; default: those that the engine gives to containers. At most 1,024. */
  gpus?: Array<GpuInput> | null | undefined;
  /** Whether it has InfiniBand. */
  infiniband?: boolean | null | undefined;
  /** Total memory of the machine, in bytes; default: what the engine says. Required without `engine`. */
  memoryBytes?: number | null | undefined;
  /** Name, unique in the pool. */
  name: string;
  /** Name of the pool. Pools that are bound to one machine cannot get nodes. */
  pool: string;
};

/** A condition on submissions; set exactly one field. */
export type ApprovalConditionInput =
  {   /** Matches when the submission costs more than this amount. */
  costAbove: number; executor?: never; firstJob?: never; hardware?: never; jobsPerDayAbove?: never; levelNotIn?: never; name?: never; }
  |  { costAbove?: never;   /** Matches jobs that run on this executor. */
  executor: Executor; firstJob?: never; hardware?: never; jobsPerDayAbove?: never; levelNotIn?: never; name?: never; }
  |  { costAbove?: never; executor?: never;   /** true: matches the first job of a user. false: matches all later ones. */
  firstJob: boolean; hardware?: never; jobsPerDayAbove?: never; levelNotIn?: never; name?: never; }
  |  { costAbove?: never; executor?: never; firstJob?: never;   /** Glob on the requested GPU and CPU models; case-insensitive. */
  hardware: string; jobsPerDayAbove?: never; levelNotIn?: never; name?: never; }
  |  { costAbove?: never; executor?: never; firstJob?: never; hardware?: never;   /** Matches when the user submitted more than this number of jobs in the last 24 hours, including this one. */
  jobsPerDayAbove: number; levelNotIn?: never; name?: never; }
  |  { costAbove?: never; executor?: never; firstJob?: never; hardware?: never; jobsPerDayAbove?: never;   /** Matches when the level of the user is not in this list. At most 4. */
  levelNotIn: Array<UserLevel>; name?: never; }
  |  { costAbove?: never; executor?: never; firstJob?: never; hardware?: never; jobsPerDayAbove?: never; levelNotIn?: never;   /** Glob on the job name, or a regular expression if written as ^…$. */
  name: string; };

/** Filter for approvals. An approval must match all fields, and one entry of each list. */
export type ApprovalFilter = {
  /** true: approvals that you may decide now. false: all others. */
  decidable?: boolean | null | undefined;
  /** Approvals of jobs that one of these users submitted. At most 1,000. */
  requestedBy?: Array<string> | null | undefined;
  /** Approvals that one of these rules requires. At most 1,000. */
  rules?: Array<string> | null | undefined;
  /** Approvals in one of these states. At most 5. */
  statuses?: Array<ApprovalStatus> | null | undefined;
};

/** State of an approval request. */
export type ApprovalStatus =
  /** Approved: the job was queued. */
  | 'APPROVED'
  /** The job was cancelled before a decision. */
  | 'CANCELLED'
  /** Not decided in time: the job failed. */
  | 'EXPIRED'
  /** Waits for a decision. */
  | 'PENDING'
  /** Rejected: the job failed. */
  | 'REJECTED';

/** An approval decision. */
export type ApproveJobInput = {
  /** Comment on the decision; at most 1,000 characters. */
  comment?: string | null | undefined;
  /** Fails with a version conflict unless the job has this version. */
  expectedVersion: number;
  /** The BLOCKED job whose approval you decide. */
  jobId: string;
};

/** Approval decisions for several jobs. */
export type ApproveJobsInput = {
  /** The decisions. At most 100. */
  decisions: Array<ApproveJobInput>;
};

/** Where the content of an artifact is. */
export type ArtifactKind =
  /** In a stored file, which `createDownload` gives. */
  | 'FILE'
  /** At `uri`. */
  | 'LINK'
  /** In `body`. */
  | 'TEXT';

/** Filter for audit entries. All fields must match. */
export type AuditFilter = {
  /** Entries of one of these users. At most 1,000. */
  actors?: Array<string> | null | undefined;
  /** Entries about one of these objects. At most 1,000. */
  objectIds?: Array<string> | null | undefined;
  /** Entries with one of these operations; job.* matches all operations of jobs. At most 1,000. */
  operations?: Array<string> | null | undefined;
  /** Entries of this time or later. */
  since?: string | null | undefined;
  /** Entries earlier than this time. */
  until?: string | null | undefined;
};

/** The job to cancel. */
export type CancelJobInput = {
  /** Fails with a version conflict unless the job has this version. */
  expectedVersion?: number | null | undefined;
  /** The job to cancel. */
  jobId: string;
  /** Reason for the cancellation; at most 1,000 characters. */
  reason?: string | null | undefined;
};

/** The jobs to cancel. */
export type CancelJobsInput = {
  /** Reason for the cancellation; at most 1,000 characters. */
  reason?: string | null | undefined;
  /** The jobs. */
  selection: JobSelection;
};

/** How urgent a condition is. */
export type ConditionSeverity =
  /** Good to know. */
  | 'INFO'
  /** Users are affected now: wake a person. */
  | 'PAGE'
  /** A person should act within days. */
  | 'TICKET';

/** A new approval rule. */
export type CreateApprovalRuleInput = {
  /** The submissions that the rule applies to. */
  condition: ApprovalConditionInput;
  /** Whether the rule is evaluated. */
  enabled?: boolean | null | undefined;
  /** User levels that the rule does not apply to. At most 4. */
  exemptLevels?: Array<UserLevel> | null | undefined;
  /** Seconds until an undecided request expires. */
  expiresAfterSeconds?: number | null | undefined;
  /** Display name, unique. */
  name: string;
  /** Rules with a higher priority are evaluated first. */
  priority?: number | null | undefined;
  /** Lowest user level that may decide. */
  requiredLevel?: UserLevel | null | undefined;
};

/** A new capacity reservation. Reservations of the same node must not overlap. */
export type CreateCapacityReservationInput = {
  /** End of the window. */
  endsAt: string;
  /** End jobs at the end of the window; otherwise they run to completion. */
  hard?: boolean | null | undefined;
  /** Display name, unique in the pool. */
  name: string;
  /** Name of the reservation in the backend. */
  nativeId?: string | null | undefined;
  /** The nodes, 1 or more. At most 1,000. */
  nodeIds: Array<string>;
  /** Name of the pool whose nodes are reserved. */
  pool: string;
  /** Project whose jobs may use the reservation. */
  project: string;
  /** Start of the window. */
  startsAt: string;
};

/** The file to download; set exactly one field. */
export type CreateDownloadInput =
  {   /** The text or file that is downloaded: artifact_… */
  artifactId: string; filesOfJob?: never; log?: never; }
  |  { artifactId?: never;   /** The job whose files are downloaded as a tar, the newest of each name: job_… */
  filesOfJob: string; log?: never; }
  |  { artifactId?: never; filesOfJob?: never;   /** The log of a job. */
  log: LogDownload; };

/** A new quota. The combination of type, action and scope is unique. */
export type CreateQuotaInput = {
  /** Action when a submission exceeds the limit. */
  action: QuotaAction;
  /** Highest allowed value; 0: nothing is allowed. */
  limit: number;
  /** Whose usage the quota limits; omitted: that of each user. USER overrides LEVEL, and LEVEL overrides GLOBAL; TEAM and ACCOUNT apply in addition. */
  scope?: ScopeInput | null | undefined;
  /** Quantity that the quota limits. */
  type: QuotaType;
};

/** A new team. */
export type CreateTeamInput = {
  /** Unique name; the account of the team has the same name. `users` is reserved. */
  name: string;
};

/** A new token. */
export type CreateTokenInput = {
  /** When the token expires; not later than your own credentials. Default: the expiry of your credentials. */
  expiresAt?: string | null | undefined;
  /** Name that says what the token is for, 1 … 255 characters. */
  name: string;
  /** Scopes of the token (default: the scopes of your own credentials). At most 5. */
  scopes?: Array<TokenScope> | null | undefined;
  /** The user of the token; default: you. Other users need the permission token.any. */
  userId?: string | null | undefined;
};

/** A new user. */
export type CreateUserInput = {
  /** Permissions in addition to those of the level. At most 27. */
  allow?: Array<Permission> | null | undefined;
  /** Team for submissions that name no team; must be one of `teams`. */
  defaultTeam?: NameOrIdInput | null | undefined;
  /** Permissions to deny; deny overrides allow. At most 27. */
  deny?: Array<Permission> | null | undefined;
  /** Name that pages show; default: the log-in name. */
  displayName?: string | null | undefined;
  /** Email address. */
  email?: string | null | undefined;
  /** Level; determines base priority and permissions. */
  level: UserLevel;
  /** Login name, unique; cannot be changed later. */
  name: string;
  /** All teams of the user. At most 50. */
  teams?: Array<NameOrIdInput> | null | undefined;
  /** Unix account that the jobs of the user run as. */
  unixUser?: string | null | undefined;
};

/** The rule to delete. */
export type DeleteApprovalRuleInput = {
  /** The rule to delete. */
  approvalRuleId: string;
  /** Fails with a version conflict unless the rule has this version. */
  expectedVersion?: number | null | undefined;
};

/** The reservation to delete. */
export type DeleteCapacityReservationInput = {
  /** The reservation to delete. */
  capacityReservationId: string;
};

/** The jobs to delete. */
export type DeleteJobsInput = {
  /** The jobs. */
  selection: JobSelection;
};

/** The node to delete. */
export type DeleteNodeInput = {
  /** Fails with a version conflict unless the node has this version. */
  expectedVersion?: number | null | undefined;
  /** The node to delete. */
  nodeId: string;
};

/** The quota to delete. */
export type DeleteQuotaInput = {
  /** Fails with a version conflict unless the quota has this version. */
  expectedVersion?: number | null | undefined;
  /** The quota to delete. */
  quotaId: string;
};

/** The secret to delete. */
export type DeleteSecretInput = {
  /** Its name. */
  name: string;
  /** The team that owns the secret; omitted: you. */
  teamId?: string | null | undefined;
};

/** The team to delete. */
export type DeleteTeamInput = {
  /** Fails with a version conflict unless the team has this version. */
  expectedVersion?: number | null | undefined;
  /** The team to delete. */
  teamId: string;
};

/** The saved view to delete. */
export type DeleteViewInput = {
  /** Fails with a version conflict unless the view has this version. */
  expectedVersion?: number | null | undefined;
  /** The view to delete. */
  savedViewId: string;
};

/** A job that must end before this one can start. */
export type DependencyInput = {
  /** The job to wait for. */
  jobId: string;
  /** Required outcome of the job. */
  on?: DependencyOn | null | undefined;
};

/** Required outcome of a dependency. */
export type DependencyOn =
  /** The other job must end FAILED. */
  | 'FAILED'
  /** The other job must end, in any final state. */
  | 'FINISHED'
  /** The other job must end SUCCEEDED. */
  | 'SUCCEEDED';

/** The user to disable. */
export type DisableUserInput = {
  /** Fails with a version conflict unless the user has this version. */
  expectedVersion?: number | null | undefined;
  /** The user who can no longer log in. */
  userId: string;
};

/** How a log is written into a file. */
export type DownloadFormat =
  /** A JSON object per line: run, line, at, stream and text; or run, gap, startOffset and endOffset. */
  | 'JSONL'
  /** Text without colours and other escape sequences of terminals. */
  | 'PLAIN'
  /** The bytes of the streams as the job wrote them, without gaps. A download that broke can go on. */
  | 'RAW';

/** The webhook to enable. */
export type EnableWebhookInput = {
  /** Name of the webhook. */
  webhook: string;
};

/** The session to end. */
export type EndSessionInput = {
  /** Id of an open session: session_… */
  sessionId: string;
};

/** An environment variable. */
export type EnvironmentVariableInput = {
  /** Name that the job sees; without = and NUL. */
  name: string;
  /** Value; ${NAME} references are expanded. */
  value: string;
};

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

/** Kind of a gate. */
export type GateCode =
  /** The job must be approved. */
  | 'APPROVAL'
  /** Other jobs must have ended. */
  | 'DEPENDENCY'
  /** The earliest start must have come. */
  | 'NOT_BEFORE'
  /** The window of the capacity reservation must be open. */
  | 'RESERVATION_WINDOW'
  /** The wait before the next run must be over. */
  | 'RESTART_BACKOFF';

/** GPUs of one kind. */
export type GpuInput = {
  /** Number of GPUs; they get consecutive indexes. */
  count?: number | null | undefined;
  /** Lowest and highest CUDA version (default: every version). At most 2. */
  cuda?: Array<string> | null | undefined;
  /** Bytes of memory of each GPU. */
  memoryBytes: number;
  /** GPU model. */
  model: string;
  /** Whether they have tensor cores. */
  tensorCores?: boolean | null | undefined;
};

/** When the image of a job is pulled from its registry. */
export type ImagePull =
  /** At every start, so that a tag that was moved is up to date. The start fails if the registry does not have it. */
  | 'ALWAYS'
  /** If the machine does not have it. */
  | 'MISSING';

/** A DNS name under which other jobs reach this job. */
export type InternalDnsInput = {
  /** RFC 1035 label; the prefix of the account is added: "dns-<account>-", or "dns--<hash>-" if the account has other characters than a–z and 0–9. */
  name?: string | null | undefined;
  /** The reachable ports. At most 1,024. */
  ports: Array<InternalDnsPortInput>;
};

/** A port under which other jobs reach this job. */
export type InternalDnsPortInput = {
  /** The port that other jobs connect to. */
  port: number;
  /** TCP (default) or UDP. */
  protocol?: NetworkProtocol | null | undefined;
  /** The port that the job listens on; default: `port`. */
  targetPort?: number | null | undefined;
};

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

/** Property by which jobs are counted. */
export type JobCountBy =
  /** Account charged. */
  | 'ACCOUNT'
  /** Executor. */
  | 'EXECUTOR'
  /** Value of the label `labelKey`. */
  | 'LABEL'
  /** Key of a label: a job counts once for each of its labels. */
  | 'LABEL_KEY'
  /** Name of the pool. */
  | 'POOL'
  /** Project. */
  | 'PROJECT'
  /** Name of the submission queue. */
  | 'QUEUE'
  /** The `stateReason` of the job. */
  | 'REASON'
  /** State of the job. */
  | 'STATE'
  /** Id of the team. */
  | 'TEAM'
  /** Id of the user. */
  | 'USER';

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

/** Filter for jobs. A job must match all fields, one entry of each list, and all labels. */
export type JobFilter = {
  /** Jobs charged to one of these accounts. At most 1,000. */
  accounts?: Array<string> | null | undefined;
  /** Jobs submitted after this time. */
  createdAfter?: string | null | undefined;
  /** Jobs submitted before this time. */
  createdBefore?: string | null | undefined;
  /** Jobs of one of these executors. At most 6. */
  executors?: Array<Executor> | null | undefined;
  /** Jobs that became final after this time. */
  finishedAfter?: string | null | undefined;
  /** Jobs that became final before this time. */
  finishedBefore?: string | null | undefined;
  /** Jobs with these ids. At most 1,000. */
  ids?: Array<string> | null | undefined;
  /** Jobs with all of these labels. At most 64. */
  labels?: Array<LabelFilter> | null | undefined;
  /** Glob on the job name: * matches any characters, ? matches one; at most 255 characters. */
  name?: string | null | undefined;
  /** Jobs that hold resources on a node of this name: STARTING, RUNNING or CANCELLING. */
  node?: string | null | undefined;
  /** Jobs of one of these pools. At most 1,000. */
  pools?: Array<string> | null | undefined;
  /** Jobs of one of these projects. At most 1,000. */
  projects?: Array<string> | null | undefined;
  /** Jobs submitted to one of these submission queues. At most 1,000. */
  queues?: Array<string> | null | undefined;
  /** Jobs whose first run started after this time. */
  startedAfter?: string | null | undefined;
  /** Jobs whose first run started before this time. */
  startedBefore?: string | null | undefined;
  /** Jobs in a state of one of these categories. At most 9. */
  stateCategories?: Array<StateCategory> | null | undefined;
  /** Jobs whose `stateReason` is one of these. At most 1,000. */
  stateReasons?: Array<StateReason> | null | undefined;
  /** Jobs in one of these states. At most 9. */
  states?: Array<JobState> | null | undefined;
  /** Jobs of one of these teams. At most 1,000. */
  teams?: Array<string> | null | undefined;
  /** Jobs whose name or value of a label contains this text, or whose id begins with it; the case of ASCII letters does not matter. At most 255 characters. Without an index: a list may read all jobs, and ends with QUERY_TIMEOUT after 5 s. */
  text?: string | null | undefined;
  /** Jobs submitted by one of these users. At most 1,000. */
  users?: Array<string> | null | undefined;
};

/** Sort order. */
export type JobOrder = {
  /** Ascending or descending; jobs with equal values are ordered by id. */
  direction: OrderDirection;
  /** Field to sort by. */
  field: JobOrderField;
};

/** Field that jobs are sorted by. */
export type JobOrderField =
  /** Time of submission. */
  | 'CREATED_AT'
  /** Time of the final state; jobs that are not final come after all others. */
  | 'FINISHED_AT'
  /** Base or set priority, without the effect of waiting. */
  | 'PRIORITY'
  /** Time when the first run started; jobs that never started come after all others. */
  | 'STARTED_AT';

/** Jobs to act on; set exactly one field. */
export type JobSelection =
  {   /** Jobs with these ids; a repeated id counts once. At most 1,000. */
  jobIds: Array<string>; matching?: never; }
  |  { jobIds?: never;   /** Jobs that match a filter. Repeat the call until `remaining` is 0 or no job was changed. */
  matching: MatchingJobs; };

/** The spec of a job. Give `command`, or `executable` with `arguments`, or `handler`; all are optional with an image. */
export type JobSpecInput = {
  /** Account to charge, the unit of fair share; default: the account of the team, or your own. */
  account?: string | null | undefined;
  /** Arguments; ${NAME} references are expanded. At most 10,000. */
  arguments?: Array<string> | null | undefined;
  /** Bid for a better position in the queue. */
  bid?: number | null | undefined;
  /** Id of the capacity reservation to run in. */
  capacityReservationId?: string | null | undefined;
  /** Program and arguments, passed without expansion. At most 10,000. */
  command?: Array<string> | null | undefined;
  /** Further attributes for the backend. */
  customAttributes?: Record<string, unknown> | null | undefined;
  /** Data sets to mount in the container (each `source:/path/in/job`). At most 256. */
  data?: Array<string> | null | undefined;
  /** Jobs that must end first. At most 100. */
  dependsOn?: Array<DependencyInput> | null | undefined;
  /** Expected duration of a run in seconds. */
  durationSeconds?: number | null | undefined;
  /** Environment variables in order (the last one of a name wins). At most 10,000. */
  environment?: Array<EnvironmentVariableInput> | null | undefined;
  /** Your estimate of the cost: 0 … 10¹⁵. */
  estimatedCost?: number | null | undefined;
  /** Program to run; its arguments are in `arguments`. */
  executable?: string | null | undefined;
  /** Default: chosen by the other fields and the pool. */
  executor?: Executor | null | undefined;
  /** Path of a module to run instead of a command, absolute or relative to the working directory. */
  handler?: string | null | undefined;
  /** Container image. */
  image?: string | null | undefined;
  /** Whether the job inherits the environment variables that the server passes on. */
  inheritEnvironment?: boolean | null | undefined;
  /** Input of the handler. */
  input?: Record<string, unknown> | null | undefined;
  /** Whether the job is interactive. Interactive jobs start first; a user can have one at a time. */
  interactive?: boolean | null | undefined;
  /** DNS name for other jobs. */
  internalDns?: InternalDnsInput | null | undefined;
  /** Keys and values. At most 64. */
  labels?: Array<LabelInput> | null | undefined;
  /** Launcher for the processes of the job: single, multiple, mpirun or srun, if the executor supports it. */
  launcher?: string | null | undefined;
  /** Maximum duration of a run in seconds; 0: unlimited. Default: `durationSeconds`, else two days, or unlimited for a preemptable or interactive job. */
  maxRunTimeSeconds?: number | null | undefined;
  /** Name, at most 255 characters. */
  name?: string | null | undefined;
  /** Network traffic to block. */
  networkIsolation?: NetworkIsolation | null | undefined;
  /** Earliest start; a time in the past means now. */
  notBefore?: string | null | undefined;
  /** Action when a dependency fails. */
  onDependencyFailure?: OnDependencyFailure | null | undefined;
  /** Patterns, as of `.gitignore`, of files below the working directory that become artifacts when a run ends. At most 64. */
  outputs?: Array<string> | null | undefined;
  /** Path of a script that is sourced after the command ended. */
  postLaunch?: string | null | undefined;
  /** Path of a script that is sourced before the command starts. */
  preLaunch?: string | null | undefined;
  /** Whether the job may be preempted by other jobs. */
  preemptable?: boolean | null | undefined;
  /** Project, for limits, reservations and filters. */
  project?: string | null | undefined;
  /** When the image is pulled; default: MISSING. */
  pull?: ImagePull | null | undefined;
  /** Submission queue; default: the default queue. */
  queue?: string | null | undefined;
  /** Requested resources. */
  resources?: ResourcesInput | null | undefined;
  /** Whether the job may be run again from the beginning. */
  restartable?: boolean | null | undefined;
  /** Whether the job can continue from a closure. A run that is interrupted after `saveClosure` is followed by another run. */
  resumable?: boolean | null | undefined;
  /** Retry after a failed run; default: none. */
  retry?: RetryInput | null | undefined;
  /** Names of secrets to put into the environment (your own, or else those of the team of the job). At most 32. */
  secrets?: Array<string> | null | undefined;
  /** The snapshot of which each run gets a fresh copy as its working directory: snapshot_… */
  snapshot?: string | null | undefined;
  /** File that receives a copy of the error output. */
  stderrPath?: string | null | undefined;
  /** File used as standard input. */
  stdinPath?: string | null | undefined;
  /** File that receives a copy of the output. */
  stdoutPath?: string | null | undefined;
  /** Team of the job; default: your default team. */
  team?: string | null | undefined;
  /** Working directory: an absolute path or ~/…; with `snapshot`, a folder of the snapshot. */
  workdir?: string | null | undefined;
  /** X11 display. */
  x11?: X11Input | null | undefined;
};

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

/** A label that jobs must have. */
export type LabelFilter = {
  /** Key that jobs must have. */
  key: string;
  /** Value of the label; default: every value. */
  value?: string | null | undefined;
};

/** A label; a tag is a label with the value "". */
export type LabelInput = {
  /** Key, unique within the job, at most 255 characters. */
  key: string;
  /** Value, at most 1,024 characters; may be empty. */
  value: string;
};

/** Where a page shows a link of the installation. */
export type LinkTarget =
  /** The page of a job; {id} in the URL stands for its id. */
  | 'JOB'
  /** The menu of the page. */
  | 'MENU'
  /** The details of a node; {name} in the URL stands for its name. */
  | 'NODE';

/** The log of a job as a file. */
export type LogDownload = {
  /** How the log is written. */
  format?: DownloadFormat | null | undefined;
  /** The job whose output is downloaded: job_… */
  jobId: string;
  /** Number of the run whose log is downloaded (default: all runs). */
  run?: number | null | undefined;
  /** Streams to include (default: STDOUT and STDERR). At most 3. */
  streams?: Array<LogStream> | null | undefined;
};

/** Why output is not available. */
export type LogGapReason =
  /** The machine had no space to store it. */
  | 'DISK_FULL'
  /** The output never reached the server. */
  | 'LOST'
  /** You may not read it. */
  | 'NOT_VISIBLE'
  /** The log is over its size limit; the gap may be larger. */
  | 'OVER_LIMIT'
  /** The output was deleted by age. */
  | 'RETENTION';

/** Where a page of output starts; set exactly one field. */
export type LogStart =
  {   /** End before this cursor. A page without text and gaps: nothing is before it. */
  before: string; cursor?: never; lastLines?: never; line?: never; time?: never; }
  |  { before?: never;   /** Start after this cursor. */
  cursor: string; lastLines?: never; line?: never; time?: never; }
  |  { before?: never; cursor?: never;   /** Start with this number of last lines, 1 … 5,000; fewer if they are longer than 32 MiB. */
  lastLines: number; line?: never; time?: never; }
  |  { before?: never; cursor?: never; lastLines?: never;   /** Start with this line of `run`, from 1; the page has no line if the run has fewer. */
  line: number; time?: never; }
  |  { before?: never; cursor?: never; lastLines?: never; line?: never;   /** Start with the first line that was stored at or after this moment. */
  time: string; };

/** Stream of output. */
export type LogStream =
  /** Error output of the job. */
  | 'STDERR'
  /** Standard output of the job. */
  | 'STDOUT'
  /** Messages of Berth about the run. */
  | 'SYSTEM';

/** The oldest 1,000 of the jobs that match a filter, that you may see, and that the mutation would change. */
export type MatchingJobs = {
  /** How many jobs match and would be changed in this and further calls, at most 100,000; of a further call, `remaining` of the call before. If the count of the server differs, nothing is changed. */
  expectedCount: number;
  /** Filter that the jobs match. */
  filter: JobFilter;
};

/** A user or a team, by id or by name. */
export type NameOrIdInput =
  {   /** Typed id, user_… or team_…. */
  id: string; name?: never; }
  |  { id?: never;   /** Unique name. */
  name: string; };

/** Network traffic that is blocked for a job. */
export type NetworkIsolation =
  /** Incoming and outgoing traffic is blocked. */
  | 'ALL'
  /** Incoming traffic is blocked. */
  | 'IN'
  /** Outgoing traffic is blocked. */
  | 'OUT';

/** Protocol of a port. */
export type NetworkProtocol =
  /** TCP. */
  | 'TCP'
  /** UDP. */
  | 'UDP';

/** Action for a job whose dependency can no longer be satisfied. */
export type OnDependencyFailure =
  /** The job is cancelled with reason DEPENDENCY_FAILED. */
  | 'CANCEL'
  /** The job stays QUEUED until it is cancelled. */
  | 'WAIT';

/** The port to reach. */
export type OpenForwardInput = {
  /** The running job: job_… */
  jobId: string;
  /** A port on which the job listens, 1 … 65,535. */
  port: number;
  /** Number of the run (default: the current run). Only the current run can be running. */
  run?: number | null | undefined;
};

/** The command to run. */
export type OpenSessionInput = {
  /** Words of the command (default: a login shell). At most 1,000. */
  command?: Array<string> | null | undefined;
  /** The running job: job_… */
  jobId: string;
  /** Number of the run (default: the current run). Only the current run can be running. */
  run?: number | null | undefined;
  /** Gives the command a terminal of this size (default: no terminal, but separate stdout and stderr). */
  size?: TerminalSize | null | undefined;
};

/** Sort direction. */
export type OrderDirection =
  /** Smallest first. */
  | 'ASC'
  /** Largest first. */
  | 'DESC';

/** Kind of a reason why a job waits. */
export type PendingReasonCode =
  /** The job needs an approval. */
  | 'APPROVAL_PENDING'
  /** Another job must end first. */
  | 'DEPENDENCY'
  /** The limit on running jobs of the pool is reached. */
  | 'GLOBAL_LIMIT'
  /** A limit on GPUs of a queue, project, team or user is reached. */
  | 'GPU_LIMIT'
  /** The free resources are kept for a job before it. */
  | 'HOLD'
  /** The user already has an interactive job. */
  | 'INTERACTIVE_QUOTA'
  /** The limit on GPUs in use is reached. */
  | 'LOCAL_GPU_LIMIT'
  /** The limit on running jobs with GPUs is reached. */
  | 'LOCAL_JOB_LIMIT'
  /** The node could not start a run and waits. */
  | 'NODE_BACKS_OFF'
  /** Jobs that cannot be preempted hold their share of the pool. */
  | 'NON_PREEMPTABLE_POOL'
  /** The earliest start of the job is in the future. */
  | 'NOT_BEFORE'
  /** The requested resources are not free. */
  | 'NO_CAPACITY'
  /** The pool starts no jobs: its limit `maxConcurrent` is 0. */
  | 'POOL_PAUSED'
  /** The limit on running jobs of the project is reached. */
  | 'PROJECT_LIMIT'
  /** The limit on running jobs of the submission queue is reached. */
  | 'QUEUE_LIMIT'
  /** The window of its capacity reservation is not open. */
  | 'RESERVATION_WINDOW'
  /** The nodes that fit are reserved for other projects, now or before the job would end. */
  | 'RESERVED_NODES'
  /** The job waits before its next run. */
  | 'RESTART_BACKOFF'
  /** The limit on running jobs of the team is reached. */
  | 'TEAM_LIMIT'
  /** No node can ever provide the requested resources. */
  | 'UNSATISFIABLE'
  /** The user of the job is disabled. */
  | 'USER_DISABLED'
  /** The limit on running jobs of the user is reached. */
  | 'USER_LIMIT'
  /** Preempted jobs must leave first. */
  | 'WAITING_FOR_PREEMPTION';

/** Order of users and teams. */
export type PeopleOrder =
  /** Oldest first. */
  | 'CREATED_AT'
  /** By name. */
  | 'NAME';

/** A permission of a user. The configuration and the command line write JOB_VIEW_OWN as job.view.own. */
export type Permission =
  /** Read the audit log. */
  | 'AUDIT_READ'
  /** Decide on approvals. */
  | 'JOB_APPROVE'
  /** Cancel all jobs. */
  | 'JOB_CANCEL_ALL'
  /** Cancel own jobs. */
  | 'JOB_CANCEL_OWN'
  /** Cancel the jobs of own teams. */
  | 'JOB_CANCEL_TEAM'
  /** Delete all jobs. */
  | 'JOB_DELETE_ALL'
  /** Delete own jobs. */
  | 'JOB_DELETE_OWN'
  /** Open sessions in all running jobs. */
  | 'JOB_EXEC_ALL'
  /** Open sessions in own running jobs. */
  | 'JOB_EXEC_OWN'
  /** Open sessions in the running jobs of own teams. */
  | 'JOB_EXEC_TEAM'
  /** Set priorities. */
  | 'JOB_PRIORITY'
  /** Submit and retry jobs, and reserve slots. */
  | 'JOB_SUBMIT'
  /** See the jobs of all users. */
  | 'JOB_VIEW_ALL'
  /** See own jobs. */
  | 'JOB_VIEW_OWN'
  /** Change limits. */
  | 'LIMITS_WRITE'
  /** Add, change and delete nodes. */
  | 'NODE_WRITE'
  /** Run scheduling passes. */
  | 'POOL_PLAN'
  /** Create, change and delete quotas. */
  | 'QUOTA_WRITE'
  /** Create and delete capacity reservations. */
  | 'RESERVATION_WRITE'
  /** Create, change and delete approval rules. */
  | 'RULE_WRITE'
  /** Set and delete own secrets. */
  | 'SECRET_OWN'
  /** Set and delete the secrets of own teams; an ADMIN those of all teams. */
  | 'SECRET_TEAM'
  /** Manage the tokens of all users. */
  | 'TOKEN_ANY'
  /** Manage own tokens. */
  | 'TOKEN_OWN'
  /** Manage users and teams. */
  | 'USER_WRITE'
  /** Save views for oneself and own teams; an ADMIN also for everyone. */
  | 'VIEW_WRITE'
  /** See, test, resend and enable webhooks. */
  | 'WEBHOOK_WRITE';

/** The pools to plan. */
export type PlanPoolsInput = {
  /** Name of the pool; default: all pools that have a leader. */
  pool?: string | null | undefined;
};

/** State of a node. */
export type PoolNodeState =
  /** Accepts no new runs; running jobs continue. */
  | 'CORDONED'
  /** Accepts no new runs and is to be removed; running jobs continue. */
  | 'DRAINING'
  /** Does not answer. */
  | 'LOST'
  /** Accepts new runs. */
  | 'READY';

/** Order in which the jobs of a pool start. */
export type PoolPolicy =
  /** By usage: at each level of the tree of accounts and people, the smallest share per weight first. */
  | 'FAIR_SHARE'
  /** By priority, then by submission time. */
  | 'PRIORITY';

/** A rule that is not stored. */
export type PreviewApprovalRuleInput = {
  /** The submissions that the rule would apply to. */
  condition: ApprovalConditionInput;
  /** User levels that the rule would not apply to. At most 4. */
  exemptLevels?: Array<UserLevel> | null | undefined;
};

/** The submission or retry to preview; set exactly one field. */
export type PreviewJobInput =
  {   /** Previews a retry: the input of `retryJob`. */
  retry: RetryJobInput; submit?: never; }
  |  { retry?: never;   /** Previews a submission: the input of `submitJob`. */
  submit: SubmitJobInput; };

/** Action when a submission exceeds a quota. */
export type QuotaAction =
  /** The submission is refused. */
  | 'BLOCK'
  /** The submission is accepted and needs an approval. */
  | 'REQUIRE_APPROVAL'
  /** The submission is accepted with a warning. */
  | 'WARN';

/** Filter for quotas. A quota must match all fields, and one entry of each list. */
export type QuotaFilter = {
  /** Quotas with one of these actions. At most 3. */
  actions?: Array<QuotaAction> | null | undefined;
  /** Quotas whose scope has one of these names. At most 1,000. */
  names?: Array<string> | null | undefined;
  /** Quotas with a scope of one of these kinds. At most 5. */
  scopes?: Array<ScopeKind> | null | undefined;
  /** Quotas of one of these types. At most 6. */
  types?: Array<QuotaType> | null | undefined;
};

/** Quantity that a quota limits. */
export type QuotaType =
  /** Jobs that are not final, and active slot reservations. */
  | 'CONCURRENT_JOBS'
  /** Cost of the jobs submitted in the last 24 hours. */
  | 'COST_PER_DAY'
  /** Cost of the jobs submitted in the last 30 days. */
  | 'COST_PER_MONTH'
  /** Submissions in the last 24 hours. */
  | 'JOBS_PER_DAY'
  /** Submissions in the last 60 minutes. */
  | 'JOBS_PER_HOUR'
  /** GPUs requested by jobs that are not final, in pools with the executor `local` or `handler`. */
  | 'LOCAL_GPUS';

/** A rejection. */
export type RejectJobInput = {
  /** Fails with a version conflict unless the job has this version. */
  expectedVersion: number;
  /** The BLOCKED job whose approval you decide. */
  jobId: string;
  /** Reason, shown to the submitter; at most 1,000 characters. */
  reason: string;
};

/** Rejections of several jobs. */
export type RejectJobsInput = {
  /** The decisions. At most 100. */
  decisions: Array<RejectJobInput>;
};

/** The deliveries to send again. */
export type ResendWebhookDeliveriesInput = {
  /** Ids of the deliveries; omitted: all that are pending, then the oldest dead ones. At most 1,000. */
  deliveryIds?: Array<string> | null | undefined;
  /** Name of the webhook. */
  webhook: string;
};

/** Requested resources; amounts are per replica. */
export type ResourcesInput = {
  /** Whether other GPUs may be used when those of `gpuIds` are busy. */
  anyGpu?: boolean | null | undefined;
  /** Number of cores, at least 0.001; default 1. */
  cpu?: number | null | undefined;
  /** PSI/J: number of cores per process. */
  cpuCoresPerProcess?: number | null | undefined;
  /** Filters on the processor model (a leading ! excludes). At most 64. */
  cpuModel?: Array<string> | null | undefined;
  /** CUDA version that the GPUs must support, e.g. 11.8. */
  cudaVersion?: string | null | undefined;
  /** Whether the job needs exclusive nodes. The job then holds all of their cores and GPUs, which count against limits. */
  exclusiveNodeUse?: boolean | null | undefined;
  /** Number of GPUs; default 0. */
  gpu?: number | null | undefined;
  /** PSI/J: number of GPUs per process. */
  gpuCoresPerProcess?: number | null | undefined;
  /** Physical ids of exactly these GPUs; only in a pool with one node. At most 1,024. */
  gpuIds?: Array<number> | null | undefined;
  /** Minimum bytes of memory of each GPU. Give `gpuMemoryGib` or `gpuMemoryBytes`, not both. */
  gpuMemoryBytes?: number | null | undefined;
  /** Minimum GiB of memory of each GPU. */
  gpuMemoryGib?: number | null | undefined;
  /** Filters on the GPU model (a leading ! excludes). At most 64. */
  gpuModel?: Array<string> | null | undefined;
  /** Whether the GPUs must have tensor cores; default: no requirement. */
  gpuTensorCores?: boolean | null | undefined;
  /** Whether the nodes must have InfiniBand. */
  infiniband?: boolean | null | undefined;
  /** Bytes of memory. Give `memoryGib` or `memoryBytes`, not both. */
  memoryBytes?: number | null | undefined;
  /** GiB of memory per replica. Default: the same share of the memory of the machine as of its cores, at least 1 GiB; see `job.spec.resources.memoryBytes`. A job that uses more fails with `OOM_KILLED`. */
  memoryGib?: number | null | undefined;
  /** PSI/J: number of nodes. */
  nodeCount?: number | null | undefined;
  /** PSI/J: total number of processes. */
  processCount?: number | null | undefined;
  /** PSI/J: number of processes per node. */
  processesPerNode?: number | null | undefined;
  /** Port of the first replica, announced to the other replicas. */
  replicaMasterPort?: number | null | undefined;
  /** Number of replicas, default 1; they start together. */
  replicas?: number | null | undefined;
};

/** Retries after the command of a job failed. They wait 1, 2, 4 … s, five minutes at most. */
export type RetryInput = {
  /** Maximum number of runs whose command failed. */
  maxAttempts: number;
  /** Exit codes that cause a retry (default: all except 0). At most 255. */
  onExitCodes?: Array<number> | null | undefined;
};

/** The job to retry, and changes to its spec. */
export type RetryJobInput = {
  /** Fails with a version conflict unless the original has this version. */
  expectedVersion?: number | null | undefined;
  /** Idempotency key of this retry, as for `submitJob`. */
  idempotencyKey?: string | null | undefined;
  /** Lifetime of the key in seconds, 60 … 2,592,000; default: one day. */
  idempotencyTtlSeconds?: number | null | undefined;
  /** The final job to retry. */
  jobId: string;
  /** Refuse the job unless it can start now. A refusal stores nothing, not even the idempotency key. */
  noWait?: boolean | null | undefined;
  /** Fields that replace those of the original spec, including single fields of `resources`; null resets a field to its default. Omitted fields stay. */
  overrides?: JobSpecInput | null | undefined;
  /** Id of a slot reservation to consume. */
  slotReservationId?: string | null | undefined;
};

/** The jobs to retry, and changes to their specs. */
export type RetryJobsInput = {
  /** Idempotency key, as for `submitJob`; the key of each retry is this key, `:` and the id of its original. */
  idempotencyKey?: string | null | undefined;
  /** Lifetime of the keys in seconds, 60 … 2,592,000; default: one day. */
  idempotencyTtlSeconds?: number | null | undefined;
  /** Changes of every spec, as for `retryJob`. */
  overrides?: JobSpecInput | null | undefined;
  /** The final jobs to retry. */
  selection: JobSelection;
};

/** The token to revoke. */
export type RevokeTokenInput = {
  /** The token to revoke. */
  tokenId: string;
};

/** A view to save. */
export type SaveViewInput = {
  /** Fails with a version conflict unless the view has this version. */
  expectedVersion?: number | null | undefined;
  /** Name, at most 100 characters. */
  name: string;
  /** Path of the page, such as /jobs. */
  page: string;
  /** Whether menus show the view without being opened. */
  pinned?: boolean | null | undefined;
  /** The view to replace; omitted: a new view. */
  savedViewId?: string | null | undefined;
  /** Query string of the page without the question mark, at most 2,048 characters. */
  search: string;
  /** The team whose members see the view, with the visibility TEAM: one of yours. */
  teamId?: string | null | undefined;
  /** Who sees the view. */
  visibility?: ViewVisibility | null | undefined;
};

/** Whose jobs a quota or a limit counts. A quota can be of a level, user, team or account, a limit of a user, team, project or queue. */
export type ScopeInput =
  {   /** An account and the accounts below it together. */
  account: string; level?: never; project?: never; queue?: never; team?: never; user?: never; }
  |  { account?: never;   /** Each user of this level. */
  level: UserLevel; project?: never; queue?: never; team?: never; user?: never; }
  |  { account?: never; level?: never;   /** The jobs of a project. */
  project: string; queue?: never; team?: never; user?: never; }
  |  { account?: never; level?: never; project?: never;   /** The jobs of a submission queue, by its name. */
  queue: string; team?: never; user?: never; }
  |  { account?: never; level?: never; project?: never; queue?: never;   /** All members of a team together. */
  team: NameOrIdInput; user?: never; }
  |  { account?: never; level?: never; project?: never; queue?: never; team?: never;   /** The jobs of one user. */
  user: NameOrIdInput; };

/** Kind of a scope. */
export type ScopeKind =
  /** An account and the accounts below it together. */
  | 'ACCOUNT'
  /** Each user. */
  | 'GLOBAL'
  /** Each user of a level. */
  | 'LEVEL'
  /** The jobs of a pool. */
  | 'POOL'
  /** The jobs of a project. */
  | 'PROJECT'
  /** The jobs of a submission queue. */
  | 'QUEUE'
  /** All members of a team together. */
  | 'TEAM'
  /** A user. */
  | 'USER';

/** One priority for several jobs. */
export type SetJobPrioritiesInput = {
  /** Priority 0 … 50, higher first; null: return to `basePriority`. */
  priority?: number | null | undefined;
  /** The jobs. */
  selection: JobSelection;
};

/** Changes to a limit of a queue, a project, a team or a user. Omitted fields stay; null: unlimited; 0: none. A limit without any number is removed. */
export type SetScopeLimitInput = {
  /** Fails with a version conflict unless `Limits` of the pool has this version. */
  expectedVersion?: number | null | undefined;
  /** Count only GPUs whose model contains this text, case-insensitive; default: all GPUs. */
  gpuModel?: string | null | undefined;
  /** GPUs in use. */
  maxGpus?: number | null | undefined;
  /** Running jobs. */
  maxJobs?: number | null | undefined;
  /** Name of the pool; default: the pool of the default queue. */
  pool?: string | null | undefined;
  /** The queue, project, team or user that the limit applies to. */
  scope: ScopeInput;
};

/** A secret and its value. */
export type SetSecretInput = {
  /** Name of the environment variable: letters, digits and _, at most 128. Names that Berth sets are refused, such as BERTH_… and PATH. */
  name: string;
  /** The team that owns the secret; omitted: you. */
  teamId?: string | null | undefined;
  /** The value: 1 byte to 64 KiB, at most 128 lines. No query returns it. */
  value: string;
};

/** Category of a state. */
export type StateCategory =
  /** STARTING, RUNNING or CANCELLING: the job holds resources. */
  | 'ACTIVE'
  /** SUCCEEDED, FAILED, INTERRUPTED or CANCELLED: the state never changes again. */
  | 'FINAL'
  /** BLOCKED or QUEUED. */
  | 'WAITING';

/** Why a job or a run has its state. */
export type StateReason =
  /** The approval was not decided in time. */
  | 'APPROVAL_EXPIRED'
  /** The job waits for an approval. */
  | 'APPROVAL_PENDING'
  /** The approval was rejected. */
  | 'APPROVAL_REJECTED'
  /** The job was approved. */
  | 'APPROVED'
  /** The executor cannot run this spec. */
  | 'BAD_SPEC'
  /** A user cancelled the job. */
  | 'CANCELLED'
  /** A job that this one depends on ended otherwise than required. */
  | 'DEPENDENCY_FAILED'
  /** The command ended with another exit code than 0. */
  | 'EXIT_CODE'
  /** The user already has an interactive job. */
  | 'INTERACTIVE_QUOTA'
  /** The run reached its maximum duration. */
  | 'MAX_RUN_TIME'
  /** The node of the run is unreachable or was restarted. */
  | 'NODE_LOST'
  /** The machine or the backend could not start the run; the attempt does not count. */
  | 'NODE_TROUBLE'
  /** The backend had no place for all parts of the run at once. */
  | 'NOT_TOGETHER'
  /** The job needed more memory than it has. */
  | 'OOM_KILLED'
  /** The run left for another job. */
  | 'PREEMPTED'
  /** The run was asked to leave for another job. */
  | 'PREEMPTING'
  /** The handler could not continue the run after a restart of the server. */
  | 'RESUME_FAILED'
  /** A signal ended the command. */
  | 'SIGNAL'
  /** The executor could not start the run. */
  | 'START_FAILED'
  /** The working directory does not exist, or the account of the job may not enter it. */
  | 'WORKDIR_NOT_FOUND';

/** Why earlier messages of a stream are no longer valid. */
export type StreamResetReason =
  /** The jobs were deleted. */
  | 'DELETED'
  /** The skipped events are no longer kept, or the database lost events in a failover or a restore. */
  | 'RETENTION';

/** A submission. */
export type SubmitJobInput = {
  /** Working directory if the spec names no `workdir` and the executor shares files with the submitting machine (local, handler, slurm). Containers and pods start in the directory of their image. */
  defaultWorkdir?: string | null | undefined;
  /** Idempotency key, 1 … 255 characters. Submitting the same key again returns the same job. */
  idempotencyKey?: string | null | undefined;
  /** Lifetime of the key in seconds, 60 … 2,592,000; default: one day. */
  idempotencyTtlSeconds?: number | null | undefined;
  /** Refuse the job unless it can start now. A refusal stores nothing, not even the idempotency key. */
  noWait?: boolean | null | undefined;
  /** Require an approval in any case. */
  requiresApproval?: boolean | null | undefined;
  /** Id of a slot reservation to consume; the submission then counts only once. */
  slotReservationId?: string | null | undefined;
  /** The job to run. */
  spec: JobSpecInput;
};

/** Several submissions. */
export type SubmitJobsInput = {
  /** The submissions. At most 1,000. */
  submissions: Array<SubmitJobInput>;
};

/** Filter for teams. */
export type TeamFilter = {
  /** Teams whose name or account contains this text; the case of ASCII letters does not matter. At most 255 characters. Reads all rows. */
  text?: string | null | undefined;
};

/** Size of a terminal in characters. */
export type TerminalSize = {
  /** Width, 1 … 9,999. */
  columns: number;
  /** Height, 1 … 9,999. */
  rows: number;
};

/** The webhook to test. */
export type TestWebhookInput = {
  /** Name of the webhook. */
  webhook: string;
};

/** Permitted use of a token; a token never permits more than its user may do. */
export type TokenScope =
  /** Everything else: users, teams, tokens, quotas, limits, rules, nodes, reservations, webhooks, deleting jobs of others. */
  | 'ADMIN'
  /** Open sessions in running jobs of others. */
  | 'EXEC'
  /** Approve, reject, set priorities, cancel jobs of others, set secrets of teams, run scheduling passes, clean up. */
  | 'OPERATE'
  /** Queries and subscriptions; every token has this scope. */
  | 'READ'
  /** Submit and retry jobs, reserve and release slots, cancel and delete own jobs, set own secrets. */
  | 'SUBMIT';

/** Changes to an approval rule; omitted fields stay. */
export type UpdateApprovalRuleInput = {
  /** The rule to change. */
  approvalRuleId: string;
  /** The submissions that the rule applies to. */
  condition?: ApprovalConditionInput | null | undefined;
  /** Whether the rule is evaluated. */
  enabled?: boolean | null | undefined;
  /** User levels that the rule does not apply to. At most 4. */
  exemptLevels?: Array<UserLevel> | null | undefined;
  /** Fails with a version conflict unless the rule has this version. */
  expectedVersion?: number | null | undefined;
  /** Seconds until an undecided request expires. */
  expiresAfterSeconds?: number | null | undefined;
  /** Display name, unique. */
  name?: string | null | undefined;
  /** Rules with a higher priority are evaluated first. */
  priority?: number | null | undefined;
  /** Lowest user level that may decide. */
  requiredLevel?: UserLevel | null | undefined;
};

/** Changes to the limits of a pool. Omitted fields stay; null: unlimited; 0: none. */
export type UpdateLimitsInput = {
  /** Whether `teamMaxConcurrent` is enforced. */
  enableFairShare?: boolean | null | undefined;
  /** Fails with a version conflict unless `Limits` of the pool has this version. */
  expectedVersion?: number | null | undefined;
  /** GPUs in use in the pool. */
  localGpuMaxConcurrent?: number | null | undefined;
  /** Running jobs with GPUs in the pool. */
  localJobMaxConcurrent?: number | null | undefined;
  /** Running jobs of the pool. */
  maxConcurrent?: number | null | undefined;
  /** Name of the pool; default: the pool of the default queue. */
  pool?: string | null | undefined;
  /** Waiting time in seconds that raises a priority by 10, up to 30; null: never. No effect in pools with fair share. */
  starvationThresholdSeconds?: number | null | undefined;
  /** Running jobs of each team, enforced with `enableFairShare`. */
  teamMaxConcurrent?: number | null | undefined;
  /** Jobs of a user that are not final, checked at submission. */
  userMaxActive?: number | null | undefined;
  /** Jobs of a user that wait for an approval. */
  userMaxBlocked?: number | null | undefined;
  /** Running jobs of each user. */
  userMaxConcurrent?: number | null | undefined;
};

/** A change of the state of a node. */
export type UpdateNodeInput = {
  /** Fails with a version conflict unless the node has this version. */
  expectedVersion?: number | null | undefined;
  /** The node to change. */
  nodeId: string;
  /** Why the node accepts no runs, for other users; at most 500 characters; only with CORDONED or DRAINING. */
  reason?: string | null | undefined;
  /** The new state: READY, CORDONED or DRAINING. LOST cannot be set. */
  state: PoolNodeState;
};

/** Changes to a quota; omitted fields stay. */
export type UpdateQuotaInput = {
  /** Action when a submission exceeds the limit. */
  action?: QuotaAction | null | undefined;
  /** Fails with a version conflict unless the quota has this version. */
  expectedVersion?: number | null | undefined;
  /** Highest allowed value. */
  limit?: number | null | undefined;
  /** The quota to change. */
  quotaId: string;
};

/** Changes to a team; omitted fields stay. */
export type UpdateTeamInput = {
  /** Ids of users to add. At most 1,000. */
  addMembers?: Array<string> | null | undefined;
  /** Fails with a version conflict unless the team has this version. */
  expectedVersion?: number | null | undefined;
  /** New name. Later submissions are charged to the account of the new name. */
  name?: string | null | undefined;
  /** Ids of users to remove. At most 1,000. */
  removeMembers?: Array<string> | null | undefined;
  /** The team to change. */
  teamId: string;
};

/** Changes to a user; omitted fields stay. */
export type UpdateUserInput = {
  /** Permissions in addition to those of the level. At most 27. */
  allow?: Array<Permission> | null | undefined;
  /** Team for submissions that name no team; must be one of `teams`. */
  defaultTeam?: NameOrIdInput | null | undefined;
  /** Permissions to deny; deny overrides allow. At most 27. */
  deny?: Array<Permission> | null | undefined;
  /** Whether the user is disabled. A disabled user cannot log in; running jobs continue, and waiting jobs are held. */
  disabled?: boolean | null | undefined;
  /** Name that pages show; default: the log-in name. */
  displayName?: string | null | undefined;
  /** Email address. */
  email?: string | null | undefined;
  /** Fails with a version conflict unless the user has this version. */
  expectedVersion?: number | null | undefined;
  /** Identity of the user at the OpenID provider; null: removes it. */
  identity?: UserIdentityInput | null | undefined;
  /** Level; determines base priority and permissions. */
  level?: UserLevel | null | undefined;
  /** All teams of the user. At most 50. */
  teams?: Array<NameOrIdInput> | null | undefined;
  /** Unix account that the jobs of the user run as. */
  unixUser?: string | null | undefined;
  /** The user to change. */
  userId: string;
};

/** Key by which `usage` groups its points. */
export type UsageBy =
  /** The account that the job is charged to. */
  | 'ACCOUNT'
  /** The pool; every measured time has a point, also without jobs. */
  | 'POOL'
  /** The submission queue of the job. */
  | 'QUEUE'
  /** The team of the job. */
  | 'TEAM'
  /** The user of the job. */
  | 'USER';

/** Filter for users. A user must match all fields, and one entry of each list. */
export type UserFilter = {
  /** true: disabled users. false: all others. */
  disabled?: boolean | null | undefined;
  /** Users with one of these levels. At most 4. */
  levels?: Array<UserLevel> | null | undefined;
  /** Members of one of these teams. At most 1,000. */
  teams?: Array<string> | null | undefined;
  /** Users whose name, display name or email address contains this text; the case of ASCII letters does not matter. At most 255 characters. Reads all rows. */
  text?: string | null | undefined;
};

/** Identity of a user at an OpenID provider. */
export type UserIdentityInput = {
  /** Issuer: auth.oidc.issuer in the configuration. */
  issuer: string;
  /** Subject: `sub` in the tokens of the provider. */
  subject: string;
};

/** Level of a user. Each level includes the permissions of the levels below. */
export type UserLevel =
  /** Has all permissions. */
  | 'ADMIN'
  /** May see all jobs, decide on approvals, set priorities and secrets of own teams, and read the audit log. */
  | 'LEAD'
  /** May submit, cancel and delete own jobs, and manage own tokens and secrets. */
  | 'RESEARCHER'
  /** May see own jobs. */
  | 'VIEWER';

/** Who sees a saved view. */
export type ViewVisibility =
  /** Every user; only an ADMIN saves such a view. */
  | 'ALL'
  /** The members of a team. */
  | 'TEAM'
  /** The user who saved the view. */
  | 'USER';

/** State of a delivery. */
export type WebhookDeliveryState =
  /** All ten tries failed; the delivery is kept for 30 days. */
  | 'DEAD'
  /** The receiver accepted the delivery; it is kept for an hour. */
  | 'DELIVERED'
  /** The delivery is sent now, or waits for its next try. */
  | 'PENDING';

/** Type of an event that webhooks send. Its body and the configuration write JOB_FAILED as job.failed. */
export type WebhookEventType =
  /** The event condition.began. */
  | 'CONDITION_BEGAN'
  /** The event condition.over. */
  | 'CONDITION_OVER'
  /** The event job.approval_decided. */
  | 'JOB_APPROVAL_DECIDED'
  /** The event job.approval_requested. */
  | 'JOB_APPROVAL_REQUESTED'
  /** The event job.artifact_published. */
  | 'JOB_ARTIFACT_PUBLISHED'
  /** The event job.blocked. */
  | 'JOB_BLOCKED'
  /** The event job.cancelled. */
  | 'JOB_CANCELLED'
  /** The event job.cancelling. */
  | 'JOB_CANCELLING'
  /** The event job.created. */
  | 'JOB_CREATED'
  /** The event job.failed. */
  | 'JOB_FAILED'
  /** The event job.interrupted. */
  | 'JOB_INTERRUPTED'
  /** The event job.late_report. */
  | 'JOB_LATE_REPORT'
  /** The event job.preempt_requested. */
  | 'JOB_PREEMPT_REQUESTED'
  /** The event job.preempt_withdrawn. */
  | 'JOB_PREEMPT_WITHDRAWN'
  /** The event job.priority_changed. */
  | 'JOB_PRIORITY_CHANGED'
  /** The event job.queued. */
  | 'JOB_QUEUED'
  /** The event job.running. */
  | 'JOB_RUNNING'
  /** The event job.session_ended. */
  | 'JOB_SESSION_ENDED'
  /** The event job.session_opened. */
  | 'JOB_SESSION_OPENED'
  /** The event job.starting. */
  | 'JOB_STARTING'
  /** The event job.succeeded. */
  | 'JOB_SUCCEEDED'
  /** The event webhook.test. */
  | 'WEBHOOK_TEST';

/** An X11 display for the job. */
export type X11Input = {
  /** Whether the display is rendered by a GPU. */
  gpu?: boolean | null | undefined;
};

export type AboutServerQueryVariables = Exact<{ [key: string]: never; }>;


export type AboutServerQuery = { serverInfo: { id: string, name: string, title: string, release: string, publicUrl: string | null, singleUser: boolean, oidcIssuer: string | null, logRetentionDays: number | null, eventRetentionDays: number | null, maxPageSize: number, maxQueryCost: number, maxSubscriptionsPerConnection: number, at: string, links: Array<{ title: string, url: string, on: LinkTarget }> }, system: { id: string, at: string, loadAvg5Min: number | null, memoryPercent: number | null, conditionsAt: string | null, conditions: Array<{ name: string, severity: ConditionSeverity, meaning: string, cause: string, remedy: string, nextCommands: Array<string>, since: string, evidence: Array<string> }>, executors: Array<{ name: Executor, available: boolean, message: string | null, backendVersion: string | null, launchers: Array<string>, specFields: Array<string>, pool: { id: string, name: string } }> }, pools: { nodes: Array<{ id: string, name: string, paused: boolean, policy: PoolPolicy, executors: Array<Executor>, leader: { epoch: number, host: string | null, process: string | null, renewedAt: string } | null }> } };

export type ServerTimeQueryVariables = Exact<{ [key: string]: never; }>;


export type ServerTimeQuery = { serverInfo: { id: string, at: string } };

export type CheckDataQueryVariables = Exact<{ [key: string]: never; }>;


export type CheckDataQuery = { selfCheck: { ok: boolean, at: string, findings: Array<{ rule: string, message: string, objectId: string | null }> } };

export type WhoGrantsQueryVariables = Exact<{ [key: string]: never; }>;


export type WhoGrantsQuery = { viewer: { id: string, user: { id: string, permissions: Array<Permission> } }, users: { nodes: Array<{ id: string, name: string }> } };

export type ApprovalRowFragment = { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } };

export type ListApprovalsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: ApprovalFilter | null | undefined;
}>;


export type ListApprovalsQuery = { approvals: { totalCount: number, nodes: Array<{ id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ApprovalsNowQueryVariables = Exact<{ [key: string]: never; }>;


export type ApprovalsNowQuery = { jobs: { asOf: string } };

export type ApprovalUpdatesSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ApprovalUpdatesSubscription = { jobUpdates:
    | { __typename: 'JobTransitions', cursor: string, job: { id: string, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } } | null } }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', resetReason: StreamResetReason, jobIds: Array<string>, cursor: string }
   };

export type ApprovalPageQueryVariables = Exact<{
  id: string;
}>;


export type ApprovalPageQuery = { node:
    | { __typename: 'ApiToken' }
    | { __typename: 'Approval', id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string, version: number, priority: number, enabled: boolean, requiredLevel: UserLevel, exemptLevels: Array<UserLevel>, expiresAfterSeconds: number, condition: { costAbove: number | null, executor: Executor | null, firstJob: boolean | null, hardware: string | null, jobsPerDayAbove: number | null, levelNotIn: Array<UserLevel> | null, name: string | null } } | null, requestedBy: { id: string, level: UserLevel, name: string, displayName: string | null, teams: Array<{ id: string, name: string }> }, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, spec: { name: string | null, command: Array<string> | null, executable: string | null, arguments: Array<string> | null, handler: string | null, input: Record<string, unknown> | null, image: string | null, snapshot: string | null, workdir: string | null, queue: string, executor: Executor, maxRunTimeSeconds: number | null, durationSeconds: number | null, notBefore: string | null, onDependencyFailure: OnDependencyFailure, interactive: boolean, preemptable: boolean, restartable: boolean, resumable: boolean, inheritEnvironment: boolean, launcher: string, preLaunch: string | null, postLaunch: string | null, stdinPath: string | null, stdoutPath: string | null, stderrPath: string | null, data: Array<string>, pull: ImagePull | null, networkIsolation: NetworkIsolation | null, team: string | null, project: string | null, account: string, capacityReservationId: string | null, bid: number | null, estimatedCost: number | null, customAttributes: Record<string, unknown> | null, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, gpuTensorCores: boolean | null, cudaVersion: string | null, gpuIds: Array<number> | null, anyGpu: boolean, cpuModel: Array<string>, infiniband: boolean, replicas: number, replicaMasterPort: number | null, nodeCount: number | null, processCount: number | null, processesPerNode: number | null, cpuCoresPerProcess: number | null, gpuCoresPerProcess: number | null, exclusiveNodeUse: boolean }, dependsOn: Array<{ jobId: string, on: DependencyOn }>, retry: { maxAttempts: number, onExitCodes: Array<number> | null } | null, environment: Array<{ name: string, value: string }>, labels: Array<{ key: string, value: string }>, internalDns: { name: string, ports: Array<{ port: number, targetPort: number, protocol: NetworkProtocol }> } | null, x11: { gpu: boolean } | null } | null, scheduling: { fit: { freeNow: boolean, couldEverFit: boolean, missing: Array<string> } } | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null }, decidedBy: { id: string, name: string } | null }
    | { __typename: 'ApprovalRule' }
    | { __typename: 'Artifact' }
    | { __typename: 'AuditEntry' }
    | { __typename: 'CapacityReservation' }
    | { __typename: 'Gpu' }
    | { __typename: 'Hold' }
    | { __typename: 'Job' }
    | { __typename: 'JobEvent' }
    | { __typename: 'JobSession' }
    | { __typename: 'Limits' }
    | { __typename: 'Pool' }
    | { __typename: 'PoolNode' }
    | { __typename: 'Quota' }
    | { __typename: 'Run' }
    | { __typename: 'SavedView' }
    | { __typename: 'Secret' }
    | { __typename: 'ServerInfo' }
    | { __typename: 'SlotReservation' }
    | { __typename: 'Snapshot' }
    | { __typename: 'SubmissionQueue' }
    | { __typename: 'System' }
    | { __typename: 'Team' }
    | { __typename: 'User' }
    | { __typename: 'Viewer' }
    | { __typename: 'Webhook' }
    | { __typename: 'WebhookDelivery' }
    | { __typename: 'Workload' }
   | null };

export type RequesterFactsQueryVariables = Exact<{
  user: string;
  since: string;
}>;


export type RequesterFactsQuery = { now: { rows: Array<{ key: string | null, count: number }> }, lately: { rows: Array<{ key: string | null, count: number }> }, approvals: { nodes: Array<{ id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } }> } };

export type PendingDecisionsQueryVariables = Exact<{ [key: string]: never; }>;


export type PendingDecisionsQuery = { viewer: { id: string, pendingDecisions: number } };

export type ApproveManyMutationVariables = Exact<{
  input: ApproveJobsInput;
}>;


export type ApproveManyMutation = { approveJobs:
    | { __typename: 'ApproveJobsSuccess', results: Array<{ jobId: string, result:
          | { __typename: 'ApprovalNotAllowedProblem', message: string }
          | { __typename: 'ApproveJobSuccess', approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } } }
          | { __typename: 'ForbiddenProblem', message: string }
          | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
          | { __typename: 'InvalidStateProblem', message: string, job: { id: string, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } } | null } }
          | { __typename: 'NotFoundProblem', message: string }
          | { __typename: 'UnavailableProblem', message: string }
          | { __typename: 'VersionConflictProblem', message: string, currentJob: { id: string, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } } | null } | null }
         }> }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type RejectManyMutationVariables = Exact<{
  input: RejectJobsInput;
}>;


export type RejectManyMutation = { rejectJobs:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'RejectJobsSuccess', results: Array<{ jobId: string, result:
          | { __typename: 'ApprovalNotAllowedProblem', message: string }
          | { __typename: 'ForbiddenProblem', message: string }
          | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
          | { __typename: 'InvalidStateProblem', message: string, job: { id: string, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } } | null } }
          | { __typename: 'NotFoundProblem', message: string }
          | { __typename: 'RejectJobSuccess', approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } } }
          | { __typename: 'UnavailableProblem', message: string }
          | { __typename: 'VersionConflictProblem', message: string, currentJob: { id: string, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, decidedAt: string | null, decidable: boolean, comment: string | null, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string, displayName: string | null }, decidedBy: { id: string, name: string } | null, job: { id: string, version: number, name: string | null, state: JobState, account: string, maxAttempts: number, maxRunTimeSeconds: number | null, estimatedCost: number | null, pool: { id: string, name: string, rates: { cpuHour: number, gpuHour: number, currency: string } | null }, queue: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, replicas: number, processCount: number | null, nodeCount: number | null, exclusiveNodeUse: boolean } | null } } | null } | null }
         }> }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type AuditItemFragment = { id: string, seq: number, at: string, operation: string, actorName: string, objectId: string | null, ip: string | null, token: string | null, requestId: string | null, hash: string, detail: Record<string, unknown> | null, actor: { id: string, name: string } | null };

export type ListAuditQueryVariables = Exact<{
  filter?: AuditFilter | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListAuditQuery = { auditLog: { nodes: Array<{ id: string, seq: number, at: string, operation: string, actorName: string, objectId: string | null, ip: string | null, token: string | null, requestId: string | null, hash: string, detail: Record<string, unknown> | null, actor: { id: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ObjectNamesQueryVariables = Exact<{
  ids: Array<string> | string;
}>;


export type ObjectNamesQuery = { nodes: Array<
    | { name: string, id: string }
    | { id: string }
    | { name: string, id: string }
    | { id: string }
    | { id: string }
    | { name: string, id: string }
    | { id: string }
    | { id: string }
    | { id: string, jobName: string | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { name: string, id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { name: string, id: string }
    | { name: string, id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null> };

export type OneAuditEntryQueryVariables = Exact<{
  id: string;
}>;


export type OneAuditEntryQuery = { node:
    | { __typename: 'ApiToken' }
    | { __typename: 'Approval' }
    | { __typename: 'ApprovalRule' }
    | { __typename: 'Artifact' }
    | { __typename: 'AuditEntry', id: string, seq: number, at: string, operation: string, actorName: string, objectId: string | null, ip: string | null, token: string | null, requestId: string | null, hash: string, detail: Record<string, unknown> | null, actor: { id: string, name: string } | null }
    | { __typename: 'CapacityReservation' }
    | { __typename: 'Gpu' }
    | { __typename: 'Hold' }
    | { __typename: 'Job' }
    | { __typename: 'JobEvent' }
    | { __typename: 'JobSession' }
    | { __typename: 'Limits' }
    | { __typename: 'Pool' }
    | { __typename: 'PoolNode' }
    | { __typename: 'Quota' }
    | { __typename: 'Run' }
    | { __typename: 'SavedView' }
    | { __typename: 'Secret' }
    | { __typename: 'ServerInfo' }
    | { __typename: 'SlotReservation' }
    | { __typename: 'Snapshot' }
    | { __typename: 'SubmissionQueue' }
    | { __typename: 'System' }
    | { __typename: 'Team' }
    | { __typename: 'User' }
    | { __typename: 'Viewer' }
    | { __typename: 'Webhook' }
    | { __typename: 'WebhookDelivery' }
    | { __typename: 'Workload' }
   | null };

export type VerifyAuditLogQueryVariables = Exact<{
  fromSeq?: number | null | undefined;
  toSeq?: number | null | undefined;
}>;


export type VerifyAuditLogQuery = { verifyAudit: { ok: boolean, fromSeq: number, toSeq: number, headSeq: number, firstBadSeq: number | null, message: string | null } };

export type NewestChangeQueryVariables = Exact<{
  objectId: string;
}>;


export type NewestChangeQuery = { auditLog: { nodes: Array<{ id: string, at: string, actorName: string }> } };

export type MapNodeFragment = { id: string, name: string, state: PoolNodeState, stateInfo: string | null, stateAt: string, version: number, backsOffUntil: string | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number }, gpus: Array<{ id: string, index: number, model: string, memoryBytes: number, allocated: boolean, job: { id: string, name: string | null, state: JobState, account: string } | null, run: { id: string, startedAt: string | null } | null }> };

export type ClusterChangesSubscriptionVariables = Exact<{
  pool: string;
  after?: string | null | undefined;
}>;


export type ClusterChangesSubscription = { nodeUpdates:
    | { __typename: 'NodesChanged', isStart: boolean, cursor: string, removedIds: Array<string>, nodes: Array<{ id: string, name: string, state: PoolNodeState, stateInfo: string | null, stateAt: string, version: number, backsOffUntil: string | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number }, gpus: Array<{ id: string, index: number, model: string, memoryBytes: number, allocated: boolean, job: { id: string, name: string | null, state: JobState, account: string } | null, run: { id: string, startedAt: string | null } | null }> }>, pool: { id: string, name: string, executors: Array<Executor>, used: { cpu: number, memoryBytes: number, gpu: number }, capacity: { cpu: number, memoryBytes: number, gpu: number }, holds: Array<{ id: string, job: { id: string, name: string | null } | null, nodes: Array<{ id: string }> }> } }
    | { __typename: 'StreamHeartbeat', cursor: string }
   };

export type MachineFragment = { address: string | null, engine: string | null, latencySeconds: number | null, silentSince: string | null, silence: string | null, troubles: Array<string> };

export type MachinesQueryVariables = Exact<{
  pool: string;
  first: number;
  after?: string | null | undefined;
}>;


export type MachinesQuery = { pool: { id: string, nodes: { totalCount: number, nodes: Array<{ id: string, machine: { address: string | null, engine: string | null, latencySeconds: number | null, silentSince: string | null, silence: string | null, troubles: Array<string> } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type NodeDetailsQueryVariables = Exact<{
  id: string;
  first: number;
}>;


export type NodeDetailsQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { cpuModel: string | null, infiniband: boolean, gpuJobsOnly: boolean, lastSeenAt: string | null, backsOffBecause: string | null, id: string, machine: { address: string | null, engine: string | null, latencySeconds: number | null, silentSince: string | null, silence: string | null, troubles: Array<string> } | null, stateBy: { id: string, name: string } | null, runs: { totalCount: number, nodes: Array<{ id: string, number: number, state: JobState, startedAt: string | null, scheduledAt: string | null, gpuIds: Array<number>, job: { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null } }> } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type ChangeNodeMutationVariables = Exact<{
  input: UpdateNodeInput;
}>;


export type ChangeNodeMutation = { updateNode:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'UpdateNodeSuccess', node: { id: string, name: string, state: PoolNodeState, stateInfo: string | null, stateAt: string, version: number, backsOffUntil: string | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number }, gpus: Array<{ id: string, index: number, model: string, memoryBytes: number, allocated: boolean, job: { id: string, name: string | null, state: JobState, account: string } | null, run: { id: string, startedAt: string | null } | null }> } }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type RemoveNodeMutationVariables = Exact<{
  input: DeleteNodeInput;
}>;


export type RemoveNodeMutation = { deleteNode:
    | { __typename: 'DeleteNodeSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type AddPoolNodeMutationVariables = Exact<{
  input: AddNodeInput;
}>;


export type AddPoolNodeMutation = { addNode:
    | { __typename: 'AddNodeSuccess', troubles: Array<string>, node: { id: string, name: string, state: PoolNodeState, stateInfo: string | null, stateAt: string, version: number, backsOffUntil: string | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number }, gpus: Array<{ id: string, index: number, model: string, memoryBytes: number, allocated: boolean, job: { id: string, name: string | null, state: JobState, account: string } | null, run: { id: string, startedAt: string | null } | null }> } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type CompareJobsQueryVariables = Exact<{
  ids: Array<string> | string;
  points: number;
}>;


export type CompareJobsQuery = { nodes: Array<
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, spec: { name: string | null, command: Array<string> | null, executable: string | null, arguments: Array<string> | null, handler: string | null, input: Record<string, unknown> | null, image: string | null, snapshot: string | null, workdir: string | null, queue: string, executor: Executor, maxRunTimeSeconds: number | null, durationSeconds: number | null, notBefore: string | null, onDependencyFailure: OnDependencyFailure, interactive: boolean, preemptable: boolean, restartable: boolean, resumable: boolean, inheritEnvironment: boolean, launcher: string, preLaunch: string | null, postLaunch: string | null, stdinPath: string | null, stdoutPath: string | null, stderrPath: string | null, data: Array<string>, pull: ImagePull | null, networkIsolation: NetworkIsolation | null, team: string | null, project: string | null, account: string, capacityReservationId: string | null, bid: number | null, estimatedCost: number | null, customAttributes: Record<string, unknown> | null, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, gpuTensorCores: boolean | null, cudaVersion: string | null, gpuIds: Array<number> | null, anyGpu: boolean, cpuModel: Array<string>, infiniband: boolean, replicas: number, replicaMasterPort: number | null, nodeCount: number | null, processCount: number | null, processesPerNode: number | null, cpuCoresPerProcess: number | null, gpuCoresPerProcess: number | null, exclusiveNodeUse: boolean }, dependsOn: Array<{ jobId: string, on: DependencyOn }>, retry: { maxAttempts: number, onExitCodes: Array<number> | null } | null, environment: Array<{ name: string, value: string }>, labels: Array<{ key: string, value: string }>, internalDns: { name: string, ports: Array<{ port: number, targetPort: number, protocol: NetworkProtocol }> } | null, x11: { gpu: boolean } | null } | null, runs: { nodes: Array<{ id: string, startedAt: string | null, usage: { cpuSeconds: number | null, maxMemoryBytes: number | null } | null, samples: Array<{ at: string, cpu: number | null, memoryBytes: number | null, gpuPercent: number | null, gpuMemoryBytes: number | null }> | null }> }, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null> };

export type FirstErrorQueryVariables = Exact<{
  id: string;
  run: number;
  query: string;
}>;


export type FirstErrorQuery = { job: { id: string, logSearch: { matches: Array<{ line: number, text: string }> } | null } | null };

export type CompareLinesQueryVariables = Exact<{
  id: string;
  run: number;
  fromLine: number;
  first: number;
}>;


export type CompareLinesQuery = { job: { id: string, logs: { lines: Array<{ number: number, text: string }> } | null } | null };

export type CompareMetricsQueryVariables = Exact<{
  ids: Array<string> | string;
  points: number;
}>;


export type CompareMetricsQuery = { nodes: Array<
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, currentRun: { id: string, metrics: Array<{ name: string, last: { step: number, value: number }, points: Array<{ step: number, value: number, at: string }> | null }> | null } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null> };

export type SweepMetricsQueryVariables = Exact<{
  ids: Array<string> | string;
}>;


export type SweepMetricsQuery = { nodes: Array<
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, currentRun: { id: string, metrics: Array<{ name: string, last: { step: number, value: number } }> | null } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null> };

export type EventRowFragment = { id: string, seq: number, at: string, type: JobEventType, to: JobState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, actor: { name: string } | null };

export type RunRowFragment = { id: string, number: number, createdAt: string, scheduledAt: string | null, startedAt: string | null, finishedAt: string | null, logLines: number };

export type PageJobFragment = { maxAttempts: number, queuedAt: string | null, id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, artifacts: { totalCount: number }, dependents: { totalCount: number }, retryOf: { id: string, name: string | null } | null, snapshot: { id: string, files: number, bytes: number, commit: string | null, branch: string | null, changedFiles: number | null } | null, capacityReservation: { id: string, name: string } | null, dependencies: Array<{ job: { id: string, name: string | null, state: JobState } }>, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, expiresAt: string, decidedBy: { id: string, name: string } | null } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null, metrics: Array<{ name: string, last: { step: number, value: number } }> | null }, runs: { nodes: Array<{ id: string, number: number, createdAt: string, scheduledAt: string | null, startedAt: string | null, finishedAt: string | null, logLines: number }> }, scheduling: { jobsAhead: number, positionIsExact: boolean, lastConsideredAt: string | null, reasons: Array<{ code: PendingReasonCode, message: string, job: { id: string, name: string | null } | null }>, gates: Array<{ code: GateCode, open: boolean, opensAt: string | null, job: { id: string, name: string | null, state: JobState } | null }>, fit: { couldEverFit: boolean, missing: Array<string> }, hold: { id: string, waitingForVictims: number, nodes: Array<{ id: string, name: string }> } | null, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null } | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null };

export type JobPageQueryVariables = Exact<{
  id: string;
}>;


export type JobPageQuery = { job: { eventCursor: string, maxAttempts: number, queuedAt: string | null, id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, spec: { name: string | null, command: Array<string> | null, executable: string | null, arguments: Array<string> | null, handler: string | null, input: Record<string, unknown> | null, image: string | null, snapshot: string | null, workdir: string | null, queue: string, executor: Executor, maxRunTimeSeconds: number | null, durationSeconds: number | null, notBefore: string | null, onDependencyFailure: OnDependencyFailure, interactive: boolean, preemptable: boolean, restartable: boolean, resumable: boolean, inheritEnvironment: boolean, launcher: string, preLaunch: string | null, postLaunch: string | null, stdinPath: string | null, stdoutPath: string | null, stderrPath: string | null, data: Array<string>, pull: ImagePull | null, networkIsolation: NetworkIsolation | null, team: string | null, project: string | null, account: string, capacityReservationId: string | null, bid: number | null, estimatedCost: number | null, customAttributes: Record<string, unknown> | null, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, gpuTensorCores: boolean | null, cudaVersion: string | null, gpuIds: Array<number> | null, anyGpu: boolean, cpuModel: Array<string>, infiniband: boolean, replicas: number, replicaMasterPort: number | null, nodeCount: number | null, processCount: number | null, processesPerNode: number | null, cpuCoresPerProcess: number | null, gpuCoresPerProcess: number | null, exclusiveNodeUse: boolean }, dependsOn: Array<{ jobId: string, on: DependencyOn }>, retry: { maxAttempts: number, onExitCodes: Array<number> | null } | null, environment: Array<{ name: string, value: string }>, labels: Array<{ key: string, value: string }>, internalDns: { name: string, ports: Array<{ port: number, targetPort: number, protocol: NetworkProtocol }> } | null, x11: { gpu: boolean } | null } | null, artifacts: { totalCount: number }, dependents: { totalCount: number }, retryOf: { id: string, name: string | null } | null, snapshot: { id: string, files: number, bytes: number, commit: string | null, branch: string | null, changedFiles: number | null } | null, capacityReservation: { id: string, name: string } | null, dependencies: Array<{ job: { id: string, name: string | null, state: JobState } }>, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, expiresAt: string, decidedBy: { id: string, name: string } | null } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null, metrics: Array<{ name: string, last: { step: number, value: number } }> | null }, runs: { nodes: Array<{ id: string, number: number, createdAt: string, scheduledAt: string | null, startedAt: string | null, finishedAt: string | null, logLines: number }> }, scheduling: { jobsAhead: number, positionIsExact: boolean, lastConsideredAt: string | null, reasons: Array<{ code: PendingReasonCode, message: string, job: { id: string, name: string | null } | null }>, gates: Array<{ code: GateCode, open: boolean, opensAt: string | null, job: { id: string, name: string | null, state: JobState } | null }>, fit: { couldEverFit: boolean, missing: Array<string> }, hold: { id: string, waitingForVictims: number, nodes: Array<{ id: string, name: string }> } | null, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null } | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null } | null };

export type JobNowQueryVariables = Exact<{
  id: string;
}>;


export type JobNowQuery = { job: { maxAttempts: number, queuedAt: string | null, id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, artifacts: { totalCount: number }, dependents: { totalCount: number }, retryOf: { id: string, name: string | null } | null, snapshot: { id: string, files: number, bytes: number, commit: string | null, branch: string | null, changedFiles: number | null } | null, capacityReservation: { id: string, name: string } | null, dependencies: Array<{ job: { id: string, name: string | null, state: JobState } }>, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, expiresAt: string, decidedBy: { id: string, name: string } | null } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null, metrics: Array<{ name: string, last: { step: number, value: number } }> | null }, runs: { nodes: Array<{ id: string, number: number, createdAt: string, scheduledAt: string | null, startedAt: string | null, finishedAt: string | null, logLines: number }> }, scheduling: { jobsAhead: number, positionIsExact: boolean, lastConsideredAt: string | null, reasons: Array<{ code: PendingReasonCode, message: string, job: { id: string, name: string | null } | null }>, gates: Array<{ code: GateCode, open: boolean, opensAt: string | null, job: { id: string, name: string | null, state: JobState } | null }>, fit: { couldEverFit: boolean, missing: Array<string> }, hold: { id: string, waitingForVictims: number, nodes: Array<{ id: string, name: string }> } | null, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null } | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null } | null };

export type OpenTerminalMutationVariables = Exact<{
  input: OpenSessionInput;
}>;


export type OpenTerminalMutation = { openSession:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'OpenSessionSuccess', url: string, session: { id: string } }
    | { __typename: 'QuotaExceededProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type OpenPortMutationVariables = Exact<{
  input: OpenForwardInput;
}>;


export type OpenPortMutation = { openForward:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'OpenForwardSuccess', url: string, session: { id: string } }
    | { __typename: 'QuotaExceededProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type OpenSessionsQueryVariables = Exact<{
  id: string;
}>;


export type OpenSessionsQuery = { job: { id: string, sessions: Array<{ id: string, port: number | null, command: Array<string>, isOpen: boolean, openedAt: string | null, createdAt: string, bytesIn: number, bytesOut: number, openedBy: { name: string } | null }> } | null };

export type CloseSessionMutationVariables = Exact<{
  input: EndSessionInput;
}>;


export type CloseSessionMutation = { endSession:
    | { __typename: 'EndSessionSuccess' }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type JobEventsPageQueryVariables = Exact<{
  id: string;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type JobEventsPageQuery = { job: { id: string, events: { nodes: Array<{ id: string, seq: number, at: string, type: JobEventType, to: JobState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, actor: { name: string } | null }>, pageInfo: { hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type JobChangesSubscriptionVariables = Exact<{
  jobId: string;
  after?: string | null | undefined;
}>;


export type JobChangesSubscription = { jobStatus:
    | { __typename: 'JobTransitions', cursor: string, isFinal: boolean, job: { maxAttempts: number, queuedAt: string | null, id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, artifacts: { totalCount: number }, dependents: { totalCount: number }, retryOf: { id: string, name: string | null } | null, snapshot: { id: string, files: number, bytes: number, commit: string | null, branch: string | null, changedFiles: number | null } | null, capacityReservation: { id: string, name: string } | null, dependencies: Array<{ job: { id: string, name: string | null, state: JobState } }>, approval: { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, expiresAt: string, decidedBy: { id: string, name: string } | null } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null, metrics: Array<{ name: string, last: { step: number, value: number } }> | null }, runs: { nodes: Array<{ id: string, number: number, createdAt: string, scheduledAt: string | null, startedAt: string | null, finishedAt: string | null, logLines: number }> }, scheduling: { jobsAhead: number, positionIsExact: boolean, lastConsideredAt: string | null, reasons: Array<{ code: PendingReasonCode, message: string, job: { id: string, name: string | null } | null }>, gates: Array<{ code: GateCode, open: boolean, opensAt: string | null, job: { id: string, name: string | null, state: JobState } | null }>, fit: { couldEverFit: boolean, missing: Array<string> }, hold: { id: string, waitingForVictims: number, nodes: Array<{ id: string, name: string }> } | null, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null } | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null }, transitions: Array<{ id: string, seq: number, at: string, type: JobEventType, to: JobState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, actor: { name: string } | null }> }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', resetReason: StreamResetReason, cursor: string }
   };

export type PreviewChangeQueryVariables = Exact<{
  input: PreviewJobInput;
}>;


export type PreviewChangeQuery = { previewJob:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'IdempotencyConflictProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', message: string }
    | { __typename: 'JobPreview', wouldBe: JobState, nodeNames: Array<string>, reasons: Array<{ message: string, job: { id: string, name: string | null } | null }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'QuotaExceededProblem', message: string }
    | { __typename: 'RejectedProblem', message: string }
    | { __typename: 'ReservationExpiredProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type PoolNodesQueryVariables = Exact<{
  name: string;
}>;


export type PoolNodesQuery = { submissionQueues: Array<{ id: string, name: string }>, pool: { id: string, nodes: { nodes: Array<{ id: string, name: string, state: PoolNodeState, capacity: { cpu: number, memoryBytes: number }, free: { cpu: number, gpu: number }, gpus: Array<{ id: string, model: string, memoryBytes: number, allocated: boolean }> }> } } | null };

export type LastErrorsQueryVariables = Exact<{
  id: string;
  run: number;
  query: string;
  first: number;
}>;


export type LastErrorsQuery = { job: { id: string, logSearch: { matches: Array<{ line: number, text: string }> } | null } | null };

export type RunUsageQueryVariables = Exact<{
  id: string;
  points: number;
}>;


export type RunUsageQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, samples: Array<{ at: string, cpu: number | null, memoryBytes: number | null, gpuPercent: number | null, gpuMemoryBytes: number | null }> | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type MetricSeriesFragment = { name: string, last: { step: number, value: number }, points: Array<{ step: number, value: number, at: string }> | null };

export type RunMetricsQueryVariables = Exact<{
  id: string;
  points: number;
}>;


export type RunMetricsQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, metrics: Array<{ name: string, last: { step: number, value: number }, points: Array<{ step: number, value: number, at: string }> | null }> | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type ArtifactRowFragment = { id: string, name: string, kind: ArtifactKind, mediaType: string, sizeBytes: number | null, uri: string | null, createdAt: string, run: { id: string, number: number } };

export type JobArtifactsQueryVariables = Exact<{
  id: string;
  last: number;
  before?: string | null | undefined;
}>;


export type JobArtifactsQuery = { job: { id: string, artifacts: { nodes: Array<{ id: string, name: string, kind: ArtifactKind, mediaType: string, sizeBytes: number | null, uri: string | null, createdAt: string, run: { id: string, number: number } }>, pageInfo: { hasPreviousPage: boolean, startCursor: string | null } } } | null };

export type ArtifactContentQueryVariables = Exact<{
  id: string;
}>;


export type ArtifactContentQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { body: string | null, metadata: Record<string, unknown> | null, id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type GraphBoxFragment = { id: string, name: string | null, state: JobState, user: { id: string, name: string } };

export type JobNeighboursQueryVariables = Exact<{
  ids: Array<string> | string;
  first: number;
}>;


export type JobNeighboursQuery = { nodes: Array<
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, name: string | null, state: JobState, dependencies: Array<{ on: DependencyOn, job: { id: string, name: string | null, state: JobState, user: { id: string, name: string } } }>, dependents: { totalCount: number, nodes: Array<{ id: string, name: string | null, state: JobState, user: { id: string, name: string } }> }, user: { id: string, name: string } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null> };

export type ListRowFragment = { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null };

export type ListJobsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: JobFilter | null | undefined;
  orderBy?: JobOrder | null | undefined;
}>;


export type ListJobsQuery = { jobs: { asOf: string, nodes: Array<{ id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type PeekJobQueryVariables = Exact<{
  id: string;
}>;


export type PeekJobQuery = { job: { maxAttempts: number, id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, dependencies: Array<{ satisfied: boolean | null, job: { id: string, name: string | null, state: JobState } }>, scheduling: { jobsAhead: number, reasons: Array<{ code: PendingReasonCode, message: string, job: { id: string, name: string | null } | null }>, fit: { missing: Array<string> }, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null, logs: { lines: Array<{ runNumber: number, number: number, stream: LogStream, text: string }> } | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null } } | null };

export type ListUpdatesSubscriptionVariables = Exact<{
  filter?: JobFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type ListUpdatesSubscription = { jobUpdates:
    | { __typename: 'JobTransitions', cursor: string, matches: boolean, job: { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null } }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', resetReason: StreamResetReason, jobIds: Array<string>, cursor: string }
   };

export type CountStatesQueryVariables = Exact<{
  filter?: JobFilter | null | undefined;
}>;


export type CountStatesQuery = { jobCounts: { isExact: boolean, rows: Array<{ key: string | null, count: number }> } };

export type CountKeysQueryVariables = Exact<{
  by: JobCountBy;
  filter?: JobFilter | null | undefined;
  labelKey?: string | null | undefined;
  first: number;
}>;


export type CountKeysQuery = { jobCounts: { isExact: boolean, rows: Array<{ key: string | null, count: number, user: { id: string, name: string } | null, team: { id: string, name: string } | null, byState: Array<{ state: JobState, count: number }> }> } };

type Refused_ApprovalNotAllowedProblem_Fragment = { __typename: 'ApprovalNotAllowedProblem', message: string };

type Refused_CountMismatchProblem_Fragment = { __typename: 'CountMismatchProblem', message: string };

type Refused_ForbiddenProblem_Fragment = { __typename: 'ForbiddenProblem', message: string };

type Refused_IdempotencyConflictProblem_Fragment = { __typename: 'IdempotencyConflictProblem', message: string };

type Refused_InvalidInputProblem_Fragment = { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> };

type Refused_InvalidStateProblem_Fragment = { __typename: 'InvalidStateProblem', message: string };

type Refused_NotFoundProblem_Fragment = { __typename: 'NotFoundProblem', message: string };

type Refused_QuotaExceededProblem_Fragment = { __typename: 'QuotaExceededProblem', message: string };

type Refused_RejectedProblem_Fragment = { __typename: 'RejectedProblem', message: string };

type Refused_ReservationExpiredProblem_Fragment = { __typename: 'ReservationExpiredProblem', message: string };

type Refused_UnavailableProblem_Fragment = { __typename: 'UnavailableProblem', message: string };

type Refused_VersionConflictProblem_Fragment = { __typename: 'VersionConflictProblem', message: string };

export type RefusedFragment =
  | Refused_ApprovalNotAllowedProblem_Fragment
  | Refused_CountMismatchProblem_Fragment
  | Refused_ForbiddenProblem_Fragment
  | Refused_IdempotencyConflictProblem_Fragment
  | Refused_InvalidInputProblem_Fragment
  | Refused_InvalidStateProblem_Fragment
  | Refused_NotFoundProblem_Fragment
  | Refused_QuotaExceededProblem_Fragment
  | Refused_RejectedProblem_Fragment
  | Refused_ReservationExpiredProblem_Fragment
  | Refused_UnavailableProblem_Fragment
  | Refused_VersionConflictProblem_Fragment
;

export type CancelOneMutationVariables = Exact<{
  input: CancelJobInput;
}>;


export type CancelOneMutation = { cancelJob:
    | { __typename: 'CancelJobSuccess', changed: boolean, job: { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

type ShortRefusal_ApprovalNotAllowedProblem_Fragment = { __typename: 'ApprovalNotAllowedProblem', message: string };

type ShortRefusal_CountMismatchProblem_Fragment = { __typename: 'CountMismatchProblem', message: string };

type ShortRefusal_ForbiddenProblem_Fragment = { __typename: 'ForbiddenProblem', message: string };

type ShortRefusal_IdempotencyConflictProblem_Fragment = { __typename: 'IdempotencyConflictProblem', message: string };

type ShortRefusal_InvalidInputProblem_Fragment = { __typename: 'InvalidInputProblem', message: string };

type ShortRefusal_InvalidStateProblem_Fragment = { __typename: 'InvalidStateProblem', message: string };

type ShortRefusal_NotFoundProblem_Fragment = { __typename: 'NotFoundProblem', message: string };

type ShortRefusal_QuotaExceededProblem_Fragment = { __typename: 'QuotaExceededProblem', message: string };

type ShortRefusal_RejectedProblem_Fragment = { __typename: 'RejectedProblem', message: string };

type ShortRefusal_ReservationExpiredProblem_Fragment = { __typename: 'ReservationExpiredProblem', message: string };

type ShortRefusal_UnavailableProblem_Fragment = { __typename: 'UnavailableProblem', message: string };

type ShortRefusal_VersionConflictProblem_Fragment = { __typename: 'VersionConflictProblem', message: string };

export type ShortRefusalFragment =
  | ShortRefusal_ApprovalNotAllowedProblem_Fragment
  | ShortRefusal_CountMismatchProblem_Fragment
  | ShortRefusal_ForbiddenProblem_Fragment
  | ShortRefusal_IdempotencyConflictProblem_Fragment
  | ShortRefusal_InvalidInputProblem_Fragment
  | ShortRefusal_InvalidStateProblem_Fragment
  | ShortRefusal_NotFoundProblem_Fragment
  | ShortRefusal_QuotaExceededProblem_Fragment
  | ShortRefusal_RejectedProblem_Fragment
  | ShortRefusal_ReservationExpiredProblem_Fragment
  | ShortRefusal_UnavailableProblem_Fragment
  | ShortRefusal_VersionConflictProblem_Fragment
;

export type MismatchFragment = { actualCount: number };

export type CancelManyMutationVariables = Exact<{
  input: CancelJobsInput;
}>;


export type CancelManyMutation = { cancelJobs:
    | { __typename: 'CancelJobsSuccess', remaining: number, results: Array<{ jobId: string, result:
          | { __typename: 'CancelJobSuccess', changed: boolean }
          | { __typename: 'ForbiddenProblem', message: string }
          | { __typename: 'InvalidInputProblem', message: string }
          | { __typename: 'NotFoundProblem', message: string }
          | { __typename: 'UnavailableProblem', message: string }
          | { __typename: 'VersionConflictProblem', message: string }
         }> }
    | { __typename: 'CountMismatchProblem', actualCount: number, message: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type RetryManyMutationVariables = Exact<{
  input: RetryJobsInput;
}>;


export type RetryManyMutation = { retryJobs:
    | { __typename: 'CountMismatchProblem', actualCount: number, message: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string }
    | { __typename: 'RetryJobsSuccess', remaining: number, results: Array<{ jobId: string, result:
          | { __typename: 'ForbiddenProblem', message: string }
          | { __typename: 'IdempotencyConflictProblem', message: string }
          | { __typename: 'InvalidInputProblem', message: string }
          | { __typename: 'InvalidStateProblem', message: string }
          | { __typename: 'NotFoundProblem', message: string }
          | { __typename: 'QuotaExceededProblem', message: string }
          | { __typename: 'RejectedProblem', message: string }
          | { __typename: 'ReservationExpiredProblem', message: string }
          | { __typename: 'RetryJobSuccess', job: { id: string } }
          | { __typename: 'UnavailableProblem', message: string }
          | { __typename: 'VersionConflictProblem', message: string }
         }> }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type DeleteManyMutationVariables = Exact<{
  input: DeleteJobsInput;
}>;


export type DeleteManyMutation = { deleteJobs:
    | { __typename: 'CountMismatchProblem', actualCount: number, message: string }
    | { __typename: 'DeleteJobsSuccess', remaining: number, results: Array<{ jobId: string, result:
          | { __typename: 'DeleteJobSuccess', deletedId: string }
          | { __typename: 'ForbiddenProblem', message: string }
          | { __typename: 'InvalidStateProblem', message: string }
          | { __typename: 'NotFoundProblem', message: string }
          | { __typename: 'UnavailableProblem', message: string }
          | { __typename: 'VersionConflictProblem', message: string }
         }> }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type PrioritizeManyMutationVariables = Exact<{
  input: SetJobPrioritiesInput;
}>;


export type PrioritizeManyMutation = { setJobPriorities:
    | { __typename: 'CountMismatchProblem', actualCount: number, message: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string }
    | { __typename: 'SetJobPrioritiesSuccess', remaining: number, results: Array<{ jobId: string, result:
          | { __typename: 'ForbiddenProblem', message: string }
          | { __typename: 'InvalidInputProblem', message: string }
          | { __typename: 'InvalidStateProblem', message: string }
          | { __typename: 'NotFoundProblem', message: string }
          | { __typename: 'SetJobPrioritySuccess', job: { id: string } }
          | { __typename: 'UnavailableProblem', message: string }
          | { __typename: 'VersionConflictProblem', message: string }
         }> }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type RetryOneMutationVariables = Exact<{
  input: RetryJobInput;
}>;


export type RetryOneMutation = { retryJob:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'IdempotencyConflictProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'QuotaExceededProblem', message: string }
    | { __typename: 'RejectedProblem', message: string }
    | { __typename: 'ReservationExpiredProblem', message: string }
    | { __typename: 'RetryJobSuccess', job: { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null } }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type MakeDownloadMutationVariables = Exact<{
  input: CreateDownloadInput;
}>;


export type MakeDownloadMutation = { createDownload:
    | { __typename: 'CreateDownloadSuccess', url: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type JobsMovedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type JobsMovedSubscription = { workloadStatus: { id: string } };

export type LogRowFragment = { number: number, at: string, stream: LogStream, text: string, truncated: boolean };

export type LogGapRowFragment = { startOffset: number, endOffset: number, gapReason: LogGapReason, line: number | null };

export type LogSizeFragment = { logGaps: Array<{ startOffset: number, endOffset: number, gapReason: LogGapReason, line: number | null }>, runs: { nodes: Array<{ id: string, number: number, logBytes: number, logLines: number }> } };

export type LogStartQueryVariables = Exact<{
  id: string;
  run: number;
  lastLines: number;
  streams?: Array<LogStream> | LogStream | null | undefined;
}>;


export type LogStartQuery = { job: { id: string, logs: { cursor: string, isFinal: boolean, lines: Array<{ number: number, at: string, stream: LogStream, text: string, truncated: boolean }> } | null, logGaps: Array<{ startOffset: number, endOffset: number, gapReason: LogGapReason, line: number | null }>, runs: { nodes: Array<{ id: string, number: number, logBytes: number, logLines: number }> } } | null };

export type LogSizeQueryVariables = Exact<{
  id: string;
  run: number;
}>;


export type LogSizeQuery = { job: { id: string, logGaps: Array<{ startOffset: number, endOffset: number, gapReason: LogGapReason, line: number | null }>, runs: { nodes: Array<{ id: string, number: number, logBytes: number, logLines: number }> } } | null };

export type LogLinesQueryVariables = Exact<{
  id: string;
  run?: number | null | undefined;
  from?: LogStart | null | undefined;
  first?: number | null | undefined;
  streams?: Array<LogStream> | LogStream | null | undefined;
}>;


export type LogLinesQuery = { job: { id: string, logs: { cursor: string, isFinal: boolean, gaps: Array<{ startOffset: number, endOffset: number, gapReason: LogGapReason, line: number | null }>, lines: Array<{ number: number, at: string, stream: LogStream, text: string, truncated: boolean }> } | null } | null };

export type FindMomentQueryVariables = Exact<{
  id: string;
  run: number;
  at: string;
  streams?: Array<LogStream> | LogStream | null | undefined;
}>;


export type FindMomentQuery = { job: { id: string, logs: { firstLine: number | null } | null } | null };

export type LogTailSubscriptionVariables = Exact<{
  jobId: string;
  run?: number | null | undefined;
  after?: string | null | undefined;
  streams?: Array<LogStream> | LogStream | null | undefined;
}>;


export type LogTailSubscription = { tail:
    | { __typename: 'LogBatch', cursor: string, isFinal: boolean, lines: Array<{ number: number, at: string, stream: LogStream, text: string, truncated: boolean }> }
    | { __typename: 'LogGap', cursor: string, startOffset: number, endOffset: number, gapReason: LogGapReason, line: number | null }
    | { __typename: 'RunChanged', cursor: string, run: { id: string, number: number } }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', resetReason: StreamResetReason, cursor: string }
   };

export type SearchLogQueryVariables = Exact<{
  id: string;
  run: number;
  query: string;
  regex?: boolean | null | undefined;
  ignoreCase?: boolean | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
  streams?: Array<LogStream> | LogStream | null | undefined;
}>;


export type SearchLogQuery = { job: { id: string, logSearch: { cursor: string, isComplete: boolean, scannedBytes: number, matches: Array<{ line: number }> } | null } | null };

export type FindGroupsQueryVariables = Exact<{
  id: string;
  run: number;
  query: string;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type FindGroupsQuery = { job: { id: string, logSearch: { cursor: string, isComplete: boolean, matches: Array<{ line: number, text: string }> } | null } | null };

export type OverviewQueryVariables = Exact<{
  failed: JobFilter;
  ended: JobFilter;
}>;


export type OverviewQuery = { viewer: { id: string, pendingDecisions: number, workload: { runningCount: number, pendingCount: number, blockedCount: number } }, jobs: { nodes: Array<{ id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null }> }, failed: { isExact: boolean, rows: Array<{ key: string | null, count: number }> }, ended: { isExact: boolean, rows: Array<{ key: string | null, count: number }> }, pools: { nodes: Array<{ id: string, name: string, paused: boolean, policy: PoolPolicy, gpusByModel: Array<{ model: string, memoryBytes: number, count: number, allocated: number, byUser: Array<{ count: number, user: { id: string, name: string } }> }>, capacity: { cpu: number, memoryBytes: number, gpu: number }, used: { cpu: number, memoryBytes: number, gpu: number }, workload: { id: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, byReason: Array<{ code: PendingReasonCode, count: number }> }, leader: { renewedAt: string } | null }> } };

export type CountsFragment = { isExact: boolean, rows: Array<{ key: string | null, count: number }> };

export type DayJobFragment = { id: string, name: string | null, state: JobState, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { id: string, name: string }, pool: { id: string, name: string } };

export type DayJobsQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
  filter: JobFilter;
  orderBy: JobOrder;
}>;


export type DayJobsQuery = { jobs: { nodes: Array<{ id: string, name: string | null, state: JobState, createdAt: string, startedAt: string | null, finishedAt: string | null, user: { id: string, name: string }, pool: { id: string, name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type OpenApprovalsQueryVariables = Exact<{ [key: string]: never; }>;


export type OpenApprovalsQuery = { approvals: { nodes: Array<{ id: string, requestedAt: string, expiresAt: string }> } };

export type TroubledNodesQueryVariables = Exact<{ [key: string]: never; }>;


export type TroubledNodesQuery = { pools: { nodes: Array<{ id: string, name: string, nodes: { nodes: Array<{ id: string, name: string, state: PoolNodeState, stateInfo: string | null, backsOffUntil: string | null, backsOffBecause: string | null }> } }> } };

export type PoolHistoryQueryVariables = Exact<{
  from: string;
  bucketSeconds: number;
}>;


export type PoolHistoryQuery = { usage: Array<{ at: string, key: string | null, averageRunning: number, averageQueued: number, averageCpu: number, cpuCapacity: number, averageGpu: number, gpuCapacity: number }> | null };

export type AnyJobQueryVariables = Exact<{ [key: string]: never; }>;


export type AnyJobQuery = { jobs: { nodes: Array<{ id: string }> } };

export type RunFirstJobMutationVariables = Exact<{
  input: SubmitJobInput;
}>;


export type RunFirstJobMutation = { submitJob:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'IdempotencyConflictProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'QuotaExceededProblem', message: string }
    | { __typename: 'RejectedProblem', message: string }
    | { __typename: 'ReservationExpiredProblem', message: string }
    | { __typename: 'SubmitJobSuccess', job: { id: string } }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type UserItemFragment = { id: string, version: number, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, unixUser: string | null, allow: Array<Permission>, deny: Array<Permission>, permissions: Array<Permission>, identity: { issuer: string, subject: string } | null, defaultTeam: { id: string, name: string } | null, teams: Array<{ id: string, name: string }> };

export type ListUsersQueryVariables = Exact<{
  filter?: UserFilter | null | undefined;
  orderBy?: PeopleOrder | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListUsersQuery = { users: { nodes: Array<{ id: string, version: number, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, unixUser: string | null, allow: Array<Permission>, deny: Array<Permission>, permissions: Array<Permission>, identity: { issuer: string, subject: string } | null, defaultTeam: { id: string, name: string } | null, teams: Array<{ id: string, name: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type OneUserQueryVariables = Exact<{
  id: string;
}>;


export type OneUserQuery = { node:
    | { __typename: 'ApiToken' }
    | { __typename: 'Approval' }
    | { __typename: 'ApprovalRule' }
    | { __typename: 'Artifact' }
    | { __typename: 'AuditEntry' }
    | { __typename: 'CapacityReservation' }
    | { __typename: 'Gpu' }
    | { __typename: 'Hold' }
    | { __typename: 'Job' }
    | { __typename: 'JobEvent' }
    | { __typename: 'JobSession' }
    | { __typename: 'Limits' }
    | { __typename: 'Pool' }
    | { __typename: 'PoolNode' }
    | { __typename: 'Quota' }
    | { __typename: 'Run' }
    | { __typename: 'SavedView' }
    | { __typename: 'Secret' }
    | { __typename: 'ServerInfo' }
    | { __typename: 'SlotReservation' }
    | { __typename: 'Snapshot' }
    | { __typename: 'SubmissionQueue' }
    | { __typename: 'System' }
    | { __typename: 'Team' }
    | { __typename: 'User', id: string, version: number, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, unixUser: string | null, allow: Array<Permission>, deny: Array<Permission>, permissions: Array<Permission>, identity: { issuer: string, subject: string } | null, defaultTeam: { id: string, name: string } | null, teams: Array<{ id: string, name: string }> }
    | { __typename: 'Viewer' }
    | { __typename: 'Webhook' }
    | { __typename: 'WebhookDelivery' }
    | { __typename: 'Workload' }
   | null };

export type CountJobsQueryVariables = Exact<{
  by: JobCountBy;
  filter?: JobFilter | null | undefined;
  first?: number | null | undefined;
}>;


export type CountJobsQuery = { jobCounts: { rows: Array<{ key: string | null, count: number, byState: Array<{ state: JobState, count: number }> }> } };

export type TeamItemFragment = { id: string, version: number, name: string, account: string, createdAt: string, members: { nodes: Array<{ id: string, name: string, displayName: string | null, level: UserLevel }>, pageInfo: { hasNextPage: boolean } } };

export type ListTeamsQueryVariables = Exact<{
  filter?: TeamFilter | null | undefined;
  orderBy?: PeopleOrder | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListTeamsQuery = { teams: { nodes: Array<{ id: string, version: number, name: string, account: string, createdAt: string, members: { nodes: Array<{ id: string, name: string, displayName: string | null, level: UserLevel }>, pageInfo: { hasNextPage: boolean } } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type OneTeamQueryVariables = Exact<{
  id: string;
}>;


export type OneTeamQuery = { node:
    | { __typename: 'ApiToken' }
    | { __typename: 'Approval' }
    | { __typename: 'ApprovalRule' }
    | { __typename: 'Artifact' }
    | { __typename: 'AuditEntry' }
    | { __typename: 'CapacityReservation' }
    | { __typename: 'Gpu' }
    | { __typename: 'Hold' }
    | { __typename: 'Job' }
    | { __typename: 'JobEvent' }
    | { __typename: 'JobSession' }
    | { __typename: 'Limits' }
    | { __typename: 'Pool' }
    | { __typename: 'PoolNode' }
    | { __typename: 'Quota' }
    | { __typename: 'Run' }
    | { __typename: 'SavedView' }
    | { __typename: 'Secret' }
    | { __typename: 'ServerInfo' }
    | { __typename: 'SlotReservation' }
    | { __typename: 'Snapshot' }
    | { __typename: 'SubmissionQueue' }
    | { __typename: 'System' }
    | { __typename: 'Team', id: string, version: number, name: string, account: string, createdAt: string, members: { nodes: Array<{ id: string, name: string, displayName: string | null, level: UserLevel }>, pageInfo: { hasNextPage: boolean } } }
    | { __typename: 'User' }
    | { __typename: 'Viewer' }
    | { __typename: 'Webhook' }
    | { __typename: 'WebhookDelivery' }
    | { __typename: 'Workload' }
   | null };

export type TeamNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type TeamNamesQuery = { teams: { nodes: Array<{ id: string, name: string }> } };

export type FindUsersQueryVariables = Exact<{
  filter?: UserFilter | null | undefined;
  first?: number | null | undefined;
}>;


export type FindUsersQuery = { users: { nodes: Array<{ id: string, name: string, displayName: string | null }> } };

export type TokenItemFragment = { id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { id: string, name: string, disabled: boolean } };

export type ListTokensQueryVariables = Exact<{
  userId?: string | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListTokensQuery = { tokens: { nodes: Array<{ id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { id: string, name: string, disabled: boolean } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type MakeUserMutationVariables = Exact<{
  input: CreateUserInput;
}>;


export type MakeUserMutation = { createUser:
    | { __typename: 'CreateUserSuccess', user: { id: string, name: string } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type ChangeUserMutationVariables = Exact<{
  input: UpdateUserInput;
}>;


export type ChangeUserMutation = { updateUser:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'UpdateUserSuccess', user: { id: string, name: string } }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type DisableUserMutationVariables = Exact<{
  input: DisableUserInput;
}>;


export type DisableUserMutation = { disableUser:
    | { __typename: 'DisableUserSuccess', user: { id: string, name: string } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type MakeTeamMutationVariables = Exact<{
  input: CreateTeamInput;
}>;


export type MakeTeamMutation = { createTeam:
    | { __typename: 'CreateTeamSuccess', team: { id: string, name: string } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type ChangeTeamMutationVariables = Exact<{
  input: UpdateTeamInput;
}>;


export type ChangeTeamMutation = { updateTeam:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'UpdateTeamSuccess', team: { id: string, name: string } }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type RemoveTeamMutationVariables = Exact<{
  input: DeleteTeamInput;
}>;


export type RemoveTeamMutation = { deleteTeam:
    | { __typename: 'DeleteTeamSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type MakeTokenMutationVariables = Exact<{
  input: CreateTokenInput;
}>;


export type MakeTokenMutation = { createToken:
    | { __typename: 'CreateTokenSuccess', secret: string, token: { id: string, name: string } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type EndTokenMutationVariables = Exact<{
  input: RevokeTokenInput;
}>;


export type EndTokenMutation = { revokeToken:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'RevokeTokenSuccess', token: { id: string, revokedAt: string | null } }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type PoolLimitsFragment = { id: string, version: number, maxConcurrent: number | null, userMaxConcurrent: number | null, enableFairShare: boolean, teamMaxConcurrent: number | null, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number | null, scopes: Array<{ gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number, scope: { kind: ScopeKind, name: string | null } }> };

export type PoolLimitsNowQueryVariables = Exact<{
  pool: string;
}>;


export type PoolLimitsNowQuery = { pool: { id: string, name: string, policy: PoolPolicy, used: { gpu: number }, limits: { id: string, version: number, maxConcurrent: number | null, userMaxConcurrent: number | null, enableFairShare: boolean, teamMaxConcurrent: number | null, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number | null, scopes: Array<{ gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number, scope: { kind: ScopeKind, name: string | null } }> }, workload: { id: string, running: number, depth: number, blocked: number } } | null };

export type PoolNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type PoolNamesQuery = { pools: { nodes: Array<{ id: string, name: string }> } };

export type ChangeLimitsMutationVariables = Exact<{
  input: UpdateLimitsInput;
}>;


export type ChangeLimitsMutation = { updateLimits:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'UpdateLimitsSuccess', limits: { id: string, version: number } }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type ChangeScopeLimitMutationVariables = Exact<{
  input: SetScopeLimitInput;
}>;


export type ChangeScopeLimitMutation = { setScopeLimit:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'SetScopeLimitSuccess', limits: { id: string, version: number } }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type QuotaItemFragment = { id: string, version: number, type: QuotaType, action: QuotaAction, limit: number, createdAt: string, scope: { kind: ScopeKind, name: string | null, user: { id: string } | null, team: { id: string } | null } };

export type ListQuotasQueryVariables = Exact<{
  filter?: QuotaFilter | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListQuotasQuery = { quotas: { nodes: Array<{ id: string, version: number, type: QuotaType, action: QuotaAction, limit: number, createdAt: string, scope: { kind: ScopeKind, name: string | null, user: { id: string } | null, team: { id: string } | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type OneQuotaQueryVariables = Exact<{
  id: string;
}>;


export type OneQuotaQuery = { node:
    | { __typename: 'ApiToken' }
    | { __typename: 'Approval' }
    | { __typename: 'ApprovalRule' }
    | { __typename: 'Artifact' }
    | { __typename: 'AuditEntry' }
    | { __typename: 'CapacityReservation' }
    | { __typename: 'Gpu' }
    | { __typename: 'Hold' }
    | { __typename: 'Job' }
    | { __typename: 'JobEvent' }
    | { __typename: 'JobSession' }
    | { __typename: 'Limits' }
    | { __typename: 'Pool' }
    | { __typename: 'PoolNode' }
    | { __typename: 'Quota', id: string, version: number, type: QuotaType, action: QuotaAction, limit: number, createdAt: string, scope: { kind: ScopeKind, name: string | null, user: { id: string } | null, team: { id: string } | null } }
    | { __typename: 'Run' }
    | { __typename: 'SavedView' }
    | { __typename: 'Secret' }
    | { __typename: 'ServerInfo' }
    | { __typename: 'SlotReservation' }
    | { __typename: 'Snapshot' }
    | { __typename: 'SubmissionQueue' }
    | { __typename: 'System' }
    | { __typename: 'Team' }
    | { __typename: 'User' }
    | { __typename: 'Viewer' }
    | { __typename: 'Webhook' }
    | { __typename: 'WebhookDelivery' }
    | { __typename: 'Workload' }
   | null };

export type OwnQuotasQueryVariables = Exact<{ [key: string]: never; }>;


export type OwnQuotasQuery = { viewer: { id: string, quotas: Array<{ type: QuotaType, action: QuotaAction, limit: number, used: number, scope: { kind: ScopeKind, name: string | null } }> } };

export type MakeQuotaMutationVariables = Exact<{
  input: CreateQuotaInput;
}>;


export type MakeQuotaMutation = { createQuota:
    | { __typename: 'CreateQuotaSuccess', quota: { id: string } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type ChangeQuotaMutationVariables = Exact<{
  input: UpdateQuotaInput;
}>;


export type ChangeQuotaMutation = { updateQuota:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'UpdateQuotaSuccess', quota: { id: string } }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type RemoveQuotaMutationVariables = Exact<{
  input: DeleteQuotaInput;
}>;


export type RemoveQuotaMutation = { deleteQuota:
    | { __typename: 'DeleteQuotaSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type RuleItemFragment = { id: string, version: number, name: string, priority: number, enabled: boolean, requiredLevel: UserLevel, exemptLevels: Array<UserLevel>, expiresAfterSeconds: number, condition: { costAbove: number | null, executor: Executor | null, firstJob: boolean | null, hardware: string | null, jobsPerDayAbove: number | null, levelNotIn: Array<UserLevel> | null, name: string | null } };

export type ListRulesQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListRulesQuery = { approvalRules: { nodes: Array<{ id: string, version: number, name: string, priority: number, enabled: boolean, requiredLevel: UserLevel, exemptLevels: Array<UserLevel>, expiresAfterSeconds: number, condition: { costAbove: number | null, executor: Executor | null, firstJob: boolean | null, hardware: string | null, jobsPerDayAbove: number | null, levelNotIn: Array<UserLevel> | null, name: string | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type OneRuleQueryVariables = Exact<{
  id: string;
}>;


export type OneRuleQuery = { node:
    | { __typename: 'ApiToken' }
    | { __typename: 'Approval' }
    | { __typename: 'ApprovalRule', id: string, version: number, name: string, priority: number, enabled: boolean, requiredLevel: UserLevel, exemptLevels: Array<UserLevel>, expiresAfterSeconds: number, condition: { costAbove: number | null, executor: Executor | null, firstJob: boolean | null, hardware: string | null, jobsPerDayAbove: number | null, levelNotIn: Array<UserLevel> | null, name: string | null } }
    | { __typename: 'Artifact' }
    | { __typename: 'AuditEntry' }
    | { __typename: 'CapacityReservation' }
    | { __typename: 'Gpu' }
    | { __typename: 'Hold' }
    | { __typename: 'Job' }
    | { __typename: 'JobEvent' }
    | { __typename: 'JobSession' }
    | { __typename: 'Limits' }
    | { __typename: 'Pool' }
    | { __typename: 'PoolNode' }
    | { __typename: 'Quota' }
    | { __typename: 'Run' }
    | { __typename: 'SavedView' }
    | { __typename: 'Secret' }
    | { __typename: 'ServerInfo' }
    | { __typename: 'SlotReservation' }
    | { __typename: 'Snapshot' }
    | { __typename: 'SubmissionQueue' }
    | { __typename: 'System' }
    | { __typename: 'Team' }
    | { __typename: 'User' }
    | { __typename: 'Viewer' }
    | { __typename: 'Webhook' }
    | { __typename: 'WebhookDelivery' }
    | { __typename: 'Workload' }
   | null };

export type PreviewRuleQueryVariables = Exact<{
  input: PreviewApprovalRuleInput;
}>;


export type PreviewRuleQuery = { previewApprovalRule:
    | { __typename: 'ApprovalRulePreview', consideredCount: number, matchedCount: number, jobs: Array<{ id: string, name: string | null, state: JobState, user: { id: string, name: string } }> }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type PendingOfRuleQueryVariables = Exact<{
  rule: string;
}>;


export type PendingOfRuleQuery = { approvals: { nodes: Array<{ id: string }>, pageInfo: { hasNextPage: boolean } } };

export type MakeRuleMutationVariables = Exact<{
  input: CreateApprovalRuleInput;
}>;


export type MakeRuleMutation = { createApprovalRule:
    | { __typename: 'CreateApprovalRuleSuccess', rule: { id: string } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type ChangeRuleMutationVariables = Exact<{
  input: UpdateApprovalRuleInput;
}>;


export type ChangeRuleMutation = { updateApprovalRule:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'UpdateApprovalRuleSuccess', rule: { id: string, enabled: boolean } }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type RemoveRuleMutationVariables = Exact<{
  input: DeleteApprovalRuleInput;
}>;


export type RemoveRuleMutation = { deleteApprovalRule:
    | { __typename: 'DeleteApprovalRuleSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type ListReservationsQueryVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListReservationsQuery = { capacityReservations: { nodes: Array<{ id: string, name: string, project: string, startsAt: string, endsAt: string, hard: boolean, nativeId: string | null, pool: { id: string, name: string }, nodes: Array<{ id: string, name: string, state: PoolNodeState, capacity: { cpu: number, gpu: number, memoryBytes: number } }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type NodesOfPoolsQueryVariables = Exact<{ [key: string]: never; }>;


export type NodesOfPoolsQuery = { pools: { nodes: Array<{ id: string, name: string, nodes: { nodes: Array<{ id: string, name: string, state: PoolNodeState, capacity: { cpu: number, gpu: number, memoryBytes: number } }> } }> } };

export type MakeReservationMutationVariables = Exact<{
  input: CreateCapacityReservationInput;
}>;


export type MakeReservationMutation = { createCapacityReservation:
    | { __typename: 'CreateCapacityReservationSuccess', capacityReservation: { id: string } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type RemoveReservationMutationVariables = Exact<{
  input: DeleteCapacityReservationInput;
}>;


export type RemoveReservationMutation = { deleteCapacityReservation:
    | { __typename: 'DeleteCapacityReservationSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type SecretItemFragment = { id: string, name: string, createdAt: string, updatedAt: string, lastUsedAt: string | null, ownedBy: { id: string, name: string } | null, team: { id: string, name: string } | null, setBy: { id: string, name: string } | null };

export type ListSecretsQueryVariables = Exact<{
  teamId?: string | null | undefined;
  after?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type ListSecretsQuery = { secrets: { nodes: Array<{ id: string, name: string, createdAt: string, updatedAt: string, lastUsedAt: string | null, ownedBy: { id: string, name: string } | null, team: { id: string, name: string } | null, setBy: { id: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type SecretTeamsQueryVariables = Exact<{ [key: string]: never; }>;


export type SecretTeamsQuery = { viewer: { id: string, user: { id: string, teams: Array<{ id: string, name: string }> } }, teams: { nodes: Array<{ id: string, name: string }> } };

export type SaveSecretMutationVariables = Exact<{
  input: SetSecretInput;
}>;


export type SaveSecretMutation = { setSecret:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'SetSecretSuccess', secret: { id: string, name: string, createdAt: string, updatedAt: string, lastUsedAt: string | null, ownedBy: { id: string, name: string } | null, team: { id: string, name: string } | null, setBy: { id: string, name: string } | null } }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type RemoveSecretMutationVariables = Exact<{
  input: DeleteSecretInput;
}>;


export type RemoveSecretMutation = { deleteSecret:
    | { __typename: 'DeleteSecretSuccess' }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type ServerFactsQueryVariables = Exact<{ [key: string]: never; }>;


export type ServerFactsQuery = { serverInfo: { id: string, title: string, accent: string | null, release: string, singleUser: boolean, oidcIssuer: string | null, oidcClientId: string | null, oidcScopes: Array<string>, at: string } };

export type ViewerFactsQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerFactsQuery = { serverInfo: { id: string, jobsHost: string | null, links: Array<{ title: string, url: string, on: LinkTarget }> }, viewer: { id: string, permissions: Array<Permission>, scopes: Array<TokenScope>, pendingDecisions: number, user: { id: string, name: string, displayName: string | null, level: UserLevel } } };

export type FindTeamsQueryVariables = Exact<{
  first?: number | null | undefined;
  filter?: TeamFilter | null | undefined;
}>;


export type FindTeamsQuery = { teams: { nodes: Array<{ id: string, name: string }> } };

export type WholeSpecFragment = { name: string | null, command: Array<string> | null, executable: string | null, arguments: Array<string> | null, handler: string | null, input: Record<string, unknown> | null, image: string | null, snapshot: string | null, workdir: string | null, queue: string, executor: Executor, maxRunTimeSeconds: number | null, durationSeconds: number | null, notBefore: string | null, onDependencyFailure: OnDependencyFailure, interactive: boolean, preemptable: boolean, restartable: boolean, resumable: boolean, inheritEnvironment: boolean, launcher: string, preLaunch: string | null, postLaunch: string | null, stdinPath: string | null, stdoutPath: string | null, stderrPath: string | null, data: Array<string>, pull: ImagePull | null, networkIsolation: NetworkIsolation | null, team: string | null, project: string | null, account: string, capacityReservationId: string | null, bid: number | null, estimatedCost: number | null, customAttributes: Record<string, unknown> | null, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, gpuTensorCores: boolean | null, cudaVersion: string | null, gpuIds: Array<number> | null, anyGpu: boolean, cpuModel: Array<string>, infiniband: boolean, replicas: number, replicaMasterPort: number | null, nodeCount: number | null, processCount: number | null, processesPerNode: number | null, cpuCoresPerProcess: number | null, gpuCoresPerProcess: number | null, exclusiveNodeUse: boolean }, dependsOn: Array<{ jobId: string, on: DependencyOn }>, retry: { maxAttempts: number, onExitCodes: Array<number> | null } | null, environment: Array<{ name: string, value: string }>, labels: Array<{ key: string, value: string }>, internalDns: { name: string, ports: Array<{ port: number, targetPort: number, protocol: NetworkProtocol }> } | null, x11: { gpu: boolean } | null };

export type SubmitChoicesQueryVariables = Exact<{ [key: string]: never; }>;


export type SubmitChoicesQuery = { submissionQueues: Array<{ id: string, name: string, isDefault: boolean, pool: { id: string, name: string } | null }>, system: { id: string, gpuModels: Array<string>, executors: Array<{ name: Executor, launchers: Array<string>, specFields: Array<string>, pool: { id: string, name: string } }> }, viewer: { id: string, user: { id: string, teams: Array<{ id: string, name: string }> } } };

export type SpecToEditQueryVariables = Exact<{
  id: string;
}>;


export type SpecToEditQuery = { job: { id: string, name: string | null, state: JobState, user: { id: string }, spec: { name: string | null, command: Array<string> | null, executable: string | null, arguments: Array<string> | null, handler: string | null, input: Record<string, unknown> | null, image: string | null, snapshot: string | null, workdir: string | null, queue: string, executor: Executor, maxRunTimeSeconds: number | null, durationSeconds: number | null, notBefore: string | null, onDependencyFailure: OnDependencyFailure, interactive: boolean, preemptable: boolean, restartable: boolean, resumable: boolean, inheritEnvironment: boolean, launcher: string, preLaunch: string | null, postLaunch: string | null, stdinPath: string | null, stdoutPath: string | null, stderrPath: string | null, data: Array<string>, pull: ImagePull | null, networkIsolation: NetworkIsolation | null, team: string | null, project: string | null, account: string, capacityReservationId: string | null, bid: number | null, estimatedCost: number | null, customAttributes: Record<string, unknown> | null, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, gpuTensorCores: boolean | null, cudaVersion: string | null, gpuIds: Array<number> | null, anyGpu: boolean, cpuModel: Array<string>, infiniband: boolean, replicas: number, replicaMasterPort: number | null, nodeCount: number | null, processCount: number | null, processesPerNode: number | null, cpuCoresPerProcess: number | null, gpuCoresPerProcess: number | null, exclusiveNodeUse: boolean }, dependsOn: Array<{ jobId: string, on: DependencyOn }>, retry: { maxAttempts: number, onExitCodes: Array<number> | null } | null, environment: Array<{ name: string, value: string }>, labels: Array<{ key: string, value: string }>, internalDns: { name: string, ports: Array<{ port: number, targetPort: number, protocol: NetworkProtocol }> } | null, x11: { gpu: boolean } | null } | null } | null };

export type DryRunQueryVariables = Exact<{
  input: PreviewJobInput;
}>;


export type DryRunQuery = { previewJob:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'IdempotencyConflictProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', message: string }
    | { __typename: 'JobPreview', wouldBe: JobState, nodeNames: Array<string>, gpuIds: Array<number>, position: number | null, warnings: Array<string>, preemptedCount: number, cost: { amount: number, currency: string | null } | null, reasons: Array<{ message: string }>, estimatedStart: { p90: string | null, earliest: string | null, latest: string | null, message: string } | null, fit: { couldEverFit: boolean, missing: Array<string> } | null, approval: { requiredLevel: UserLevel, rule: { id: string, name: string } | null } | null, quotas: Array<{ type: QuotaType, action: QuotaAction, limit: number, used: number, usedAfter: number | null, scope: { kind: ScopeKind, name: string | null } }>, preempts: Array<{ id: string, name: string | null }>, idempotentJob: { id: string, name: string | null } | null, spec: { executor: Executor, maxRunTimeSeconds: number | null, resources: { cpu: number, memoryBytes: number, gpu: number, replicas: number } } }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'QuotaExceededProblem', message: string }
    | { __typename: 'RejectedProblem', message: string }
    | { __typename: 'ReservationExpiredProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type SubmitOneMutationVariables = Exact<{
  input: SubmitJobInput;
}>;


export type SubmitOneMutation = { submitJob:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'IdempotencyConflictProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'QuotaExceededProblem', message: string }
    | { __typename: 'RejectedProblem', message: string }
    | { __typename: 'ReservationExpiredProblem', message: string }
    | { __typename: 'SubmitJobSuccess', idempotentHit: boolean, warnings: Array<string>, job: { id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null } }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type SubmitManyMutationVariables = Exact<{
  input: SubmitJobsInput;
}>;


export type SubmitManyMutation = { submitJobs:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'SubmitJobsSuccess', results: Array<
        | { __typename: 'ForbiddenProblem', message: string }
        | { __typename: 'IdempotencyConflictProblem', message: string }
        | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
        | { __typename: 'QuotaExceededProblem', message: string }
        | { __typename: 'RejectedProblem', message: string }
        | { __typename: 'ReservationExpiredProblem', message: string }
        | { __typename: 'SubmitJobSuccess', idempotentHit: boolean, job: { id: string } }
        | { __typename: 'UnavailableProblem', message: string }
      > }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type PoolUsageQueryVariables = Exact<{
  pool?: string | null | undefined;
  from: string;
  to?: string | null | undefined;
  bucketSeconds: number;
  by: UsageBy;
}>;


export type PoolUsageQuery = { usage: Array<{ at: string, key: string | null, averageRunning: number, averageQueued: number, averageBlocked: number, averageCpu: number, cpuCapacity: number, averageGpu: number, gpuCapacity: number, cpuSeconds: number, gpuSeconds: number, started: number, finished: number, failed: number, waitP50Seconds: number | null, waitP95Seconds: number | null, user: { id: string, name: string } | null, team: { id: string, name: string } | null, cost: { amount: number, currency: string | null } | null }> | null };

export type ViewRowFragment = { id: string, version: number, name: string, page: string, search: string, visibility: ViewVisibility, pinned: boolean, editable: boolean, owner: { id: string, name: string }, team: { id: string, name: string } | null };

export type ListViewsQueryVariables = Exact<{ [key: string]: never; }>;


export type ListViewsQuery = { savedViews: Array<{ id: string, version: number, name: string, page: string, search: string, visibility: ViewVisibility, pinned: boolean, editable: boolean, owner: { id: string, name: string }, team: { id: string, name: string } | null }>, viewer: { id: string, user: { id: string, teams: Array<{ id: string, name: string }> } } };

export type KeepViewMutationVariables = Exact<{
  input: SaveViewInput;
}>;


export type KeepViewMutation = { saveView:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'SaveViewSuccess', savedView: { id: string } }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type DropViewMutationVariables = Exact<{
  input: DeleteViewInput;
}>;


export type DropViewMutation = { deleteView:
    | { __typename: 'DeleteViewSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
    | { __typename: 'VersionConflictProblem', message: string }
   };

export type WebhookItemFragment = { id: string, name: string, target: string, eventTypes: Array<WebhookEventType>, disabledAt: string | null, disabledReason: string | null, unread: number, pending: number, pendingSince: string | null, dead: number };

export type ListWebhooksQueryVariables = Exact<{ [key: string]: never; }>;


export type ListWebhooksQuery = { webhooks: Array<{ id: string, name: string, target: string, eventTypes: Array<WebhookEventType>, disabledAt: string | null, disabledReason: string | null, unread: number, pending: number, pendingSince: string | null, dead: number }> };

export type SendTestEventMutationVariables = Exact<{
  input: TestWebhookInput;
}>;


export type SendTestEventMutation = { testWebhook:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'TestWebhookSuccess', delivery: { id: string } }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type ReadTestEventQueryVariables = Exact<{
  id: string;
}>;


export type ReadTestEventQuery = { node:
    | { __typename: 'ApiToken' }
    | { __typename: 'Approval' }
    | { __typename: 'ApprovalRule' }
    | { __typename: 'Artifact' }
    | { __typename: 'AuditEntry' }
    | { __typename: 'CapacityReservation' }
    | { __typename: 'Gpu' }
    | { __typename: 'Hold' }
    | { __typename: 'Job' }
    | { __typename: 'JobEvent' }
    | { __typename: 'JobSession' }
    | { __typename: 'Limits' }
    | { __typename: 'Pool' }
    | { __typename: 'PoolNode' }
    | { __typename: 'Quota' }
    | { __typename: 'Run' }
    | { __typename: 'SavedView' }
    | { __typename: 'Secret' }
    | { __typename: 'ServerInfo' }
    | { __typename: 'SlotReservation' }
    | { __typename: 'Snapshot' }
    | { __typename: 'SubmissionQueue' }
    | { __typename: 'System' }
    | { __typename: 'Team' }
    | { __typename: 'User' }
    | { __typename: 'Viewer' }
    | { __typename: 'Webhook' }
    | { __typename: 'WebhookDelivery', id: string, state: WebhookDeliveryState, error: string | null }
    | { __typename: 'Workload' }
   | null };

export type ResendDeliveriesMutationVariables = Exact<{
  input: ResendWebhookDeliveriesInput;
}>;


export type ResendDeliveriesMutation = { resendWebhookDeliveries:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'InvalidInputProblem', message: string, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'ResendWebhookDeliveriesSuccess', count: number }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type TurnWebhookOnMutationVariables = Exact<{
  input: EnableWebhookInput;
}>;


export type TurnWebhookOnMutation = { enableWebhook:
    | { __typename: 'EnableWebhookSuccess', webhook: { id: string, name: string, target: string, eventTypes: Array<WebhookEventType>, disabledAt: string | null, disabledReason: string | null, unread: number, pending: number, pendingSince: string | null, dead: number } }
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type WorkloadPanelFragment = { id: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, byState: Array<{ state: JobState, count: number }>, byUser: Array<{ count: number, user: { id: string, name: string } }>, byReason: Array<{ code: PendingReasonCode, count: number }>, pool: { id: string, name: string, paused: boolean, policy: PoolPolicy, used: { gpu: number }, capacity: { gpu: number }, leader: { renewedAt: string } | null, limits: { id: string, version: number, maxConcurrent: number | null, userMaxConcurrent: number | null, enableFairShare: boolean, teamMaxConcurrent: number | null, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number | null, scopes: Array<{ gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number, scope: { kind: ScopeKind, name: string | null } }> }, holds: Array<{ id: string, since: string, expectedAt: string | null, job: { id: string, name: string | null } | null, nodes: Array<{ id: string, name: string }> }> } };

export type WorkloadChangesSubscriptionVariables = Exact<{
  pool?: string | null | undefined;
}>;


export type WorkloadChangesSubscription = { workloadStatus: { id: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, byState: Array<{ state: JobState, count: number }>, byUser: Array<{ count: number, user: { id: string, name: string } }>, byReason: Array<{ code: PendingReasonCode, count: number }>, pool: { id: string, name: string, paused: boolean, policy: PoolPolicy, used: { gpu: number }, capacity: { gpu: number }, leader: { renewedAt: string } | null, limits: { id: string, version: number, maxConcurrent: number | null, userMaxConcurrent: number | null, enableFairShare: boolean, teamMaxConcurrent: number | null, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number | null, scopes: Array<{ gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number, scope: { kind: ScopeKind, name: string | null } }> }, holds: Array<{ id: string, since: string, expectedAt: string | null, job: { id: string, name: string | null } | null, nodes: Array<{ id: string, name: string }> }> } } };

export type WorkloadLineQueryVariables = Exact<{
  pool: string;
  first: number;
  after?: string | null | undefined;
}>;


export type WorkloadLineQuery = { pool: { id: string, workload: { id: string, entries: { nodes: Array<{ id: string, version: number, name: string | null, state: JobState, stateCategory: StateCategory, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, attempt: number, executor: Executor, project: string | null, position: number | null, priority: number | null, basePriority: number, priorityOverride: number | null, allowedActions: Array<JobAction>, maxRunTimeSeconds: number | null, createdAt: string, eligibleAt: string | null, startedAt: string | null, finishedAt: string | null, labels: Array<{ key: string, value: string }>, user: { id: string, name: string }, pool: { id: string, name: string }, resources: { cpu: number, memoryBytes: number, gpu: number, gpuModel: Array<string>, gpuMemoryBytes: number | null, replicas: number } | null, cost: { amount: number, currency: string | null } | null, progress: { fraction: number | null, message: string | null, at: string } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } } | null };

export type MyWorkloadQueryVariables = Exact<{ [key: string]: never; }>;


export type MyWorkloadQuery = { viewer: { id: string, workload: { pendingCount: number, runningCount: number, blockedCount: number, bestPosition: number | null } } };

export type PoolReservationsQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type PoolReservationsQuery = { capacityReservations: { nodes: Array<{ id: string, name: string, project: string, startsAt: string, endsAt: string, pool: { id: string, name: string }, nodes: Array<{ id: string, name: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ProcessPoolMutationVariables = Exact<{
  input: PlanPoolsInput;
}>;


export type ProcessPoolMutation = { planPools:
    | { __typename: 'ForbiddenProblem', message: string }
    | { __typename: 'NotFoundProblem', message: string }
    | { __typename: 'PlanPoolsSuccess', considered: number, started: number, preempted: number }
    | { __typename: 'UnavailableProblem', message: string }
   };

export type PoolSharesQueryVariables = Exact<{
  pool: string;
}>;


export type PoolSharesQuery = { pool: { id: string, accounts: Array<{ account: string, occupancy: number, decayedUse: number | null, share: number, weight: number, running: number, queued: number }> } | null };

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
export const ApprovalRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment ApprovalRow on Approval {
  id
  status
  reason
  rule {
    id
    name
  }
  requiredLevel
  requestedAt
  expiresAt
  decidedAt
  decidable
  comment
  requestedBy {
    id
    name
    displayName
  }
  decidedBy {
    id
    name
  }
  job {
    id
    version
    name
    state
    account
    maxAttempts
    maxRunTimeSeconds
    estimatedCost
    pool {
      id
      name
      rates {
        cpuHour
        gpuHour
        currency
      }
    }
    queue {
      id
      name
    }
    resources {
      cpu
      memoryBytes
      gpu
      gpuModel
      replicas
      processCount
      nodeCount
      exclusiveNodeUse
    }
  }
}
    `, {"fragmentName":"ApprovalRow"}) as unknown as TypedDocumentString<ApprovalRowFragment, unknown>;
export const AuditItemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment AuditItem on AuditEntry {
  id
  seq
  at
  operation
  actorName
  actor {
    id
    name
  }
  objectId
  ip
  token
  requestId
  hash
  detail
}
    `, {"fragmentName":"AuditItem"}) as unknown as TypedDocumentString<AuditItemFragment, unknown>;
export const MapNodeFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment MapNode on PoolNode {
  id
  name
  state
  stateInfo
  stateAt
  version
  backsOffUntil
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
  gpus {
    id
    index
    model
    memoryBytes
    allocated
    job {
      id
      name
      state
      account
    }
    run {
      id
      startedAt
    }
  }
}
    `, {"fragmentName":"MapNode"}) as unknown as TypedDocumentString<MapNodeFragment, unknown>;
export const MachineFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment Machine on NodeMachine {
  address
  engine
  latencySeconds
  silentSince
  silence
  troubles
}
    `, {"fragmentName":"Machine"}) as unknown as TypedDocumentString<MachineFragment, unknown>;
export const EventRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment EventRow on JobEvent {
  id
  seq
  at
  type
  to
  stateReason
  message
  exitCode
  runNumber
  actor {
    name
  }
}
    `, {"fragmentName":"EventRow"}) as unknown as TypedDocumentString<EventRowFragment, unknown>;
export const ListRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}
    `, {"fragmentName":"ListRow"}) as unknown as TypedDocumentString<ListRowFragment, unknown>;
export const RunRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment RunRow on Run {
  id
  number
  createdAt
  scheduledAt
  startedAt
  finishedAt
  logLines
}
    `, {"fragmentName":"RunRow"}) as unknown as TypedDocumentString<RunRowFragment, unknown>;
export const PageJobFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment PageJob on Job {
  ...ListRow
  maxAttempts
  queuedAt
  artifacts(first: 1) {
    totalCount
  }
  dependents(first: 1) {
    totalCount
  }
  retryOf {
    id
    name
  }
  snapshot {
    id
    files
    bytes
    commit
    branch
    changedFiles
  }
  capacityReservation {
    id
    name
  }
  dependencies {
    job {
      id
      name
      state
    }
  }
  approval {
    id
    status
    reason
    requiredLevel
    expiresAt
    decidedBy {
      id
      name
    }
  }
  currentRun {
    id
    metrics {
      name
      last {
        step
        value
      }
    }
  }
  runs(last: 50) {
    nodes {
      ...RunRow
    }
  }
  scheduling {
    jobsAhead
    positionIsExact
    lastConsideredAt
    reasons {
      code
      message
      job {
        id
        name
      }
    }
    gates {
      code
      open
      opensAt
      job {
        id
        name
        state
      }
    }
    fit {
      couldEverFit
      missing
    }
    hold {
      id
      waitingForVictims
      nodes {
        id
        name
      }
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
      message
    }
  }
}
    fragment RunRow on Run {
  id
  number
  createdAt
  scheduledAt
  startedAt
  finishedAt
  logLines
}
fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}`, {"fragmentName":"PageJob"}) as unknown as TypedDocumentString<PageJobFragment, unknown>;
export const MetricSeriesFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment MetricSeries on Metric {
  name
  last {
    step
    value
  }
  points(points: $points) {
    step
    value
    at
  }
}
    `, {"fragmentName":"MetricSeries"}) as unknown as TypedDocumentString<MetricSeriesFragment, unknown>;
export const ArtifactRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment ArtifactRow on Artifact {
  id
  name
  kind
  mediaType
  sizeBytes
  uri
  createdAt
  run {
    id
    number
  }
}
    `, {"fragmentName":"ArtifactRow"}) as unknown as TypedDocumentString<ArtifactRowFragment, unknown>;
export const GraphBoxFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment GraphBox on Job {
  id
  name
  state
  user {
    id
    name
  }
}
    `, {"fragmentName":"GraphBox"}) as unknown as TypedDocumentString<GraphBoxFragment, unknown>;
export const RefusedFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}
    `, {"fragmentName":"Refused"}) as unknown as TypedDocumentString<RefusedFragment, unknown>;
export const ShortRefusalFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment ShortRefusal on Problem {
  __typename
  message
}
    `, {"fragmentName":"ShortRefusal"}) as unknown as TypedDocumentString<ShortRefusalFragment, unknown>;
export const MismatchFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment Mismatch on CountMismatchProblem {
  actualCount
}
    `, {"fragmentName":"Mismatch"}) as unknown as TypedDocumentString<MismatchFragment, unknown>;
export const LogRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment LogRow on LogLine {
  number
  at
  stream
  text
  truncated
}
    `, {"fragmentName":"LogRow"}) as unknown as TypedDocumentString<LogRowFragment, unknown>;
export const LogGapRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment LogGapRow on LogGap {
  startOffset
  endOffset
  gapReason
  line
}
    `, {"fragmentName":"LogGapRow"}) as unknown as TypedDocumentString<LogGapRowFragment, unknown>;
export const LogSizeFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment LogSize on Job {
  logGaps(run: $run) {
    ...LogGapRow
  }
  runs(last: 50) {
    nodes {
      id
      number
      logBytes
      logLines
    }
  }
}
    fragment LogGapRow on LogGap {
  startOffset
  endOffset
  gapReason
  line
}`, {"fragmentName":"LogSize"}) as unknown as TypedDocumentString<LogSizeFragment, unknown>;
export const CountsFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment Counts on JobCounts {
  isExact
  rows {
    key
    count
  }
}
    `, {"fragmentName":"Counts"}) as unknown as TypedDocumentString<CountsFragment, unknown>;
export const DayJobFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment DayJob on Job {
  id
  name
  state
  createdAt
  startedAt
  finishedAt
  user {
    id
    name
  }
  pool {
    id
    name
  }
}
    `, {"fragmentName":"DayJob"}) as unknown as TypedDocumentString<DayJobFragment, unknown>;
export const UserItemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment UserItem on User {
  id
  version
  name
  displayName
  email
  level
  disabled
  createdAt
  unixUser
  allow
  deny
  permissions
  identity {
    issuer
    subject
  }
  defaultTeam {
    id
    name
  }
  teams {
    id
    name
  }
}
    `, {"fragmentName":"UserItem"}) as unknown as TypedDocumentString<UserItemFragment, unknown>;
export const TeamItemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment TeamItem on Team {
  id
  version
  name
  account
  createdAt
  members(first: 100) {
    nodes {
      id
      name
      displayName
      level
    }
    pageInfo {
      hasNextPage
    }
  }
}
    `, {"fragmentName":"TeamItem"}) as unknown as TypedDocumentString<TeamItemFragment, unknown>;
export const TokenItemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment TokenItem on ApiToken {
  id
  name
  prefix
  scopes
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
  user {
    id
    name
    disabled
  }
}
    `, {"fragmentName":"TokenItem"}) as unknown as TypedDocumentString<TokenItemFragment, unknown>;
export const QuotaItemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment QuotaItem on Quota {
  id
  version
  type
  action
  scope {
    kind
    name
    user {
      id
    }
    team {
      id
    }
  }
  limit
  createdAt
}
    `, {"fragmentName":"QuotaItem"}) as unknown as TypedDocumentString<QuotaItemFragment, unknown>;
export const RuleItemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment RuleItem on ApprovalRule {
  id
  version
  name
  priority
  enabled
  requiredLevel
  exemptLevels
  expiresAfterSeconds
  condition {
    costAbove
    executor
    firstJob
    hardware
    jobsPerDayAbove
    levelNotIn
    name
  }
}
    `, {"fragmentName":"RuleItem"}) as unknown as TypedDocumentString<RuleItemFragment, unknown>;
export const SecretItemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment SecretItem on Secret {
  id
  name
  ownedBy {
    id
    name
  }
  team {
    id
    name
  }
  setBy {
    id
    name
  }
  createdAt
  updatedAt
  lastUsedAt
}
    `, {"fragmentName":"SecretItem"}) as unknown as TypedDocumentString<SecretItemFragment, unknown>;
export const WholeSpecFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment WholeSpec on JobSpec {
  name
  command
  executable
  arguments
  handler
  input
  image
  snapshot
  workdir
  queue
  executor
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    gpuTensorCores
    cudaVersion
    gpuIds
    anyGpu
    cpuModel
    infiniband
    replicas
    replicaMasterPort
    nodeCount
    processCount
    processesPerNode
    cpuCoresPerProcess
    gpuCoresPerProcess
    exclusiveNodeUse
  }
  maxRunTimeSeconds
  durationSeconds
  notBefore
  dependsOn {
    jobId
    on
  }
  onDependencyFailure
  retry {
    maxAttempts
    onExitCodes
  }
  interactive
  preemptable
  restartable
  resumable
  inheritEnvironment
  environment {
    name
    value
  }
  labels {
    key
    value
  }
  launcher
  preLaunch
  postLaunch
  stdinPath
  stdoutPath
  stderrPath
  data
  pull
  networkIsolation
  internalDns {
    name
    ports {
      port
      targetPort
      protocol
    }
  }
  x11 {
    gpu
  }
  team
  project
  account
  capacityReservationId
  bid
  estimatedCost
  customAttributes
}
    `, {"fragmentName":"WholeSpec"}) as unknown as TypedDocumentString<WholeSpecFragment, unknown>;
export const ViewRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment ViewRow on SavedView {
  id
  version
  name
  page
  search
  visibility
  pinned
  editable
  owner {
    id
    name
  }
  team {
    id
    name
  }
}
    `, {"fragmentName":"ViewRow"}) as unknown as TypedDocumentString<ViewRowFragment, unknown>;
export const WebhookItemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment WebhookItem on Webhook {
  id
  name
  target
  eventTypes
  disabledAt
  disabledReason
  unread
  pending
  pendingSince
  dead
}
    `, {"fragmentName":"WebhookItem"}) as unknown as TypedDocumentString<WebhookItemFragment, unknown>;
export const PoolLimitsFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment PoolLimits on Limits {
  id
  version
  maxConcurrent
  userMaxConcurrent
  enableFairShare
  teamMaxConcurrent
  localJobMaxConcurrent
  localGpuMaxConcurrent
  userMaxActive
  userMaxBlocked
  starvationThresholdSeconds
  scopes {
    scope {
      kind
      name
    }
    gpuModel
    maxJobs
    maxGpus
    jobsInUse
    gpusInUse
  }
}
    `, {"fragmentName":"PoolLimits"}) as unknown as TypedDocumentString<PoolLimitsFragment, unknown>;
export const WorkloadPanelFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment WorkloadPanel on Workload {
  id
  depth
  running
  blocked
  avgWaitSeconds
  byState {
    state
    count
  }
  byUser {
    count
    user {
      id
      name
    }
  }
  byReason {
    code
    count
  }
  pool {
    id
    name
    paused
    policy
    used {
      gpu
    }
    capacity {
      gpu
    }
    leader {
      renewedAt
    }
    limits {
      ...PoolLimits
    }
    holds {
      id
      since
      expectedAt
      job {
        id
        name
      }
      nodes {
        id
        name
      }
    }
  }
}
    fragment PoolLimits on Limits {
  id
  version
  maxConcurrent
  userMaxConcurrent
  enableFairShare
  teamMaxConcurrent
  localJobMaxConcurrent
  localGpuMaxConcurrent
  userMaxActive
  userMaxBlocked
  starvationThresholdSeconds
  scopes {
    scope {
      kind
      name
    }
    gpuModel
    maxJobs
    maxGpus
    jobsInUse
    gpusInUse
  }
}`, {"fragmentName":"WorkloadPanel"}) as unknown as TypedDocumentString<WorkloadPanelFragment, unknown>;
export const AboutServerDocument = /*#__PURE__*/ new TypedDocumentString(`
    query AboutServer {
  serverInfo {
    id
    name
    title
    release
    publicUrl
    singleUser
    oidcIssuer
    logRetentionDays
    eventRetentionDays
    maxPageSize
    maxQueryCost
    maxSubscriptionsPerConnection
    at
    links {
      title
      url
      on
    }
  }
  system {
    id
    at
    loadAvg5Min
    memoryPercent
    conditionsAt
    conditions {
      name
      severity
      meaning
      cause
      remedy
      nextCommands
      since
      evidence
    }
    executors {
      name
      available
      message
      backendVersion
      launchers
      specFields
      pool {
        id
        name
      }
    }
  }
  pools(first: 100) {
    nodes {
      id
      name
      paused
      policy
      executors
      leader {
        epoch
        host
        process
        renewedAt
      }
    }
  }
}
    `) as unknown as TypedDocumentString<AboutServerQuery, AboutServerQueryVariables>;
export const ServerTimeDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ServerTime {
  serverInfo {
    id
    at
  }
}
    `) as unknown as TypedDocumentString<ServerTimeQuery, ServerTimeQueryVariables>;
export const CheckDataDocument = /*#__PURE__*/ new TypedDocumentString(`
    query CheckData {
  selfCheck {
    ok
    at
    findings {
      rule
      message
      objectId
    }
  }
}
    `) as unknown as TypedDocumentString<CheckDataQuery, CheckDataQueryVariables>;
export const WhoGrantsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query WhoGrants {
  viewer {
    id
    user {
      id
      permissions
    }
  }
  users(filter: {levels: [ADMIN], disabled: false}, orderBy: NAME, first: 6) {
    nodes {
      id
      name
    }
  }
}
    `) as unknown as TypedDocumentString<WhoGrantsQuery, WhoGrantsQueryVariables>;
export const ListApprovalsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListApprovals($first: Int, $after: Cursor, $filter: ApprovalFilter) {
  approvals(first: $first, after: $after, filter: $filter) {
    totalCount
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
  rule {
    id
    name
  }
  requiredLevel
  requestedAt
  expiresAt
  decidedAt
  decidable
  comment
  requestedBy {
    id
    name
    displayName
  }
  decidedBy {
    id
    name
  }
  job {
    id
    version
    name
    state
    account
    maxAttempts
    maxRunTimeSeconds
    estimatedCost
    pool {
      id
      name
      rates {
        cpuHour
        gpuHour
        currency
      }
    }
    queue {
      id
      name
    }
    resources {
      cpu
      memoryBytes
      gpu
      gpuModel
      replicas
      processCount
      nodeCount
      exclusiveNodeUse
    }
  }
}`) as unknown as TypedDocumentString<ListApprovalsQuery, ListApprovalsQueryVariables>;
export const ApprovalsNowDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ApprovalsNow {
  jobs(first: 1, filter: {states: [BLOCKED]}) {
    asOf
  }
}
    `) as unknown as TypedDocumentString<ApprovalsNowQuery, ApprovalsNowQueryVariables>;
export const ApprovalUpdatesDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription ApprovalUpdates($after: Cursor) {
  jobUpdates(filter: {states: [BLOCKED]}, after: $after) {
    __typename
    ... on JobTransitions {
      cursor
      job {
        id
        approval {
          ...ApprovalRow
        }
      }
    }
    ... on StreamReset {
      resetReason
      jobIds
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment ApprovalRow on Approval {
  id
  status
  reason
  rule {
    id
    name
  }
  requiredLevel
  requestedAt
  expiresAt
  decidedAt
  decidable
  comment
  requestedBy {
    id
    name
    displayName
  }
  decidedBy {
    id
    name
  }
  job {
    id
    version
    name
    state
    account
    maxAttempts
    maxRunTimeSeconds
    estimatedCost
    pool {
      id
      name
      rates {
        cpuHour
        gpuHour
        currency
      }
    }
    queue {
      id
      name
    }
    resources {
      cpu
      memoryBytes
      gpu
      gpuModel
      replicas
      processCount
      nodeCount
      exclusiveNodeUse
    }
  }
}`) as unknown as TypedDocumentString<ApprovalUpdatesSubscription, ApprovalUpdatesSubscriptionVariables>;
export const ApprovalPageDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ApprovalPage($id: ID!) {
  node(id: $id) {
    __typename
    ... on Approval {
      ...ApprovalRow
      rule {
        ...RuleItem
      }
      requestedBy {
        id
        level
        teams {
          id
          name
        }
      }
      job {
        id
        spec {
          ...WholeSpec
        }
        scheduling {
          fit {
            freeNow
            couldEverFit
            missing
          }
        }
      }
    }
  }
}
    fragment ApprovalRow on Approval {
  id
  status
  reason
  rule {
    id
    name
  }
  requiredLevel
  requestedAt
  expiresAt
  decidedAt
  decidable
  comment
  requestedBy {
    id
    name
    displayName
  }
  decidedBy {
    id
    name
  }
  job {
    id
    version
    name
    state
    account
    maxAttempts
    maxRunTimeSeconds
    estimatedCost
    pool {
      id
      name
      rates {
        cpuHour
        gpuHour
        currency
      }
    }
    queue {
      id
      name
    }
    resources {
      cpu
      memoryBytes
      gpu
      gpuModel
      replicas
      processCount
      nodeCount
      exclusiveNodeUse
    }
  }
}
fragment RuleItem on ApprovalRule {
  id
  version
  name
  priority
  enabled
  requiredLevel
  exemptLevels
  expiresAfterSeconds
  condition {
    costAbove
    executor
    firstJob
    hardware
    jobsPerDayAbove
    levelNotIn
    name
  }
}
fragment WholeSpec on JobSpec {
  name
  command
  executable
  arguments
  handler
  input
  image
  snapshot
  workdir
  queue
  executor
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    gpuTensorCores
    cudaVersion
    gpuIds
    anyGpu
    cpuModel
    infiniband
    replicas
    replicaMasterPort
    nodeCount
    processCount
    processesPerNode
    cpuCoresPerProcess
    gpuCoresPerProcess
    exclusiveNodeUse
  }
  maxRunTimeSeconds
  durationSeconds
  notBefore
  dependsOn {
    jobId
    on
  }
  onDependencyFailure
  retry {
    maxAttempts
    onExitCodes
  }
  interactive
  preemptable
  restartable
  resumable
  inheritEnvironment
  environment {
    name
    value
  }
  labels {
    key
    value
  }
  launcher
  preLaunch
  postLaunch
  stdinPath
  stdoutPath
  stderrPath
  data
  pull
  networkIsolation
  internalDns {
    name
    ports {
      port
      targetPort
      protocol
    }
  }
  x11 {
    gpu
  }
  team
  project
  account
  capacityReservationId
  bid
  estimatedCost
  customAttributes
}`) as unknown as TypedDocumentString<ApprovalPageQuery, ApprovalPageQueryVariables>;
export const RequesterFactsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query RequesterFacts($user: ID!, $since: DateTime!) {
  now: jobCounts(
    by: STATE
    filter: {users: [$user], stateCategories: [WAITING, ACTIVE]}
  ) {
    rows {
      key
      count
    }
  }
  lately: jobCounts(by: STATE, filter: {users: [$user], createdAfter: $since}) {
    rows {
      key
      count
    }
  }
  approvals(
    first: 6
    filter: {requestedBy: [$user], statuses: [APPROVED, REJECTED, EXPIRED]}
  ) {
    nodes {
      ...ApprovalRow
    }
  }
}
    fragment ApprovalRow on Approval {
  id
  status
  reason
  rule {
    id
    name
  }
  requiredLevel
  requestedAt
  expiresAt
  decidedAt
  decidable
  comment
  requestedBy {
    id
    name
    displayName
  }
  decidedBy {
    id
    name
  }
  job {
    id
    version
    name
    state
    account
    maxAttempts
    maxRunTimeSeconds
    estimatedCost
    pool {
      id
      name
      rates {
        cpuHour
        gpuHour
        currency
      }
    }
    queue {
      id
      name
    }
    resources {
      cpu
      memoryBytes
      gpu
      gpuModel
      replicas
      processCount
      nodeCount
      exclusiveNodeUse
    }
  }
}`) as unknown as TypedDocumentString<RequesterFactsQuery, RequesterFactsQueryVariables>;
export const PendingDecisionsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PendingDecisions {
  viewer {
    id
    pendingDecisions
  }
}
    `) as unknown as TypedDocumentString<PendingDecisionsQuery, PendingDecisionsQueryVariables>;
export const ApproveManyDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ApproveMany($input: ApproveJobsInput!) {
  approveJobs(input: $input) {
    __typename
    ... on ApproveJobsSuccess {
      results {
        jobId
        result {
          __typename
          ... on ApproveJobSuccess {
            approval {
              ...ApprovalRow
            }
          }
          ... on InvalidStateProblem {
            job {
              id
              approval {
                ...ApprovalRow
              }
            }
          }
          ... on VersionConflictProblem {
            currentJob {
              id
              approval {
                ...ApprovalRow
              }
            }
          }
          ...Refused
        }
      }
    }
    ...Refused
  }
}
    fragment ApprovalRow on Approval {
  id
  status
  reason
  rule {
    id
    name
  }
  requiredLevel
  requestedAt
  expiresAt
  decidedAt
  decidable
  comment
  requestedBy {
    id
    name
    displayName
  }
  decidedBy {
    id
    name
  }
  job {
    id
    version
    name
    state
    account
    maxAttempts
    maxRunTimeSeconds
    estimatedCost
    pool {
      id
      name
      rates {
        cpuHour
        gpuHour
        currency
      }
    }
    queue {
      id
      name
    }
    resources {
      cpu
      memoryBytes
      gpu
      gpuModel
      replicas
      processCount
      nodeCount
      exclusiveNodeUse
    }
  }
}
fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ApproveManyMutation, ApproveManyMutationVariables>;
export const RejectManyDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RejectMany($input: RejectJobsInput!) {
  rejectJobs(input: $input) {
    __typename
    ... on RejectJobsSuccess {
      results {
        jobId
        result {
          __typename
          ... on RejectJobSuccess {
            approval {
              ...ApprovalRow
            }
          }
          ... on InvalidStateProblem {
            job {
              id
              approval {
                ...ApprovalRow
              }
            }
          }
          ... on VersionConflictProblem {
            currentJob {
              id
              approval {
                ...ApprovalRow
              }
            }
          }
          ...Refused
        }
      }
    }
    ...Refused
  }
}
    fragment ApprovalRow on Approval {
  id
  status
  reason
  rule {
    id
    name
  }
  requiredLevel
  requestedAt
  expiresAt
  decidedAt
  decidable
  comment
  requestedBy {
    id
    name
    displayName
  }
  decidedBy {
    id
    name
  }
  job {
    id
    version
    name
    state
    account
    maxAttempts
    maxRunTimeSeconds
    estimatedCost
    pool {
      id
      name
      rates {
        cpuHour
        gpuHour
        currency
      }
    }
    queue {
      id
      name
    }
    resources {
      cpu
      memoryBytes
      gpu
      gpuModel
      replicas
      processCount
      nodeCount
      exclusiveNodeUse
    }
  }
}
fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RejectManyMutation, RejectManyMutationVariables>;
export const ListAuditDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListAudit($filter: AuditFilter, $after: Cursor, $first: Int) {
  auditLog(filter: $filter, after: $after, first: $first) {
    nodes {
      ...AuditItem
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment AuditItem on AuditEntry {
  id
  seq
  at
  operation
  actorName
  actor {
    id
    name
  }
  objectId
  ip
  token
  requestId
  hash
  detail
}`) as unknown as TypedDocumentString<ListAuditQuery, ListAuditQueryVariables>;
export const ObjectNamesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ObjectNames($ids: [ID!]!) {
  nodes(ids: $ids) {
    id
    ... on Job {
      jobName: name
    }
    ... on User {
      name
    }
    ... on Team {
      name
    }
    ... on ApiToken {
      name
    }
    ... on ApprovalRule {
      name
    }
    ... on CapacityReservation {
      name
    }
    ... on PoolNode {
      name
    }
  }
}
    `) as unknown as TypedDocumentString<ObjectNamesQuery, ObjectNamesQueryVariables>;
export const OneAuditEntryDocument = /*#__PURE__*/ new TypedDocumentString(`
    query OneAuditEntry($id: ID!) {
  node(id: $id) {
    __typename
    ... on AuditEntry {
      ...AuditItem
    }
  }
}
    fragment AuditItem on AuditEntry {
  id
  seq
  at
  operation
  actorName
  actor {
    id
    name
  }
  objectId
  ip
  token
  requestId
  hash
  detail
}`) as unknown as TypedDocumentString<OneAuditEntryQuery, OneAuditEntryQueryVariables>;
export const VerifyAuditLogDocument = /*#__PURE__*/ new TypedDocumentString(`
    query VerifyAuditLog($fromSeq: UInt53, $toSeq: UInt53) {
  verifyAudit(fromSeq: $fromSeq, toSeq: $toSeq) {
    ok
    fromSeq
    toSeq
    headSeq
    firstBadSeq
    message
  }
}
    `) as unknown as TypedDocumentString<VerifyAuditLogQuery, VerifyAuditLogQueryVariables>;
export const NewestChangeDocument = /*#__PURE__*/ new TypedDocumentString(`
    query NewestChange($objectId: ID!) {
  auditLog(filter: {objectIds: [$objectId]}, first: 1) {
    nodes {
      id
      at
      actorName
    }
  }
}
    `) as unknown as TypedDocumentString<NewestChangeQuery, NewestChangeQueryVariables>;
export const ClusterChangesDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription ClusterChanges($pool: String!, $after: Cursor) {
  nodeUpdates(pool: $pool, after: $after) {
    __typename
    ... on NodesChanged {
      isStart
      cursor
      removedIds
      nodes {
        ...MapNode
      }
      pool {
        id
        name
        executors
        used {
          cpu
          memoryBytes
          gpu
        }
        capacity {
          cpu
          memoryBytes
          gpu
        }
        holds {
          id
          job {
            id
            name
          }
          nodes {
            id
          }
        }
      }
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment MapNode on PoolNode {
  id
  name
  state
  stateInfo
  stateAt
  version
  backsOffUntil
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
  gpus {
    id
    index
    model
    memoryBytes
    allocated
    job {
      id
      name
      state
      account
    }
    run {
      id
      startedAt
    }
  }
}`) as unknown as TypedDocumentString<ClusterChangesSubscription, ClusterChangesSubscriptionVariables>;
export const MachinesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Machines($pool: String!, $first: Int!, $after: Cursor) {
  pool(name: $pool) {
    id
    nodes(first: $first, after: $after) {
      totalCount
      nodes {
        id
        machine {
          ...Machine
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
    fragment Machine on NodeMachine {
  address
  engine
  latencySeconds
  silentSince
  silence
  troubles
}`) as unknown as TypedDocumentString<MachinesQuery, MachinesQueryVariables>;
export const NodeDetailsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query NodeDetails($id: ID!, $first: Int!) {
  node(id: $id) {
    id
    ... on PoolNode {
      cpuModel
      infiniband
      gpuJobsOnly
      lastSeenAt
      machine {
        ...Machine
      }
      backsOffBecause
      stateBy {
        id
        name
      }
      runs(first: $first) {
        totalCount
        nodes {
          id
          number
          state
          startedAt
          scheduledAt
          gpuIds
          job {
            ...ListRow
          }
        }
      }
    }
  }
}
    fragment Machine on NodeMachine {
  address
  engine
  latencySeconds
  silentSince
  silence
  troubles
}
fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}`) as unknown as TypedDocumentString<NodeDetailsQuery, NodeDetailsQueryVariables>;
export const ChangeNodeDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ChangeNode($input: UpdateNodeInput!) {
  updateNode(input: $input) {
    __typename
    ... on UpdateNodeSuccess {
      node {
        ...MapNode
      }
    }
    ...Refused
  }
}
    fragment MapNode on PoolNode {
  id
  name
  state
  stateInfo
  stateAt
  version
  backsOffUntil
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
  gpus {
    id
    index
    model
    memoryBytes
    allocated
    job {
      id
      name
      state
      account
    }
    run {
      id
      startedAt
    }
  }
}
fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ChangeNodeMutation, ChangeNodeMutationVariables>;
export const RemoveNodeDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RemoveNode($input: DeleteNodeInput!) {
  deleteNode(input: $input) {
    __typename
    ... on DeleteNodeSuccess {
      deletedId
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RemoveNodeMutation, RemoveNodeMutationVariables>;
export const AddPoolNodeDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation AddPoolNode($input: AddNodeInput!) {
  addNode(input: $input) {
    __typename
    ... on AddNodeSuccess {
      node {
        ...MapNode
      }
      troubles
    }
    ...Refused
  }
}
    fragment MapNode on PoolNode {
  id
  name
  state
  stateInfo
  stateAt
  version
  backsOffUntil
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
  gpus {
    id
    index
    model
    memoryBytes
    allocated
    job {
      id
      name
      state
      account
    }
    run {
      id
      startedAt
    }
  }
}
fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<AddPoolNodeMutation, AddPoolNodeMutationVariables>;
export const CompareJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query CompareJobs($ids: [ID!]!, $points: Int!) {
  nodes(ids: $ids) {
    id
    ... on Job {
      ...ListRow
      spec {
        ...WholeSpec
      }
      runs(last: 1) {
        nodes {
          id
          startedAt
          usage {
            cpuSeconds
            maxMemoryBytes
          }
          samples(points: $points) {
            at
            cpu
            memoryBytes
            gpuPercent
            gpuMemoryBytes
          }
        }
      }
    }
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}
fragment WholeSpec on JobSpec {
  name
  command
  executable
  arguments
  handler
  input
  image
  snapshot
  workdir
  queue
  executor
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    gpuTensorCores
    cudaVersion
    gpuIds
    anyGpu
    cpuModel
    infiniband
    replicas
    replicaMasterPort
    nodeCount
    processCount
    processesPerNode
    cpuCoresPerProcess
    gpuCoresPerProcess
    exclusiveNodeUse
  }
  maxRunTimeSeconds
  durationSeconds
  notBefore
  dependsOn {
    jobId
    on
  }
  onDependencyFailure
  retry {
    maxAttempts
    onExitCodes
  }
  interactive
  preemptable
  restartable
  resumable
  inheritEnvironment
  environment {
    name
    value
  }
  labels {
    key
    value
  }
  launcher
  preLaunch
  postLaunch
  stdinPath
  stdoutPath
  stderrPath
  data
  pull
  networkIsolation
  internalDns {
    name
    ports {
      port
      targetPort
      protocol
    }
  }
  x11 {
    gpu
  }
  team
  project
  account
  capacityReservationId
  bid
  estimatedCost
  customAttributes
}`) as unknown as TypedDocumentString<CompareJobsQuery, CompareJobsQueryVariables>;
export const FirstErrorDocument = /*#__PURE__*/ new TypedDocumentString(`
    query FirstError($id: ID!, $run: Int!, $query: String!) {
  job(id: $id) {
    id
    logSearch(run: $run, query: $query, regex: true, first: 1) {
      matches {
        line
        text
      }
    }
  }
}
    `) as unknown as TypedDocumentString<FirstErrorQuery, FirstErrorQueryVariables>;
export const CompareLinesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query CompareLines($id: ID!, $run: Int!, $fromLine: UInt53!, $first: Int!) {
  job(id: $id) {
    id
    logs(run: $run, from: {line: $fromLine}, first: $first) {
      lines {
        number
        text
      }
    }
  }
}
    `) as unknown as TypedDocumentString<CompareLinesQuery, CompareLinesQueryVariables>;
export const CompareMetricsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query CompareMetrics($ids: [ID!]!, $points: Int!) {
  nodes(ids: $ids) {
    id
    ... on Job {
      currentRun {
        id
        metrics {
          ...MetricSeries
        }
      }
    }
  }
}
    fragment MetricSeries on Metric {
  name
  last {
    step
    value
  }
  points(points: $points) {
    step
    value
    at
  }
}`) as unknown as TypedDocumentString<CompareMetricsQuery, CompareMetricsQueryVariables>;
export const SweepMetricsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query SweepMetrics($ids: [ID!]!) {
  nodes(ids: $ids) {
    id
    ... on Job {
      currentRun {
        id
        metrics {
          name
          last {
            step
            value
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SweepMetricsQuery, SweepMetricsQueryVariables>;
export const JobPageDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobPage($id: ID!) {
  job(id: $id) {
    ...PageJob
    eventCursor
    spec {
      ...WholeSpec
    }
  }
}
    fragment RunRow on Run {
  id
  number
  createdAt
  scheduledAt
  startedAt
  finishedAt
  logLines
}
fragment PageJob on Job {
  ...ListRow
  maxAttempts
  queuedAt
  artifacts(first: 1) {
    totalCount
  }
  dependents(first: 1) {
    totalCount
  }
  retryOf {
    id
    name
  }
  snapshot {
    id
    files
    bytes
    commit
    branch
    changedFiles
  }
  capacityReservation {
    id
    name
  }
  dependencies {
    job {
      id
      name
      state
    }
  }
  approval {
    id
    status
    reason
    requiredLevel
    expiresAt
    decidedBy {
      id
      name
    }
  }
  currentRun {
    id
    metrics {
      name
      last {
        step
        value
      }
    }
  }
  runs(last: 50) {
    nodes {
      ...RunRow
    }
  }
  scheduling {
    jobsAhead
    positionIsExact
    lastConsideredAt
    reasons {
      code
      message
      job {
        id
        name
      }
    }
    gates {
      code
      open
      opensAt
      job {
        id
        name
        state
      }
    }
    fit {
      couldEverFit
      missing
    }
    hold {
      id
      waitingForVictims
      nodes {
        id
        name
      }
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
      message
    }
  }
}
fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}
fragment WholeSpec on JobSpec {
  name
  command
  executable
  arguments
  handler
  input
  image
  snapshot
  workdir
  queue
  executor
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    gpuTensorCores
    cudaVersion
    gpuIds
    anyGpu
    cpuModel
    infiniband
    replicas
    replicaMasterPort
    nodeCount
    processCount
    processesPerNode
    cpuCoresPerProcess
    gpuCoresPerProcess
    exclusiveNodeUse
  }
  maxRunTimeSeconds
  durationSeconds
  notBefore
  dependsOn {
    jobId
    on
  }
  onDependencyFailure
  retry {
    maxAttempts
    onExitCodes
  }
  interactive
  preemptable
  restartable
  resumable
  inheritEnvironment
  environment {
    name
    value
  }
  labels {
    key
    value
  }
  launcher
  preLaunch
  postLaunch
  stdinPath
  stdoutPath
  stderrPath
  data
  pull
  networkIsolation
  internalDns {
    name
    ports {
      port
      targetPort
      protocol
    }
  }
  x11 {
    gpu
  }
  team
  project
  account
  capacityReservationId
  bid
  estimatedCost
  customAttributes
}`) as unknown as TypedDocumentString<JobPageQuery, JobPageQueryVariables>;
export const JobNowDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobNow($id: ID!) {
  job(id: $id) {
    ...PageJob
  }
}
    fragment RunRow on Run {
  id
  number
  createdAt
  scheduledAt
  startedAt
  finishedAt
  logLines
}
fragment PageJob on Job {
  ...ListRow
  maxAttempts
  queuedAt
  artifacts(first: 1) {
    totalCount
  }
  dependents(first: 1) {
    totalCount
  }
  retryOf {
    id
    name
  }
  snapshot {
    id
    files
    bytes
    commit
    branch
    changedFiles
  }
  capacityReservation {
    id
    name
  }
  dependencies {
    job {
      id
      name
      state
    }
  }
  approval {
    id
    status
    reason
    requiredLevel
    expiresAt
    decidedBy {
      id
      name
    }
  }
  currentRun {
    id
    metrics {
      name
      last {
        step
        value
      }
    }
  }
  runs(last: 50) {
    nodes {
      ...RunRow
    }
  }
  scheduling {
    jobsAhead
    positionIsExact
    lastConsideredAt
    reasons {
      code
      message
      job {
        id
        name
      }
    }
    gates {
      code
      open
      opensAt
      job {
        id
        name
        state
      }
    }
    fit {
      couldEverFit
      missing
    }
    hold {
      id
      waitingForVictims
      nodes {
        id
        name
      }
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
      message
    }
  }
}
fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}`) as unknown as TypedDocumentString<JobNowQuery, JobNowQueryVariables>;
export const OpenTerminalDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation OpenTerminal($input: OpenSessionInput!) {
  openSession(input: $input) {
    __typename
    ... on OpenSessionSuccess {
      url
      session {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<OpenTerminalMutation, OpenTerminalMutationVariables>;
export const OpenPortDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation OpenPort($input: OpenForwardInput!) {
  openForward(input: $input) {
    __typename
    ... on OpenForwardSuccess {
      url
      session {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<OpenPortMutation, OpenPortMutationVariables>;
export const OpenSessionsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query OpenSessions($id: ID!) {
  job(id: $id) {
    id
    sessions {
      id
      port
      command
      isOpen
      openedAt
      createdAt
      bytesIn
      bytesOut
      openedBy {
        name
      }
    }
  }
}
    `) as unknown as TypedDocumentString<OpenSessionsQuery, OpenSessionsQueryVariables>;
export const CloseSessionDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation CloseSession($input: EndSessionInput!) {
  endSession(input: $input) {
    __typename
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<CloseSessionMutation, CloseSessionMutationVariables>;
export const JobEventsPageDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobEventsPage($id: ID!, $last: Int, $before: Cursor) {
  job(id: $id) {
    id
    events(last: $last, before: $before) {
      nodes {
        ...EventRow
      }
      pageInfo {
        hasPreviousPage
        startCursor
      }
    }
  }
}
    fragment EventRow on JobEvent {
  id
  seq
  at
  type
  to
  stateReason
  message
  exitCode
  runNumber
  actor {
    name
  }
}`) as unknown as TypedDocumentString<JobEventsPageQuery, JobEventsPageQueryVariables>;
export const JobChangesDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription JobChanges($jobId: ID!, $after: Cursor) {
  jobStatus(jobId: $jobId, after: $after) {
    __typename
    ... on JobTransitions {
      cursor
      isFinal
      job {
        ...PageJob
      }
      transitions {
        ...EventRow
      }
    }
    ... on StreamReset {
      resetReason
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment EventRow on JobEvent {
  id
  seq
  at
  type
  to
  stateReason
  message
  exitCode
  runNumber
  actor {
    name
  }
}
fragment RunRow on Run {
  id
  number
  createdAt
  scheduledAt
  startedAt
  finishedAt
  logLines
}
fragment PageJob on Job {
  ...ListRow
  maxAttempts
  queuedAt
  artifacts(first: 1) {
    totalCount
  }
  dependents(first: 1) {
    totalCount
  }
  retryOf {
    id
    name
  }
  snapshot {
    id
    files
    bytes
    commit
    branch
    changedFiles
  }
  capacityReservation {
    id
    name
  }
  dependencies {
    job {
      id
      name
      state
    }
  }
  approval {
    id
    status
    reason
    requiredLevel
    expiresAt
    decidedBy {
      id
      name
    }
  }
  currentRun {
    id
    metrics {
      name
      last {
        step
        value
      }
    }
  }
  runs(last: 50) {
    nodes {
      ...RunRow
    }
  }
  scheduling {
    jobsAhead
    positionIsExact
    lastConsideredAt
    reasons {
      code
      message
      job {
        id
        name
      }
    }
    gates {
      code
      open
      opensAt
      job {
        id
        name
        state
      }
    }
    fit {
      couldEverFit
      missing
    }
    hold {
      id
      waitingForVictims
      nodes {
        id
        name
      }
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
      message
    }
  }
}
fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}`) as unknown as TypedDocumentString<JobChangesSubscription, JobChangesSubscriptionVariables>;
export const PreviewChangeDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PreviewChange($input: PreviewJobInput!) {
  previewJob(input: $input) {
    __typename
    ... on JobPreview {
      wouldBe
      nodeNames
      reasons {
        message
        job {
          id
          name
        }
      }
      estimatedStart {
        p50
        p90
        earliest
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<PreviewChangeQuery, PreviewChangeQueryVariables>;
export const PoolNodesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PoolNodes($name: String!) {
  submissionQueues {
    id
    name
  }
  pool(name: $name) {
    id
    nodes(first: 100) {
      nodes {
        id
        name
        state
        capacity {
          cpu
          memoryBytes
        }
        free {
          cpu
          gpu
        }
        gpus {
          id
          model
          memoryBytes
          allocated
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<PoolNodesQuery, PoolNodesQueryVariables>;
export const LastErrorsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query LastErrors($id: ID!, $run: Int!, $query: String!, $first: Int!) {
  job(id: $id) {
    id
    logSearch(run: $run, query: $query, regex: true, backwards: true, first: $first) {
      matches {
        line
        text
      }
    }
  }
}
    `) as unknown as TypedDocumentString<LastErrorsQuery, LastErrorsQueryVariables>;
export const RunUsageDocument = /*#__PURE__*/ new TypedDocumentString(`
    query RunUsage($id: ID!, $points: Int!) {
  node(id: $id) {
    id
    ... on Run {
      samples(points: $points) {
        at
        cpu
        memoryBytes
        gpuPercent
        gpuMemoryBytes
      }
    }
  }
}
    `) as unknown as TypedDocumentString<RunUsageQuery, RunUsageQueryVariables>;
export const RunMetricsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query RunMetrics($id: ID!, $points: Int!) {
  node(id: $id) {
    id
    ... on Run {
      metrics {
        ...MetricSeries
      }
    }
  }
}
    fragment MetricSeries on Metric {
  name
  last {
    step
    value
  }
  points(points: $points) {
    step
    value
    at
  }
}`) as unknown as TypedDocumentString<RunMetricsQuery, RunMetricsQueryVariables>;
export const JobArtifactsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobArtifacts($id: ID!, $last: Int!, $before: Cursor) {
  job(id: $id) {
    id
    artifacts(last: $last, before: $before) {
      nodes {
        ...ArtifactRow
      }
      pageInfo {
        hasPreviousPage
        startCursor
      }
    }
  }
}
    fragment ArtifactRow on Artifact {
  id
  name
  kind
  mediaType
  sizeBytes
  uri
  createdAt
  run {
    id
    number
  }
}`) as unknown as TypedDocumentString<JobArtifactsQuery, JobArtifactsQueryVariables>;
export const ArtifactContentDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ArtifactContent($id: ID!) {
  node(id: $id) {
    id
    ... on Artifact {
      body
      metadata
    }
  }
}
    `) as unknown as TypedDocumentString<ArtifactContentQuery, ArtifactContentQueryVariables>;
export const JobNeighboursDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobNeighbours($ids: [ID!]!, $first: Int!) {
  nodes(ids: $ids) {
    id
    ... on Job {
      ...GraphBox
      dependencies {
        on
        job {
          ...GraphBox
        }
      }
      dependents(first: $first) {
        totalCount
        nodes {
          ...GraphBox
        }
      }
    }
  }
}
    fragment GraphBox on Job {
  id
  name
  state
  user {
    id
    name
  }
}`) as unknown as TypedDocumentString<JobNeighboursQuery, JobNeighboursQueryVariables>;
export const ListJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListJobs($first: Int, $after: Cursor, $last: Int, $before: Cursor, $filter: JobFilter, $orderBy: JobOrder) {
  jobs(
    first: $first
    after: $after
    last: $last
    before: $before
    filter: $filter
    orderBy: $orderBy
  ) {
    asOf
    nodes {
      ...ListRow
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}`) as unknown as TypedDocumentString<ListJobsQuery, ListJobsQueryVariables>;
export const PeekJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PeekJob($id: ID!) {
  job(id: $id) {
    ...ListRow
    maxAttempts
    dependencies {
      job {
        id
        name
        state
      }
      satisfied
    }
    scheduling {
      jobsAhead
      reasons {
        code
        message
        job {
          id
          name
        }
      }
      fit {
        missing
      }
    }
    logs(from: {lastLines: 12}) {
      lines {
        runNumber
        number
        stream
        text
      }
    }
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}`) as unknown as TypedDocumentString<PeekJobQuery, PeekJobQueryVariables>;
export const ListUpdatesDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription ListUpdates($filter: JobFilter, $after: Cursor) {
  jobUpdates(filter: $filter, after: $after, progress: true) {
    __typename
    ... on JobTransitions {
      cursor
      matches
      job {
        ...ListRow
      }
    }
    ... on StreamReset {
      resetReason
      jobIds
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}`) as unknown as TypedDocumentString<ListUpdatesSubscription, ListUpdatesSubscriptionVariables>;
export const CountStatesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query CountStates($filter: JobFilter) {
  jobCounts(by: STATE, filter: $filter) {
    isExact
    rows {
      key
      count
    }
  }
}
    `) as unknown as TypedDocumentString<CountStatesQuery, CountStatesQueryVariables>;
export const CountKeysDocument = /*#__PURE__*/ new TypedDocumentString(`
    query CountKeys($by: JobCountBy!, $filter: JobFilter, $labelKey: String, $first: Int!) {
  jobCounts(by: $by, filter: $filter, labelKey: $labelKey, first: $first) {
    isExact
    rows {
      key
      user {
        id
        name
      }
      team {
        id
        name
      }
      count
      byState {
        state
        count
      }
    }
  }
}
    `) as unknown as TypedDocumentString<CountKeysQuery, CountKeysQueryVariables>;
export const CancelOneDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation CancelOne($input: CancelJobInput!) {
  cancelJob(input: $input) {
    __typename
    ... on CancelJobSuccess {
      changed
      job {
        ...ListRow
      }
    }
    ...Refused
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}
fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<CancelOneMutation, CancelOneMutationVariables>;
export const CancelManyDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation CancelMany($input: CancelJobsInput!) {
  cancelJobs(input: $input) {
    __typename
    ... on CancelJobsSuccess {
      remaining
      results {
        jobId
        result {
          __typename
          ... on CancelJobSuccess {
            changed
          }
          ...ShortRefusal
        }
      }
    }
    ...Mismatch
    ...ShortRefusal
  }
}
    fragment ShortRefusal on Problem {
  __typename
  message
}
fragment Mismatch on CountMismatchProblem {
  actualCount
}`) as unknown as TypedDocumentString<CancelManyMutation, CancelManyMutationVariables>;
export const RetryManyDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RetryMany($input: RetryJobsInput!) {
  retryJobs(input: $input) {
    __typename
    ... on RetryJobsSuccess {
      remaining
      results {
        jobId
        result {
          __typename
          ... on RetryJobSuccess {
            job {
              id
            }
          }
          ...ShortRefusal
        }
      }
    }
    ...Mismatch
    ...ShortRefusal
  }
}
    fragment ShortRefusal on Problem {
  __typename
  message
}
fragment Mismatch on CountMismatchProblem {
  actualCount
}`) as unknown as TypedDocumentString<RetryManyMutation, RetryManyMutationVariables>;
export const DeleteManyDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteMany($input: DeleteJobsInput!) {
  deleteJobs(input: $input) {
    __typename
    ... on DeleteJobsSuccess {
      remaining
      results {
        jobId
        result {
          __typename
          ... on DeleteJobSuccess {
            deletedId
          }
          ...ShortRefusal
        }
      }
    }
    ...Mismatch
    ...ShortRefusal
  }
}
    fragment ShortRefusal on Problem {
  __typename
  message
}
fragment Mismatch on CountMismatchProblem {
  actualCount
}`) as unknown as TypedDocumentString<DeleteManyMutation, DeleteManyMutationVariables>;
export const PrioritizeManyDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation PrioritizeMany($input: SetJobPrioritiesInput!) {
  setJobPriorities(input: $input) {
    __typename
    ... on SetJobPrioritiesSuccess {
      remaining
      results {
        jobId
        result {
          __typename
          ... on SetJobPrioritySuccess {
            job {
              id
            }
          }
          ...ShortRefusal
        }
      }
    }
    ...Mismatch
    ...ShortRefusal
  }
}
    fragment ShortRefusal on Problem {
  __typename
  message
}
fragment Mismatch on CountMismatchProblem {
  actualCount
}`) as unknown as TypedDocumentString<PrioritizeManyMutation, PrioritizeManyMutationVariables>;
export const RetryOneDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RetryOne($input: RetryJobInput!) {
  retryJob(input: $input) {
    __typename
    ... on RetryJobSuccess {
      job {
        ...ListRow
      }
    }
    ...Refused
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}
fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RetryOneMutation, RetryOneMutationVariables>;
export const MakeDownloadDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation MakeDownload($input: CreateDownloadInput!) {
  createDownload(input: $input) {
    __typename
    ... on CreateDownloadSuccess {
      url
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<MakeDownloadMutation, MakeDownloadMutationVariables>;
export const JobsMovedDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription JobsMoved {
  workloadStatus {
    id
  }
}
    `) as unknown as TypedDocumentString<JobsMovedSubscription, JobsMovedSubscriptionVariables>;
export const LogStartDocument = /*#__PURE__*/ new TypedDocumentString(`
    query LogStart($id: ID!, $run: Int!, $lastLines: Int!, $streams: [LogStream!]) {
  job(id: $id) {
    id
    ...LogSize
    logs(run: $run, from: {lastLines: $lastLines}, streams: $streams) {
      cursor
      isFinal
      lines {
        ...LogRow
      }
    }
  }
}
    fragment LogRow on LogLine {
  number
  at
  stream
  text
  truncated
}
fragment LogGapRow on LogGap {
  startOffset
  endOffset
  gapReason
  line
}
fragment LogSize on Job {
  logGaps(run: $run) {
    ...LogGapRow
  }
  runs(last: 50) {
    nodes {
      id
      number
      logBytes
      logLines
    }
  }
}`) as unknown as TypedDocumentString<LogStartQuery, LogStartQueryVariables>;
export const LogSizeDocument = /*#__PURE__*/ new TypedDocumentString(`
    query LogSize($id: ID!, $run: Int!) {
  job(id: $id) {
    id
    ...LogSize
  }
}
    fragment LogGapRow on LogGap {
  startOffset
  endOffset
  gapReason
  line
}
fragment LogSize on Job {
  logGaps(run: $run) {
    ...LogGapRow
  }
  runs(last: 50) {
    nodes {
      id
      number
      logBytes
      logLines
    }
  }
}`) as unknown as TypedDocumentString<LogSizeQuery, LogSizeQueryVariables>;
export const LogLinesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query LogLines($id: ID!, $run: Int, $from: LogStart, $first: Int, $streams: [LogStream!]) {
  job(id: $id) {
    id
    logs(run: $run, from: $from, first: $first, streams: $streams) {
      cursor
      isFinal
      gaps {
        ...LogGapRow
      }
      lines {
        ...LogRow
      }
    }
  }
}
    fragment LogRow on LogLine {
  number
  at
  stream
  text
  truncated
}
fragment LogGapRow on LogGap {
  startOffset
  endOffset
  gapReason
  line
}`) as unknown as TypedDocumentString<LogLinesQuery, LogLinesQueryVariables>;
export const FindMomentDocument = /*#__PURE__*/ new TypedDocumentString(`
    query FindMoment($id: ID!, $run: Int!, $at: DateTime!, $streams: [LogStream!]) {
  job(id: $id) {
    id
    logs(run: $run, from: {time: $at}, first: 1, streams: $streams) {
      firstLine
    }
  }
}
    `) as unknown as TypedDocumentString<FindMomentQuery, FindMomentQueryVariables>;
export const LogTailDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription LogTail($jobId: ID!, $run: Int, $after: Cursor, $streams: [LogStream!]) {
  tail(jobId: $jobId, run: $run, after: $after, streams: $streams) {
    __typename
    ... on LogBatch {
      cursor
      isFinal
      lines {
        ...LogRow
      }
    }
    ... on LogGap {
      ...LogGapRow
      cursor
    }
    ... on RunChanged {
      cursor
      run {
        id
        number
      }
    }
    ... on StreamReset {
      resetReason
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment LogRow on LogLine {
  number
  at
  stream
  text
  truncated
}
fragment LogGapRow on LogGap {
  startOffset
  endOffset
  gapReason
  line
}`) as unknown as TypedDocumentString<LogTailSubscription, LogTailSubscriptionVariables>;
export const SearchLogDocument = /*#__PURE__*/ new TypedDocumentString(`
    query SearchLog($id: ID!, $run: Int!, $query: String!, $regex: Boolean, $ignoreCase: Boolean, $after: Cursor, $first: Int, $streams: [LogStream!]) {
  job(id: $id) {
    id
    logSearch(
      run: $run
      query: $query
      regex: $regex
      ignoreCase: $ignoreCase
      after: $after
      first: $first
      streams: $streams
    ) {
      cursor
      isComplete
      scannedBytes
      matches {
        line
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SearchLogQuery, SearchLogQueryVariables>;
export const FindGroupsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query FindGroups($id: ID!, $run: Int!, $query: String!, $after: Cursor, $first: Int) {
  job(id: $id) {
    id
    logSearch(
      run: $run
      query: $query
      regex: true
      ignoreCase: false
      after: $after
      first: $first
    ) {
      cursor
      isComplete
      matches {
        line
        text
      }
    }
  }
}
    `) as unknown as TypedDocumentString<FindGroupsQuery, FindGroupsQueryVariables>;
export const OverviewDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Overview($failed: JobFilter!, $ended: JobFilter!) {
  viewer {
    id
    pendingDecisions
    workload {
      runningCount
      pendingCount
      blockedCount
    }
  }
  jobs(first: 20, filter: $failed, orderBy: {field: FINISHED_AT, direction: DESC}) {
    nodes {
      ...ListRow
    }
  }
  failed: jobCounts(by: STATE, filter: $failed) {
    ...Counts
  }
  ended: jobCounts(by: STATE, filter: $ended) {
    ...Counts
  }
  pools(first: 100) {
    nodes {
      id
      name
      paused
      policy
      gpusByModel {
        model
        memoryBytes
        count
        allocated
        byUser {
          count
          user {
            id
            name
          }
        }
      }
      capacity {
        cpu
        memoryBytes
        gpu
      }
      used {
        cpu
        memoryBytes
        gpu
      }
      workload {
        id
        depth
        running
        blocked
        avgWaitSeconds
        byReason {
          code
          count
        }
      }
      leader {
        renewedAt
      }
    }
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}
fragment Counts on JobCounts {
  isExact
  rows {
    key
    count
  }
}`) as unknown as TypedDocumentString<OverviewQuery, OverviewQueryVariables>;
export const DayJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query DayJobs($first: Int!, $after: Cursor, $filter: JobFilter!, $orderBy: JobOrder!) {
  jobs(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    nodes {
      ...DayJob
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment DayJob on Job {
  id
  name
  state
  createdAt
  startedAt
  finishedAt
  user {
    id
    name
  }
  pool {
    id
    name
  }
}`) as unknown as TypedDocumentString<DayJobsQuery, DayJobsQueryVariables>;
export const OpenApprovalsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query OpenApprovals {
  approvals(first: 100, filter: {decidable: true, statuses: [PENDING]}) {
    nodes {
      id
      requestedAt
      expiresAt
    }
  }
}
    `) as unknown as TypedDocumentString<OpenApprovalsQuery, OpenApprovalsQueryVariables>;
export const TroubledNodesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query TroubledNodes {
  pools(first: 100) {
    nodes {
      id
      name
      nodes(first: 100) {
        nodes {
          id
          name
          state
          stateInfo
          backsOffUntil
          backsOffBecause
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TroubledNodesQuery, TroubledNodesQueryVariables>;
export const PoolHistoryDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PoolHistory($from: DateTime!, $bucketSeconds: Int!) {
  usage(from: $from, bucketSeconds: $bucketSeconds, by: POOL) {
    at
    key
    averageRunning
    averageQueued
    averageCpu
    cpuCapacity
    averageGpu
    gpuCapacity
  }
}
    `) as unknown as TypedDocumentString<PoolHistoryQuery, PoolHistoryQueryVariables>;
export const AnyJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    query AnyJob {
  jobs(first: 1) {
    nodes {
      id
    }
  }
}
    `) as unknown as TypedDocumentString<AnyJobQuery, AnyJobQueryVariables>;
export const RunFirstJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RunFirstJob($input: SubmitJobInput!) {
  submitJob(input: $input) {
    __typename
    ... on SubmitJobSuccess {
      job {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RunFirstJobMutation, RunFirstJobMutationVariables>;
export const ListUsersDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListUsers($filter: UserFilter, $orderBy: PeopleOrder, $after: Cursor, $first: Int) {
  users(filter: $filter, orderBy: $orderBy, after: $after, first: $first) {
    nodes {
      ...UserItem
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment UserItem on User {
  id
  version
  name
  displayName
  email
  level
  disabled
  createdAt
  unixUser
  allow
  deny
  permissions
  identity {
    issuer
    subject
  }
  defaultTeam {
    id
    name
  }
  teams {
    id
    name
  }
}`) as unknown as TypedDocumentString<ListUsersQuery, ListUsersQueryVariables>;
export const OneUserDocument = /*#__PURE__*/ new TypedDocumentString(`
    query OneUser($id: ID!) {
  node(id: $id) {
    __typename
    ... on User {
      ...UserItem
    }
  }
}
    fragment UserItem on User {
  id
  version
  name
  displayName
  email
  level
  disabled
  createdAt
  unixUser
  allow
  deny
  permissions
  identity {
    issuer
    subject
  }
  defaultTeam {
    id
    name
  }
  teams {
    id
    name
  }
}`) as unknown as TypedDocumentString<OneUserQuery, OneUserQueryVariables>;
export const CountJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query CountJobs($by: JobCountBy!, $filter: JobFilter, $first: Int = 100) {
  jobCounts(by: $by, filter: $filter, first: $first) {
    rows {
      key
      count
      byState {
        state
        count
      }
    }
  }
}
    `) as unknown as TypedDocumentString<CountJobsQuery, CountJobsQueryVariables>;
export const ListTeamsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListTeams($filter: TeamFilter, $orderBy: PeopleOrder, $after: Cursor, $first: Int) {
  teams(filter: $filter, orderBy: $orderBy, after: $after, first: $first) {
    nodes {
      ...TeamItem
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment TeamItem on Team {
  id
  version
  name
  account
  createdAt
  members(first: 100) {
    nodes {
      id
      name
      displayName
      level
    }
    pageInfo {
      hasNextPage
    }
  }
}`) as unknown as TypedDocumentString<ListTeamsQuery, ListTeamsQueryVariables>;
export const OneTeamDocument = /*#__PURE__*/ new TypedDocumentString(`
    query OneTeam($id: ID!) {
  node(id: $id) {
    __typename
    ... on Team {
      ...TeamItem
    }
  }
}
    fragment TeamItem on Team {
  id
  version
  name
  account
  createdAt
  members(first: 100) {
    nodes {
      id
      name
      displayName
      level
    }
    pageInfo {
      hasNextPage
    }
  }
}`) as unknown as TypedDocumentString<OneTeamQuery, OneTeamQueryVariables>;
export const TeamNamesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query TeamNames {
  teams(first: 100, orderBy: NAME) {
    nodes {
      id
      name
    }
  }
}
    `) as unknown as TypedDocumentString<TeamNamesQuery, TeamNamesQueryVariables>;
export const FindUsersDocument = /*#__PURE__*/ new TypedDocumentString(`
    query FindUsers($filter: UserFilter, $first: Int) {
  users(filter: $filter, orderBy: NAME, first: $first) {
    nodes {
      id
      name
      displayName
    }
  }
}
    `) as unknown as TypedDocumentString<FindUsersQuery, FindUsersQueryVariables>;
export const ListTokensDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListTokens($userId: ID, $after: Cursor, $first: Int) {
  tokens(userId: $userId, after: $after, first: $first) {
    nodes {
      ...TokenItem
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment TokenItem on ApiToken {
  id
  name
  prefix
  scopes
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
  user {
    id
    name
    disabled
  }
}`) as unknown as TypedDocumentString<ListTokensQuery, ListTokensQueryVariables>;
export const MakeUserDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation MakeUser($input: CreateUserInput!) {
  createUser(input: $input) {
    __typename
    ... on CreateUserSuccess {
      user {
        id
        name
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<MakeUserMutation, MakeUserMutationVariables>;
export const ChangeUserDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ChangeUser($input: UpdateUserInput!) {
  updateUser(input: $input) {
    __typename
    ... on UpdateUserSuccess {
      user {
        id
        name
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ChangeUserMutation, ChangeUserMutationVariables>;
export const DisableUserDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DisableUser($input: DisableUserInput!) {
  disableUser(input: $input) {
    __typename
    ... on DisableUserSuccess {
      user {
        id
        name
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<DisableUserMutation, DisableUserMutationVariables>;
export const MakeTeamDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation MakeTeam($input: CreateTeamInput!) {
  createTeam(input: $input) {
    __typename
    ... on CreateTeamSuccess {
      team {
        id
        name
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<MakeTeamMutation, MakeTeamMutationVariables>;
export const ChangeTeamDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ChangeTeam($input: UpdateTeamInput!) {
  updateTeam(input: $input) {
    __typename
    ... on UpdateTeamSuccess {
      team {
        id
        name
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ChangeTeamMutation, ChangeTeamMutationVariables>;
export const RemoveTeamDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RemoveTeam($input: DeleteTeamInput!) {
  deleteTeam(input: $input) {
    __typename
    ... on DeleteTeamSuccess {
      deletedId
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RemoveTeamMutation, RemoveTeamMutationVariables>;
export const MakeTokenDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation MakeToken($input: CreateTokenInput!) {
  createToken(input: $input) {
    __typename
    ... on CreateTokenSuccess {
      secret
      token {
        id
        name
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<MakeTokenMutation, MakeTokenMutationVariables>;
export const EndTokenDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation EndToken($input: RevokeTokenInput!) {
  revokeToken(input: $input) {
    __typename
    ... on RevokeTokenSuccess {
      token {
        id
        revokedAt
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<EndTokenMutation, EndTokenMutationVariables>;
export const PoolLimitsNowDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PoolLimitsNow($pool: String!) {
  pool(name: $pool) {
    id
    name
    policy
    used {
      gpu
    }
    limits {
      ...PoolLimits
    }
    workload {
      id
      running
      depth
      blocked
    }
  }
}
    fragment PoolLimits on Limits {
  id
  version
  maxConcurrent
  userMaxConcurrent
  enableFairShare
  teamMaxConcurrent
  localJobMaxConcurrent
  localGpuMaxConcurrent
  userMaxActive
  userMaxBlocked
  starvationThresholdSeconds
  scopes {
    scope {
      kind
      name
    }
    gpuModel
    maxJobs
    maxGpus
    jobsInUse
    gpusInUse
  }
}`) as unknown as TypedDocumentString<PoolLimitsNowQuery, PoolLimitsNowQueryVariables>;
export const PoolNamesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PoolNames {
  pools(first: 100) {
    nodes {
      id
      name
    }
  }
}
    `) as unknown as TypedDocumentString<PoolNamesQuery, PoolNamesQueryVariables>;
export const ChangeLimitsDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ChangeLimits($input: UpdateLimitsInput!) {
  updateLimits(input: $input) {
    __typename
    ... on UpdateLimitsSuccess {
      limits {
        id
        version
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ChangeLimitsMutation, ChangeLimitsMutationVariables>;
export const ChangeScopeLimitDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ChangeScopeLimit($input: SetScopeLimitInput!) {
  setScopeLimit(input: $input) {
    __typename
    ... on SetScopeLimitSuccess {
      limits {
        id
        version
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ChangeScopeLimitMutation, ChangeScopeLimitMutationVariables>;
export const ListQuotasDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListQuotas($filter: QuotaFilter, $after: Cursor, $first: Int) {
  quotas(filter: $filter, after: $after, first: $first) {
    nodes {
      ...QuotaItem
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment QuotaItem on Quota {
  id
  version
  type
  action
  scope {
    kind
    name
    user {
      id
    }
    team {
      id
    }
  }
  limit
  createdAt
}`) as unknown as TypedDocumentString<ListQuotasQuery, ListQuotasQueryVariables>;
export const OneQuotaDocument = /*#__PURE__*/ new TypedDocumentString(`
    query OneQuota($id: ID!) {
  node(id: $id) {
    __typename
    ... on Quota {
      ...QuotaItem
    }
  }
}
    fragment QuotaItem on Quota {
  id
  version
  type
  action
  scope {
    kind
    name
    user {
      id
    }
    team {
      id
    }
  }
  limit
  createdAt
}`) as unknown as TypedDocumentString<OneQuotaQuery, OneQuotaQueryVariables>;
export const OwnQuotasDocument = /*#__PURE__*/ new TypedDocumentString(`
    query OwnQuotas {
  viewer {
    id
    quotas {
      type
      action
      scope {
        kind
        name
      }
      limit
      used
    }
  }
}
    `) as unknown as TypedDocumentString<OwnQuotasQuery, OwnQuotasQueryVariables>;
export const MakeQuotaDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation MakeQuota($input: CreateQuotaInput!) {
  createQuota(input: $input) {
    __typename
    ... on CreateQuotaSuccess {
      quota {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<MakeQuotaMutation, MakeQuotaMutationVariables>;
export const ChangeQuotaDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ChangeQuota($input: UpdateQuotaInput!) {
  updateQuota(input: $input) {
    __typename
    ... on UpdateQuotaSuccess {
      quota {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ChangeQuotaMutation, ChangeQuotaMutationVariables>;
export const RemoveQuotaDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RemoveQuota($input: DeleteQuotaInput!) {
  deleteQuota(input: $input) {
    __typename
    ... on DeleteQuotaSuccess {
      deletedId
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RemoveQuotaMutation, RemoveQuotaMutationVariables>;
export const ListRulesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListRules($after: Cursor, $first: Int) {
  approvalRules(after: $after, first: $first) {
    nodes {
      ...RuleItem
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment RuleItem on ApprovalRule {
  id
  version
  name
  priority
  enabled
  requiredLevel
  exemptLevels
  expiresAfterSeconds
  condition {
    costAbove
    executor
    firstJob
    hardware
    jobsPerDayAbove
    levelNotIn
    name
  }
}`) as unknown as TypedDocumentString<ListRulesQuery, ListRulesQueryVariables>;
export const OneRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
    query OneRule($id: ID!) {
  node(id: $id) {
    __typename
    ... on ApprovalRule {
      ...RuleItem
    }
  }
}
    fragment RuleItem on ApprovalRule {
  id
  version
  name
  priority
  enabled
  requiredLevel
  exemptLevels
  expiresAfterSeconds
  condition {
    costAbove
    executor
    firstJob
    hardware
    jobsPerDayAbove
    levelNotIn
    name
  }
}`) as unknown as TypedDocumentString<OneRuleQuery, OneRuleQueryVariables>;
export const PreviewRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PreviewRule($input: PreviewApprovalRuleInput!) {
  previewApprovalRule(input: $input) {
    __typename
    ... on ApprovalRulePreview {
      consideredCount
      matchedCount
      jobs {
        id
        name
        state
        user {
          id
          name
        }
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<PreviewRuleQuery, PreviewRuleQueryVariables>;
export const PendingOfRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PendingOfRule($rule: ID!) {
  approvals(filter: {rules: [$rule], statuses: [PENDING]}, first: 100) {
    nodes {
      id
    }
    pageInfo {
      hasNextPage
    }
  }
}
    `) as unknown as TypedDocumentString<PendingOfRuleQuery, PendingOfRuleQueryVariables>;
export const MakeRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation MakeRule($input: CreateApprovalRuleInput!) {
  createApprovalRule(input: $input) {
    __typename
    ... on CreateApprovalRuleSuccess {
      rule {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<MakeRuleMutation, MakeRuleMutationVariables>;
export const ChangeRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ChangeRule($input: UpdateApprovalRuleInput!) {
  updateApprovalRule(input: $input) {
    __typename
    ... on UpdateApprovalRuleSuccess {
      rule {
        id
        enabled
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ChangeRuleMutation, ChangeRuleMutationVariables>;
export const RemoveRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RemoveRule($input: DeleteApprovalRuleInput!) {
  deleteApprovalRule(input: $input) {
    __typename
    ... on DeleteApprovalRuleSuccess {
      deletedId
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RemoveRuleMutation, RemoveRuleMutationVariables>;
export const ListReservationsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListReservations($after: Cursor, $first: Int) {
  capacityReservations(after: $after, first: $first) {
    nodes {
      id
      name
      project
      startsAt
      endsAt
      hard
      nativeId
      pool {
        id
        name
      }
      nodes {
        id
        name
        state
        capacity {
          cpu
          gpu
          memoryBytes
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<ListReservationsQuery, ListReservationsQueryVariables>;
export const NodesOfPoolsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query NodesOfPools {
  pools(first: 100) {
    nodes {
      id
      name
      nodes(first: 100) {
        nodes {
          id
          name
          state
          capacity {
            cpu
            gpu
            memoryBytes
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<NodesOfPoolsQuery, NodesOfPoolsQueryVariables>;
export const MakeReservationDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation MakeReservation($input: CreateCapacityReservationInput!) {
  createCapacityReservation(input: $input) {
    __typename
    ... on CreateCapacityReservationSuccess {
      capacityReservation {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<MakeReservationMutation, MakeReservationMutationVariables>;
export const RemoveReservationDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RemoveReservation($input: DeleteCapacityReservationInput!) {
  deleteCapacityReservation(input: $input) {
    __typename
    ... on DeleteCapacityReservationSuccess {
      deletedId
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RemoveReservationMutation, RemoveReservationMutationVariables>;
export const ListSecretsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListSecrets($teamId: ID, $after: Cursor, $first: Int) {
  secrets(teamId: $teamId, after: $after, first: $first) {
    nodes {
      ...SecretItem
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment SecretItem on Secret {
  id
  name
  ownedBy {
    id
    name
  }
  team {
    id
    name
  }
  setBy {
    id
    name
  }
  createdAt
  updatedAt
  lastUsedAt
}`) as unknown as TypedDocumentString<ListSecretsQuery, ListSecretsQueryVariables>;
export const SecretTeamsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query SecretTeams {
  viewer {
    id
    user {
      id
      teams {
        id
        name
      }
    }
  }
  teams(first: 100, orderBy: NAME) {
    nodes {
      id
      name
    }
  }
}
    `) as unknown as TypedDocumentString<SecretTeamsQuery, SecretTeamsQueryVariables>;
export const SaveSecretDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SaveSecret($input: SetSecretInput!) {
  setSecret(input: $input) {
    __typename
    ... on SetSecretSuccess {
      secret {
        ...SecretItem
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}
fragment SecretItem on Secret {
  id
  name
  ownedBy {
    id
    name
  }
  team {
    id
    name
  }
  setBy {
    id
    name
  }
  createdAt
  updatedAt
  lastUsedAt
}`) as unknown as TypedDocumentString<SaveSecretMutation, SaveSecretMutationVariables>;
export const RemoveSecretDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RemoveSecret($input: DeleteSecretInput!) {
  deleteSecret(input: $input) {
    __typename
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<RemoveSecretMutation, RemoveSecretMutationVariables>;
export const ServerFactsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ServerFacts {
  serverInfo {
    id
    title
    accent
    release
    singleUser
    oidcIssuer
    oidcClientId
    oidcScopes
    at
  }
}
    `) as unknown as TypedDocumentString<ServerFactsQuery, ServerFactsQueryVariables>;
export const ViewerFactsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ViewerFacts {
  serverInfo {
    id
    jobsHost
    links {
      title
      url
      on
    }
  }
  viewer {
    id
    permissions
    scopes
    pendingDecisions
    user {
      id
      name
      displayName
      level
    }
  }
}
    `) as unknown as TypedDocumentString<ViewerFactsQuery, ViewerFactsQueryVariables>;
export const FindTeamsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query FindTeams($first: Int, $filter: TeamFilter) {
  teams(first: $first, filter: $filter) {
    nodes {
      id
      name
    }
  }
}
    `) as unknown as TypedDocumentString<FindTeamsQuery, FindTeamsQueryVariables>;
export const SubmitChoicesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query SubmitChoices {
  submissionQueues {
    id
    name
    isDefault
    pool {
      id
      name
    }
  }
  system {
    id
    executors {
      name
      launchers
      specFields
      pool {
        id
        name
      }
    }
    gpuModels
  }
  viewer {
    id
    user {
      id
      teams {
        id
        name
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SubmitChoicesQuery, SubmitChoicesQueryVariables>;
export const SpecToEditDocument = /*#__PURE__*/ new TypedDocumentString(`
    query SpecToEdit($id: ID!) {
  job(id: $id) {
    id
    name
    state
    user {
      id
    }
    spec {
      ...WholeSpec
    }
  }
}
    fragment WholeSpec on JobSpec {
  name
  command
  executable
  arguments
  handler
  input
  image
  snapshot
  workdir
  queue
  executor
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    gpuTensorCores
    cudaVersion
    gpuIds
    anyGpu
    cpuModel
    infiniband
    replicas
    replicaMasterPort
    nodeCount
    processCount
    processesPerNode
    cpuCoresPerProcess
    gpuCoresPerProcess
    exclusiveNodeUse
  }
  maxRunTimeSeconds
  durationSeconds
  notBefore
  dependsOn {
    jobId
    on
  }
  onDependencyFailure
  retry {
    maxAttempts
    onExitCodes
  }
  interactive
  preemptable
  restartable
  resumable
  inheritEnvironment
  environment {
    name
    value
  }
  labels {
    key
    value
  }
  launcher
  preLaunch
  postLaunch
  stdinPath
  stdoutPath
  stderrPath
  data
  pull
  networkIsolation
  internalDns {
    name
    ports {
      port
      targetPort
      protocol
    }
  }
  x11 {
    gpu
  }
  team
  project
  account
  capacityReservationId
  bid
  estimatedCost
  customAttributes
}`) as unknown as TypedDocumentString<SpecToEditQuery, SpecToEditQueryVariables>;
export const DryRunDocument = /*#__PURE__*/ new TypedDocumentString(`
    query DryRun($input: PreviewJobInput!) {
  previewJob(input: $input) {
    __typename
    ... on JobPreview {
      wouldBe
      nodeNames
      gpuIds
      position
      warnings
      cost {
        amount
        currency
      }
      reasons {
        message
      }
      estimatedStart {
        p90
        earliest
        latest
        message
      }
      fit {
        couldEverFit
        missing
      }
      approval {
        rule {
          id
          name
        }
        requiredLevel
      }
      quotas {
        type
        action
        scope {
          kind
          name
        }
        limit
        used
        usedAfter
      }
      preemptedCount
      preempts {
        id
        name
      }
      idempotentJob {
        id
        name
      }
      spec {
        executor
        maxRunTimeSeconds
        resources {
          cpu
          memoryBytes
          gpu
          replicas
        }
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<DryRunQuery, DryRunQueryVariables>;
export const SubmitOneDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SubmitOne($input: SubmitJobInput!) {
  submitJob(input: $input) {
    __typename
    ... on SubmitJobSuccess {
      idempotentHit
      warnings
      job {
        ...ListRow
      }
    }
    ...Refused
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}
fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<SubmitOneMutation, SubmitOneMutationVariables>;
export const SubmitManyDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SubmitMany($input: SubmitJobsInput!) {
  submitJobs(input: $input) {
    __typename
    ... on SubmitJobsSuccess {
      results {
        __typename
        ... on SubmitJobSuccess {
          idempotentHit
          job {
            id
          }
        }
        ...Refused
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<SubmitManyMutation, SubmitManyMutationVariables>;
export const PoolUsageDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PoolUsage($pool: String, $from: DateTime!, $to: DateTime, $bucketSeconds: Int!, $by: UsageBy!) {
  usage(pool: $pool, from: $from, to: $to, bucketSeconds: $bucketSeconds, by: $by) {
    at
    key
    user {
      id
      name
    }
    team {
      id
      name
    }
    averageRunning
    averageQueued
    averageBlocked
    averageCpu
    cpuCapacity
    averageGpu
    gpuCapacity
    cpuSeconds
    gpuSeconds
    started
    finished
    failed
    waitP50Seconds
    waitP95Seconds
    cost {
      amount
      currency
    }
  }
}
    `) as unknown as TypedDocumentString<PoolUsageQuery, PoolUsageQueryVariables>;
export const ListViewsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListViews {
  savedViews {
    ...ViewRow
  }
  viewer {
    id
    user {
      id
      teams {
        id
        name
      }
    }
  }
}
    fragment ViewRow on SavedView {
  id
  version
  name
  page
  search
  visibility
  pinned
  editable
  owner {
    id
    name
  }
  team {
    id
    name
  }
}`) as unknown as TypedDocumentString<ListViewsQuery, ListViewsQueryVariables>;
export const KeepViewDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation KeepView($input: SaveViewInput!) {
  saveView(input: $input) {
    __typename
    ... on SaveViewSuccess {
      savedView {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<KeepViewMutation, KeepViewMutationVariables>;
export const DropViewDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DropView($input: DeleteViewInput!) {
  deleteView(input: $input) {
    __typename
    ... on DeleteViewSuccess {
      deletedId
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<DropViewMutation, DropViewMutationVariables>;
export const ListWebhooksDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ListWebhooks {
  webhooks {
    ...WebhookItem
  }
}
    fragment WebhookItem on Webhook {
  id
  name
  target
  eventTypes
  disabledAt
  disabledReason
  unread
  pending
  pendingSince
  dead
}`) as unknown as TypedDocumentString<ListWebhooksQuery, ListWebhooksQueryVariables>;
export const SendTestEventDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SendTestEvent($input: TestWebhookInput!) {
  testWebhook(input: $input) {
    __typename
    ... on TestWebhookSuccess {
      delivery {
        id
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<SendTestEventMutation, SendTestEventMutationVariables>;
export const ReadTestEventDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ReadTestEvent($id: ID!) {
  node(id: $id) {
    __typename
    ... on WebhookDelivery {
      id
      state
      error
    }
  }
}
    `) as unknown as TypedDocumentString<ReadTestEventQuery, ReadTestEventQueryVariables>;
export const ResendDeliveriesDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ResendDeliveries($input: ResendWebhookDeliveriesInput!) {
  resendWebhookDeliveries(input: $input) {
    __typename
    ... on ResendWebhookDeliveriesSuccess {
      count
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ResendDeliveriesMutation, ResendDeliveriesMutationVariables>;
export const TurnWebhookOnDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation TurnWebhookOn($input: EnableWebhookInput!) {
  enableWebhook(input: $input) {
    __typename
    ... on EnableWebhookSuccess {
      webhook {
        ...WebhookItem
      }
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}
fragment WebhookItem on Webhook {
  id
  name
  target
  eventTypes
  disabledAt
  disabledReason
  unread
  pending
  pendingSince
  dead
}`) as unknown as TypedDocumentString<TurnWebhookOnMutation, TurnWebhookOnMutationVariables>;
export const WorkloadChangesDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription WorkloadChanges($pool: String) {
  workloadStatus(pool: $pool) {
    ...WorkloadPanel
  }
}
    fragment PoolLimits on Limits {
  id
  version
  maxConcurrent
  userMaxConcurrent
  enableFairShare
  teamMaxConcurrent
  localJobMaxConcurrent
  localGpuMaxConcurrent
  userMaxActive
  userMaxBlocked
  starvationThresholdSeconds
  scopes {
    scope {
      kind
      name
    }
    gpuModel
    maxJobs
    maxGpus
    jobsInUse
    gpusInUse
  }
}
fragment WorkloadPanel on Workload {
  id
  depth
  running
  blocked
  avgWaitSeconds
  byState {
    state
    count
  }
  byUser {
    count
    user {
      id
      name
    }
  }
  byReason {
    code
    count
  }
  pool {
    id
    name
    paused
    policy
    used {
      gpu
    }
    capacity {
      gpu
    }
    leader {
      renewedAt
    }
    limits {
      ...PoolLimits
    }
    holds {
      id
      since
      expectedAt
      job {
        id
        name
      }
      nodes {
        id
        name
      }
    }
  }
}`) as unknown as TypedDocumentString<WorkloadChangesSubscription, WorkloadChangesSubscriptionVariables>;
export const WorkloadLineDocument = /*#__PURE__*/ new TypedDocumentString(`
    query WorkloadLine($pool: String!, $first: Int!, $after: Cursor) {
  pool(name: $pool) {
    id
    workload {
      id
      entries(first: $first, after: $after) {
        nodes {
          ...ListRow
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
}
    fragment ListRow on Job {
  id
  version
  name
  state
  stateCategory
  stateReason
  stateInfo
  exitCode
  attempt
  executor
  project
  labels {
    key
    value
  }
  user {
    id
    name
  }
  pool {
    id
    name
  }
  position
  priority
  basePriority
  priorityOverride
  allowedActions
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    replicas
  }
  maxRunTimeSeconds
  createdAt
  eligibleAt
  startedAt
  finishedAt
  cost {
    amount
    currency
  }
  progress {
    fraction
    message
    at
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    startedAt
  }
  scheduling {
    reasons {
      code
      message
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
    }
  }
}`) as unknown as TypedDocumentString<WorkloadLineQuery, WorkloadLineQueryVariables>;
export const MyWorkloadDocument = /*#__PURE__*/ new TypedDocumentString(`
    query MyWorkload {
  viewer {
    id
    workload {
      pendingCount
      runningCount
      blockedCount
      bestPosition
    }
  }
}
    `) as unknown as TypedDocumentString<MyWorkloadQuery, MyWorkloadQueryVariables>;
export const PoolReservationsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PoolReservations($first: Int!, $after: Cursor) {
  capacityReservations(first: $first, after: $after) {
    nodes {
      id
      name
      project
      startsAt
      endsAt
      pool {
        id
        name
      }
      nodes {
        id
        name
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<PoolReservationsQuery, PoolReservationsQueryVariables>;
export const ProcessPoolDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ProcessPool($input: PlanPoolsInput!) {
  planPools(input: $input) {
    __typename
    ... on PlanPoolsSuccess {
      considered
      started
      preempted
    }
    ...Refused
  }
}
    fragment Refused on Problem {
  __typename
  message
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
}`) as unknown as TypedDocumentString<ProcessPoolMutation, ProcessPoolMutationVariables>;
export const PoolSharesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PoolShares($pool: String!) {
  pool(name: $pool) {
    id
    accounts {
      account
      occupancy
      decayedUse
      share
      weight
      running
      queued
    }
  }
}
    `) as unknown as TypedDocumentString<PoolSharesQuery, PoolSharesQueryVariables>;