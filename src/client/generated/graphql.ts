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

/** State of an approval request. */
export const ApprovalStatus = {
  /** Approved: the job was queued. */
  Approved: 'APPROVED',
  /** The job was cancelled before a decision. */
  Cancelled: 'CANCELLED',
  /** Not decided in time: the job failed. */
  Expired: 'EXPIRED',
  /** Waits for a decision. */
  Pending: 'PENDING',
  /** Rejected: the job failed. */
  Rejected: 'REJECTED'
} as const;

export type ApprovalStatus = typeof ApprovalStatus[keyof typeof ApprovalStatus];
/** An approval decision. */
export type ApproveJobInput = {
  /** Comment on the decision; at most 1,000 characters. */
  comment?: string | null | undefined;
  /** Fails with a version conflict unless the job has this version. */
  expectedVersion: number;
  /** The BLOCKED job whose approval you decide. */
  jobId: string;
};

/** Where the content of an artifact is. */
export const ArtifactKind = {
  /** In a stored file, which `createDownload` gives. */
  File: 'FILE',
  /** At `uri`. */
  Link: 'LINK',
  /** In `body`. */
  Text: 'TEXT'
} as const;

export type ArtifactKind = typeof ArtifactKind[keyof typeof ArtifactKind];
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
export const ConditionSeverity = {
  /** Good to know. */
  Info: 'INFO',
  /** Users are affected now: wake a person. */
  Page: 'PAGE',
  /** A person should act within days. */
  Ticket: 'TICKET'
} as const;

export type ConditionSeverity = typeof ConditionSeverity[keyof typeof ConditionSeverity];
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

/** A list of files; docs/files.md describes its form. */
export type CreateSnapshotInput = {
  /** Total size of the files; at most `ServerInfo.maxSnapshotBytes`. */
  bytes: number;
  /** Number of files and links; at most `ServerInfo.maxSnapshotFiles`. */
  files: number;
  /** SHA-256 of the list, in hexadecimal digits. */
  hash: string;
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

/** The job to delete. */
export type DeleteJobInput = {
  /** Fails with a version conflict unless the job has this version. */
  expectedVersion?: number | null | undefined;
  /** The final job to delete. */
  jobId: string;
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

/** A job that must end before this one can start. */
export type DependencyInput = {
  /** The job to wait for. */
  jobId: string;
  /** Required outcome of the job. */
  on?: DependencyOn | null | undefined;
};

/** Required outcome of a dependency. */
export const DependencyOn = {
  /** The other job must end FAILED. */
  Failed: 'FAILED',
  /** The other job must end, in any final state. */
  Finished: 'FINISHED',
  /** The other job must end SUCCEEDED. */
  Succeeded: 'SUCCEEDED'
} as const;

export type DependencyOn = typeof DependencyOn[keyof typeof DependencyOn];
/** The user to disable. */
export type DisableUserInput = {
  /** Fails with a version conflict unless the user has this version. */
  expectedVersion?: number | null | undefined;
  /** The user who can no longer log in. */
  userId: string;
};

/** How a log is written into a file. */
export const DownloadFormat = {
  /** A JSON object per line: run, line, at, stream and text; or run, gap, startOffset and endOffset. */
  Jsonl: 'JSONL',
  /** Text without colours and other escape sequences of terminals. */
  Plain: 'PLAIN',
  /** The bytes of the streams as the job wrote them, without gaps. A download that broke can go on. */
  Raw: 'RAW'
} as const;

export type DownloadFormat = typeof DownloadFormat[keyof typeof DownloadFormat];
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
export const Executor = {
  /** Containers of Docker or Podman on the machine of the server. */
  Container: 'CONTAINER',
  /** Modules, each in a process of the machine of the server. */
  Handler: 'HANDLER',
  /** Pods of a Kubernetes cluster. */
  Kubernetes: 'KUBERNETES',
  /** Processes of the machine of the server. */
  Local: 'LOCAL',
  /** Nothing runs: for tests and simulations. */
  Simulated: 'SIMULATED',
  /** Jobs of a Slurm cluster. */
  Slurm: 'SLURM'
} as const;

export type Executor = typeof Executor[keyof typeof Executor];
/** Kind of a gate. */
export const GateCode = {
  /** The job must be approved. */
  Approval: 'APPROVAL',
  /** Other jobs must have ended. */
  Dependency: 'DEPENDENCY',
  /** The earliest start must have come. */
  NotBefore: 'NOT_BEFORE',
  /** The window of the capacity reservation must be open. */
  ReservationWindow: 'RESERVATION_WINDOW',
  /** The wait before the next run must be over. */
  RestartBackoff: 'RESTART_BACKOFF'
} as const;

export type GateCode = typeof GateCode[keyof typeof GateCode];
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
export const ImagePull = {
  /** At every start, so that a tag that was moved is up to date. The start fails if the registry does not have it. */
  Always: 'ALWAYS',
  /** If the machine does not have it. */
  Missing: 'MISSING'
} as const;

export type ImagePull = typeof ImagePull[keyof typeof ImagePull];
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
export const JobAction = {
  /** `approveJob`. */
  Approve: 'APPROVE',
  /** `cancelJob`. */
  Cancel: 'CANCEL',
  /** `deleteJob`. */
  Delete: 'DELETE',
  /** `openForward`. */
  OpenForward: 'OPEN_FORWARD',
  /** `openSession`. */
  OpenSession: 'OPEN_SESSION',
  /** `rejectJob`. */
  Reject: 'REJECT',
  /** `retryJob`. */
  Retry: 'RETRY',
  /** `setJobPriority`. */
  SetPriority: 'SET_PRIORITY'
} as const;

export type JobAction = typeof JobAction[keyof typeof JobAction];
/** Property by which jobs are counted. */
export const JobCountBy = {
  /** Account charged. */
  Account: 'ACCOUNT',
  /** Executor. */
  Executor: 'EXECUTOR',
  /** Value of the label `labelKey`. */
  Label: 'LABEL',
  /** Key of a label: a job counts once for each of its labels. */
  LabelKey: 'LABEL_KEY',
  /** Name of the pool. */
  Pool: 'POOL',
  /** Project. */
  Project: 'PROJECT',
  /** Name of the submission queue. */
  Queue: 'QUEUE',
  /** The `stateReason` of the job. */
  Reason: 'REASON',
  /** State of the job. */
  State: 'STATE',
  /** Id of the team. */
  Team: 'TEAM',
  /** Id of the user. */
  User: 'USER'
} as const;

export type JobCountBy = typeof JobCountBy[keyof typeof JobCountBy];
/** Kind of an event of a job. */
export const JobEventType = {
  /** The approval was granted or rejected. */
  ApprovalDecided: 'APPROVAL_DECIDED',
  /** The job needs an approval. */
  ApprovalRequested: 'APPROVAL_REQUESTED',
  /** The job published an artifact. */
  ArtifactPublished: 'ARTIFACT_PUBLISHED',
  /** The job was submitted. */
  Created: 'CREATED',
  /** A report about a run arrived after its end; the state did not change. */
  LateReport: 'LATE_REPORT',
  /** The run was asked to leave for another job. */
  PreemptRequested: 'PREEMPT_REQUESTED',
  /** The run no longer has to leave. */
  PreemptWithdrawn: 'PREEMPT_WITHDRAWN',
  /** A user set or cleared the priority. */
  PriorityChanged: 'PRIORITY_CHANGED',
  /** A session in the job ended: `message` has its duration and bytes. */
  SessionEnded: 'SESSION_ENDED',
  /** A user entered the job: `message` has the command or the port. */
  SessionOpened: 'SESSION_OPENED',
  /** The job has another state. */
  StateChanged: 'STATE_CHANGED'
} as const;

export type JobEventType = typeof JobEventType[keyof typeof JobEventType];
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
export const JobOrderField = {
  /** Time of submission. */
  CreatedAt: 'CREATED_AT',
  /** Time of the final state; jobs that are not final come after all others. */
  FinishedAt: 'FINISHED_AT',
  /** Base or set priority, without the effect of waiting. */
  Priority: 'PRIORITY',
  /** Time when the first run started; jobs that never started come after all others. */
  StartedAt: 'STARTED_AT'
} as const;

export type JobOrderField = typeof JobOrderField[keyof typeof JobOrderField];
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
export const JobState = {
  /** Waits for an approval. */
  Blocked: 'BLOCKED',
  /** Final: the job was cancelled. */
  Cancelled: 'CANCELLED',
  /** The job was cancelled, and the executor stops the command. */
  Cancelling: 'CANCELLING',
  /** Final: the command failed or could not be started, or the approval was rejected or expired. */
  Failed: 'FAILED',
  /** Final: the run was preempted or its node was lost, and the job is not run again. */
  Interrupted: 'INTERRUPTED',
  /** Waits to be started. */
  Queued: 'QUEUED',
  /** The command runs. */
  Running: 'RUNNING',
  /** The scheduler has assigned resources, and the executor starts the command. */
  Starting: 'STARTING',
  /** Final: the command ended with exit code 0. */
  Succeeded: 'SUCCEEDED'
} as const;

export type JobState = typeof JobState[keyof typeof JobState];
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
export const LogGapReason = {
  /** The machine had no space to store it. */
  DiskFull: 'DISK_FULL',
  /** The output never reached the server. */
  Lost: 'LOST',
  /** You may not read it. */
  NotVisible: 'NOT_VISIBLE',
  /** The log is over its size limit; the gap may be larger. */
  OverLimit: 'OVER_LIMIT',
  /** The output was deleted by age. */
  Retention: 'RETENTION'
} as const;

export type LogGapReason = typeof LogGapReason[keyof typeof LogGapReason];
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
export const LogStream = {
  /** Error output of the job. */
  Stderr: 'STDERR',
  /** Standard output of the job. */
  Stdout: 'STDOUT',
  /** Messages of Berth about the run. */
  System: 'SYSTEM'
} as const;

export type LogStream = typeof LogStream[keyof typeof LogStream];
/** The oldest 1,000 of the jobs that match a filter, that you may see, and that the mutation would change. */
export type MatchingJobs = {
  /** How many jobs match and would be changed in this and further calls, at most 100,000; of a further call, `remaining` of the call before. If the count of the server differs, nothing is changed. */
  expectedCount: number;
  /** Filter that the jobs match. */
  filter: JobFilter;
};

/** A number that the job reports over its steps, such as the loss of a training. */
export type MetricInput = {
  /** Name, 1 … 64 letters, digits and `_`, `.`, `/`, `-`; the first is a letter or `_`. A run can report 64 names. */
  name: string;
  /** Step of the job. A second value of a step replaces the first. Omitted: the step after the newest one, unless the value is that of the newest step; then nothing is stored. */
  step?: number | null | undefined;
  /** The number. */
  value: number;
};

/** A user or a team, by id or by name. */
export type NameOrIdInput =
  {   /** Typed id, user_… or team_…. */
  id: string; name?: never; }
  |  { id?: never;   /** Unique name. */
  name: string; };

/** Network traffic that is blocked for a job. */
export const NetworkIsolation = {
  /** Incoming and outgoing traffic is blocked. */
  All: 'ALL',
  /** Incoming traffic is blocked. */
  In: 'IN',
  /** Outgoing traffic is blocked. */
  Out: 'OUT'
} as const;

export type NetworkIsolation = typeof NetworkIsolation[keyof typeof NetworkIsolation];
/** Protocol of a port. */
export const NetworkProtocol = {
  /** TCP. */
  Tcp: 'TCP',
  /** UDP. */
  Udp: 'UDP'
} as const;

export type NetworkProtocol = typeof NetworkProtocol[keyof typeof NetworkProtocol];
/** Action for a job whose dependency can no longer be satisfied. */
export const OnDependencyFailure = {
  /** The job is cancelled with reason DEPENDENCY_FAILED. */
  Cancel: 'CANCEL',
  /** The job stays QUEUED until it is cancelled. */
  Wait: 'WAIT'
} as const;

export type OnDependencyFailure = typeof OnDependencyFailure[keyof typeof OnDependencyFailure];
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
export const OrderDirection = {
  /** Smallest first. */
  Asc: 'ASC',
  /** Largest first. */
  Desc: 'DESC'
} as const;

export type OrderDirection = typeof OrderDirection[keyof typeof OrderDirection];
/** Kind of a reason why a job waits. */
export const PendingReasonCode = {
  /** The job needs an approval. */
  ApprovalPending: 'APPROVAL_PENDING',
  /** Another job must end first. */
  Dependency: 'DEPENDENCY',
  /** The limit on running jobs of the pool is reached. */
  GlobalLimit: 'GLOBAL_LIMIT',
  /** A limit on GPUs of a queue, project, team or user is reached. */
  GpuLimit: 'GPU_LIMIT',
  /** The free resources are kept for a job before it. */
  Hold: 'HOLD',
  /** The user already has an interactive job. */
  InteractiveQuota: 'INTERACTIVE_QUOTA',
  /** The limit on GPUs in use is reached. */
  LocalGpuLimit: 'LOCAL_GPU_LIMIT',
  /** The limit on running jobs with GPUs is reached. */
  LocalJobLimit: 'LOCAL_JOB_LIMIT',
  /** The node could not start a run and waits. */
  NodeBacksOff: 'NODE_BACKS_OFF',
  /** Jobs that cannot be preempted hold their share of the pool. */
  NonPreemptablePool: 'NON_PREEMPTABLE_POOL',
  /** The earliest start of the job is in the future. */
  NotBefore: 'NOT_BEFORE',
  /** The requested resources are not free. */
  NoCapacity: 'NO_CAPACITY',
  /** The pool starts no jobs: its limit `maxConcurrent` is 0. */
  PoolPaused: 'POOL_PAUSED',
  /** The limit on running jobs of the project is reached. */
  ProjectLimit: 'PROJECT_LIMIT',
  /** The limit on running jobs of the submission queue is reached. */
  QueueLimit: 'QUEUE_LIMIT',
  /** The window of its capacity reservation is not open. */
  ReservationWindow: 'RESERVATION_WINDOW',
  /** The nodes that fit are reserved for other projects, now or before the job would end. */
  ReservedNodes: 'RESERVED_NODES',
  /** The job waits before its next run. */
  RestartBackoff: 'RESTART_BACKOFF',
  /** The limit on running jobs of the team is reached. */
  TeamLimit: 'TEAM_LIMIT',
  /** No node can ever provide the requested resources. */
  Unsatisfiable: 'UNSATISFIABLE',
  /** The user of the job is disabled. */
  UserDisabled: 'USER_DISABLED',
  /** The limit on running jobs of the user is reached. */
  UserLimit: 'USER_LIMIT',
  /** Preempted jobs must leave first. */
  WaitingForPreemption: 'WAITING_FOR_PREEMPTION'
} as const;

export type PendingReasonCode = typeof PendingReasonCode[keyof typeof PendingReasonCode];
/** A permission of a user. The configuration and the command line write JOB_VIEW_OWN as job.view.own. */
export const Permission = {
  /** Read the audit log. */
  AuditRead: 'AUDIT_READ',
  /** Decide on approvals. */
  JobApprove: 'JOB_APPROVE',
  /** Cancel all jobs. */
  JobCancelAll: 'JOB_CANCEL_ALL',
  /** Cancel own jobs. */
  JobCancelOwn: 'JOB_CANCEL_OWN',
  /** Cancel the jobs of own teams. */
  JobCancelTeam: 'JOB_CANCEL_TEAM',
  /** Delete all jobs. */
  JobDeleteAll: 'JOB_DELETE_ALL',
  /** Delete own jobs. */
  JobDeleteOwn: 'JOB_DELETE_OWN',
  /** Open sessions in all running jobs. */
  JobExecAll: 'JOB_EXEC_ALL',
  /** Open sessions in own running jobs. */
  JobExecOwn: 'JOB_EXEC_OWN',
  /** Open sessions in the running jobs of own teams. */
  JobExecTeam: 'JOB_EXEC_TEAM',
  /** Set priorities. */
  JobPriority: 'JOB_PRIORITY',
  /** Submit and retry jobs, and reserve slots. */
  JobSubmit: 'JOB_SUBMIT',
  /** See the jobs of all users. */
  JobViewAll: 'JOB_VIEW_ALL',
  /** See own jobs. */
  JobViewOwn: 'JOB_VIEW_OWN',
  /** Change limits. */
  LimitsWrite: 'LIMITS_WRITE',
  /** Add, change and delete nodes. */
  NodeWrite: 'NODE_WRITE',
  /** Run scheduling passes. */
  PoolPlan: 'POOL_PLAN',
  /** Create, change and delete quotas. */
  QuotaWrite: 'QUOTA_WRITE',
  /** Create and delete capacity reservations. */
  ReservationWrite: 'RESERVATION_WRITE',
  /** Create, change and delete approval rules. */
  RuleWrite: 'RULE_WRITE',
  /** Set and delete own secrets. */
  SecretOwn: 'SECRET_OWN',
  /** Set and delete the secrets of own teams; an ADMIN those of all teams. */
  SecretTeam: 'SECRET_TEAM',
  /** Manage the tokens of all users. */
  TokenAny: 'TOKEN_ANY',
  /** Manage own tokens. */
  TokenOwn: 'TOKEN_OWN',
  /** Manage users and teams. */
  UserWrite: 'USER_WRITE',
  /** Save views for oneself and own teams; an ADMIN also for everyone. */
  ViewWrite: 'VIEW_WRITE',
  /** See, test, resend and enable webhooks. */
  WebhookWrite: 'WEBHOOK_WRITE'
} as const;

export type Permission = typeof Permission[keyof typeof Permission];
/** The pools to plan. */
export type PlanPoolsInput = {
  /** Name of the pool; default: all pools that have a leader. */
  pool?: string | null | undefined;
};

/** State of a node. */
export const PoolNodeState = {
  /** Accepts no new runs; running jobs continue. */
  Cordoned: 'CORDONED',
  /** Accepts no new runs and is to be removed; running jobs continue. */
  Draining: 'DRAINING',
  /** Does not answer. */
  Lost: 'LOST',
  /** Accepts new runs. */
  Ready: 'READY'
} as const;

export type PoolNodeState = typeof PoolNodeState[keyof typeof PoolNodeState];
/** The submission or retry to preview; set exactly one field. */
export type PreviewJobInput =
  {   /** Previews a retry: the input of `retryJob`. */
  retry: RetryJobInput; submit?: never; }
  |  { retry?: never;   /** Previews a submission: the input of `submitJob`. */
  submit: SubmitJobInput; };

/** Kind of failure. */
export const ProblemCode = {
  /** You cannot decide on a job that you submitted yourself. */
  ApprovalNotAllowed: 'APPROVAL_NOT_ALLOWED',
  /** A quota on cost would be exceeded. */
  CostLimitExceeded: 'COST_LIMIT_EXCEEDED',
  /** `expectedCount` is not the number of jobs that would change. */
  CountMismatch: 'COUNT_MISMATCH',
  /** A permission, a scope of the token or a level is missing. */
  Forbidden: 'FORBIDDEN',
  /** The idempotency key was used before with a different payload. */
  IdempotencyConflict: 'IDEMPOTENCY_CONFLICT',
  /** The input is invalid; `violations` lists what to correct. */
  InvalidInput: 'INVALID_INPUT',
  /** The state of the job does not allow the operation. */
  InvalidState: 'INVALID_STATE',
  /** The object does not exist, or you may not see it. */
  NotFound: 'NOT_FOUND',
  /** A quota or a limit on submissions would be exceeded. */
  QuotaExceeded: 'QUOTA_EXCEEDED',
  /** The job would not start now, and `noWait` was set. */
  Rejected: 'REJECTED',
  /** The slot reservation cannot be used. */
  ReservationExpired: 'RESERVATION_EXPIRED',
  /** The server cannot process the request right now; try again. */
  Unavailable: 'UNAVAILABLE',
  /** The object has changed since the expected version. */
  VersionConflict: 'VERSION_CONFLICT'
} as const;

export type ProblemCode = typeof ProblemCode[keyof typeof ProblemCode];
/** State of a job in PSI/J terms; the sequence of states never goes back. */
export const PsijState = {
  /** The job runs, or has run and waits for its next run. */
  Active: 'ACTIVE',
  /** The job is CANCELLED. */
  Canceled: 'CANCELED',
  /** The job is SUCCEEDED. */
  Completed: 'COMPLETED',
  /** The job is FAILED or INTERRUPTED. */
  Failed: 'FAILED',
  /** The job is BLOCKED. */
  New: 'NEW',
  /** The job is QUEUED or STARTING and has never run. */
  Queued: 'QUEUED'
} as const;

export type PsijState = typeof PsijState[keyof typeof PsijState];
/** A result to publish, with either `uri`, `body` or `snapshotId`. */
export type PublishArtifactInput = {
  /** The text itself, at most 64 KiB. */
  body?: string | null | undefined;
  /** Media type, such as text/plain. */
  mediaType: string;
  /** Further details, at most 16 KiB. */
  metadata?: Record<string, unknown> | null | undefined;
  /** Name, 1 … 255 characters. */
  name: string;
  /** A snapshot of one file, which the run sent by createSnapshot: snapshot_…; `name` is its path. */
  snapshotId?: string | null | undefined;
  /** Address of the result: an absolute URI of at most 2,048 characters. */
  uri?: string | null | undefined;
};

/** Action when a submission exceeds a quota. */
export const QuotaAction = {
  /** The submission is refused. */
  Block: 'BLOCK',
  /** The submission is accepted and needs an approval. */
  RequireApproval: 'REQUIRE_APPROVAL',
  /** The submission is accepted with a warning. */
  Warn: 'WARN'
} as const;

export type QuotaAction = typeof QuotaAction[keyof typeof QuotaAction];
/** Quantity that a quota limits. */
export const QuotaType = {
  /** Jobs that are not final, and active slot reservations. */
  ConcurrentJobs: 'CONCURRENT_JOBS',
  /** Cost of the jobs submitted in the last 24 hours. */
  CostPerDay: 'COST_PER_DAY',
  /** Cost of the jobs submitted in the last 30 days. */
  CostPerMonth: 'COST_PER_MONTH',
  /** Submissions in the last 24 hours. */
  JobsPerDay: 'JOBS_PER_DAY',
  /** Submissions in the last 60 minutes. */
  JobsPerHour: 'JOBS_PER_HOUR',
  /** GPUs requested by jobs that are not final, in pools with the executor `local` or `handler`. */
  LocalGpus: 'LOCAL_GPUS'
} as const;

export type QuotaType = typeof QuotaType[keyof typeof QuotaType];
/** A rejection. */
export type RejectJobInput = {
  /** Fails with a version conflict unless the job has this version. */
  expectedVersion: number;
  /** The BLOCKED job whose approval you decide. */
  jobId: string;
  /** Reason, shown to the submitter; at most 1,000 characters. */
  reason: string;
};

/** The reservation to release. */
export type ReleaseSlotInput = {
  /** The reservation to give back. */
  slotReservationId: string;
};

/** The progress of the job. */
export type ReportProgressInput = {
  /** 0 … 1; omitted: unchanged; null: removed. */
  fraction?: number | null | undefined;
  /** At most 1,000 characters; omitted: unchanged; null: removed. */
  message?: string | null | undefined;
  /** Numbers over the steps of the job, for `Run.metrics`; each pair of name and step once. At most 1,000. */
  metrics?: Array<MetricInput> | null | undefined;
};

/** The deliveries to send again. */
export type ResendWebhookDeliveriesInput = {
  /** Ids of the deliveries; omitted: all that are pending, then the oldest dead ones. At most 1,000. */
  deliveryIds?: Array<string> | null | undefined;
  /** Name of the webhook. */
  webhook: string;
};

/** The reservation. */
export type ReserveSlotInput = {
  /** Seconds until the reservation expires, 1 … 3,600. */
  ttlSeconds?: number | null | undefined;
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

/** The closure of the job. */
export type SaveClosureInput = {
  /** Any JSON object of at most 256 KiB. */
  closure: Record<string, unknown>;
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
export const ScopeKind = {
  /** An account and the accounts below it together. */
  Account: 'ACCOUNT',
  /** Each user. */
  Global: 'GLOBAL',
  /** Each user of a level. */
  Level: 'LEVEL',
  /** The jobs of a pool. */
  Pool: 'POOL',
  /** The jobs of a project. */
  Project: 'PROJECT',
  /** The jobs of a submission queue. */
  Queue: 'QUEUE',
  /** All members of a team together. */
  Team: 'TEAM',
  /** A user. */
  User: 'USER'
} as const;

export type ScopeKind = typeof ScopeKind[keyof typeof ScopeKind];
/** One priority for several jobs. */
export type SetJobPrioritiesInput = {
  /** Priority 0 … 50, higher first; null: return to `basePriority`. */
  priority?: number | null | undefined;
  /** The jobs. */
  selection: JobSelection;
};

/** A priority that overrides `basePriority`. */
export type SetJobPriorityInput = {
  /** Fails with a version conflict unless the job has this version. */
  expectedVersion?: number | null | undefined;
  /** The job whose priority is set. */
  jobId: string;
  /** Priority 0 … 50, higher first; null: return to `basePriority`. */
  priority?: number | null | undefined;
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

/** State of a slot reservation. */
export const SlotReservationState = {
  /** Can be consumed; counts like a job that is not final. */
  Active: 'ACTIVE',
  /** Consumed by a submission. */
  Consumed: 'CONSUMED',
  /** Expired before it was consumed. */
  Expired: 'EXPIRED',
  /** Released by its user. */
  Released: 'RELEASED'
} as const;

export type SlotReservationState = typeof SlotReservationState[keyof typeof SlotReservationState];
/** Category of a state. */
export const StateCategory = {
  /** STARTING, RUNNING or CANCELLING: the job holds resources. */
  Active: 'ACTIVE',
  /** SUCCEEDED, FAILED, INTERRUPTED or CANCELLED: the state never changes again. */
  Final: 'FINAL',
  /** BLOCKED or QUEUED. */
  Waiting: 'WAITING'
} as const;

export type StateCategory = typeof StateCategory[keyof typeof StateCategory];
/** Why a job or a run has its state. */
export const StateReason = {
  /** The approval was not decided in time. */
  ApprovalExpired: 'APPROVAL_EXPIRED',
  /** The job waits for an approval. */
  ApprovalPending: 'APPROVAL_PENDING',
  /** The approval was rejected. */
  ApprovalRejected: 'APPROVAL_REJECTED',
  /** The job was approved. */
  Approved: 'APPROVED',
  /** The executor cannot run this spec. */
  BadSpec: 'BAD_SPEC',
  /** A user cancelled the job. */
  Cancelled: 'CANCELLED',
  /** A job that this one depends on ended otherwise than required. */
  DependencyFailed: 'DEPENDENCY_FAILED',
  /** The command ended with another exit code than 0. */
  ExitCode: 'EXIT_CODE',
  /** The user already has an interactive job. */
  InteractiveQuota: 'INTERACTIVE_QUOTA',
  /** The run reached its maximum duration. */
  MaxRunTime: 'MAX_RUN_TIME',
  /** The node of the run is unreachable or was restarted. */
  NodeLost: 'NODE_LOST',
  /** The machine or the backend could not start the run; the attempt does not count. */
  NodeTrouble: 'NODE_TROUBLE',
  /** The backend had no place for all parts of the run at once. */
  NotTogether: 'NOT_TOGETHER',
  /** The job needed more memory than it has. */
  OomKilled: 'OOM_KILLED',
  /** The run left for another job. */
  Preempted: 'PREEMPTED',
  /** The run was asked to leave for another job. */
  Preempting: 'PREEMPTING',
  /** The handler could not continue the run after a restart of the server. */
  ResumeFailed: 'RESUME_FAILED',
  /** A signal ended the command. */
  Signal: 'SIGNAL',
  /** The executor could not start the run. */
  StartFailed: 'START_FAILED',
  /** The working directory does not exist, or the account of the job may not enter it. */
  WorkdirNotFound: 'WORKDIR_NOT_FOUND'
} as const;

export type StateReason = typeof StateReason[keyof typeof StateReason];
/** Why earlier messages of a stream are no longer valid. */
export const StreamResetReason = {
  /** The jobs were deleted. */
  Deleted: 'DELETED',
  /** The skipped events are no longer kept, or the database lost events in a failover or a restore. */
  Retention: 'RETENTION'
} as const;

export type StreamResetReason = typeof StreamResetReason[keyof typeof StreamResetReason];
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
export const TokenScope = {
  /** Everything else: users, teams, tokens, quotas, limits, rules, nodes, reservations, webhooks, deleting jobs of others. */
  Admin: 'ADMIN',
  /** Open sessions in running jobs of others. */
  Exec: 'EXEC',
  /** Approve, reject, set priorities, cancel jobs of others, set secrets of teams, run scheduling passes, clean up. */
  Operate: 'OPERATE',
  /** Queries and subscriptions; every token has this scope. */
  Read: 'READ',
  /** Submit and retry jobs, reserve and release slots, cancel and delete own jobs, set own secrets. */
  Submit: 'SUBMIT'
} as const;

export type TokenScope = typeof TokenScope[keyof typeof TokenScope];
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
export const UsageBy = {
  /** The account that the job is charged to. */
  Account: 'ACCOUNT',
  /** The pool; every measured time has a point, also without jobs. */
  Pool: 'POOL',
  /** The submission queue of the job. */
  Queue: 'QUEUE',
  /** The team of the job. */
  Team: 'TEAM',
  /** The user of the job. */
  User: 'USER'
} as const;

export type UsageBy = typeof UsageBy[keyof typeof UsageBy];
/** Identity of a user at an OpenID provider. */
export type UserIdentityInput = {
  /** Issuer: auth.oidc.issuer in the configuration. */
  issuer: string;
  /** Subject: `sub` in the tokens of the provider. */
  subject: string;
};

/** Level of a user. Each level includes the permissions of the levels below. */
export const UserLevel = {
  /** Has all permissions. */
  Admin: 'ADMIN',
  /** May see all jobs, decide on approvals, set priorities and secrets of own teams, and read the audit log. */
  Lead: 'LEAD',
  /** May submit, cancel and delete own jobs, and manage own tokens and secrets. */
  Researcher: 'RESEARCHER',
  /** May see own jobs. */
  Viewer: 'VIEWER'
} as const;

export type UserLevel = typeof UserLevel[keyof typeof UserLevel];
/** State of a delivery. */
export const WebhookDeliveryState = {
  /** All ten tries failed; the delivery is kept for 30 days. */
  Dead: 'DEAD',
  /** The receiver accepted the delivery; it is kept for an hour. */
  Delivered: 'DELIVERED',
  /** The delivery is sent now, or waits for its next try. */
  Pending: 'PENDING'
} as const;

export type WebhookDeliveryState = typeof WebhookDeliveryState[keyof typeof WebhookDeliveryState];
/** Type of an event that webhooks send. Its body and the configuration write JOB_FAILED as job.failed. */
export const WebhookEventType = {
  /** The event condition.began. */
  ConditionBegan: 'CONDITION_BEGAN',
  /** The event condition.over. */
  ConditionOver: 'CONDITION_OVER',
  /** The event job.approval_decided. */
  JobApprovalDecided: 'JOB_APPROVAL_DECIDED',
  /** The event job.approval_requested. */
  JobApprovalRequested: 'JOB_APPROVAL_REQUESTED',
  /** The event job.artifact_published. */
  JobArtifactPublished: 'JOB_ARTIFACT_PUBLISHED',
  /** The event job.blocked. */
  JobBlocked: 'JOB_BLOCKED',
  /** The event job.cancelled. */
  JobCancelled: 'JOB_CANCELLED',
  /** The event job.cancelling. */
  JobCancelling: 'JOB_CANCELLING',
  /** The event job.created. */
  JobCreated: 'JOB_CREATED',
  /** The event job.failed. */
  JobFailed: 'JOB_FAILED',
  /** The event job.interrupted. */
  JobInterrupted: 'JOB_INTERRUPTED',
  /** The event job.late_report. */
  JobLateReport: 'JOB_LATE_REPORT',
  /** The event job.preempt_requested. */
  JobPreemptRequested: 'JOB_PREEMPT_REQUESTED',
  /** The event job.preempt_withdrawn. */
  JobPreemptWithdrawn: 'JOB_PREEMPT_WITHDRAWN',
  /** The event job.priority_changed. */
  JobPriorityChanged: 'JOB_PRIORITY_CHANGED',
  /** The event job.queued. */
  JobQueued: 'JOB_QUEUED',
  /** The event job.running. */
  JobRunning: 'JOB_RUNNING',
  /** The event job.session_ended. */
  JobSessionEnded: 'JOB_SESSION_ENDED',
  /** The event job.session_opened. */
  JobSessionOpened: 'JOB_SESSION_OPENED',
  /** The event job.starting. */
  JobStarting: 'JOB_STARTING',
  /** The event job.succeeded. */
  JobSucceeded: 'JOB_SUCCEEDED',
  /** The event webhook.test. */
  WebhookTest: 'WEBHOOK_TEST'
} as const;

export type WebhookEventType = typeof WebhookEventType[keyof typeof WebhookEventType];
/** An X11 display for the job. */
export type X11Input = {
  /** Whether the display is rendered by a GPU. */
  gpu?: boolean | null | undefined;
};

export type SpecFieldsFragment = { account: string, arguments: Array<string> | null, bid: number | null, capacityReservationId: string | null, command: Array<string> | null, customAttributes: Record<string, unknown> | null, data: Array<string>, durationSeconds: number | null, estimatedCost: number | null, executable: string | null, executor: Executor, handler: string | null, image: string | null, secrets: Array<string>, inheritEnvironment: boolean, input: Record<string, unknown> | null, interactive: boolean, launcher: string, maxRunTimeSeconds: number | null, name: string | null, pull: ImagePull | null, networkIsolation: NetworkIsolation | null, notBefore: string | null, onDependencyFailure: OnDependencyFailure, postLaunch: string | null, preLaunch: string | null, preemptable: boolean, project: string | null, queue: string, restartable: boolean, resumable: boolean, stderrPath: string | null, stdinPath: string | null, stdoutPath: string | null, team: string | null, snapshot: string | null, workdir: string | null, dependsOn: Array<{ jobId: string, on: DependencyOn }>, environment: Array<{ name: string, value: string }>, internalDns: { name: string, ports: Array<{ port: number, protocol: NetworkProtocol, targetPort: number }> } | null, labels: Array<{ key: string, value: string }>, resources: { anyGpu: boolean, cpu: number, cpuCoresPerProcess: number | null, cpuModel: Array<string>, cudaVersion: string | null, exclusiveNodeUse: boolean, gpu: number, gpuCoresPerProcess: number | null, gpuIds: Array<number> | null, gpuMemoryBytes: number | null, gpuModel: Array<string>, gpuTensorCores: boolean | null, infiniband: boolean, memoryBytes: number, nodeCount: number | null, processCount: number | null, processesPerNode: number | null, replicaMasterPort: number | null, replicas: number }, retry: { maxAttempts: number, onExitCodes: Array<number> | null } | null, x11: { gpu: boolean } | null };

export type JobSpecQueryVariables = Exact<{
  id: string;
}>;


export type JobSpecQuery = { job: { id: string, name: string | null, state: JobState, spec: { account: string, arguments: Array<string> | null, bid: number | null, capacityReservationId: string | null, command: Array<string> | null, customAttributes: Record<string, unknown> | null, data: Array<string>, durationSeconds: number | null, estimatedCost: number | null, executable: string | null, executor: Executor, handler: string | null, image: string | null, secrets: Array<string>, inheritEnvironment: boolean, input: Record<string, unknown> | null, interactive: boolean, launcher: string, maxRunTimeSeconds: number | null, name: string | null, pull: ImagePull | null, networkIsolation: NetworkIsolation | null, notBefore: string | null, onDependencyFailure: OnDependencyFailure, postLaunch: string | null, preLaunch: string | null, preemptable: boolean, project: string | null, queue: string, restartable: boolean, resumable: boolean, stderrPath: string | null, stdinPath: string | null, stdoutPath: string | null, team: string | null, snapshot: string | null, workdir: string | null, dependsOn: Array<{ jobId: string, on: DependencyOn }>, environment: Array<{ name: string, value: string }>, internalDns: { name: string, ports: Array<{ port: number, protocol: NetworkProtocol, targetPort: number }> } | null, labels: Array<{ key: string, value: string }>, resources: { anyGpu: boolean, cpu: number, cpuCoresPerProcess: number | null, cpuModel: Array<string>, cudaVersion: string | null, exclusiveNodeUse: boolean, gpu: number, gpuCoresPerProcess: number | null, gpuIds: Array<number> | null, gpuMemoryBytes: number | null, gpuModel: Array<string>, gpuTensorCores: boolean | null, infiniband: boolean, memoryBytes: number, nodeCount: number | null, processCount: number | null, processesPerNode: number | null, replicaMasterPort: number | null, replicas: number }, retry: { maxAttempts: number, onExitCodes: Array<number> | null } | null, x11: { gpu: boolean } | null } | null } | null };

export type LogSearchQueryVariables = Exact<{
  id: string;
  query: string;
  regex?: boolean | null | undefined;
  ignoreCase?: boolean | null | undefined;
  run?: number | null | undefined;
  streams?: Array<LogStream> | LogStream | null | undefined;
  after?: string | null | undefined;
}>;


export type LogSearchQuery = { job: { id: string, logSearch: { cursor: string, isComplete: boolean, matches: Array<{ runNumber: number, line: number, at: string, stream: LogStream, text: string }> } | null } | null };

export type UsageQueryVariables = Exact<{
  from: string;
  to?: string | null | undefined;
  bucketSeconds: number;
  by?: UsageBy | null | undefined;
  pool?: string | null | undefined;
}>;


export type UsageQuery = { usage: Array<{ at: string, key: string | null, averageRunning: number, averageQueued: number, averageCpu: number, averageGpu: number, averageMemoryBytes: number, memoryCapacityBytes: number, cpuSeconds: number, gpuSeconds: number, memoryByteSeconds: number, started: number, finished: number, failed: number, waitP50Seconds: number | null, waitP95Seconds: number | null, user: { id: string, name: string, storedFileBytes: number | null } | null, team: { id: string, name: string } | null, cost: { amount: number, currency: string | null } | null }> | null };

export type ArtifactRowFragment = { id: string, name: string, kind: ArtifactKind, mediaType: string, sizeBytes: number | null, sha256: string | null, uri: string | null, createdAt: string };

export type ArtifactsQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ArtifactsQuery = { job: { id: string, artifacts: { nodes: Array<{ id: string, name: string, kind: ArtifactKind, mediaType: string, sizeBytes: number | null, sha256: string | null, uri: string | null, createdAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type ArtifactQueryVariables = Exact<{
  id: string;
}>;


export type ArtifactQuery = { node:
    | { __typename: 'ApiToken', id: string }
    | { __typename: 'Approval', id: string }
    | { __typename: 'ApprovalRule', id: string }
    | { __typename: 'Artifact', body: string | null, id: string, name: string, kind: ArtifactKind, mediaType: string, sizeBytes: number | null, sha256: string | null, uri: string | null, createdAt: string, job: { id: string } }
    | { __typename: 'AuditEntry', id: string }
    | { __typename: 'CapacityReservation', id: string }
    | { __typename: 'Gpu', id: string }
    | { __typename: 'Hold', id: string }
    | { __typename: 'Job', id: string }
    | { __typename: 'JobEvent', id: string }
    | { __typename: 'JobSession', id: string }
    | { __typename: 'Limits', id: string }
    | { __typename: 'Pool', id: string }
    | { __typename: 'PoolNode', id: string }
    | { __typename: 'Quota', id: string }
    | { __typename: 'Run', id: string }
    | { __typename: 'SavedView', id: string }
    | { __typename: 'Secret', id: string }
    | { __typename: 'ServerInfo', id: string }
    | { __typename: 'SlotReservation', id: string }
    | { __typename: 'Snapshot', id: string }
    | { __typename: 'SubmissionQueue', id: string }
    | { __typename: 'System', id: string }
    | { __typename: 'Team', id: string }
    | { __typename: 'User', id: string }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Webhook', id: string }
    | { __typename: 'WebhookDelivery', id: string }
    | { __typename: 'Workload', id: string }
   | null };

export type ReportProgressMutationVariables = Exact<{
  input: ReportProgressInput;
}>;


export type ReportProgressMutation = { reportProgress:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'ReportProgressSuccess' }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type PublishArtifactMutationVariables = Exact<{
  input: PublishArtifactInput;
}>;


export type PublishArtifactMutation = { publishArtifact:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'PublishArtifactSuccess', artifact: { id: string } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SaveClosureMutationVariables = Exact<{
  input: SaveClosureInput;
}>;


export type SaveClosureMutation = { saveClosure:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'SaveClosureSuccess' }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type LimitsRowFragment = { id: string, maxConcurrent: number | null, userMaxConcurrent: number | null, teamMaxConcurrent: number | null, enableFairShare: boolean, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number | null, pool: { id: string, name: string }, scopes: Array<{ gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number, scope: { kind: ScopeKind, name: string | null } }> };

export type LimitsQueryVariables = Exact<{
  pool?: string | null | undefined;
}>;


export type LimitsQuery = { pool: { id: string, limits: { id: string, maxConcurrent: number | null, userMaxConcurrent: number | null, teamMaxConcurrent: number | null, enableFairShare: boolean, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number | null, pool: { id: string, name: string }, scopes: Array<{ gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number, scope: { kind: ScopeKind, name: string | null } }> } } | null };

export type UpdateLimitsMutationVariables = Exact<{
  input: UpdateLimitsInput;
}>;


export type UpdateLimitsMutation = { updateLimits:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateLimitsSuccess', limits: { id: string, maxConcurrent: number | null, userMaxConcurrent: number | null, teamMaxConcurrent: number | null, enableFairShare: boolean, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number | null, pool: { id: string, name: string }, scopes: Array<{ gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number, scope: { kind: ScopeKind, name: string | null } }> } }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SetScopeLimitMutationVariables = Exact<{
  input: SetScopeLimitInput;
}>;


export type SetScopeLimitMutation = { setScopeLimit:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SetScopeLimitSuccess', limits: { id: string, maxConcurrent: number | null, userMaxConcurrent: number | null, teamMaxConcurrent: number | null, enableFairShare: boolean, localJobMaxConcurrent: number | null, localGpuMaxConcurrent: number | null, userMaxActive: number | null, userMaxBlocked: number | null, starvationThresholdSeconds: number | null, pool: { id: string, name: string }, scopes: Array<{ gpuModel: string | null, maxJobs: number | null, maxGpus: number | null, jobsInUse: number, gpusInUse: number, scope: { kind: ScopeKind, name: string | null } }> } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SetJobPriorityMutationVariables = Exact<{
  input: SetJobPriorityInput;
}>;


export type SetJobPriorityMutation = { setJobPriority:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SetJobPrioritySuccess', job: { priority: number | null, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type PlanPoolsMutationVariables = Exact<{
  input: PlanPoolsInput;
}>;


export type PlanPoolsMutation = { planPools:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'PlanPoolsSuccess', considered: number, started: number, preempted: number }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SelfCheckQueryVariables = Exact<{ [key: string]: never; }>;


export type SelfCheckQuery = { selfCheck: { ok: boolean, at: string, findings: Array<{ rule: string, objectId: string | null, message: string }> } };

export type ConditionsQueryVariables = Exact<{ [key: string]: never; }>;


export type ConditionsQuery = { pools: { nodes: Array<{ id: string, name: string, leader: { epoch: number } | null }> }, system: { id: string, at: string, conditionsAt: string | null, conditions: Array<{ name: string, severity: ConditionSeverity, meaning: string, since: string, evidence: Array<string>, cause: string, remedy: string, nextCommands: Array<string> }>, executors: Array<{ name: Executor, backendVersion: string | null, available: boolean, message: string | null, pool: { id: string, name: string } }> } };

export type NodeRowFragment = { id: string, name: string, state: PoolNodeState, stateInfo: string | null, stateAt: string, cpuModel: string | null, infiniband: boolean, lastSeenAt: string | null, pool: { id: string, name: string }, stateBy: { id: string, name: string } | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number }, machine: { address: string | null, engine: string | null, latencySeconds: number | null, silentSince: string | null, silence: string | null, troubles: Array<string> } | null };

export type PoolNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type PoolNamesQuery = { pools: { nodes: Array<{ id: string, name: string }> } };

export type PoolNodesQueryVariables = Exact<{
  pool: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type PoolNodesQuery = { pool: { id: string, nodes: { nodes: Array<{ id: string, name: string, state: PoolNodeState, stateInfo: string | null, stateAt: string, cpuModel: string | null, infiniband: boolean, lastSeenAt: string | null, pool: { id: string, name: string }, stateBy: { id: string, name: string } | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number }, machine: { address: string | null, engine: string | null, latencySeconds: number | null, silentSince: string | null, silence: string | null, troubles: Array<string> } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type AddNodeMutationVariables = Exact<{
  input: AddNodeInput;
}>;


export type AddNodeMutation = { addNode:
    | { __typename: 'AddNodeSuccess', troubles: Array<string>, node: { id: string, name: string, state: PoolNodeState, stateInfo: string | null, stateAt: string, cpuModel: string | null, infiniband: boolean, lastSeenAt: string | null, pool: { id: string, name: string }, stateBy: { id: string, name: string } | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number }, machine: { address: string | null, engine: string | null, latencySeconds: number | null, silentSince: string | null, silence: string | null, troubles: Array<string> } | null } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateNodeMutationVariables = Exact<{
  input: UpdateNodeInput;
}>;


export type UpdateNodeMutation = { updateNode:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateNodeSuccess', node: { id: string, name: string, state: PoolNodeState, stateInfo: string | null, stateAt: string, cpuModel: string | null, infiniband: boolean, lastSeenAt: string | null, pool: { id: string, name: string }, stateBy: { id: string, name: string } | null, capacity: { cpu: number, memoryBytes: number, gpu: number }, free: { cpu: number, memoryBytes: number, gpu: number }, machine: { address: string | null, engine: string | null, latencySeconds: number | null, silentSince: string | null, silence: string | null, troubles: Array<string> } | null } }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteNodeMutationVariables = Exact<{
  input: DeleteNodeInput;
}>;


export type DeleteNodeMutation = { deleteNode:
    | { __typename: 'DeleteNodeSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SubmissionQueuesQueryVariables = Exact<{ [key: string]: never; }>;


export type SubmissionQueuesQuery = { submissionQueues: Array<{ id: string, name: string, pool: { id: string, name: string } | null }> };

export type JobRowFragment = { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } };

export type FollowedJobFragment = { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } };

export type LiveJobFragment = { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } };

export type JobDetailFragment = { stateCategory: StateCategory, executor: Executor, account: string, project: string | null, priority: number | null, maxAttempts: number, queuedAt: string | null, position: number | null, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, team: { id: string, name: string } | null, pool: { id: string, name: string }, capacityReservation: { id: string, name: string } | null, fairShare: { account: string, share: number, weight: number, bid: number } | null, cost: { amount: number, currency: string | null } | null, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, scheduling: { jobsAhead: number, positionIsExact: boolean, lastConsideredAt: string | null, reasons: Array<{ code: PendingReasonCode, message: string, used: number | null, limit: number | null, scope: { kind: ScopeKind, name: string | null } | null }>, gates: Array<{ code: GateCode, open: boolean, opensAt: string | null, message: string | null, job: { id: string } | null }>, fit: { missing: Array<string> }, hold: { id: string, expectedAt: string | null, waitingForVictims: number, nodes: Array<{ id: string, name: string }> } | null, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, nativeId: string | null, imageDigest: string | null, ip: string | null, exitCode: number | null, stateReason: StateReason | null, stateInfo: string | null, cancelRequestedAt: string | null, preemptRequestedAt: string | null, lostSeconds: number | null, placements: Array<{ replica: number, cpu: number, memoryBytes: number, gpuIds: Array<number>, node: { id: string, name: string } }>, usage: { cpuSeconds: number | null, gpuSeconds: number | null, maxMemoryBytes: number | null } | null }, retryOf: { id: string } | null, dependencies: Array<{ on: DependencyOn, satisfied: boolean | null, job: { id: string, state: JobState } }>, artifacts: { nodes: Array<{ id: string, name: string }>, pageInfo: { hasNextPage: boolean } }, spec: { command: Array<string> | null, executable: string | null, arguments: Array<string> | null, handler: string | null, image: string | null, snapshot: string | null, outputs: Array<string>, workdir: string | null, maxRunTimeSeconds: number | null, resources: { cpu: number, memoryBytes: number, gpu: number } } | null, queue: { id: string, name: string }, user: { id: string, name: string } };

export type JobEventRowFragment = { id: string, seq: number, at: string, type: JobEventType, from: JobState | null, to: JobState | null, psijState: PsijState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, detail:
    | { __typename: 'ApprovalDecisionDetail' }
    | { __typename: 'ApprovalRequestDetail' }
    | { __typename: 'ArtifactDetail' }
    | { __typename: 'PreemptionDetail' }
    | { __typename: 'PriorityDetail' }
    | { __typename: 'StateChangeDetail', nativeId: string | null }
   | null };

type Problem_ApprovalNotAllowedProblem_Fragment = { __typename: 'ApprovalNotAllowedProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_CountMismatchProblem_Fragment = { __typename: 'CountMismatchProblem', code: ProblemCode, message: string, retryable: boolean };

type Problem_ForbiddenProblem_Fragment = { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean };

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
  | Problem_CountMismatchProblem_Fragment
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
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SubmitJobSuccess', idempotentHit: boolean, warnings: Array<string>, job: { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, spec: { resources: { memoryBytes: number } } | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type CancelJobMutationVariables = Exact<{
  input: CancelJobInput;
}>;


export type CancelJobMutation = { cancelJob:
    | { __typename: 'CancelJobSuccess', changed: boolean, job: { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteJobMutationVariables = Exact<{
  input: DeleteJobInput;
}>;


export type DeleteJobMutation = { deleteJob:
    | { __typename: 'DeleteJobSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type JobsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: JobFilter | null | undefined;
  orderBy?: JobOrder | null | undefined;
}>;


export type JobsQuery = { jobs: { asOf: string, nodes: Array<{ id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type LiveJobsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: JobFilter | null | undefined;
  orderBy?: JobOrder | null | undefined;
}>;


export type LiveJobsQuery = { jobs: { asOf: string, nodes: Array<{ stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type LiveJobUpdatesSubscriptionVariables = Exact<{
  filter?: JobFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type LiveJobUpdatesSubscription = { jobUpdates:
    | { __typename: 'JobTransitions', matches: boolean, cursor: string, job: { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', jobIds: Array<string>, cursor: string }
   };

export type JobQueryVariables = Exact<{
  id: string;
}>;


export type JobQuery = { job: { stateCategory: StateCategory, executor: Executor, account: string, project: string | null, priority: number | null, maxAttempts: number, queuedAt: string | null, position: number | null, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, team: { id: string, name: string } | null, pool: { id: string, name: string }, capacityReservation: { id: string, name: string } | null, fairShare: { account: string, share: number, weight: number, bid: number } | null, cost: { amount: number, currency: string | null } | null, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, scheduling: { jobsAhead: number, positionIsExact: boolean, lastConsideredAt: string | null, reasons: Array<{ code: PendingReasonCode, message: string, used: number | null, limit: number | null, scope: { kind: ScopeKind, name: string | null } | null }>, gates: Array<{ code: GateCode, open: boolean, opensAt: string | null, message: string | null, job: { id: string } | null }>, fit: { missing: Array<string> }, hold: { id: string, expectedAt: string | null, waitingForVictims: number, nodes: Array<{ id: string, name: string }> } | null, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null } | null, currentRun: { id: string, number: number, nodeNames: Array<string>, gpuIds: Array<number>, nativeId: string | null, imageDigest: string | null, ip: string | null, exitCode: number | null, stateReason: StateReason | null, stateInfo: string | null, cancelRequestedAt: string | null, preemptRequestedAt: string | null, lostSeconds: number | null, placements: Array<{ replica: number, cpu: number, memoryBytes: number, gpuIds: Array<number>, node: { id: string, name: string } }>, usage: { cpuSeconds: number | null, gpuSeconds: number | null, maxMemoryBytes: number | null } | null }, retryOf: { id: string } | null, dependencies: Array<{ on: DependencyOn, satisfied: boolean | null, job: { id: string, state: JobState } }>, artifacts: { nodes: Array<{ id: string, name: string }>, pageInfo: { hasNextPage: boolean } }, spec: { command: Array<string> | null, executable: string | null, arguments: Array<string> | null, handler: string | null, image: string | null, snapshot: string | null, outputs: Array<string>, workdir: string | null, maxRunTimeSeconds: number | null, resources: { cpu: number, memoryBytes: number, gpu: number } } | null, queue: { id: string, name: string }, user: { id: string, name: string } } | null };

export type JobEventsQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type JobEventsQuery = { job: { stateCategory: StateCategory, eventCursor: string, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, events: { nodes: Array<{ id: string, seq: number, at: string, type: JobEventType, from: JobState | null, to: JobState | null, psijState: PsijState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, detail:
          | { __typename: 'ApprovalDecisionDetail' }
          | { __typename: 'ApprovalRequestDetail' }
          | { __typename: 'ArtifactDetail' }
          | { __typename: 'PreemptionDetail' }
          | { __typename: 'PriorityDetail' }
          | { __typename: 'StateChangeDetail', nativeId: string | null }
         | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } | null };

export type JobLogsQueryVariables = Exact<{
  id: string;
  from?: LogStart | null | undefined;
  first?: number | null | undefined;
  streams?: Array<LogStream> | LogStream | null | undefined;
  run?: number | null | undefined;
}>;


export type JobLogsQuery = { job: { id: string, logs: { text: string, cursor: string, isFinal: boolean, gaps: Array<{ runNumber: number, startOffset: number, endOffset: number, gapReason: LogGapReason }> } | null } | null };

export type ServerInfoQueryVariables = Exact<{ [key: string]: never; }>;


export type ServerInfoQuery = { serverInfo: { id: string, name: string, release: string, at: string, singleUser: boolean, oidcIssuer: string | null, publicUrl: string | null } };

export type JobStatusSubscriptionVariables = Exact<{
  jobId: string;
  after?: string | null | undefined;
}>;


export type JobStatusSubscription = { jobStatus:
    | { __typename: 'JobTransitions', cursor: string, isFinal: boolean, job: { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } }, transitions: Array<{ id: string, seq: number, at: string, type: JobEventType, from: JobState | null, to: JobState | null, psijState: PsijState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, detail:
          | { __typename: 'ApprovalDecisionDetail' }
          | { __typename: 'ApprovalRequestDetail' }
          | { __typename: 'ArtifactDetail' }
          | { __typename: 'PreemptionDetail' }
          | { __typename: 'PriorityDetail' }
          | { __typename: 'StateChangeDetail', nativeId: string | null }
         | null }> }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', resetReason: StreamResetReason, cursor: string }
   };

export type JobUpdatesSubscriptionVariables = Exact<{
  filter?: JobFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type JobUpdatesSubscription = { jobUpdates:
    | { __typename: 'JobTransitions', matches: boolean, cursor: string, job: { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } }, transitions: Array<{ id: string, seq: number, at: string, type: JobEventType, from: JobState | null, to: JobState | null, psijState: PsijState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, detail:
          | { __typename: 'ApprovalDecisionDetail' }
          | { __typename: 'ApprovalRequestDetail' }
          | { __typename: 'ArtifactDetail' }
          | { __typename: 'PreemptionDetail' }
          | { __typename: 'PriorityDetail' }
          | { __typename: 'StateChangeDetail', nativeId: string | null }
         | null }> }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', resetReason: StreamResetReason, jobIds: Array<string>, cursor: string }
   };

export type TailSubscriptionVariables = Exact<{
  jobId: string;
  after?: string | null | undefined;
  lastLines?: number | null | undefined;
  streams?: Array<LogStream> | LogStream | null | undefined;
  run?: number | null | undefined;
}>;


export type TailSubscription = { tail:
    | { __typename: 'LogBatch', text: string, cursor: string, isFinal: boolean }
    | { __typename: 'LogGap', runNumber: number, startOffset: number, endOffset: number, gapReason: LogGapReason, cursor: string }
    | { __typename: 'RunChanged', cursor: string, run: { id: string, number: number } }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', resetReason: StreamResetReason, cursor: string }
   };

export type RetryJobMutationVariables = Exact<{
  input: RetryJobInput;
}>;


export type RetryJobMutation = { retryJob:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RetryJobSuccess', idempotentHit: boolean, warnings: Array<string>, job: { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type IdempotencyKeyQueryVariables = Exact<{
  key: string;
}>;


export type IdempotencyKeyQuery = { idempotencyKey: { key: string, createdAt: string, expiresAt: string, job: { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } } } | null };

export type QuotaRowFragment = { id: string, type: QuotaType, action: QuotaAction, limit: number, scope: { kind: ScopeKind, name: string | null } };

export type QuotasQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type QuotasQuery = { quotas: { nodes: Array<{ id: string, type: QuotaType, action: QuotaAction, limit: number, scope: { kind: ScopeKind, name: string | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type QuotaUsageRowFragment = { type: QuotaType, action: QuotaAction, limit: number, used: number, warning: boolean, scope: { kind: ScopeKind, name: string | null } };

export type QuotaUsageQueryVariables = Exact<{ [key: string]: never; }>;


export type QuotaUsageQuery = { viewer: { id: string, activeSlots: number, quotas: Array<{ type: QuotaType, action: QuotaAction, limit: number, used: number, warning: boolean, scope: { kind: ScopeKind, name: string | null } }> } };

export type CreateQuotaMutationVariables = Exact<{
  input: CreateQuotaInput;
}>;


export type CreateQuotaMutation = { createQuota:
    | { __typename: 'CreateQuotaSuccess', quota: { id: string, type: QuotaType, action: QuotaAction, limit: number, scope: { kind: ScopeKind, name: string | null } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateQuotaMutationVariables = Exact<{
  input: UpdateQuotaInput;
}>;


export type UpdateQuotaMutation = { updateQuota:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateQuotaSuccess', quota: { id: string, type: QuotaType, action: QuotaAction, limit: number, scope: { kind: ScopeKind, name: string | null } } }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteQuotaMutationVariables = Exact<{
  input: DeleteQuotaInput;
}>;


export type DeleteQuotaMutation = { deleteQuota:
    | { __typename: 'DeleteQuotaSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type ApprovalRowFragment = { id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string }, job: { id: string, name: string | null, version: number, state: JobState } };

export type ApprovalsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ApprovalsQuery = { approvals: { nodes: Array<{ id: string, status: ApprovalStatus, reason: string, requiredLevel: UserLevel, requestedAt: string, expiresAt: string, rule: { id: string, name: string } | null, requestedBy: { id: string, name: string }, job: { id: string, name: string | null, version: number, state: JobState } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ApproveJobMutationVariables = Exact<{
  input: ApproveJobInput;
}>;


export type ApproveJobMutation = { approveJob:
    | { __typename: 'ApprovalNotAllowedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ApproveJobSuccess', job: { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
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
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RejectJobSuccess', job: { id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type ApprovalRuleRowFragment = { id: string, name: string, priority: number, enabled: boolean, exemptLevels: Array<UserLevel>, requiredLevel: UserLevel, expiresAfterSeconds: number, condition: { costAbove: number | null, hardware: string | null, executor: Executor | null, levelNotIn: Array<UserLevel> | null, jobsPerDayAbove: number | null, firstJob: boolean | null, name: string | null } };

export type ApprovalRulesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ApprovalRulesQuery = { approvalRules: { nodes: Array<{ id: string, name: string, priority: number, enabled: boolean, exemptLevels: Array<UserLevel>, requiredLevel: UserLevel, expiresAfterSeconds: number, condition: { costAbove: number | null, hardware: string | null, executor: Executor | null, levelNotIn: Array<UserLevel> | null, jobsPerDayAbove: number | null, firstJob: boolean | null, name: string | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type CreateApprovalRuleMutationVariables = Exact<{
  input: CreateApprovalRuleInput;
}>;


export type CreateApprovalRuleMutation = { createApprovalRule:
    | { __typename: 'CreateApprovalRuleSuccess', rule: { id: string, name: string, priority: number, enabled: boolean, exemptLevels: Array<UserLevel>, requiredLevel: UserLevel, expiresAfterSeconds: number, condition: { costAbove: number | null, hardware: string | null, executor: Executor | null, levelNotIn: Array<UserLevel> | null, jobsPerDayAbove: number | null, firstJob: boolean | null, name: string | null } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateApprovalRuleMutationVariables = Exact<{
  input: UpdateApprovalRuleInput;
}>;


export type UpdateApprovalRuleMutation = { updateApprovalRule:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateApprovalRuleSuccess', rule: { id: string, name: string, priority: number, enabled: boolean, exemptLevels: Array<UserLevel>, requiredLevel: UserLevel, expiresAfterSeconds: number, condition: { costAbove: number | null, hardware: string | null, executor: Executor | null, levelNotIn: Array<UserLevel> | null, jobsPerDayAbove: number | null, firstJob: boolean | null, name: string | null } } }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteApprovalRuleMutationVariables = Exact<{
  input: DeleteApprovalRuleInput;
}>;


export type DeleteApprovalRuleMutation = { deleteApprovalRule:
    | { __typename: 'DeleteApprovalRuleSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type AuditRowFragment = { id: string, seq: number, at: string, actorName: string, operation: string, objectId: string | null, ip: string | null, token: string | null, requestId: string | null, detail: Record<string, unknown> | null, hash: string };

export type AuditLogQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: AuditFilter | null | undefined;
}>;


export type AuditLogQuery = { auditLog: { nodes: Array<{ id: string, seq: number, at: string, actorName: string, operation: string, objectId: string | null, ip: string | null, token: string | null, requestId: string | null, detail: Record<string, unknown> | null, hash: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type VerifyAuditQueryVariables = Exact<{
  fromSeq?: number | null | undefined;
  toSeq?: number | null | undefined;
}>;


export type VerifyAuditQuery = { verifyAudit: { ok: boolean, fromSeq: number, toSeq: number, headSeq: number, firstBadSeq: number | null, message: string | null } };

export type UserRowFragment = { id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ id: string, name: string }> };

export type UserRightsFragment = { id: string, allow: Array<Permission>, deny: Array<Permission>, permissions: Array<Permission>, unixUser: string | null, defaultTeam: { id: string, name: string } | null };

export type TeamRowFragment = { id: string, name: string, account: string, createdAt: string, members: { nodes: Array<{ id: string, name: string }>, pageInfo: { hasNextPage: boolean } } };

export type TokenRowFragment = { id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { id: string, name: string } };

export type UsersQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UsersQuery = { users: { nodes: Array<{ id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ id: string, name: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type UsersWithRightsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UsersWithRightsQuery = { users: { nodes: Array<{ id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, allow: Array<Permission>, deny: Array<Permission>, permissions: Array<Permission>, unixUser: string | null, teams: Array<{ id: string, name: string }>, defaultTeam: { id: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type WhoAmIQueryVariables = Exact<{ [key: string]: never; }>;


export type WhoAmIQuery = { viewer: { id: string, permissions: Array<Permission>, scopes: Array<TokenScope>, expiresAt: string | null, user: { id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, allow: Array<Permission>, deny: Array<Permission>, permissions: Array<Permission>, unixUser: string | null, teams: Array<{ id: string, name: string }>, defaultTeam: { id: string, name: string } | null } } };

export type TeamsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type TeamsQuery = { teams: { nodes: Array<{ id: string, name: string, account: string, createdAt: string, members: { nodes: Array<{ id: string, name: string }>, pageInfo: { hasNextPage: boolean } } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TokensQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  userId?: string | null | undefined;
}>;


export type TokensQuery = { tokens: { nodes: Array<{ id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { id: string, name: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type CreateUserMutationVariables = Exact<{
  input: CreateUserInput;
}>;


export type CreateUserMutation = { createUser:
    | { __typename: 'CreateUserSuccess', user: { id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ id: string, name: string }> } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateUserMutationVariables = Exact<{
  input: UpdateUserInput;
}>;


export type UpdateUserMutation = { updateUser:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateUserSuccess', user: { id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ id: string, name: string }> } }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DisableUserMutationVariables = Exact<{
  input: DisableUserInput;
}>;


export type DisableUserMutation = { disableUser:
    | { __typename: 'DisableUserSuccess', user: { id: string, name: string, displayName: string | null, email: string | null, level: UserLevel, disabled: boolean, createdAt: string, teams: Array<{ id: string, name: string }> } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type CreateTeamMutationVariables = Exact<{
  input: CreateTeamInput;
}>;


export type CreateTeamMutation = { createTeam:
    | { __typename: 'CreateTeamSuccess', team: { id: string, name: string, account: string, createdAt: string, members: { nodes: Array<{ id: string, name: string }>, pageInfo: { hasNextPage: boolean } } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type UpdateTeamMutationVariables = Exact<{
  input: UpdateTeamInput;
}>;


export type UpdateTeamMutation = { updateTeam:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UpdateTeamSuccess', team: { id: string, name: string, account: string, createdAt: string, members: { nodes: Array<{ id: string, name: string }>, pageInfo: { hasNextPage: boolean } } } }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteTeamMutationVariables = Exact<{
  input: DeleteTeamInput;
}>;


export type DeleteTeamMutation = { deleteTeam:
    | { __typename: 'DeleteTeamSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type CreateTokenMutationVariables = Exact<{
  input: CreateTokenInput;
}>;


export type CreateTokenMutation = { createToken:
    | { __typename: 'CreateTokenSuccess', secret: string, token: { id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { id: string, name: string } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type RevokeTokenMutationVariables = Exact<{
  input: RevokeTokenInput;
}>;


export type RevokeTokenMutation = { revokeToken:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RevokeTokenSuccess', token: { id: string, name: string, prefix: string, scopes: Array<TokenScope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, user: { id: string, name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type LogInFactsQueryVariables = Exact<{ [key: string]: never; }>;


export type LogInFactsQuery = { serverInfo: { id: string, release: string, singleUser: boolean, oidcIssuer: string | null, oidcClientId: string | null, oidcScopes: Array<string> } };

export type JobPreviewRowFragment = { wouldBe: JobState, nodeNames: Array<string>, gpuIds: Array<number>, position: number | null, preemptedCount: number, warnings: Array<string>, reasons: Array<{ code: PendingReasonCode, message: string, limit: number | null, used: number | null, job: { id: string } | null, scope: { kind: ScopeKind, name: string | null } | null }>, fit: { freeNow: boolean, couldEverFit: boolean, missing: Array<string> } | null, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null, approval: { requiredLevel: UserLevel, reason: string, expiresAfterSeconds: number, rule: { id: string, name: string } | null } | null, cost: { amount: number, currency: string | null } | null, quotas: Array<{ type: QuotaType, action: QuotaAction, limit: number, used: number, usedAfter: number | null, scope: { kind: ScopeKind, name: string | null } }>, preempts: Array<{ id: string }>, idempotentJob: { id: string } | null };

export type PreviewJobQueryVariables = Exact<{
  input: PreviewJobInput;
}>;


export type PreviewJobQuery = { previewJob:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'JobPreview', wouldBe: JobState, nodeNames: Array<string>, gpuIds: Array<number>, position: number | null, preemptedCount: number, warnings: Array<string>, reasons: Array<{ code: PendingReasonCode, message: string, limit: number | null, used: number | null, job: { id: string } | null, scope: { kind: ScopeKind, name: string | null } | null }>, fit: { freeNow: boolean, couldEverFit: boolean, missing: Array<string> } | null, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null, approval: { requiredLevel: UserLevel, reason: string, expiresAfterSeconds: number, rule: { id: string, name: string } | null } | null, cost: { amount: number, currency: string | null } | null, quotas: Array<{ type: QuotaType, action: QuotaAction, limit: number, used: number, usedAfter: number | null, scope: { kind: ScopeKind, name: string | null } }>, preempts: Array<{ id: string }>, idempotentJob: { id: string } | null }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type JobIdQueryVariables = Exact<{
  id: string;
}>;


export type JobIdQuery = { job: { id: string } | null };

export type JobIdsQueryVariables = Exact<{
  after?: string | null | undefined;
  filter?: JobFilter | null | undefined;
}>;


export type JobIdsQuery = { jobs: { nodes: Array<{ id: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type JobByNativeIdQueryVariables = Exact<{
  executor: Executor;
  nativeId: string;
}>;


export type JobByNativeIdQuery = { jobByNativeId: { id: string } | null };

export type ExecutorNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type ExecutorNamesQuery = { system: { id: string, executors: Array<{ name: Executor }> } };

export type ViewerIdQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerIdQuery = { viewer: { id: string, user: { id: string } } };

export type PythonSubmitJobsMutationVariables = Exact<{
  input: SubmitJobsInput;
}>;


export type PythonSubmitJobsMutation = { submitJobs:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'SubmitJobsSuccess', results: Array<
        | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
        | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'SubmitJobSuccess', idempotentHit: boolean, warnings: Array<string>, job: { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
        | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
      > }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type PythonSubmitJobMutationVariables = Exact<{
  input: SubmitJobInput;
}>;


export type PythonSubmitJobMutation = { submitJob:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SubmitJobSuccess', idempotentHit: boolean, warnings: Array<string>, job: { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type PythonRetryJobMutationVariables = Exact<{
  input: RetryJobInput;
}>;


export type PythonRetryJobMutation = { retryJob:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RetryJobSuccess', idempotentHit: boolean, warnings: Array<string>, job: { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type PythonCancelJobMutationVariables = Exact<{
  input: CancelJobInput;
}>;


export type PythonCancelJobMutation = { cancelJob:
    | { __typename: 'CancelJobSuccess', job: { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type PythonJobQueryVariables = Exact<{
  id: string;
}>;


export type PythonJobQuery = { job: { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } | null };

export type PythonKeyQueryVariables = Exact<{
  key: string;
}>;


export type PythonKeyQuery = { idempotencyKey: { key: string, job: { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } } | null };

export type JobExplanationFragment = { id: string, state: JobState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, scheduling: { jobsAhead: number, positionIsExact: boolean, reasons: Array<{ code: PendingReasonCode, message: string }>, gates: Array<{ code: GateCode, open: boolean, opensAt: string | null, message: string | null, job: { id: string } | null }>, fit: { missing: Array<string> }, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null } | null };

export type PythonExplanationQueryVariables = Exact<{
  id: string;
}>;


export type PythonExplanationQuery = { job: { id: string, state: JobState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, scheduling: { jobsAhead: number, positionIsExact: boolean, reasons: Array<{ code: PendingReasonCode, message: string }>, gates: Array<{ code: GateCode, open: boolean, opensAt: string | null, message: string | null, job: { id: string } | null }>, fit: { missing: Array<string> }, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null, message: string } | null } | null } | null };

export type PythonJobEventsQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type PythonJobEventsQuery = { job: { eventCursor: string, stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, events: { nodes: Array<{ id: string, seq: number, at: string, type: JobEventType, from: JobState | null, to: JobState | null, psijState: PsijState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, detail:
          | { __typename: 'ApprovalDecisionDetail' }
          | { __typename: 'ApprovalRequestDetail' }
          | { __typename: 'ArtifactDetail' }
          | { __typename: 'PreemptionDetail' }
          | { __typename: 'PriorityDetail' }
          | { __typename: 'StateChangeDetail', nativeId: string | null }
         | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } } | null };

export type PythonJobStatusSubscriptionVariables = Exact<{
  jobId: string;
  after?: string | null | undefined;
}>;


export type PythonJobStatusSubscription = { jobStatus:
    | { __typename: 'JobTransitions', cursor: string, isFinal: boolean, job: { stateCategory: StateCategory, priority: number | null, basePriority: number, priorityOverride: number | null, executor: Executor, account: string, project: string | null, queuedAt: string | null, allowedActions: Array<JobAction>, id: string, version: number, name: string | null, state: JobState, psijState: PsijState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, nativeId: string | null, attempt: number, createdAt: string, startedAt: string | null, finishedAt: string | null, pool: { id: string, name: string }, labels: Array<{ key: string, value: string }>, progress: { fraction: number | null, message: string | null, at: string } | null, queue: { id: string, name: string }, user: { id: string, name: string } }, transitions: Array<{ id: string, seq: number, at: string, type: JobEventType, from: JobState | null, to: JobState | null, psijState: PsijState | null, stateReason: StateReason | null, message: string | null, exitCode: number | null, runNumber: number | null, detail:
          | { __typename: 'ApprovalDecisionDetail' }
          | { __typename: 'ApprovalRequestDetail' }
          | { __typename: 'ArtifactDetail' }
          | { __typename: 'PreemptionDetail' }
          | { __typename: 'PriorityDetail' }
          | { __typename: 'StateChangeDetail', nativeId: string | null }
         | null }> }
    | { __typename: 'StreamHeartbeat', cursor: string }
    | { __typename: 'StreamReset', resetReason: StreamResetReason, cursor: string }
   };

export type CapacityReservationRowFragment = { id: string, name: string, project: string, startsAt: string, endsAt: string, hard: boolean, nativeId: string | null, pool: { id: string, name: string }, nodes: Array<{ id: string, name: string }> };

export type CapacityReservationsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type CapacityReservationsQuery = { capacityReservations: { nodes: Array<{ id: string, name: string, project: string, startsAt: string, endsAt: string, hard: boolean, nativeId: string | null, pool: { id: string, name: string }, nodes: Array<{ id: string, name: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type CreateCapacityReservationMutationVariables = Exact<{
  input: CreateCapacityReservationInput;
}>;


export type CreateCapacityReservationMutation = { createCapacityReservation:
    | { __typename: 'CreateCapacityReservationSuccess', capacityReservation: { id: string, name: string, project: string, startsAt: string, endsAt: string, hard: boolean, nativeId: string | null, pool: { id: string, name: string }, nodes: Array<{ id: string, name: string }> } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteCapacityReservationMutationVariables = Exact<{
  input: DeleteCapacityReservationInput;
}>;


export type DeleteCapacityReservationMutation = { deleteCapacityReservation:
    | { __typename: 'DeleteCapacityReservationSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SecretRowFragment = { id: string, name: string, createdAt: string, updatedAt: string, lastUsedAt: string | null, ownedBy: { id: string, name: string } | null, team: { id: string, name: string } | null, setBy: { id: string, name: string } | null };

export type SecretsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  teamId?: string | null | undefined;
}>;


export type SecretsQuery = { secrets: { nodes: Array<{ id: string, name: string, createdAt: string, updatedAt: string, lastUsedAt: string | null, ownedBy: { id: string, name: string } | null, team: { id: string, name: string } | null, setBy: { id: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type SetSecretMutationVariables = Exact<{
  input: SetSecretInput;
}>;


export type SetSecretMutation = { setSecret:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SetSecretSuccess', secret: { id: string, name: string, createdAt: string, updatedAt: string, lastUsedAt: string | null, ownedBy: { id: string, name: string } | null, team: { id: string, name: string } | null, setBy: { id: string, name: string } | null } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteSecretMutationVariables = Exact<{
  input: DeleteSecretInput;
}>;


export type DeleteSecretMutation = { deleteSecret:
    | { __typename: 'DeleteSecretSuccess', deletedId: string | null }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type JobCountsQueryVariables = Exact<{
  by: JobCountBy;
  filter?: JobFilter | null | undefined;
  labelKey?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type JobCountsQuery = { jobCounts: { isExact: boolean, rows: Array<{ key: string | null, count: number, user: { id: string, name: string } | null, team: { id: string, name: string } | null, byState: Array<{ state: JobState, count: number }> }> } };

export type ChangedJobFragment = { id: string, version: number, name: string | null, state: JobState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, createdAt: string, finishedAt: string | null, user: { id: string, name: string } };

type Refusal_ApprovalNotAllowedProblem_Fragment = { __typename: 'ApprovalNotAllowedProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_CountMismatchProblem_Fragment = { __typename: 'CountMismatchProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_ForbiddenProblem_Fragment = { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_IdempotencyConflictProblem_Fragment = { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean };

type Refusal_InvalidInputProblem_Fragment = { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean };

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

export type CountMismatchFragment = { actualCount: number };

export type CancelJobsMutationVariables = Exact<{
  input: CancelJobsInput;
}>;


export type CancelJobsMutation = { cancelJobs:
    | { __typename: 'CancelJobsSuccess', remaining: number, results: Array<{ jobId: string, result:
          | { __typename: 'CancelJobSuccess', changed: boolean, job: { id: string, version: number, name: string | null, state: JobState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, createdAt: string, finishedAt: string | null, user: { id: string, name: string } } }
          | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
         }> }
    | { __typename: 'CountMismatchProblem', actualCount: number, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type DeleteJobsMutationVariables = Exact<{
  input: DeleteJobsInput;
}>;


export type DeleteJobsMutation = { deleteJobs:
    | { __typename: 'CountMismatchProblem', actualCount: number, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'DeleteJobsSuccess', remaining: number, results: Array<{ jobId: string, result:
          | { __typename: 'DeleteJobSuccess', deletedId: string }
          | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
         }> }
    | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type RetryJobsMutationVariables = Exact<{
  input: RetryJobsInput;
}>;


export type RetryJobsMutation = { retryJobs:
    | { __typename: 'CountMismatchProblem', actualCount: number, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'RetryJobsSuccess', remaining: number, results: Array<{ jobId: string, result:
          | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'RetryJobSuccess', warnings: Array<string>, job: { id: string, version: number, name: string | null, state: JobState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, createdAt: string, finishedAt: string | null, user: { id: string, name: string } } }
          | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
         }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SetJobPrioritiesMutationVariables = Exact<{
  input: SetJobPrioritiesInput;
}>;


export type SetJobPrioritiesMutation = { setJobPriorities:
    | { __typename: 'CountMismatchProblem', actualCount: number, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SetJobPrioritiesSuccess', remaining: number, results: Array<{ jobId: string, result:
          | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'SetJobPrioritySuccess', job: { priority: number | null, id: string, version: number, name: string | null, state: JobState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, createdAt: string, finishedAt: string | null, user: { id: string, name: string } } }
          | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
          | { __typename: 'VersionConflictProblem', code: ProblemCode, message: string, retryable: boolean }
         }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SessionRowFragment = { id: string, command: Array<string>, port: number | null, tty: boolean, isOpen: boolean, createdAt: string, openedAt: string | null, endedAt: string | null, endReason: string | null, exitCode: number | null, bytesIn: number, bytesOut: number, openedBy: { id: string, name: string } | null, run: { id: string, number: number } };

export type SessionsQueryVariables = Exact<{
  id: string;
}>;


export type SessionsQuery = { job: { id: string, sessions: Array<{ id: string, command: Array<string>, port: number | null, tty: boolean, isOpen: boolean, createdAt: string, openedAt: string | null, endedAt: string | null, endReason: string | null, exitCode: number | null, bytesIn: number, bytesOut: number, openedBy: { id: string, name: string } | null, run: { id: string, number: number } }> } | null };

export type OpenSessionMutationVariables = Exact<{
  input: OpenSessionInput;
}>;


export type OpenSessionMutation = { openSession:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'OpenSessionSuccess', url: string, session: { id: string } }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type OpenForwardMutationVariables = Exact<{
  input: OpenForwardInput;
}>;


export type OpenForwardMutation = { openForward:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'InvalidStateProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'OpenForwardSuccess', url: string, session: { id: string } }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type EndSessionMutationVariables = Exact<{
  input: EndSessionInput;
}>;


export type EndSessionMutation = { endSession:
    | { __typename: 'EndSessionSuccess', session: { id: string } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SlotRowFragment = { id: string, state: SlotReservationState, createdAt: string, expiresAt: string, user: { id: string, name: string }, job: { id: string } | null };

export type SlotsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  states?: Array<SlotReservationState> | SlotReservationState | null | undefined;
}>;


export type SlotsQuery = { slotReservations: { nodes: Array<{ id: string, state: SlotReservationState, createdAt: string, expiresAt: string, user: { id: string, name: string }, job: { id: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ReserveSlotMutationVariables = Exact<{
  input: ReserveSlotInput;
}>;


export type ReserveSlotMutation = { reserveSlot:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ReserveSlotSuccess', reservation: { id: string, state: SlotReservationState, createdAt: string, expiresAt: string, user: { id: string, name: string }, job: { id: string } | null } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type ReleaseSlotMutationVariables = Exact<{
  input: ReleaseSlotInput;
}>;


export type ReleaseSlotMutation = { releaseSlot:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ReleaseSlotSuccess', released: boolean, reservation: { id: string, state: SlotReservationState, createdAt: string, expiresAt: string, user: { id: string, name: string }, job: { id: string } | null } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SubmitJobsMutationVariables = Exact<{
  input: SubmitJobsInput;
}>;


export type SubmitJobsMutation = { submitJobs:
    | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'SubmitJobsSuccess', results: Array<
        | { __typename: 'ForbiddenProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'IdempotencyConflictProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
        | { __typename: 'QuotaExceededProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'RejectedProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'ReservationExpiredProblem', code: ProblemCode, message: string, retryable: boolean }
        | { __typename: 'SubmitJobSuccess', job: { id: string, version: number, name: string | null, state: JobState, stateReason: StateReason | null, stateInfo: string | null, exitCode: number | null, createdAt: string, finishedAt: string | null, user: { id: string, name: string } } }
        | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
      > }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type SnapshotLimitsQueryVariables = Exact<{ [key: string]: never; }>;


export type SnapshotLimitsQuery = { serverInfo: { id: string, maxSnapshotBytes: number, maxSnapshotFiles: number } };

export type CreateSnapshotMutationVariables = Exact<{
  input: CreateSnapshotInput;
}>;


export type CreateSnapshotMutation = { createSnapshot:
    | { __typename: 'CreateSnapshotSuccess', uploadUrl: string | null, snapshot: { id: string } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type CreateDownloadMutationVariables = Exact<{
  input: CreateDownloadInput;
}>;


export type CreateDownloadMutation = { createDownload:
    | { __typename: 'CreateDownloadSuccess', url: string }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type WebhookRowFragment = { id: string, name: string, target: string, eventTypes: Array<WebhookEventType>, filter: Record<string, unknown>, disabledAt: string | null, disabledReason: string | null, createdAt: string, unread: number, pending: number, pendingSince: string | null, dead: number };

export type WebhookDeliveryRowFragment = { id: string, eventType: WebhookEventType, state: WebhookDeliveryState, tries: number, httpStatus: number | null, error: string | null, createdAt: string, nextTryAt: string | null, finishedAt: string | null, job: { id: string } | null };

export type WebhooksQueryVariables = Exact<{
  name?: string | null | undefined;
}>;


export type WebhooksQuery = { webhooks: Array<{ id: string, name: string, target: string, eventTypes: Array<WebhookEventType>, filter: Record<string, unknown>, disabledAt: string | null, disabledReason: string | null, createdAt: string, unread: number, pending: number, pendingSince: string | null, dead: number }> };

export type WebhookDetailsQueryVariables = Exact<{
  name: string;
}>;


export type WebhookDetailsQuery = { webhooks: Array<{ id: string, name: string, target: string, eventTypes: Array<WebhookEventType>, filter: Record<string, unknown>, disabledAt: string | null, disabledReason: string | null, createdAt: string, unread: number, pending: number, pendingSince: string | null, dead: number, pendingDeliveries: { nodes: Array<{ id: string, eventType: WebhookEventType, state: WebhookDeliveryState, tries: number, httpStatus: number | null, error: string | null, createdAt: string, nextTryAt: string | null, finishedAt: string | null, job: { id: string } | null }> }, deadDeliveries: { nodes: Array<{ id: string, eventType: WebhookEventType, state: WebhookDeliveryState, tries: number, httpStatus: number | null, error: string | null, createdAt: string, nextTryAt: string | null, finishedAt: string | null, job: { id: string } | null }> }, delivered: { nodes: Array<{ id: string, eventType: WebhookEventType, state: WebhookDeliveryState, tries: number, httpStatus: number | null, error: string | null, createdAt: string, nextTryAt: string | null, finishedAt: string | null, job: { id: string } | null }> } }> };

export type WebhookDeliveryQueryVariables = Exact<{
  id: string;
}>;


export type WebhookDeliveryQuery = { node:
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
    | { __typename: 'WebhookDelivery', body: string, id: string, eventType: WebhookEventType, state: WebhookDeliveryState, tries: number, httpStatus: number | null, error: string | null, createdAt: string, nextTryAt: string | null, finishedAt: string | null, job: { id: string } | null }
    | { __typename: 'Workload' }
   | null };

export type TestWebhookMutationVariables = Exact<{
  input: TestWebhookInput;
}>;


export type TestWebhookMutation = { testWebhook:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'TestWebhookSuccess', delivery: { id: string, eventType: WebhookEventType, state: WebhookDeliveryState, tries: number, httpStatus: number | null, error: string | null, createdAt: string, nextTryAt: string | null, finishedAt: string | null, job: { id: string } | null } }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type ResendWebhookDeliveriesMutationVariables = Exact<{
  input: ResendWebhookDeliveriesInput;
}>;


export type ResendWebhookDeliveriesMutation = { resendWebhookDeliveries:
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'InvalidInputProblem', code: ProblemCode, message: string, retryable: boolean, violations: Array<{ path: Array<string>, message: string }> }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'ResendWebhookDeliveriesSuccess', count: number }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type EnableWebhookMutationVariables = Exact<{
  input: EnableWebhookInput;
}>;


export type EnableWebhookMutation = { enableWebhook:
    | { __typename: 'EnableWebhookSuccess', webhook: { id: string, name: string, target: string, eventTypes: Array<WebhookEventType>, filter: Record<string, unknown>, disabledAt: string | null, disabledReason: string | null, createdAt: string, unread: number, pending: number, pendingSince: string | null, dead: number } }
    | { __typename: 'ForbiddenProblem', requiredPermission: Permission | null, requiredScope: TokenScope | null, requiredLevel: UserLevel | null, code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'NotFoundProblem', code: ProblemCode, message: string, retryable: boolean }
    | { __typename: 'UnavailableProblem', code: ProblemCode, message: string, retryable: boolean }
   };

export type WorkloadEntryFragment = { id: string, name: string | null, state: JobState, priority: number | null, position: number | null, fairShare: { share: number, bid: number } | null, user: { id: string, name: string }, currentRun: { id: string, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null };

export type WorkloadRowFragment = { id: string, at: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, pool: { id: string, name: string, limits: { id: string, maxConcurrent: number | null } }, entries: { nodes: Array<{ id: string, name: string | null, state: JobState, priority: number | null, position: number | null, fairShare: { share: number, bid: number } | null, user: { id: string, name: string }, currentRun: { id: string, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null }>, pageInfo: { hasNextPage: boolean } } };

export type WorkloadQueryVariables = Exact<{
  pool?: string | null | undefined;
  first?: number | null | undefined;
  states?: Array<JobState> | JobState | null | undefined;
}>;


export type WorkloadQuery = { pool: { id: string, workload: { id: string, at: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, pool: { id: string, name: string, limits: { id: string, maxConcurrent: number | null } }, entries: { nodes: Array<{ id: string, name: string | null, state: JobState, priority: number | null, position: number | null, fairShare: { share: number, bid: number } | null, user: { id: string, name: string }, currentRun: { id: string, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null }>, pageInfo: { hasNextPage: boolean } } } } | null };

export type WorkloadStatusSubscriptionVariables = Exact<{
  pool?: string | null | undefined;
  first?: number | null | undefined;
  states?: Array<JobState> | JobState | null | undefined;
}>;


export type WorkloadStatusSubscription = { workloadStatus: { id: string, at: string, depth: number, running: number, blocked: number, avgWaitSeconds: number | null, pool: { id: string, name: string, limits: { id: string, maxConcurrent: number | null } }, entries: { nodes: Array<{ id: string, name: string | null, state: JobState, priority: number | null, position: number | null, fairShare: { share: number, bid: number } | null, user: { id: string, name: string }, currentRun: { id: string, nodeNames: Array<string>, gpuIds: Array<number>, startedAt: string | null }, scheduling: { reasons: Array<{ code: PendingReasonCode, message: string }>, estimatedStart: { p50: string | null, p90: string | null, earliest: string | null, latest: string | null } | null } | null }>, pageInfo: { hasNextPage: boolean } } } };

export type GpusQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type GpusQuery = { system: { id: string, gpus: { nodes: Array<{ id: string, index: number, uuid: string | null, model: string, memoryBytes: number, tensorCores: boolean, cuda: Array<string>, allocated: boolean, node: { id: string, name: string }, job: { id: string, name: string | null, user: { id: string, name: string } } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } };

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
export const SpecFieldsFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment SpecFields on JobSpec {
  account
  arguments
  bid
  capacityReservationId
  command
  customAttributes
  data
  dependsOn {
    jobId
    on
  }
  durationSeconds
  environment {
    name
    value
  }
  estimatedCost
  executable
  executor
  handler
  image
  secrets
  inheritEnvironment
  input
  interactive
  internalDns {
    name
    ports {
      port
      protocol
      targetPort
    }
  }
  labels {
    key
    value
  }
  launcher
  maxRunTimeSeconds
  name
  pull
  networkIsolation
  notBefore
  onDependencyFailure
  postLaunch
  preLaunch
  preemptable
  project
  queue
  resources {
    anyGpu
    cpu
    cpuCoresPerProcess
    cpuModel
    cudaVersion
    exclusiveNodeUse
    gpu
    gpuCoresPerProcess
    gpuIds
    gpuMemoryBytes
    gpuModel
    gpuTensorCores
    infiniband
    memoryBytes
    nodeCount
    processCount
    processesPerNode
    replicaMasterPort
    replicas
  }
  restartable
  resumable
  retry {
    maxAttempts
    onExitCodes
  }
  stderrPath
  stdinPath
  stdoutPath
  team
  snapshot
  workdir
  x11 {
    gpu
  }
}
    `, {"fragmentName":"SpecFields"}) as unknown as TypedDocumentString<SpecFieldsFragment, unknown>;
export const ArtifactRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment ArtifactRow on Artifact {
  id
  name
  kind
  mediaType
  sizeBytes
  sha256
  uri
  createdAt
}
    `, {"fragmentName":"ArtifactRow"}) as unknown as TypedDocumentString<ArtifactRowFragment, unknown>;
export const LimitsRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment LimitsRow on Limits {
  id
  pool {
    id
    name
  }
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
    `, {"fragmentName":"LimitsRow"}) as unknown as TypedDocumentString<LimitsRowFragment, unknown>;
export const NodeRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment NodeRow on PoolNode {
  id
  name
  pool {
    id
    name
  }
  state
  stateInfo
  stateBy {
    id
    name
  }
  stateAt
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
  machine {
    address
    engine
    latencySeconds
    silentSince
    silence
    troubles
  }
  lastSeenAt
}
    `, {"fragmentName":"NodeRow"}) as unknown as TypedDocumentString<NodeRowFragment, unknown>;
export const JobRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
    `, {"fragmentName":"JobRow"}) as unknown as TypedDocumentString<JobRowFragment, unknown>;
export const FollowedJobFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment FollowedJob on Job {
  ...JobRow
  progress {
    fraction
    message
    at
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}`, {"fragmentName":"FollowedJob"}) as unknown as TypedDocumentString<FollowedJobFragment, unknown>;
export const LiveJobFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}`, {"fragmentName":"LiveJob"}) as unknown as TypedDocumentString<LiveJobFragment, unknown>;
export const JobDetailFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment JobDetail on Job {
  ...JobRow
  stateCategory
  team {
    id
    name
  }
  pool {
    id
    name
  }
  executor
  capacityReservation {
    id
    name
  }
  account
  project
  priority
  fairShare {
    account
    share
    weight
    bid
  }
  maxAttempts
  cost {
    amount
    currency
  }
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
  position
  scheduling {
    jobsAhead
    positionIsExact
    reasons {
      code
      message
      scope {
        kind
        name
      }
      used
      limit
    }
    gates {
      code
      open
      opensAt
      message
      job {
        id
      }
    }
    fit {
      missing
    }
    hold {
      id
      nodes {
        id
        name
      }
      expectedAt
      waitingForVictims
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
      message
    }
    lastConsideredAt
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    placements {
      replica
      node {
        id
        name
      }
      cpu
      memoryBytes
      gpuIds
    }
    nativeId
    imageDigest
    ip
    exitCode
    stateReason
    stateInfo
    cancelRequestedAt
    preemptRequestedAt
    lostSeconds
    usage {
      cpuSeconds
      gpuSeconds
      maxMemoryBytes
    }
  }
  retryOf {
    id
  }
  dependencies {
    on
    satisfied
    job {
      id
      state
    }
  }
  artifacts(first: 10) {
    nodes {
      id
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  spec {
    command
    executable
    arguments
    handler
    image
    snapshot
    outputs
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
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}`, {"fragmentName":"JobDetail"}) as unknown as TypedDocumentString<JobDetailFragment, unknown>;
export const JobEventRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}
    `, {"fragmentName":"JobEventRow"}) as unknown as TypedDocumentString<JobEventRowFragment, unknown>;
export const ProblemFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
  }
}
    `, {"fragmentName":"Problem"}) as unknown as TypedDocumentString<ProblemFragment, unknown>;
export const QuotaRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment QuotaRow on Quota {
  id
  type
  action
  scope {
    kind
    name
  }
  limit
}
    `, {"fragmentName":"QuotaRow"}) as unknown as TypedDocumentString<QuotaRowFragment, unknown>;
export const QuotaUsageRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment QuotaUsageRow on QuotaUsage {
  type
  action
  scope {
    kind
    name
  }
  limit
  used
  warning
}
    `, {"fragmentName":"QuotaUsageRow"}) as unknown as TypedDocumentString<QuotaUsageRowFragment, unknown>;
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
  requestedBy {
    id
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
export const ApprovalRuleRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
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
export const AuditRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment AuditRow on AuditEntry {
  id
  seq
  at
  actorName
  operation
  objectId
  ip
  token
  requestId
  detail
  hash
}
    `, {"fragmentName":"AuditRow"}) as unknown as TypedDocumentString<AuditRowFragment, unknown>;
export const UserRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment UserRow on User {
  id
  name
  displayName
  email
  level
  disabled
  teams {
    id
    name
  }
  createdAt
}
    `, {"fragmentName":"UserRow"}) as unknown as TypedDocumentString<UserRowFragment, unknown>;
export const UserRightsFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment UserRights on User {
  id
  allow
  deny
  permissions
  unixUser
  defaultTeam {
    id
    name
  }
}
    `, {"fragmentName":"UserRights"}) as unknown as TypedDocumentString<UserRightsFragment, unknown>;
export const TeamRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment TeamRow on Team {
  id
  name
  account
  members(first: 100) {
    nodes {
      id
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  createdAt
}
    `, {"fragmentName":"TeamRow"}) as unknown as TypedDocumentString<TeamRowFragment, unknown>;
export const TokenRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment TokenRow on ApiToken {
  id
  name
  prefix
  scopes
  user {
    id
    name
  }
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
}
    `, {"fragmentName":"TokenRow"}) as unknown as TypedDocumentString<TokenRowFragment, unknown>;
export const JobPreviewRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment JobPreviewRow on JobPreview {
  wouldBe
  nodeNames
  gpuIds
  position
  reasons {
    code
    message
    job {
      id
    }
    scope {
      kind
      name
    }
    limit
    used
  }
  fit {
    freeNow
    couldEverFit
    missing
  }
  estimatedStart {
    p50
    p90
    earliest
    latest
    message
  }
  approval {
    rule {
      id
      name
    }
    requiredLevel
    reason
    expiresAfterSeconds
  }
  cost {
    amount
    currency
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
  preempts {
    id
  }
  preemptedCount
  warnings
  idempotentJob {
    id
  }
}
    `, {"fragmentName":"JobPreviewRow"}) as unknown as TypedDocumentString<JobPreviewRowFragment, unknown>;
export const JobExplanationFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment JobExplanation on Job {
  id
  state
  stateReason
  stateInfo
  exitCode
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
      message
      job {
        id
      }
    }
    fit {
      missing
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
    `, {"fragmentName":"JobExplanation"}) as unknown as TypedDocumentString<JobExplanationFragment, unknown>;
export const CapacityReservationRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment CapacityReservationRow on CapacityReservation {
  id
  name
  pool {
    id
    name
  }
  project
  nodes {
    id
    name
  }
  startsAt
  endsAt
  hard
  nativeId
}
    `, {"fragmentName":"CapacityReservationRow"}) as unknown as TypedDocumentString<CapacityReservationRowFragment, unknown>;
export const SecretRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment SecretRow on Secret {
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
    `, {"fragmentName":"SecretRow"}) as unknown as TypedDocumentString<SecretRowFragment, unknown>;
export const ChangedJobFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment ChangedJob on Job {
  id
  version
  name
  state
  stateReason
  stateInfo
  exitCode
  user {
    id
    name
  }
  createdAt
  finishedAt
}
    `, {"fragmentName":"ChangedJob"}) as unknown as TypedDocumentString<ChangedJobFragment, unknown>;
export const RefusalFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment Refusal on Problem {
  __typename
  code
  message
  retryable
}
    `, {"fragmentName":"Refusal"}) as unknown as TypedDocumentString<RefusalFragment, unknown>;
export const CountMismatchFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment CountMismatch on CountMismatchProblem {
  actualCount
}
    `, {"fragmentName":"CountMismatch"}) as unknown as TypedDocumentString<CountMismatchFragment, unknown>;
export const SessionRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment SessionRow on JobSession {
  id
  command
  port
  tty
  isOpen
  createdAt
  openedAt
  endedAt
  endReason
  exitCode
  bytesIn
  bytesOut
  openedBy {
    id
    name
  }
  run {
    id
    number
  }
}
    `, {"fragmentName":"SessionRow"}) as unknown as TypedDocumentString<SessionRowFragment, unknown>;
export const SlotRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment SlotRow on SlotReservation {
  id
  state
  user {
    id
    name
  }
  createdAt
  expiresAt
  job {
    id
  }
}
    `, {"fragmentName":"SlotRow"}) as unknown as TypedDocumentString<SlotRowFragment, unknown>;
export const WebhookRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment WebhookRow on Webhook {
  id
  name
  target
  eventTypes
  filter
  disabledAt
  disabledReason
  createdAt
  unread
  pending
  pendingSince
  dead
}
    `, {"fragmentName":"WebhookRow"}) as unknown as TypedDocumentString<WebhookRowFragment, unknown>;
export const WebhookDeliveryRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment WebhookDeliveryRow on WebhookDelivery {
  id
  eventType
  job {
    id
  }
  state
  tries
  httpStatus
  error
  createdAt
  nextTryAt
  finishedAt
}
    `, {"fragmentName":"WebhookDeliveryRow"}) as unknown as TypedDocumentString<WebhookDeliveryRowFragment, unknown>;
export const WorkloadEntryFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment WorkloadEntry on Job {
  id
  name
  state
  priority
  fairShare {
    share
    bid
  }
  position
  user {
    id
    name
  }
  currentRun {
    id
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
    `, {"fragmentName":"WorkloadEntry"}) as unknown as TypedDocumentString<WorkloadEntryFragment, unknown>;
export const WorkloadRowFragmentDoc = /*#__PURE__*/ new TypedDocumentString(`
    fragment WorkloadRow on Workload {
  id
  pool {
    id
    name
    limits {
      id
      maxConcurrent
    }
  }
  at
  depth
  running
  blocked
  avgWaitSeconds
  entries(first: $first, states: $states) {
    nodes {
      ...WorkloadEntry
    }
    pageInfo {
      hasNextPage
    }
  }
}
    fragment WorkloadEntry on Job {
  id
  name
  state
  priority
  fairShare {
    share
    bid
  }
  position
  user {
    id
    name
  }
  currentRun {
    id
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
}`, {"fragmentName":"WorkloadRow"}) as unknown as TypedDocumentString<WorkloadRowFragment, unknown>;
export const JobSpecDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobSpec($id: ID!) {
  job(id: $id) {
    id
    name
    state
    spec {
      ...SpecFields
    }
  }
}
    fragment SpecFields on JobSpec {
  account
  arguments
  bid
  capacityReservationId
  command
  customAttributes
  data
  dependsOn {
    jobId
    on
  }
  durationSeconds
  environment {
    name
    value
  }
  estimatedCost
  executable
  executor
  handler
  image
  secrets
  inheritEnvironment
  input
  interactive
  internalDns {
    name
    ports {
      port
      protocol
      targetPort
    }
  }
  labels {
    key
    value
  }
  launcher
  maxRunTimeSeconds
  name
  pull
  networkIsolation
  notBefore
  onDependencyFailure
  postLaunch
  preLaunch
  preemptable
  project
  queue
  resources {
    anyGpu
    cpu
    cpuCoresPerProcess
    cpuModel
    cudaVersion
    exclusiveNodeUse
    gpu
    gpuCoresPerProcess
    gpuIds
    gpuMemoryBytes
    gpuModel
    gpuTensorCores
    infiniband
    memoryBytes
    nodeCount
    processCount
    processesPerNode
    replicaMasterPort
    replicas
  }
  restartable
  resumable
  retry {
    maxAttempts
    onExitCodes
  }
  stderrPath
  stdinPath
  stdoutPath
  team
  snapshot
  workdir
  x11 {
    gpu
  }
}`) as unknown as TypedDocumentString<JobSpecQuery, JobSpecQueryVariables>;
export const LogSearchDocument = /*#__PURE__*/ new TypedDocumentString(`
    query LogSearch($id: ID!, $query: String!, $regex: Boolean, $ignoreCase: Boolean, $run: Int, $streams: [LogStream!], $after: Cursor) {
  job(id: $id) {
    id
    logSearch(
      query: $query
      regex: $regex
      ignoreCase: $ignoreCase
      run: $run
      streams: $streams
      after: $after
      first: 1000
    ) {
      matches {
        runNumber
        line
        at
        stream
        text
      }
      cursor
      isComplete
    }
  }
}
    `) as unknown as TypedDocumentString<LogSearchQuery, LogSearchQueryVariables>;
export const UsageDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Usage($from: DateTime!, $to: DateTime, $bucketSeconds: Int!, $by: UsageBy, $pool: String) {
  usage(from: $from, to: $to, bucketSeconds: $bucketSeconds, by: $by, pool: $pool) {
    at
    key
    user {
      id
      name
      storedFileBytes
    }
    team {
      id
      name
    }
    averageRunning
    averageQueued
    averageCpu
    averageGpu
    averageMemoryBytes
    memoryCapacityBytes
    cpuSeconds
    gpuSeconds
    memoryByteSeconds
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
    `) as unknown as TypedDocumentString<UsageQuery, UsageQueryVariables>;
export const ArtifactsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Artifacts($id: ID!, $first: Int, $after: Cursor) {
  job(id: $id) {
    id
    artifacts(first: $first, after: $after) {
      nodes {
        ...ArtifactRow
      }
      pageInfo {
        hasNextPage
        endCursor
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
  sha256
  uri
  createdAt
}`) as unknown as TypedDocumentString<ArtifactsQuery, ArtifactsQueryVariables>;
export const ArtifactDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Artifact($id: ID!) {
  node(id: $id) {
    id
    __typename
    ... on Artifact {
      ...ArtifactRow
      body
      job {
        id
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
  sha256
  uri
  createdAt
}`) as unknown as TypedDocumentString<ArtifactQuery, ArtifactQueryVariables>;
export const ReportProgressDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ReportProgress($input: ReportProgressInput!) {
  reportProgress(input: $input) {
    __typename
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<ReportProgressMutation, ReportProgressMutationVariables>;
export const PublishArtifactDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation PublishArtifact($input: PublishArtifactInput!) {
  publishArtifact(input: $input) {
    __typename
    ... on PublishArtifactSuccess {
      artifact {
        id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<PublishArtifactMutation, PublishArtifactMutationVariables>;
export const SaveClosureDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SaveClosure($input: SaveClosureInput!) {
  saveClosure(input: $input) {
    __typename
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<SaveClosureMutation, SaveClosureMutationVariables>;
export const LimitsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Limits($pool: String) {
  pool(name: $pool) {
    id
    limits {
      id
      ...LimitsRow
    }
  }
}
    fragment LimitsRow on Limits {
  id
  pool {
    id
    name
  }
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
}`) as unknown as TypedDocumentString<LimitsQuery, LimitsQueryVariables>;
export const UpdateLimitsDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation UpdateLimits($input: UpdateLimitsInput!) {
  updateLimits(input: $input) {
    __typename
    ... on UpdateLimitsSuccess {
      limits {
        id
        ...LimitsRow
      }
    }
    ...Problem
  }
}
    fragment LimitsRow on Limits {
  id
  pool {
    id
    name
  }
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<UpdateLimitsMutation, UpdateLimitsMutationVariables>;
export const SetScopeLimitDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SetScopeLimit($input: SetScopeLimitInput!) {
  setScopeLimit(input: $input) {
    __typename
    ... on SetScopeLimitSuccess {
      limits {
        id
        ...LimitsRow
      }
    }
    ...Problem
  }
}
    fragment LimitsRow on Limits {
  id
  pool {
    id
    name
  }
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<SetScopeLimitMutation, SetScopeLimitMutationVariables>;
export const SetJobPriorityDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<SetJobPriorityMutation, SetJobPriorityMutationVariables>;
export const PlanPoolsDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation PlanPools($input: PlanPoolsInput!) {
  planPools(input: $input) {
    __typename
    ... on PlanPoolsSuccess {
      considered
      started
      preempted
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<PlanPoolsMutation, PlanPoolsMutationVariables>;
export const SelfCheckDocument = /*#__PURE__*/ new TypedDocumentString(`
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
}
    `) as unknown as TypedDocumentString<SelfCheckQuery, SelfCheckQueryVariables>;
export const ConditionsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Conditions {
  pools(first: 100) {
    nodes {
      id
      name
      leader {
        epoch
      }
    }
  }
  system {
    id
    at
    conditions {
      name
      severity
      meaning
      since
      evidence
      cause
      remedy
      nextCommands
    }
    conditionsAt
    executors {
      name
      pool {
        id
        name
      }
      backendVersion
      available
      message
    }
  }
}
    `) as unknown as TypedDocumentString<ConditionsQuery, ConditionsQueryVariables>;
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
export const PoolNodesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PoolNodes($pool: String!, $first: Int, $after: Cursor) {
  pool(name: $pool) {
    id
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
    fragment NodeRow on PoolNode {
  id
  name
  pool {
    id
    name
  }
  state
  stateInfo
  stateBy {
    id
    name
  }
  stateAt
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
  machine {
    address
    engine
    latencySeconds
    silentSince
    silence
    troubles
  }
  lastSeenAt
}`) as unknown as TypedDocumentString<PoolNodesQuery, PoolNodesQueryVariables>;
export const AddNodeDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation AddNode($input: AddNodeInput!) {
  addNode(input: $input) {
    __typename
    ... on AddNodeSuccess {
      node {
        ...NodeRow
      }
      troubles
    }
    ...Problem
  }
}
    fragment NodeRow on PoolNode {
  id
  name
  pool {
    id
    name
  }
  state
  stateInfo
  stateBy {
    id
    name
  }
  stateAt
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
  machine {
    address
    engine
    latencySeconds
    silentSince
    silence
    troubles
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<AddNodeMutation, AddNodeMutationVariables>;
export const UpdateNodeDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  pool {
    id
    name
  }
  state
  stateInfo
  stateBy {
    id
    name
  }
  stateAt
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
  machine {
    address
    engine
    latencySeconds
    silentSince
    silence
    troubles
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<UpdateNodeMutation, UpdateNodeMutationVariables>;
export const DeleteNodeDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteNode($input: DeleteNodeInput!) {
  deleteNode(input: $input) {
    __typename
    ... on DeleteNodeSuccess {
      deletedId
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<DeleteNodeMutation, DeleteNodeMutationVariables>;
export const SubmissionQueuesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query SubmissionQueues {
  submissionQueues {
    id
    name
    pool {
      id
      name
    }
  }
}
    `) as unknown as TypedDocumentString<SubmissionQueuesQuery, SubmissionQueuesQueryVariables>;
export const SubmitJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SubmitJob($input: SubmitJobInput!) {
  submitJob(input: $input) {
    __typename
    ... on SubmitJobSuccess {
      idempotentHit
      warnings
      job {
        ...JobRow
        spec {
          resources {
            memoryBytes
          }
        }
      }
    }
    ...Problem
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<SubmitJobMutation, SubmitJobMutationVariables>;
export const CancelJobDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<CancelJobMutation, CancelJobMutationVariables>;
export const DeleteJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteJob($input: DeleteJobInput!) {
  deleteJob(input: $input) {
    __typename
    ... on DeleteJobSuccess {
      deletedId
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<DeleteJobMutation, DeleteJobMutationVariables>;
export const JobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Jobs($first: Int, $after: Cursor, $filter: JobFilter, $orderBy: JobOrder) {
  jobs(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    asOf
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
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}`) as unknown as TypedDocumentString<JobsQuery, JobsQueryVariables>;
export const LiveJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query LiveJobs($first: Int, $after: Cursor, $filter: JobFilter, $orderBy: JobOrder) {
  jobs(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    asOf
    nodes {
      ...LiveJob
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}`) as unknown as TypedDocumentString<LiveJobsQuery, LiveJobsQueryVariables>;
export const LiveJobUpdatesDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription LiveJobUpdates($filter: JobFilter, $after: Cursor) {
  jobUpdates(filter: $filter, after: $after, progress: true) {
    __typename
    ... on JobTransitions {
      job {
        ...LiveJob
      }
      matches
      cursor
    }
    ... on StreamReset {
      jobIds
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}`) as unknown as TypedDocumentString<LiveJobUpdatesSubscription, LiveJobUpdatesSubscriptionVariables>;
export const JobDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Job($id: ID!) {
  job(id: $id) {
    ...JobDetail
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment JobDetail on Job {
  ...JobRow
  stateCategory
  team {
    id
    name
  }
  pool {
    id
    name
  }
  executor
  capacityReservation {
    id
    name
  }
  account
  project
  priority
  fairShare {
    account
    share
    weight
    bid
  }
  maxAttempts
  cost {
    amount
    currency
  }
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
  position
  scheduling {
    jobsAhead
    positionIsExact
    reasons {
      code
      message
      scope {
        kind
        name
      }
      used
      limit
    }
    gates {
      code
      open
      opensAt
      message
      job {
        id
      }
    }
    fit {
      missing
    }
    hold {
      id
      nodes {
        id
        name
      }
      expectedAt
      waitingForVictims
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
      message
    }
    lastConsideredAt
  }
  currentRun {
    id
    number
    nodeNames
    gpuIds
    placements {
      replica
      node {
        id
        name
      }
      cpu
      memoryBytes
      gpuIds
    }
    nativeId
    imageDigest
    ip
    exitCode
    stateReason
    stateInfo
    cancelRequestedAt
    preemptRequestedAt
    lostSeconds
    usage {
      cpuSeconds
      gpuSeconds
      maxMemoryBytes
    }
  }
  retryOf {
    id
  }
  dependencies {
    on
    satisfied
    job {
      id
      state
    }
  }
  artifacts(first: 10) {
    nodes {
      id
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  spec {
    command
    executable
    arguments
    handler
    image
    snapshot
    outputs
    workdir
    maxRunTimeSeconds
    resources {
      cpu
      memoryBytes
      gpu
    }
  }
}`) as unknown as TypedDocumentString<JobQuery, JobQueryVariables>;
export const JobEventsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobEvents($id: ID!, $first: Int, $after: Cursor) {
  job(id: $id) {
    ...FollowedJob
    stateCategory
    eventCursor
    events(first: $first, after: $after) {
      nodes {
        id
        ...JobEventRow
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment FollowedJob on Job {
  ...JobRow
  progress {
    fraction
    message
    at
  }
}
fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}`) as unknown as TypedDocumentString<JobEventsQuery, JobEventsQueryVariables>;
export const JobLogsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobLogs($id: ID!, $from: LogStart, $first: Int, $streams: [LogStream!], $run: Int) {
  job(id: $id) {
    id
    logs(from: $from, first: $first, streams: $streams, run: $run) {
      text
      gaps {
        runNumber
        startOffset
        endOffset
        gapReason
      }
      cursor
      isFinal
    }
  }
}
    `) as unknown as TypedDocumentString<JobLogsQuery, JobLogsQueryVariables>;
export const ServerInfoDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ServerInfo {
  serverInfo {
    id
    name
    release
    at
    singleUser
    oidcIssuer
    publicUrl
  }
}
    `) as unknown as TypedDocumentString<ServerInfoQuery, ServerInfoQueryVariables>;
export const JobStatusDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription JobStatus($jobId: ID!, $after: Cursor) {
  jobStatus(jobId: $jobId, after: $after) {
    __typename
    ... on JobTransitions {
      job {
        ...FollowedJob
      }
      transitions {
        id
        ...JobEventRow
      }
      cursor
      isFinal
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
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment FollowedJob on Job {
  ...JobRow
  progress {
    fraction
    message
    at
  }
}
fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}`) as unknown as TypedDocumentString<JobStatusSubscription, JobStatusSubscriptionVariables>;
export const JobUpdatesDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription JobUpdates($filter: JobFilter, $after: Cursor) {
  jobUpdates(filter: $filter, after: $after) {
    __typename
    ... on JobTransitions {
      job {
        ...JobRow
      }
      transitions {
        id
        ...JobEventRow
      }
      matches
      cursor
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
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}`) as unknown as TypedDocumentString<JobUpdatesSubscription, JobUpdatesSubscriptionVariables>;
export const TailDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription Tail($jobId: ID!, $after: Cursor, $lastLines: Int, $streams: [LogStream!], $run: Int) {
  tail(
    jobId: $jobId
    after: $after
    lastLines: $lastLines
    streams: $streams
    run: $run
  ) {
    __typename
    ... on LogBatch {
      text
      cursor
      isFinal
    }
    ... on LogGap {
      runNumber
      startOffset
      endOffset
      gapReason
      cursor
    }
    ... on RunChanged {
      run {
        id
        number
      }
      cursor
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
    `) as unknown as TypedDocumentString<TailSubscription, TailSubscriptionVariables>;
export const RetryJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RetryJob($input: RetryJobInput!) {
  retryJob(input: $input) {
    __typename
    ... on RetryJobSuccess {
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
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<RetryJobMutation, RetryJobMutationVariables>;
export const IdempotencyKeyDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}`) as unknown as TypedDocumentString<IdempotencyKeyQuery, IdempotencyKeyQueryVariables>;
export const QuotasDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  scope {
    kind
    name
  }
  limit
}`) as unknown as TypedDocumentString<QuotasQuery, QuotasQueryVariables>;
export const QuotaUsageDocument = /*#__PURE__*/ new TypedDocumentString(`
    query QuotaUsage {
  viewer {
    id
    activeSlots
    quotas {
      ...QuotaUsageRow
    }
  }
}
    fragment QuotaUsageRow on QuotaUsage {
  type
  action
  scope {
    kind
    name
  }
  limit
  used
  warning
}`) as unknown as TypedDocumentString<QuotaUsageQuery, QuotaUsageQueryVariables>;
export const CreateQuotaDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
  }
}
fragment QuotaRow on Quota {
  id
  type
  action
  scope {
    kind
    name
  }
  limit
}`) as unknown as TypedDocumentString<CreateQuotaMutation, CreateQuotaMutationVariables>;
export const UpdateQuotaDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
  }
}
fragment QuotaRow on Quota {
  id
  type
  action
  scope {
    kind
    name
  }
  limit
}`) as unknown as TypedDocumentString<UpdateQuotaMutation, UpdateQuotaMutationVariables>;
export const DeleteQuotaDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteQuota($input: DeleteQuotaInput!) {
  deleteQuota(input: $input) {
    __typename
    ... on DeleteQuotaSuccess {
      deletedId
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<DeleteQuotaMutation, DeleteQuotaMutationVariables>;
export const ApprovalsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Approvals($first: Int, $after: Cursor) {
  approvals(first: $first, after: $after, filter: {statuses: [PENDING]}) {
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
  requestedBy {
    id
    name
  }
  job {
    id
    name
    version
    state
  }
}`) as unknown as TypedDocumentString<ApprovalsQuery, ApprovalsQueryVariables>;
export const ApproveJobDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<ApproveJobMutation, ApproveJobMutationVariables>;
export const RejectJobDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<RejectJobMutation, RejectJobMutationVariables>;
export const ApprovalRulesDocument = /*#__PURE__*/ new TypedDocumentString(`
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
export const CreateApprovalRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
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
export const UpdateApprovalRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
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
export const DeleteApprovalRuleDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteApprovalRule($input: DeleteApprovalRuleInput!) {
  deleteApprovalRule(input: $input) {
    __typename
    ... on DeleteApprovalRuleSuccess {
      deletedId
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<DeleteApprovalRuleMutation, DeleteApprovalRuleMutationVariables>;
export const AuditLogDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  operation
  objectId
  ip
  token
  requestId
  detail
  hash
}`) as unknown as TypedDocumentString<AuditLogQuery, AuditLogQueryVariables>;
export const VerifyAuditDocument = /*#__PURE__*/ new TypedDocumentString(`
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
export const UsersDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    id
    name
  }
  createdAt
}`) as unknown as TypedDocumentString<UsersQuery, UsersQueryVariables>;
export const UsersWithRightsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query UsersWithRights($first: Int, $after: Cursor) {
  users(first: $first, after: $after) {
    nodes {
      ...UserRow
      ...UserRights
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
    id
    name
  }
  createdAt
}
fragment UserRights on User {
  id
  allow
  deny
  permissions
  unixUser
  defaultTeam {
    id
    name
  }
}`) as unknown as TypedDocumentString<UsersWithRightsQuery, UsersWithRightsQueryVariables>;
export const WhoAmIDocument = /*#__PURE__*/ new TypedDocumentString(`
    query WhoAmI {
  viewer {
    id
    permissions
    scopes
    expiresAt
    user {
      ...UserRow
      ...UserRights
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
    id
    name
  }
  createdAt
}
fragment UserRights on User {
  id
  allow
  deny
  permissions
  unixUser
  defaultTeam {
    id
    name
  }
}`) as unknown as TypedDocumentString<WhoAmIQuery, WhoAmIQueryVariables>;
export const TeamsDocument = /*#__PURE__*/ new TypedDocumentString(`
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
      id
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  createdAt
}`) as unknown as TypedDocumentString<TeamsQuery, TeamsQueryVariables>;
export const TokensDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    id
    name
  }
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
}`) as unknown as TypedDocumentString<TokensQuery, TokensQueryVariables>;
export const CreateUserDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
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
    id
    name
  }
  createdAt
}`) as unknown as TypedDocumentString<CreateUserMutation, CreateUserMutationVariables>;
export const UpdateUserDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
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
    id
    name
  }
  createdAt
}`) as unknown as TypedDocumentString<UpdateUserMutation, UpdateUserMutationVariables>;
export const DisableUserDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DisableUser($input: DisableUserInput!) {
  disableUser(input: $input) {
    __typename
    ... on DisableUserSuccess {
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
    requiredScope
    requiredLevel
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
    id
    name
  }
  createdAt
}`) as unknown as TypedDocumentString<DisableUserMutation, DisableUserMutationVariables>;
export const CreateTeamDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
  }
}
fragment TeamRow on Team {
  id
  name
  account
  members(first: 100) {
    nodes {
      id
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  createdAt
}`) as unknown as TypedDocumentString<CreateTeamMutation, CreateTeamMutationVariables>;
export const UpdateTeamDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
  }
}
fragment TeamRow on Team {
  id
  name
  account
  members(first: 100) {
    nodes {
      id
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  createdAt
}`) as unknown as TypedDocumentString<UpdateTeamMutation, UpdateTeamMutationVariables>;
export const DeleteTeamDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteTeam($input: DeleteTeamInput!) {
  deleteTeam(input: $input) {
    __typename
    ... on DeleteTeamSuccess {
      deletedId
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<DeleteTeamMutation, DeleteTeamMutationVariables>;
export const CreateTokenDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
  }
}
fragment TokenRow on ApiToken {
  id
  name
  prefix
  scopes
  user {
    id
    name
  }
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
}`) as unknown as TypedDocumentString<CreateTokenMutation, CreateTokenMutationVariables>;
export const RevokeTokenDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RevokeToken($input: RevokeTokenInput!) {
  revokeToken(input: $input) {
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
    requiredScope
    requiredLevel
  }
}
fragment TokenRow on ApiToken {
  id
  name
  prefix
  scopes
  user {
    id
    name
  }
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
}`) as unknown as TypedDocumentString<RevokeTokenMutation, RevokeTokenMutationVariables>;
export const LogInFactsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query LogInFacts {
  serverInfo {
    id
    release
    singleUser
    oidcIssuer
    oidcClientId
    oidcScopes
  }
}
    `) as unknown as TypedDocumentString<LogInFactsQuery, LogInFactsQueryVariables>;
export const PreviewJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PreviewJob($input: PreviewJobInput!) {
  previewJob(input: $input) {
    __typename
    ...JobPreviewRow
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
    requiredScope
    requiredLevel
  }
}
fragment JobPreviewRow on JobPreview {
  wouldBe
  nodeNames
  gpuIds
  position
  reasons {
    code
    message
    job {
      id
    }
    scope {
      kind
      name
    }
    limit
    used
  }
  fit {
    freeNow
    couldEverFit
    missing
  }
  estimatedStart {
    p50
    p90
    earliest
    latest
    message
  }
  approval {
    rule {
      id
      name
    }
    requiredLevel
    reason
    expiresAfterSeconds
  }
  cost {
    amount
    currency
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
  preempts {
    id
  }
  preemptedCount
  warnings
  idempotentJob {
    id
  }
}`) as unknown as TypedDocumentString<PreviewJobQuery, PreviewJobQueryVariables>;
export const JobIdDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobId($id: ID!) {
  job(id: $id) {
    id
  }
}
    `) as unknown as TypedDocumentString<JobIdQuery, JobIdQueryVariables>;
export const JobIdsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobIds($after: Cursor, $filter: JobFilter) {
  jobs(first: 100, after: $after, filter: $filter) {
    nodes {
      id
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<JobIdsQuery, JobIdsQueryVariables>;
export const JobByNativeIdDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobByNativeId($executor: Executor!, $nativeId: String!) {
  jobByNativeId(executor: $executor, nativeId: $nativeId) {
    id
  }
}
    `) as unknown as TypedDocumentString<JobByNativeIdQuery, JobByNativeIdQueryVariables>;
export const ExecutorNamesDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ExecutorNames {
  system {
    id
    executors {
      name
    }
  }
}
    `) as unknown as TypedDocumentString<ExecutorNamesQuery, ExecutorNamesQueryVariables>;
export const ViewerIdDocument = /*#__PURE__*/ new TypedDocumentString(`
    query ViewerId {
  viewer {
    id
    user {
      id
    }
  }
}
    `) as unknown as TypedDocumentString<ViewerIdQuery, ViewerIdQueryVariables>;
export const PythonSubmitJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation PythonSubmitJobs($input: SubmitJobsInput!) {
  submitJobs(input: $input) {
    __typename
    ... on SubmitJobsSuccess {
      results {
        __typename
        ... on SubmitJobSuccess {
          idempotentHit
          warnings
          job {
            ...LiveJob
          }
        }
        ...Problem
      }
    }
    ...Problem
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<PythonSubmitJobsMutation, PythonSubmitJobsMutationVariables>;
export const PythonSubmitJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation PythonSubmitJob($input: SubmitJobInput!) {
  submitJob(input: $input) {
    __typename
    ... on SubmitJobSuccess {
      idempotentHit
      warnings
      job {
        ...LiveJob
      }
    }
    ...Problem
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<PythonSubmitJobMutation, PythonSubmitJobMutationVariables>;
export const PythonRetryJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation PythonRetryJob($input: RetryJobInput!) {
  retryJob(input: $input) {
    __typename
    ... on RetryJobSuccess {
      idempotentHit
      warnings
      job {
        ...LiveJob
      }
    }
    ...Problem
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<PythonRetryJobMutation, PythonRetryJobMutationVariables>;
export const PythonCancelJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation PythonCancelJob($input: CancelJobInput!) {
  cancelJob(input: $input) {
    __typename
    ... on CancelJobSuccess {
      job {
        ...LiveJob
      }
    }
    ...Problem
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<PythonCancelJobMutation, PythonCancelJobMutationVariables>;
export const PythonJobDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PythonJob($id: ID!) {
  job(id: $id) {
    ...LiveJob
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}`) as unknown as TypedDocumentString<PythonJobQuery, PythonJobQueryVariables>;
export const PythonKeyDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PythonKey($key: String!) {
  idempotencyKey(key: $key) {
    key
    job {
      ...LiveJob
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}`) as unknown as TypedDocumentString<PythonKeyQuery, PythonKeyQueryVariables>;
export const PythonExplanationDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PythonExplanation($id: ID!) {
  job(id: $id) {
    ...JobExplanation
  }
}
    fragment JobExplanation on Job {
  id
  state
  stateReason
  stateInfo
  exitCode
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
      message
      job {
        id
      }
    }
    fit {
      missing
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
      message
    }
  }
}`) as unknown as TypedDocumentString<PythonExplanationQuery, PythonExplanationQueryVariables>;
export const PythonJobEventsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query PythonJobEvents($id: ID!, $first: Int, $after: Cursor) {
  job(id: $id) {
    ...LiveJob
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
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}
fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}`) as unknown as TypedDocumentString<PythonJobEventsQuery, PythonJobEventsQueryVariables>;
export const PythonJobStatusDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription PythonJobStatus($jobId: ID!, $after: Cursor) {
  jobStatus(jobId: $jobId, after: $after) {
    __typename
    ... on JobTransitions {
      job {
        ...LiveJob
      }
      transitions {
        ...JobEventRow
      }
      cursor
      isFinal
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
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}
fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}`) as unknown as TypedDocumentString<PythonJobStatusSubscription, PythonJobStatusSubscriptionVariables>;
export const CapacityReservationsDocument = /*#__PURE__*/ new TypedDocumentString(`
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
  pool {
    id
    name
  }
  project
  nodes {
    id
    name
  }
  startsAt
  endsAt
  hard
  nativeId
}`) as unknown as TypedDocumentString<CapacityReservationsQuery, CapacityReservationsQueryVariables>;
export const CreateCapacityReservationDocument = /*#__PURE__*/ new TypedDocumentString(`
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
    requiredScope
    requiredLevel
  }
}
fragment CapacityReservationRow on CapacityReservation {
  id
  name
  pool {
    id
    name
  }
  project
  nodes {
    id
    name
  }
  startsAt
  endsAt
  hard
  nativeId
}`) as unknown as TypedDocumentString<CreateCapacityReservationMutation, CreateCapacityReservationMutationVariables>;
export const DeleteCapacityReservationDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteCapacityReservation($input: DeleteCapacityReservationInput!) {
  deleteCapacityReservation(input: $input) {
    __typename
    ... on DeleteCapacityReservationSuccess {
      deletedId
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<DeleteCapacityReservationMutation, DeleteCapacityReservationMutationVariables>;
export const SecretsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Secrets($first: Int, $after: Cursor, $teamId: ID) {
  secrets(first: $first, after: $after, teamId: $teamId) {
    nodes {
      ...SecretRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment SecretRow on Secret {
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
}`) as unknown as TypedDocumentString<SecretsQuery, SecretsQueryVariables>;
export const SetSecretDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SetSecret($input: SetSecretInput!) {
  setSecret(input: $input) {
    __typename
    ... on SetSecretSuccess {
      secret {
        ...SecretRow
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
    requiredScope
    requiredLevel
  }
}
fragment SecretRow on Secret {
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
}`) as unknown as TypedDocumentString<SetSecretMutation, SetSecretMutationVariables>;
export const DeleteSecretDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteSecret($input: DeleteSecretInput!) {
  deleteSecret(input: $input) {
    __typename
    ... on DeleteSecretSuccess {
      deletedId
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<DeleteSecretMutation, DeleteSecretMutationVariables>;
export const JobCountsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query JobCounts($by: JobCountBy!, $filter: JobFilter, $labelKey: String, $first: Int = 50) {
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
    `) as unknown as TypedDocumentString<JobCountsQuery, JobCountsQueryVariables>;
export const CancelJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation CancelJobs($input: CancelJobsInput!) {
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
            job {
              ...ChangedJob
            }
          }
          ...Refusal
        }
      }
    }
    ...CountMismatch
    ...Refusal
  }
}
    fragment ChangedJob on Job {
  id
  version
  name
  state
  stateReason
  stateInfo
  exitCode
  user {
    id
    name
  }
  createdAt
  finishedAt
}
fragment Refusal on Problem {
  __typename
  code
  message
  retryable
}
fragment CountMismatch on CountMismatchProblem {
  actualCount
}`) as unknown as TypedDocumentString<CancelJobsMutation, CancelJobsMutationVariables>;
export const DeleteJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation DeleteJobs($input: DeleteJobsInput!) {
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
          ...Refusal
        }
      }
    }
    ...CountMismatch
    ...Refusal
  }
}
    fragment Refusal on Problem {
  __typename
  code
  message
  retryable
}
fragment CountMismatch on CountMismatchProblem {
  actualCount
}`) as unknown as TypedDocumentString<DeleteJobsMutation, DeleteJobsMutationVariables>;
export const RetryJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation RetryJobs($input: RetryJobsInput!) {
  retryJobs(input: $input) {
    __typename
    ... on RetryJobsSuccess {
      remaining
      results {
        jobId
        result {
          __typename
          ... on RetryJobSuccess {
            warnings
            job {
              ...ChangedJob
            }
          }
          ...Refusal
        }
      }
    }
    ...CountMismatch
    ...Refusal
  }
}
    fragment ChangedJob on Job {
  id
  version
  name
  state
  stateReason
  stateInfo
  exitCode
  user {
    id
    name
  }
  createdAt
  finishedAt
}
fragment Refusal on Problem {
  __typename
  code
  message
  retryable
}
fragment CountMismatch on CountMismatchProblem {
  actualCount
}`) as unknown as TypedDocumentString<RetryJobsMutation, RetryJobsMutationVariables>;
export const SetJobPrioritiesDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SetJobPriorities($input: SetJobPrioritiesInput!) {
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
              ...ChangedJob
              priority
            }
          }
          ...Refusal
        }
      }
    }
    ...CountMismatch
    ...Refusal
  }
}
    fragment ChangedJob on Job {
  id
  version
  name
  state
  stateReason
  stateInfo
  exitCode
  user {
    id
    name
  }
  createdAt
  finishedAt
}
fragment Refusal on Problem {
  __typename
  code
  message
  retryable
}
fragment CountMismatch on CountMismatchProblem {
  actualCount
}`) as unknown as TypedDocumentString<SetJobPrioritiesMutation, SetJobPrioritiesMutationVariables>;
export const SessionsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Sessions($id: ID!) {
  job(id: $id) {
    id
    sessions {
      ...SessionRow
    }
  }
}
    fragment SessionRow on JobSession {
  id
  command
  port
  tty
  isOpen
  createdAt
  openedAt
  endedAt
  endReason
  exitCode
  bytesIn
  bytesOut
  openedBy {
    id
    name
  }
  run {
    id
    number
  }
}`) as unknown as TypedDocumentString<SessionsQuery, SessionsQueryVariables>;
export const OpenSessionDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation OpenSession($input: OpenSessionInput!) {
  openSession(input: $input) {
    __typename
    ... on OpenSessionSuccess {
      url
      session {
        id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<OpenSessionMutation, OpenSessionMutationVariables>;
export const OpenForwardDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation OpenForward($input: OpenForwardInput!) {
  openForward(input: $input) {
    __typename
    ... on OpenForwardSuccess {
      url
      session {
        id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<OpenForwardMutation, OpenForwardMutationVariables>;
export const EndSessionDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation EndSession($input: EndSessionInput!) {
  endSession(input: $input) {
    __typename
    ... on EndSessionSuccess {
      session {
        id
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<EndSessionMutation, EndSessionMutationVariables>;
export const SlotsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Slots($first: Int, $after: Cursor, $states: [SlotReservationState!]) {
  slotReservations(first: $first, after: $after, states: $states) {
    nodes {
      ...SlotRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment SlotRow on SlotReservation {
  id
  state
  user {
    id
    name
  }
  createdAt
  expiresAt
  job {
    id
  }
}`) as unknown as TypedDocumentString<SlotsQuery, SlotsQueryVariables>;
export const ReserveSlotDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ReserveSlot($input: ReserveSlotInput!) {
  reserveSlot(input: $input) {
    __typename
    ... on ReserveSlotSuccess {
      reservation {
        ...SlotRow
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
    requiredScope
    requiredLevel
  }
}
fragment SlotRow on SlotReservation {
  id
  state
  user {
    id
    name
  }
  createdAt
  expiresAt
  job {
    id
  }
}`) as unknown as TypedDocumentString<ReserveSlotMutation, ReserveSlotMutationVariables>;
export const ReleaseSlotDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ReleaseSlot($input: ReleaseSlotInput!) {
  releaseSlot(input: $input) {
    __typename
    ... on ReleaseSlotSuccess {
      released
      reservation {
        ...SlotRow
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
    requiredScope
    requiredLevel
  }
}
fragment SlotRow on SlotReservation {
  id
  state
  user {
    id
    name
  }
  createdAt
  expiresAt
  job {
    id
  }
}`) as unknown as TypedDocumentString<ReleaseSlotMutation, ReleaseSlotMutationVariables>;
export const SubmitJobsDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation SubmitJobs($input: SubmitJobsInput!) {
  submitJobs(input: $input) {
    __typename
    ... on SubmitJobsSuccess {
      results {
        __typename
        ... on SubmitJobSuccess {
          job {
            ...ChangedJob
          }
        }
        ...Refusal
        ... on InvalidInputProblem {
          violations {
            path
            message
          }
        }
      }
    }
    ...Refusal
  }
}
    fragment ChangedJob on Job {
  id
  version
  name
  state
  stateReason
  stateInfo
  exitCode
  user {
    id
    name
  }
  createdAt
  finishedAt
}
fragment Refusal on Problem {
  __typename
  code
  message
  retryable
}`) as unknown as TypedDocumentString<SubmitJobsMutation, SubmitJobsMutationVariables>;
export const SnapshotLimitsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query SnapshotLimits {
  serverInfo {
    id
    maxSnapshotBytes
    maxSnapshotFiles
  }
}
    `) as unknown as TypedDocumentString<SnapshotLimitsQuery, SnapshotLimitsQueryVariables>;
export const CreateSnapshotDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation CreateSnapshot($input: CreateSnapshotInput!) {
  createSnapshot(input: $input) {
    __typename
    ... on CreateSnapshotSuccess {
      snapshot {
        id
      }
      uploadUrl
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<CreateSnapshotMutation, CreateSnapshotMutationVariables>;
export const CreateDownloadDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation CreateDownload($input: CreateDownloadInput!) {
  createDownload(input: $input) {
    __typename
    ... on CreateDownloadSuccess {
      url
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<CreateDownloadMutation, CreateDownloadMutationVariables>;
export const WebhooksDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Webhooks($name: String) {
  webhooks(name: $name) {
    ...WebhookRow
  }
}
    fragment WebhookRow on Webhook {
  id
  name
  target
  eventTypes
  filter
  disabledAt
  disabledReason
  createdAt
  unread
  pending
  pendingSince
  dead
}`) as unknown as TypedDocumentString<WebhooksQuery, WebhooksQueryVariables>;
export const WebhookDetailsDocument = /*#__PURE__*/ new TypedDocumentString(`
    query WebhookDetails($name: String!) {
  webhooks(name: $name) {
    ...WebhookRow
    pendingDeliveries: deliveries(state: PENDING, first: 50) {
      nodes {
        ...WebhookDeliveryRow
      }
    }
    deadDeliveries: deliveries(state: DEAD, first: 50) {
      nodes {
        ...WebhookDeliveryRow
      }
    }
    delivered: deliveries(state: DELIVERED, first: 50) {
      nodes {
        ...WebhookDeliveryRow
      }
    }
  }
}
    fragment WebhookRow on Webhook {
  id
  name
  target
  eventTypes
  filter
  disabledAt
  disabledReason
  createdAt
  unread
  pending
  pendingSince
  dead
}
fragment WebhookDeliveryRow on WebhookDelivery {
  id
  eventType
  job {
    id
  }
  state
  tries
  httpStatus
  error
  createdAt
  nextTryAt
  finishedAt
}`) as unknown as TypedDocumentString<WebhookDetailsQuery, WebhookDetailsQueryVariables>;
export const WebhookDeliveryDocument = /*#__PURE__*/ new TypedDocumentString(`
    query WebhookDelivery($id: ID!) {
  node(id: $id) {
    __typename
    ... on WebhookDelivery {
      ...WebhookDeliveryRow
      body
    }
  }
}
    fragment WebhookDeliveryRow on WebhookDelivery {
  id
  eventType
  job {
    id
  }
  state
  tries
  httpStatus
  error
  createdAt
  nextTryAt
  finishedAt
}`) as unknown as TypedDocumentString<WebhookDeliveryQuery, WebhookDeliveryQueryVariables>;
export const TestWebhookDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation TestWebhook($input: TestWebhookInput!) {
  testWebhook(input: $input) {
    __typename
    ... on TestWebhookSuccess {
      delivery {
        ...WebhookDeliveryRow
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
    requiredScope
    requiredLevel
  }
}
fragment WebhookDeliveryRow on WebhookDelivery {
  id
  eventType
  job {
    id
  }
  state
  tries
  httpStatus
  error
  createdAt
  nextTryAt
  finishedAt
}`) as unknown as TypedDocumentString<TestWebhookMutation, TestWebhookMutationVariables>;
export const ResendWebhookDeliveriesDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation ResendWebhookDeliveries($input: ResendWebhookDeliveriesInput!) {
  resendWebhookDeliveries(input: $input) {
    __typename
    ... on ResendWebhookDeliveriesSuccess {
      count
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
    requiredScope
    requiredLevel
  }
}`) as unknown as TypedDocumentString<ResendWebhookDeliveriesMutation, ResendWebhookDeliveriesMutationVariables>;
export const EnableWebhookDocument = /*#__PURE__*/ new TypedDocumentString(`
    mutation EnableWebhook($input: EnableWebhookInput!) {
  enableWebhook(input: $input) {
    __typename
    ... on EnableWebhookSuccess {
      webhook {
        ...WebhookRow
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
    requiredScope
    requiredLevel
  }
}
fragment WebhookRow on Webhook {
  id
  name
  target
  eventTypes
  filter
  disabledAt
  disabledReason
  createdAt
  unread
  pending
  pendingSince
  dead
}`) as unknown as TypedDocumentString<EnableWebhookMutation, EnableWebhookMutationVariables>;
export const WorkloadDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Workload($pool: String, $first: Int, $states: [JobState!]) {
  pool(name: $pool) {
    id
    workload {
      id
      ...WorkloadRow
    }
  }
}
    fragment WorkloadEntry on Job {
  id
  name
  state
  priority
  fairShare {
    share
    bid
  }
  position
  user {
    id
    name
  }
  currentRun {
    id
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
fragment WorkloadRow on Workload {
  id
  pool {
    id
    name
    limits {
      id
      maxConcurrent
    }
  }
  at
  depth
  running
  blocked
  avgWaitSeconds
  entries(first: $first, states: $states) {
    nodes {
      ...WorkloadEntry
    }
    pageInfo {
      hasNextPage
    }
  }
}`) as unknown as TypedDocumentString<WorkloadQuery, WorkloadQueryVariables>;
export const WorkloadStatusDocument = /*#__PURE__*/ new TypedDocumentString(`
    subscription WorkloadStatus($pool: String, $first: Int, $states: [JobState!]) {
  workloadStatus(pool: $pool) {
    id
    ...WorkloadRow
  }
}
    fragment WorkloadEntry on Job {
  id
  name
  state
  priority
  fairShare {
    share
    bid
  }
  position
  user {
    id
    name
  }
  currentRun {
    id
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
fragment WorkloadRow on Workload {
  id
  pool {
    id
    name
    limits {
      id
      maxConcurrent
    }
  }
  at
  depth
  running
  blocked
  avgWaitSeconds
  entries(first: $first, states: $states) {
    nodes {
      ...WorkloadEntry
    }
    pageInfo {
      hasNextPage
    }
  }
}`) as unknown as TypedDocumentString<WorkloadStatusSubscription, WorkloadStatusSubscriptionVariables>;
export const GpusDocument = /*#__PURE__*/ new TypedDocumentString(`
    query Gpus($first: Int, $after: Cursor) {
  system {
    id
    gpus(first: $first, after: $after) {
      nodes {
        id
        node {
          id
          name
        }
        index
        uuid
        model
        memoryBytes
        tensorCores
        cuda
        allocated
        job {
          id
          name
          user {
            id
            name
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
    `) as unknown as TypedDocumentString<GpusQuery, GpusQueryVariables>;