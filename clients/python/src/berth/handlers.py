"""A job as a function in a module, which the executor `handler` runs, like `defineJob` for TypeScript."""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, Dict, Mapping, Optional, Protocol, Union

Json = Dict[str, Any]


class JobContext(Protocol):
    """
    Facts about the job, and methods that report. Reports are sent in the background and retried while the server is unreachable.
    The process ends after the last report is stored.
    """

    job_id: str
    run: int
    input: Json
    closure: Optional[Json]
    """The state that an earlier run saved; None: nothing was saved."""
    terminating: threading.Event
    """Set when the run must end. `berth.Terminated` is raised in the main thread as well."""

    def log(self, line: str) -> None:
        """Writes a line to the log of the job."""

    def status(self, message: str) -> None:
        """Sets the message of the progress."""

    def progress(self, fraction: float, message: Optional[str] = None) -> None:
        """Sets the progress, 0 … 1. Unsent older values are dropped."""

    def metrics(self, values: Mapping[str, float], step: Optional[int] = None) -> None:
        """Reports numbers, such as `{"loss": 0.3}`, of a step. NaN and infinite values are left out, with a warning."""

    def save_closure(self, state: Mapping[str, Any]) -> None:
        """Saves the state from which a later run continues. Unsent older states are dropped."""

    def artifact(
        self,
        name: str,
        body: Optional[str] = None,
        *,
        uri: Optional[str] = None,
        file: Union[str, "os.PathLike[str]", None] = None,
        media_type: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
    ) -> str:
        """Publishes a result and returns its id, when it is stored."""


JobFunction = Callable[[Json, JobContext], object]


class Handler:
    """The handler of a module. The job succeeds when its function returns, and fails when it raises."""

    def __init__(self, run: JobFunction) -> None:
        self.run = run
        self.resume: Optional[JobFunction] = None

    def on_resume(self, function: JobFunction) -> JobFunction:
        """Decorates the function that continues from a closure. When it raises, the job is RESUME_FAILED."""
        self.resume = function
        return function

    def __call__(self, input: Json, context: JobContext) -> object:
        return self.run(input, context)


def handler(function: JobFunction) -> Handler:
    """Decorates the function of a job, which gets the input and a JobContext. It may be a coroutine function."""
    return Handler(function)
