"""The executor `berth` for psij-python."""

from __future__ import annotations

import os
import uuid
from typing import List, Optional

import psij

from berth import BerthError, Client, InvalidInputError
from berth._config import choose_server

from berth_psij.spec import to_options
from berth_psij.updates import Updates

_LABEL = "psij"
_ATTEMPTS = 3


class BerthJobExecutor(psij.JobExecutor):
    """
    Submits jobs to a Berth server: that of `url`, else that of the command line. The native id of a job is its id in
    Berth. Statuses are the live events of the job.
    """

    def __init__(self, url: Optional[str] = None, config: Optional[psij.JobExecutorConfig] = None) -> None:
        super().__init__(url=url, config=config or psij.JobExecutorConfig.DEFAULT)
        self._client = _connect(url)
        self._label = uuid.uuid4().hex
        self._updates = Updates(self._client, {"key": _LABEL, "value": self._label})

    def submit(self, job: psij.Job) -> None:
        """Submits a job. After a SubmitException the same job can be submitted again, and runs only once."""
        spec = self._check_job(job)
        try:
            options = to_options(spec)
            options["labels"] = {**options.get("labels", {}), _LABEL: self._label}
            with self._updates.submission() as add:
                submitted = self._client.submit(idempotency_key=job.id, **options)
                job._native_id = submitted.id
                add(job, submitted)
        except BaseException as error:
            job.executor = None
            if isinstance(error, BerthError):
                raise _to_exception(error) from error
            if isinstance(error, TypeError):
                raise psij.InvalidJobException(str(error), error) from error
            raise

    def cancel(self, job: psij.Job) -> None:
        """Asks the server to cancel a job. Does nothing if the job has ended."""
        if job.executor is not self or job.native_id is None:
            raise psij.SubmitException("The job was not submitted to this executor")
        try:
            self._client.cancel(job.native_id)
        except BerthError as error:
            raise psij.SubmitException(str(error), error, error.retryable) from error

    def list(self) -> List[str]:
        """Lists the ids of all jobs that you may see and that have not ended."""
        return [job.id for job in self._client.list(state_categories=["WAITING", "ACTIVE"])]

    def attach(self, job: psij.Job, native_id: str) -> None:
        """Follows a job on the server. An unknown job becomes FAILED."""
        if job.status.state != psij.JobState.NEW or job.executor is not None:
            raise psij.InvalidJobException("Only a new job can be attached")
        job.executor = self
        job._native_id = native_id
        self._updates.attach(job, native_id)


def _connect(url: Optional[str]) -> Client:
    if url is None:
        return Client(attempts=_ATTEMPTS)
    env = dict(os.environ)
    if env.get("BERTH_URL", url).rstrip("/") != url.rstrip("/"):
        env.pop("BERTH_TOKEN", None)  # belongs to another server
    server = choose_server({**env, "BERTH_URL": url})
    return Client(server.url, server.token, attempts=_ATTEMPTS)


def _to_exception(error: BerthError) -> Exception:
    if not isinstance(error, InvalidInputError):
        return psij.SubmitException(str(error), error, error.retryable)
    violations = [f"{'.'.join(map(str, each['path']))}: {each['message']}" for each in error.violations]
    return psij.InvalidJobException("; ".join(violations) or error.message, error)
