"""
Submit jobs to Berth, follow them live, and report from inside a job.

    import berth

    client = berth.Client()
    job = client.submit(["python", "train.py"], name="train", gpu=1, memory="16GiB")
    for line in client.logs(job):
        print(line)
    print(client.wait(job).state)
"""

from ._files import FolderRefusedError, Snapshot
from ._follow import Following, LogGap
from ._spec import JobOptions
from .aio import AsyncClient, AsyncFollowing
from .client import Client, SubmittedJob, create_key
from .errors import (
    BerthError,
    BerthWarning,
    ForbiddenError,
    IdempotencyConflictError,
    InvalidInputError,
    InvalidStateError,
    JobFailedError,
    LogInFailedError,
    NotFoundError,
    QuotaExceededError,
    RateLimitedError,
    RejectedError,
    ReservationExpiredError,
    UnauthenticatedError,
    UnavailableError,
    VersionConflictError,
)
from .futures import BerthExecutor, BerthFuture, Function, job
from .generated.types import (
    Artifact,
    Dependency,
    EnvironmentVariable,
    Explanation,
    InternalDns,
    InternalDnsPort,
    Job,
    JobEvent,
    JobFilter,
    JobSpec,
    JobState,
    Label,
    LabelFilter,
    Preview,
    Resources,
    Retry,
    X11,
)
from .handlers import Handler, JobContext, handler
from .inside import Terminated, artifact, closure, is_inside, metrics, on_terminate, progress, saved_closure

__version__ = "0.1.0"

__all__ = [
    "Artifact",
    "AsyncClient",
    "AsyncFollowing",
    "BerthError",
    "BerthExecutor",
    "BerthFuture",
    "BerthWarning",
    "Client",
    "Dependency",
    "EnvironmentVariable",
    "Explanation",
    "Following",
    "FolderRefusedError",
    "ForbiddenError",
    "Function",
    "Handler",
    "IdempotencyConflictError",
    "InternalDns",
    "InternalDnsPort",
    "InvalidInputError",
    "InvalidStateError",
    "Job",
    "JobContext",
    "JobEvent",
    "JobFailedError",
    "JobFilter",
    "JobOptions",
    "JobSpec",
    "JobState",
    "Label",
    "LabelFilter",
    "LogGap",
    "LogInFailedError",
    "NotFoundError",
    "Preview",
    "QuotaExceededError",
    "RateLimitedError",
    "RejectedError",
    "ReservationExpiredError",
    "Resources",
    "Retry",
    "Snapshot",
    "SubmittedJob",
    "Terminated",
    "UnauthenticatedError",
    "UnavailableError",
    "VersionConflictError",
    "X11",
    "artifact",
    "closure",
    "create_key",
    "handler",
    "is_inside",
    "job",
    "metrics",
    "on_terminate",
    "progress",
    "saved_closure",
]
