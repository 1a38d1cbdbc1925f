"""The types of the API. `npm run codegen` writes this file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from .._times import parse_time
from .._views import ExplanationView, JobView


ArtifactKind = Literal[
    "FILE",
    "LINK",
    "TEXT",
]

DependencyOn = Literal[
    "FAILED",
    "FINISHED",
    "SUCCEEDED",
]

Executor = Literal[
    "CONTAINER",
    "HANDLER",
    "KUBERNETES",
    "LOCAL",
    "SIMULATED",
    "SLURM",
]

GateCode = Literal[
    "APPROVAL",
    "DEPENDENCY",
    "NOT_BEFORE",
    "RESERVATION_WINDOW",
    "RESTART_BACKOFF",
]

ImagePull = Literal[
    "ALWAYS",
    "MISSING",
]

JobAction = Literal[
    "APPROVE",
    "CANCEL",
    "DELETE",
    "OPEN_FORWARD",
    "OPEN_SESSION",
    "REJECT",
    "RETRY",
    "SET_PRIORITY",
]

JobEventType = Literal[
    "APPROVAL_DECIDED",
    "APPROVAL_REQUESTED",
    "ARTIFACT_PUBLISHED",
    "CREATED",
    "LATE_REPORT",
    "PREEMPT_REQUESTED",
    "PREEMPT_WITHDRAWN",
    "PRIORITY_CHANGED",
    "SESSION_ENDED",
    "SESSION_OPENED",
    "STATE_CHANGED",
]

JobState = Literal[
    "BLOCKED",
    "CANCELLED",
    "CANCELLING",
    "FAILED",
    "INTERRUPTED",
    "QUEUED",
    "RUNNING",
    "STARTING",
    "SUCCEEDED",
]

NetworkIsolation = Literal[
    "ALL",
    "IN",
    "OUT",
]

NetworkProtocol = Literal[
    "TCP",
    "UDP",
]

OnDependencyFailure = Literal[
    "CANCEL",
    "WAIT",
]

PendingReasonCode = Literal[
    "APPROVAL_PENDING",
    "DEPENDENCY",
    "GLOBAL_LIMIT",
    "GPU_LIMIT",
    "HOLD",
    "INTERACTIVE_QUOTA",
    "LOCAL_GPU_LIMIT",
    "LOCAL_JOB_LIMIT",
    "NODE_BACKS_OFF",
    "NON_PREEMPTABLE_POOL",
    "NOT_BEFORE",
    "NO_CAPACITY",
    "POOL_PAUSED",
    "PROJECT_LIMIT",
    "QUEUE_LIMIT",
    "RESERVATION_WINDOW",
    "RESERVED_NODES",
    "RESTART_BACKOFF",
    "TEAM_LIMIT",
    "UNSATISFIABLE",
    "USER_DISABLED",
    "USER_LIMIT",
    "WAITING_FOR_PREEMPTION",
]

PsijState = Literal[
    "ACTIVE",
    "CANCELED",
    "COMPLETED",
    "FAILED",
    "NEW",
    "QUEUED",
]

QuotaAction = Literal[
    "BLOCK",
    "REQUIRE_APPROVAL",
    "WARN",
]

QuotaType = Literal[
    "CONCURRENT_JOBS",
    "COST_PER_DAY",
    "COST_PER_MONTH",
    "JOBS_PER_DAY",
    "JOBS_PER_HOUR",
    "LOCAL_GPUS",
]

ScopeKind = Literal[
    "ACCOUNT",
    "GLOBAL",
    "LEVEL",
    "POOL",
    "PROJECT",
    "QUEUE",
    "TEAM",
    "USER",
]

StateCategory = Literal[
    "ACTIVE",
    "FINAL",
    "WAITING",
]

StateReason = Literal[
    "APPROVAL_EXPIRED",
    "APPROVAL_PENDING",
    "APPROVAL_REJECTED",
    "APPROVED",
    "BAD_SPEC",
    "CANCELLED",
    "DEPENDENCY_FAILED",
    "EXIT_CODE",
    "INTERACTIVE_QUOTA",
    "MAX_RUN_TIME",
    "NODE_LOST",
    "NODE_TROUBLE",
    "NOT_TOGETHER",
    "OOM_KILLED",
    "PREEMPTED",
    "PREEMPTING",
    "RESUME_FAILED",
    "SIGNAL",
    "START_FAILED",
    "WORKDIR_NOT_FOUND",
]

UserLevel = Literal[
    "ADMIN",
    "LEAD",
    "RESEARCHER",
    "VIEWER",
]

@dataclass(frozen=True)
class JobSpec:
    """The spec of a job. Give `command`, or `executable` with `arguments`, or `handler`; all are optional with an image."""

    command: Optional[Sequence[str]] = None
    """Program and arguments, passed without expansion. At most 10,000."""
    account: Optional[str] = None
    """Account to charge, the unit of fair share; default: the account of the team, or your own."""
    arguments: Optional[Sequence[str]] = None
    """Arguments; ${NAME} references are expanded. At most 10,000."""
    bid: Optional[int] = None
    """Bid for a better position in the queue."""
    capacity_reservation_id: Optional[str] = None
    """Id of the capacity reservation to run in."""
    custom_attributes: Optional[Dict[str, Any]] = None
    """Further attributes for the backend."""
    data: Optional[Sequence[str]] = None
    """Data sets to mount in the container (each `source:/path/in/job`). At most 256."""
    depends_on: Optional[Sequence[Dependency]] = None
    """Jobs that must end first. At most 100."""
    duration_seconds: Optional[float] = None
    """Expected duration of a run in seconds."""
    environment: Optional[Union[Mapping[str, str], Sequence[EnvironmentVariable]]] = None
    """Environment variables in order (the last one of a name wins). At most 10,000."""
    estimated_cost: Optional[float] = None
    """Your estimate of the cost, in the currency of the pool: 0 … 10¹⁵."""
    executable: Optional[str] = None
    """Program to run; its arguments are in `arguments`."""
    executor: Optional[Executor] = None
    """Default: chosen by the other fields and the pool."""
    handler: Optional[str] = None
    """Path of a module to run instead of a command, absolute or relative to the working directory."""
    image: Optional[str] = None
    """Container image."""
    inherit_environment: Optional[bool] = None
    """Whether the job inherits the environment variables that the server passes on."""
    input: Optional[Dict[str, Any]] = None
    """Input of the handler."""
    interactive: Optional[bool] = None
    """Whether the job is interactive. Interactive jobs start first; a user can have one at a time."""
    internal_dns: Optional[InternalDns] = None
    """DNS name for other jobs."""
    labels: Optional[Union[Mapping[str, str], Sequence[Label]]] = None
    """Keys and values. At most 64."""
    launcher: Optional[str] = None
    """Launcher for the processes of the job: single, multiple, mpirun or srun, if the executor supports it."""
    max_run_time_seconds: Optional[float] = None
    """Maximum duration of a run in seconds; 0: unlimited. Default: `durationSeconds`, else two days, or unlimited for a preemptable or interactive job."""
    name: Optional[str] = None
    """Name, at most 255 characters."""
    network_isolation: Optional[NetworkIsolation] = None
    """Network traffic to block."""
    not_before: Optional[Union[datetime, str]] = None
    """Earliest start; a time in the past means now."""
    on_dependency_failure: Optional[OnDependencyFailure] = None
    """Action when a dependency fails."""
    outputs: Optional[Sequence[str]] = None
    """Patterns, as of `.gitignore`, of files below the working directory that become artifacts when a run ends. At most 64."""
    post_launch: Optional[str] = None
    """Path of a script that is sourced after the command ended."""
    pre_launch: Optional[str] = None
    """Path of a script that is sourced before the command starts."""
    preemptable: Optional[bool] = None
    """Whether the job may be preempted by other jobs."""
    project: Optional[str] = None
    """Project, for limits, reservations and filters."""
    pull: Optional[ImagePull] = None
    """When the image is pulled; default: MISSING."""
    queue: Optional[str] = None
    """Submission queue; default: the default queue."""
    resources: Optional[Resources] = None
    """Requested resources."""
    restartable: Optional[bool] = None
    """Whether the job may be run again from the beginning."""
    resumable: Optional[bool] = None
    """Whether the job can continue from a closure. A run that is interrupted after `saveClosure` is followed by another run."""
    retry: Optional[Retry] = None
    """Retry after a failed run; default: none."""
    secrets: Optional[Sequence[str]] = None
    """Names of secrets to put into the environment (your own, or else those of the team of the job). At most 32."""
    snapshot: Optional[str] = None
    """The snapshot of which each run gets a fresh copy as its working directory: snapshot_…"""
    stderr_path: Optional[str] = None
    """File that receives a copy of the error output."""
    stdin_path: Optional[str] = None
    """File used as standard input."""
    stdout_path: Optional[str] = None
    """File that receives a copy of the output."""
    team: Optional[str] = None
    """Team of the job; default: your default team."""
    workdir: Optional[str] = None
    """Working directory: an absolute path or ~/…; with `snapshot`, a folder of the snapshot."""
    x11: Optional[X11] = None
    """X11 display."""


@dataclass(frozen=True)
class Dependency:
    """A job that must end before this one can start."""

    job_id: str
    """The job to wait for."""
    on: Optional[DependencyOn] = None
    """Required outcome of the job."""


@dataclass(frozen=True)
class EnvironmentVariable:
    """An environment variable."""

    name: str
    """Name that the job sees; without = and NUL."""
    value: str
    """Value; ${NAME} references are expanded."""


@dataclass(frozen=True)
class InternalDns:
    """A DNS name under which other jobs reach this job."""

    ports: Sequence[InternalDnsPort]
    """The reachable ports. At most 1,024."""
    name: Optional[str] = None
    """RFC 1035 label; the prefix of the account is added: "dns-<account>-", or "dns--<hash>-" if the account has other characters than a–z and 0–9."""


@dataclass(frozen=True)
class InternalDnsPort:
    """A port under which other jobs reach this job."""

    port: int
    """The port that other jobs connect to."""
    protocol: Optional[NetworkProtocol] = None
    """TCP (default) or UDP."""
    target_port: Optional[int] = None
    """The port that the job listens on; default: `port`."""


@dataclass(frozen=True)
class Label:
    """A label; a tag is a label with the value ""."""

    key: str
    """Key, unique within the job, at most 255 characters."""
    value: str
    """Value, at most 1,024 characters; may be empty."""


@dataclass(frozen=True)
class Resources:
    """Requested resources; amounts are per replica."""

    any_gpu: Optional[bool] = None
    """Whether other GPUs may be used when those of `gpuIds` are busy."""
    cpu: Optional[float] = None
    """Number of cores, at least 0.001; default 1."""
    cpu_cores_per_process: Optional[int] = None
    """PSI/J: number of cores per process."""
    cpu_model: Optional[Sequence[str]] = None
    """Filters on the processor model (a leading ! excludes). At most 64."""
    cuda_version: Optional[str] = None
    """CUDA version that the GPUs must support, e.g. 11.8."""
    exclusive_node_use: Optional[bool] = None
    """Whether the job needs exclusive nodes. The job then holds all of their cores and GPUs, which count against limits."""
    gpu: Optional[int] = None
    """Number of GPUs; default 0."""
    gpu_cores_per_process: Optional[int] = None
    """PSI/J: number of GPUs per process."""
    gpu_ids: Optional[Sequence[int]] = None
    """Physical ids of exactly these GPUs; only in a pool with one node. At most 1,024."""
    gpu_memory_bytes: Optional[int] = None
    """Minimum bytes of memory of each GPU. Give `gpuMemoryGib` or `gpuMemoryBytes`, not both."""
    gpu_memory_gib: Optional[int] = None
    """Minimum GiB of memory of each GPU."""
    gpu_model: Optional[Sequence[str]] = None
    """Filters on the GPU model (a leading ! excludes). At most 64."""
    gpu_tensor_cores: Optional[bool] = None
    """Whether the GPUs must have tensor cores; default: no requirement."""
    infiniband: Optional[bool] = None
    """Whether the nodes must have InfiniBand."""
    memory_bytes: Optional[int] = None
    """Bytes of memory. Give `memoryGib` or `memoryBytes`, not both."""
    memory_gib: Optional[int] = None
    """GiB of memory per replica. Default: the same share of the memory of the machine as of its cores, at least 1 GiB; see `job.spec.resources.memoryBytes`. A job that uses more fails with `OOM_KILLED`."""
    node_count: Optional[int] = None
    """PSI/J: number of nodes."""
    process_count: Optional[int] = None
    """PSI/J: total number of processes."""
    processes_per_node: Optional[int] = None
    """PSI/J: number of processes per node."""
    replica_master_port: Optional[int] = None
    """Port of the first replica, announced to the other replicas."""
    replicas: Optional[int] = None
    """Number of replicas, default 1; they start together."""


@dataclass(frozen=True)
class Retry:
    """Retries after the command of a job failed. They wait 1, 2, 4 … s, five minutes at most."""

    max_attempts: int
    """Maximum number of runs whose command failed."""
    on_exit_codes: Optional[Sequence[int]] = None
    """Exit codes that cause a retry (default: all except 0). At most 255."""


@dataclass(frozen=True)
class X11:
    """An X11 display for the job."""

    gpu: Optional[bool] = None
    """Whether the display is rendered by a GPU."""


@dataclass(frozen=True)
class JobFilter:
    """Filter for jobs. A job must match all fields, one entry of each list, and all labels."""

    accounts: Optional[Sequence[str]] = None
    """Jobs charged to one of these accounts. At most 1,000."""
    created_after: Optional[Union[datetime, str]] = None
    """Jobs submitted after this time."""
    created_before: Optional[Union[datetime, str]] = None
    """Jobs submitted before this time."""
    executors: Optional[Sequence[Executor]] = None
    """Jobs of one of these executors. At most 6."""
    finished_after: Optional[Union[datetime, str]] = None
    """Jobs that became final after this time."""
    finished_before: Optional[Union[datetime, str]] = None
    """Jobs that became final before this time."""
    ids: Optional[Sequence[str]] = None
    """Jobs with these ids. At most 1,000."""
    labels: Optional[Union[Mapping[str, Optional[str]], Sequence[LabelFilter]]] = None
    """Jobs with all of these labels. At most 64."""
    name: Optional[str] = None
    """Glob on the job name: * matches any characters, ? matches one; at most 255 characters."""
    node: Optional[str] = None
    """Jobs that hold resources on a node of this name: STARTING, RUNNING or CANCELLING."""
    pools: Optional[Sequence[str]] = None
    """Jobs of one of these pools. At most 1,000."""
    projects: Optional[Sequence[str]] = None
    """Jobs of one of these projects. At most 1,000."""
    queues: Optional[Sequence[str]] = None
    """Jobs submitted to one of these submission queues. At most 1,000."""
    started_after: Optional[Union[datetime, str]] = None
    """Jobs whose first run started after this time."""
    started_before: Optional[Union[datetime, str]] = None
    """Jobs whose first run started before this time."""
    state_categories: Optional[Sequence[StateCategory]] = None
    """Jobs in a state of one of these categories. At most 9."""
    state_reasons: Optional[Sequence[StateReason]] = None
    """Jobs whose `stateReason` is one of these. At most 1,000."""
    states: Optional[Sequence[JobState]] = None
    """Jobs in one of these states. At most 9."""
    teams: Optional[Sequence[str]] = None
    """Jobs of one of these teams. At most 1,000."""
    text: Optional[str] = None
    """Jobs whose name or value of a label contains this text, or whose id begins with it; the case of ASCII letters does not matter. At most 255 characters. Without an index: a list may read all jobs, and ends with QUERY_TIMEOUT after 5 s."""
    users: Optional[Sequence[str]] = None
    """Jobs submitted by one of these users. At most 1,000."""


@dataclass(frozen=True)
class LabelFilter:
    """A label that jobs must have."""

    key: str
    """Key that jobs must have."""
    value: Optional[str] = None
    """Value of the label; default: every value."""


class JobSpecFields(TypedDict, total=False):
    """The fields of `JobSpec` as keywords."""

    account: Optional[str]
    """Account to charge, the unit of fair share; default: the account of the team, or your own."""
    arguments: Optional[Sequence[str]]
    """Arguments; ${NAME} references are expanded. At most 10,000."""
    bid: Optional[int]
    """Bid for a better position in the queue."""
    capacity_reservation_id: Optional[str]
    """Id of the capacity reservation to run in."""
    custom_attributes: Optional[Dict[str, Any]]
    """Further attributes for the backend."""
    data: Optional[Sequence[str]]
    """Data sets to mount in the container (each `source:/path/in/job`). At most 256."""
    depends_on: Optional[Sequence[Dependency]]
    """Jobs that must end first. At most 100."""
    duration_seconds: Optional[float]
    """Expected duration of a run in seconds."""
    environment: Optional[Union[Mapping[str, str], Sequence[EnvironmentVariable]]]
    """Environment variables in order (the last one of a name wins). At most 10,000."""
    estimated_cost: Optional[float]
    """Your estimate of the cost, in the currency of the pool: 0 … 10¹⁵."""
    executable: Optional[str]
    """Program to run; its arguments are in `arguments`."""
    executor: Optional[Executor]
    """Default: chosen by the other fields and the pool."""
    handler: Optional[str]
    """Path of a module to run instead of a command, absolute or relative to the working directory."""
    image: Optional[str]
    """Container image."""
    inherit_environment: Optional[bool]
    """Whether the job inherits the environment variables that the server passes on."""
    input: Optional[Dict[str, Any]]
    """Input of the handler."""
    interactive: Optional[bool]
    """Whether the job is interactive. Interactive jobs start first; a user can have one at a time."""
    internal_dns: Optional[InternalDns]
    """DNS name for other jobs."""
    labels: Optional[Union[Mapping[str, str], Sequence[Label]]]
    """Keys and values. At most 64."""
    launcher: Optional[str]
    """Launcher for the processes of the job: single, multiple, mpirun or srun, if the executor supports it."""
    max_run_time_seconds: Optional[float]
    """Maximum duration of a run in seconds; 0: unlimited. Default: `durationSeconds`, else two days, or unlimited for a preemptable or interactive job."""
    name: Optional[str]
    """Name, at most 255 characters."""
    network_isolation: Optional[NetworkIsolation]
    """Network traffic to block."""
    not_before: Optional[Union[datetime, str]]
    """Earliest start; a time in the past means now."""
    on_dependency_failure: Optional[OnDependencyFailure]
    """Action when a dependency fails."""
    outputs: Optional[Sequence[str]]
    """Patterns, as of `.gitignore`, of files below the working directory that become artifacts when a run ends. At most 64."""
    post_launch: Optional[str]
    """Path of a script that is sourced after the command ended."""
    pre_launch: Optional[str]
    """Path of a script that is sourced before the command starts."""
    preemptable: Optional[bool]
    """Whether the job may be preempted by other jobs."""
    project: Optional[str]
    """Project, for limits, reservations and filters."""
    pull: Optional[ImagePull]
    """When the image is pulled; default: MISSING."""
    queue: Optional[str]
    """Submission queue; default: the default queue."""
    resources: Optional[Resources]
    """Requested resources."""
    restartable: Optional[bool]
    """Whether the job may be run again from the beginning."""
    resumable: Optional[bool]
    """Whether the job can continue from a closure. A run that is interrupted after `saveClosure` is followed by another run."""
    retry: Optional[Retry]
    """Retry after a failed run; default: none."""
    secrets: Optional[Sequence[str]]
    """Names of secrets to put into the environment (your own, or else those of the team of the job). At most 32."""
    snapshot: Optional[str]
    """The snapshot of which each run gets a fresh copy as its working directory: snapshot_…"""
    stderr_path: Optional[str]
    """File that receives a copy of the error output."""
    stdin_path: Optional[str]
    """File used as standard input."""
    stdout_path: Optional[str]
    """File that receives a copy of the output."""
    team: Optional[str]
    """Team of the job; default: your default team."""
    workdir: Optional[str]
    """Working directory: an absolute path or ~/…; with `snapshot`, a folder of the snapshot."""
    x11: Optional[X11]
    """X11 display."""


class JobFilterFields(TypedDict, total=False):
    """The fields of `JobFilter` as keywords."""

    accounts: Optional[Sequence[str]]
    """Jobs charged to one of these accounts. At most 1,000."""
    created_after: Optional[Union[datetime, str]]
    """Jobs submitted after this time."""
    created_before: Optional[Union[datetime, str]]
    """Jobs submitted before this time."""
    executors: Optional[Sequence[Executor]]
    """Jobs of one of these executors. At most 6."""
    finished_after: Optional[Union[datetime, str]]
    """Jobs that became final after this time."""
    finished_before: Optional[Union[datetime, str]]
    """Jobs that became final before this time."""
    ids: Optional[Sequence[str]]
    """Jobs with these ids. At most 1,000."""
    labels: Optional[Union[Mapping[str, Optional[str]], Sequence[LabelFilter]]]
    """Jobs with all of these labels. At most 64."""
    name: Optional[str]
    """Glob on the job name: * matches any characters, ? matches one; at most 255 characters."""
    node: Optional[str]
    """Jobs that hold resources on a node of this name: STARTING, RUNNING or CANCELLING."""
    pools: Optional[Sequence[str]]
    """Jobs of one of these pools. At most 1,000."""
    projects: Optional[Sequence[str]]
    """Jobs of one of these projects. At most 1,000."""
    queues: Optional[Sequence[str]]
    """Jobs submitted to one of these submission queues. At most 1,000."""
    started_after: Optional[Union[datetime, str]]
    """Jobs whose first run started after this time."""
    started_before: Optional[Union[datetime, str]]
    """Jobs whose first run started before this time."""
    state_categories: Optional[Sequence[StateCategory]]
    """Jobs in a state of one of these categories. At most 9."""
    state_reasons: Optional[Sequence[StateReason]]
    """Jobs whose `stateReason` is one of these. At most 1,000."""
    states: Optional[Sequence[JobState]]
    """Jobs in one of these states. At most 9."""
    teams: Optional[Sequence[str]]
    """Jobs of one of these teams. At most 1,000."""
    text: Optional[str]
    """Jobs whose name or value of a label contains this text, or whose id begins with it; the case of ASCII letters does not matter. At most 255 characters. Without an index: a list may read all jobs, and ends with QUERY_TIMEOUT after 5 s."""
    users: Optional[Sequence[str]]
    """Jobs submitted by one of these users. At most 1,000."""


@dataclass(frozen=True)
class JobQueue:
    """A named entry point for submissions to one pool."""

    id: str
    """queue_<name>"""
    name: str
    """Name in the configuration."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobQueue:
        return cls(
            id=data["id"],
            name=data["name"],
        )


@dataclass(frozen=True)
class JobUser:
    """A user. In single-user mode there is only `local`."""

    id: str
    """Global id, for `node`: user_…"""
    name: str
    """Login name, unique."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobUser:
        return cls(
            id=data["id"],
            name=data["name"],
        )


@dataclass(frozen=True)
class JobPool:
    """A set of nodes with one ordering policy, one leader and one or more executors."""

    id: str
    """pool_<name>"""
    name: str
    """Name in the configuration."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobPool:
        return cls(
            id=data["id"],
            name=data["name"],
        )


@dataclass(frozen=True)
class JobProgress:
    """Progress reported by a job."""

    fraction: Optional[float]
    """0 … 1."""
    message: Optional[str]
    """Latest words of the job about its progress; null: none."""
    at: datetime
    """When the job reported the progress."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobProgress:
        return cls(
            fraction=data["fraction"],
            message=data["message"],
            at=parse_time(data["at"]),
        )


@dataclass(frozen=True)
class Job(JobView):
    """A submitted job: an immutable spec and the state of its last run."""

    id: str
    """Global id, for `node`: job_…"""
    version: int
    """`seq` of the newest event."""
    name: Optional[str]
    """Name chosen by the submitter."""
    state: JobState
    """Current state."""
    psij_state: PsijState
    """State in PSI/J terms."""
    state_reason: Optional[StateReason]
    """Reason of the state; null: the state needs no reason."""
    state_info: Optional[str]
    """Explanation for humans."""
    exit_code: Optional[int]
    """Exit code of the last run; null: the command has not run or not ended."""
    native_id: Optional[str]
    """Id of the last run in the backend."""
    attempt: int
    """Number of the last run, from 1."""
    queue: JobQueue
    """Submission queue that the job was submitted to."""
    user: JobUser
    """The submitter."""
    created_at: datetime
    """When the job was submitted."""
    started_at: Optional[datetime]
    """When a run first reached RUNNING."""
    finished_at: Optional[datetime]
    """When the job reached a final state."""
    state_category: StateCategory
    """Category of the current state."""
    priority: Optional[int]
    """Current priority, higher first: `priorityOverride` if set, otherwise `basePriority` raised by waiting time; null: the pool orders by `fairShare`."""
    base_priority: int
    """Priority by the level of the user at submission: ADMIN 30, LEAD 20, RESEARCHER 10, VIEWER 0."""
    priority_override: Optional[int]
    """Priority set by a user; null: none."""
    executor: Executor
    """What runs the job."""
    account: str
    """The account charged, the unit of fair share."""
    project: Optional[str]
    """Project, for limits, reservations and filters; null: none."""
    pool: JobPool
    """The pool whose nodes run the job."""
    labels: Dict[str, str]
    """Labels, at most 64."""
    queued_at: Optional[datetime]
    """When the job was first QUEUED."""
    allowed_actions: List[JobAction]
    """Actions that you may take now. At most 1,000."""
    progress: Optional[JobProgress]
    """Last progress reported by the job; null: none."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Job:
        return cls(
            id=data["id"],
            version=data["version"],
            name=data["name"],
            state=data["state"],
            psij_state=data["psijState"],
            state_reason=data["stateReason"],
            state_info=data["stateInfo"],
            exit_code=data["exitCode"],
            native_id=data["nativeId"],
            attempt=data["attempt"],
            queue=JobQueue.from_json(data["queue"]),
            user=JobUser.from_json(data["user"]),
            created_at=parse_time(data["createdAt"]),
            started_at=None if data["startedAt"] is None else parse_time(data["startedAt"]),
            finished_at=None if data["finishedAt"] is None else parse_time(data["finishedAt"]),
            state_category=data["stateCategory"],
            priority=data["priority"],
            base_priority=data["basePriority"],
            priority_override=data["priorityOverride"],
            executor=data["executor"],
            account=data["account"],
            project=data["project"],
            pool=JobPool.from_json(data["pool"]),
            labels={each["key"]: each["value"] for each in data["labels"]},
            queued_at=None if data["queuedAt"] is None else parse_time(data["queuedAt"]),
            allowed_actions=data["allowedActions"],
            progress=None if data["progress"] is None else JobProgress.from_json(data["progress"]),
        )


@dataclass(frozen=True)
class JobEvent:
    """A recorded change of a job. `seq` counts 1, 2, 3 … without gaps."""

    id: str
    """Global id, for `node`: event_…"""
    seq: int
    """Number of the event in the history of the job, from 1."""
    at: datetime
    """Time of the event, by the database clock."""
    type: JobEventType
    """Kind of event."""
    from_: Optional[JobState]
    """Previous state."""
    to: Optional[JobState]
    """New state."""
    psij_state: Optional[PsijState]
    """New state in PSI/J terms; null: unchanged."""
    state_reason: Optional[StateReason]
    """Why the job has its new state."""
    message: Optional[str]
    """Explanation for humans."""
    exit_code: Optional[int]
    """Exit code; null: the event reports no exit code."""
    run_number: Optional[int]
    """Number of the affected run; null: the event affects no run."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobEvent:
        return cls(
            id=data["id"],
            seq=data["seq"],
            at=parse_time(data["at"]),
            type=data["type"],
            from_=data["from"],
            to=data["to"],
            psij_state=data["psijState"],
            state_reason=data["stateReason"],
            message=data["message"],
            exit_code=data["exitCode"],
            run_number=data["runNumber"],
        )


@dataclass(frozen=True)
class ExplanationSchedulingReason:
    """A reason why a job waits."""

    code: PendingReasonCode
    """Kind of the reason."""
    message: str
    """Explanation for humans."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExplanationSchedulingReason:
        return cls(
            code=data["code"],
            message=data["message"],
        )


@dataclass(frozen=True)
class ExplanationSchedulingGateJob:
    """A submitted job: an immutable spec and the state of its last run."""

    id: str
    """Global id, for `node`: job_…"""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExplanationSchedulingGateJob:
        return cls(
            id=data["id"],
        )


@dataclass(frozen=True)
class ExplanationSchedulingGate:
    """A condition that must hold before the job can be queued for resources."""

    code: GateCode
    """Kind of the gate."""
    open: bool
    """Whether the condition holds."""
    opens_at: Optional[datetime]
    """When the gate opens or opened; null: unknown."""
    message: Optional[str]
    """Explanation for humans; null: `code` and `opensAt` say it all."""
    job: Optional[ExplanationSchedulingGateJob]
    """The job that must end first; null: another kind of gate, an open one, or not visible to you."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExplanationSchedulingGate:
        return cls(
            code=data["code"],
            open=data["open"],
            opens_at=None if data["opensAt"] is None else parse_time(data["opensAt"]),
            message=data["message"],
            job=None if data["job"] is None else ExplanationSchedulingGateJob.from_json(data["job"]),
        )


@dataclass(frozen=True)
class ExplanationSchedulingFit:
    """Whether the job could start if it were first in the queue. Holds for other jobs do not count; `reasons` lists them."""

    missing: List[str]
    """Obstacles to a start now: missing resources, limits, reservations, the share of non-preemptable jobs. At most 1,000."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExplanationSchedulingFit:
        return cls(
            missing=data["missing"],
        )


@dataclass(frozen=True)
class ExplanationSchedulingEstimatedStart:
    """Estimated start of a job; not guaranteed. The scheduler simulates the queue every few seconds with known and typical run times."""

    p50: Optional[datetime]
    """Median: the job starts by this time with a probability of 50 %; null: no forecast, because the job was just submitted, a gate is closed, the job is too far back, or a job ahead has no known run time."""
    p90: Optional[datetime]
    """The job starts by this time with a probability of 90 %, unless later jobs get ahead; null: no forecast."""
    earliest: Optional[datetime]
    """Lower bound: earliest start, unless other jobs end early; null: unknown, `message` says why."""
    latest: Optional[datetime]
    """Upper bound: latest start, unless other jobs get ahead; null: a job ahead has no known run time."""
    message: str
    """Basis of the estimate, for humans; without times, the jobs for whose unknown end the job waits."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExplanationSchedulingEstimatedStart:
        return cls(
            p50=None if data["p50"] is None else parse_time(data["p50"]),
            p90=None if data["p90"] is None else parse_time(data["p90"]),
            earliest=None if data["earliest"] is None else parse_time(data["earliest"]),
            latest=None if data["latest"] is None else parse_time(data["latest"]),
            message=data["message"],
        )


@dataclass(frozen=True)
class ExplanationScheduling:
    """Scheduling details of a job that is QUEUED or BLOCKED."""

    jobs_ahead: int
    """Number of jobs ahead in the pool; 0 for a BLOCKED job."""
    position_is_exact: bool
    """Whether the position is exact; false: an approximation."""
    reasons: List[ExplanationSchedulingReason]
    """Why the job waits; the first reason is the decisive one. At most 1,000."""
    gates: List[ExplanationSchedulingGate]
    """Conditions that must hold before the job can be queued for resources. At most 1,000."""
    fit: ExplanationSchedulingFit
    """Whether the pool has the requested resources."""
    estimated_start: Optional[ExplanationSchedulingEstimatedStart]
    """Estimated start; null: no estimate is possible."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExplanationScheduling:
        return cls(
            jobs_ahead=data["jobsAhead"],
            position_is_exact=data["positionIsExact"],
            reasons=[ExplanationSchedulingReason.from_json(each) for each in data["reasons"]],
            gates=[ExplanationSchedulingGate.from_json(each) for each in data["gates"]],
            fit=ExplanationSchedulingFit.from_json(data["fit"]),
            estimated_start=None if data["estimatedStart"] is None else ExplanationSchedulingEstimatedStart.from_json(data["estimatedStart"]),
        )


@dataclass(frozen=True)
class Explanation(ExplanationView):
    """A submitted job: an immutable spec and the state of its last run."""

    id: str
    """Global id, for `node`: job_…"""
    state: JobState
    """Current state."""
    state_reason: Optional[StateReason]
    """Reason of the state; null: the state needs no reason."""
    state_info: Optional[str]
    """Explanation for humans."""
    exit_code: Optional[int]
    """Exit code of the last run; null: the command has not run or not ended."""
    scheduling: Optional[ExplanationScheduling]
    """Why the job waits; null unless QUEUED or BLOCKED."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Explanation:
        return cls(
            id=data["id"],
            state=data["state"],
            state_reason=data["stateReason"],
            state_info=data["stateInfo"],
            exit_code=data["exitCode"],
            scheduling=None if data["scheduling"] is None else ExplanationScheduling.from_json(data["scheduling"]),
        )


@dataclass(frozen=True)
class PreviewReasonJob:
    """A submitted job: an immutable spec and the state of its last run."""

    id: str
    """Global id, for `node`: job_…"""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewReasonJob:
        return cls(
            id=data["id"],
        )


@dataclass(frozen=True)
class PreviewReasonScope:
    """Whose jobs a quota or a limit counts."""

    kind: ScopeKind
    """What `name` names."""
    name: Optional[str]
    """Name of the user, team, account, project, queue or pool, or the level; null: GLOBAL."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewReasonScope:
        return cls(
            kind=data["kind"],
            name=data["name"],
        )


@dataclass(frozen=True)
class PreviewReason:
    """A reason why a job waits."""

    code: PendingReasonCode
    """Kind of the reason."""
    message: str
    """Explanation for humans."""
    job: Optional[PreviewReasonJob]
    """The job to wait for; null: none, or not visible to you."""
    scope: Optional[PreviewReasonScope]
    """Whose jobs the reached limit counts; null: the reason is not a limit."""
    limit: Optional[float]
    """The limit that is reached; null: the reason is not a limit."""
    used: Optional[float]
    """Current usage counted against the limit."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewReason:
        return cls(
            code=data["code"],
            message=data["message"],
            job=None if data["job"] is None else PreviewReasonJob.from_json(data["job"]),
            scope=None if data["scope"] is None else PreviewReasonScope.from_json(data["scope"]),
            limit=data["limit"],
            used=data["used"],
        )


@dataclass(frozen=True)
class PreviewFit:
    """Whether the job could start if it were first in the queue. Holds for other jobs do not count; `reasons` lists them."""

    free_now: bool
    """Whether the job could start now: its resources are free and not kept for a job before it, and limits, reservations and the share of non-preemptable jobs allow the start."""
    could_ever_fit: bool
    """Whether the job could start if nothing else ran; false: it waits until nodes, limits or settings of the pool change."""
    missing: List[str]
    """Obstacles to a start now: missing resources, limits, reservations, the share of non-preemptable jobs. At most 1,000."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewFit:
        return cls(
            free_now=data["freeNow"],
            could_ever_fit=data["couldEverFit"],
            missing=data["missing"],
        )


@dataclass(frozen=True)
class PreviewEstimatedStart:
    """Estimated start of a job; not guaranteed. The scheduler simulates the queue every few seconds with known and typical run times."""

    p50: Optional[datetime]
    """Median: the job starts by this time with a probability of 50 %; null: no forecast, because the job was just submitted, a gate is closed, the job is too far back, or a job ahead has no known run time."""
    p90: Optional[datetime]
    """The job starts by this time with a probability of 90 %, unless later jobs get ahead; null: no forecast."""
    earliest: Optional[datetime]
    """Lower bound: earliest start, unless other jobs end early; null: unknown, `message` says why."""
    latest: Optional[datetime]
    """Upper bound: latest start, unless other jobs get ahead; null: a job ahead has no known run time."""
    message: str
    """Basis of the estimate, for humans; without times, the jobs for whose unknown end the job waits."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewEstimatedStart:
        return cls(
            p50=None if data["p50"] is None else parse_time(data["p50"]),
            p90=None if data["p90"] is None else parse_time(data["p90"]),
            earliest=None if data["earliest"] is None else parse_time(data["earliest"]),
            latest=None if data["latest"] is None else parse_time(data["latest"]),
            message=data["message"],
        )


@dataclass(frozen=True)
class PreviewApprovalRule:
    """A rule that makes submissions require approval. The first matching rule applies."""

    id: str
    """Global id, for `node`: rule_…"""
    name: str
    """Display name, unique."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewApprovalRule:
        return cls(
            id=data["id"],
            name=data["name"],
        )


@dataclass(frozen=True)
class PreviewApproval:
    """An approval that a submission would wait for."""

    rule: Optional[PreviewApprovalRule]
    """The rule that requires it; null: a quota or the submitter requires it."""
    required_level: UserLevel
    """Lowest level that may approve."""
    reason: str
    """Why the submission needs an approval."""
    expires_after_seconds: int
    """Time from the submission after which the job fails without an approval."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewApproval:
        return cls(
            rule=None if data["rule"] is None else PreviewApprovalRule.from_json(data["rule"]),
            required_level=data["requiredLevel"],
            reason=data["reason"],
            expires_after_seconds=data["expiresAfterSeconds"],
        )


@dataclass(frozen=True)
class PreviewCost:
    """An amount of money. Amounts are never converted, so only those of one currency can be added up."""

    amount: float
    """The amount, in units of the currency; it can have decimals."""
    currency: Optional[str]
    """Currency of the rates of the pool, by ISO 4217; null: the pool has no rates now."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewCost:
        return cls(
            amount=data["amount"],
            currency=data["currency"],
        )


@dataclass(frozen=True)
class PreviewQuotaScope:
    """Whose jobs a quota or a limit counts."""

    kind: ScopeKind
    """What `name` names."""
    name: Optional[str]
    """Name of the user, team, account, project, queue or pool, or the level; null: GLOBAL."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewQuotaScope:
        return cls(
            kind=data["kind"],
            name=data["name"],
        )


@dataclass(frozen=True)
class PreviewQuota:
    """A quota before and after a submission."""

    type: QuotaType
    """Quantity that the quota limits."""
    action: QuotaAction
    """Action when a submission exceeds the limit."""
    scope: PreviewQuotaScope
    """The user, team or account whose usage counts."""
    limit: float
    """Highest allowed value."""
    used: float
    """Usage now."""
    used_after: Optional[float]
    """Usage after the submission; null: the cost of the job has no bound, because it has no maximum run time."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewQuota:
        return cls(
            type=data["type"],
            action=data["action"],
            scope=PreviewQuotaScope.from_json(data["scope"]),
            limit=data["limit"],
            used=data["used"],
            used_after=data["usedAfter"],
        )


@dataclass(frozen=True)
class PreviewPreempt:
    """A submitted job: an immutable spec and the state of its last run."""

    id: str
    """Global id, for `node`: job_…"""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewPreempt:
        return cls(
            id=data["id"],
        )


@dataclass(frozen=True)
class PreviewIdempotentJob:
    """A submitted job: an immutable spec and the state of its last run."""

    id: str
    """Global id, for `node`: job_…"""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PreviewIdempotentJob:
        return cls(
            id=data["id"],
        )


@dataclass(frozen=True)
class Preview:
    """The outcome that a submission would have now. Nothing was stored."""

    would_be: JobState
    """STARTING: the job would start now. QUEUED: it would wait. BLOCKED: it would need an approval. FAILED: the quota of interactive jobs would fail it."""
    node_names: List[str]
    """Names of the nodes on which the job would start. At most 10,000."""
    gpu_ids: List[int]
    """Physical ids of the GPUs that the job would get. At most 1,024."""
    position: Optional[int]
    """Position among the QUEUED jobs of the pool, from 1; null: the job would not be QUEUED."""
    reasons: List[PreviewReason]
    """Why the job would not start now. At most 1,000."""
    fit: Optional[PreviewFit]
    """Whether the pool has the requested resources; null: the idempotency key belongs to an existing job."""
    estimated_start: Optional[PreviewEstimatedStart]
    """Estimated start; null: no estimate is possible, or the idempotency key belongs to an existing job."""
    approval: Optional[PreviewApproval]
    """The approval that the job would wait for; null: none."""
    cost: Optional[PreviewCost]
    """Highest cost of the job, which quotas on cost count; null: unknown, or without a bound, because the job has no maximum run time."""
    quotas: List[PreviewQuota]
    """The quotas that the submission would count against. At most 1,000."""
    preempts: List[PreviewPreempt]
    """The jobs that would be preempted for the job and that you may see; at most 100."""
    preempted_count: int
    """How many jobs would be preempted, including those that you may not see."""
    warnings: List[str]
    """Changes that would be made to the spec, and other warnings. At most 1,000."""
    idempotent_job: Optional[PreviewIdempotentJob]
    """The existing job of the idempotency key; null: none."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Preview:
        return cls(
            would_be=data["wouldBe"],
            node_names=data["nodeNames"],
            gpu_ids=data["gpuIds"],
            position=data["position"],
            reasons=[PreviewReason.from_json(each) for each in data["reasons"]],
            fit=None if data["fit"] is None else PreviewFit.from_json(data["fit"]),
            estimated_start=None if data["estimatedStart"] is None else PreviewEstimatedStart.from_json(data["estimatedStart"]),
            approval=None if data["approval"] is None else PreviewApproval.from_json(data["approval"]),
            cost=None if data["cost"] is None else PreviewCost.from_json(data["cost"]),
            quotas=[PreviewQuota.from_json(each) for each in data["quotas"]],
            preempts=[PreviewPreempt.from_json(each) for each in data["preempts"]],
            preempted_count=data["preemptedCount"],
            warnings=data["warnings"],
            idempotent_job=None if data["idempotentJob"] is None else PreviewIdempotentJob.from_json(data["idempotentJob"]),
        )


@dataclass(frozen=True)
class Artifact:
    """A result of a run: a link, a small text or a file. Deleting the job deletes its artifacts."""

    id: str
    """Global id, for `node`: artifact_…"""
    name: str
    """Name chosen by the job, or path of a file. Several artifacts may have the same name; the last one is the newest."""
    kind: ArtifactKind
    """Where the content is."""
    media_type: str
    """Media type, such as text/plain."""
    size_bytes: Optional[int]
    """Bytes of `body` or of the file; null: unknown."""
    sha256: Optional[str]
    """SHA-256 of the file, in hexadecimal digits; null: a link or a text."""
    uri: Optional[str]
    """Address of the result; null: it is a text or a file."""
    created_at: datetime
    """When the artifact was published."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Artifact:
        return cls(
            id=data["id"],
            name=data["name"],
            kind=data["kind"],
            media_type=data["mediaType"],
            size_bytes=data["sizeBytes"],
            sha256=data["sha256"],
            uri=data["uri"],
            created_at=parse_time(data["createdAt"]),
        )

