"""The client: submit jobs, list them, follow them."""

from __future__ import annotations

import os
import secrets
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Sequence, Union

from . import _follow
from ._config import choose_server
from ._files import Snapshot, upload_folder
from ._follow import Following, LogGap
from ._spec import Command, build_filter, build_spec, id_of
from ._transport import TokenSource, Transport, retry_wait
from .errors import BerthError, BerthWarning, NotFoundError, raise_problem
from .generated import documents
from .generated.types import Artifact, Explanation, Job, JobEvent, Preview

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._spec import JobOptions
    from .generated.types import JobFilterFields

JobOrId = Union[Job, str]

_ATTEMPTS = 8
_PAGE_SIZE = 100
_SUBMISSIONS_PER_REQUEST = 200


@dataclass(frozen=True)
class SubmittedJob(Job):
    """A job as returned by a submission."""

    idempotent_hit: bool = False
    """True: an earlier submission with the same key created the job."""
    warnings: Sequence[str] = ()
    """Changes that the server made to the spec, and other remarks."""


class Client:
    """
    A connection to a server. Without arguments it uses the server of the command line: `BERTH_URL` and `BERTH_TOKEN`, else the
    current context of `berth login`, else this machine. Thread-safe.

    Every call is safe to retry, so each is attempted up to `attempts` times while the server is unreachable or busy. Streams are
    retried forever.
    """

    def __init__(
        self,
        url: Union[str, Sequence[str], None] = None,
        token: TokenSource = None,
        *,
        context: Optional[str] = None,
        attempts: int = _ATTEMPTS,
    ) -> None:
        if url is None:
            server = choose_server(os.environ, context)
            url, token = server.url, token or server.token
        self._transport = Transport(url, token, attempts)

    @property
    def url(self) -> str:
        return self._transport.url

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── submitting ──

    def submit(
        self,
        command: Optional[Command] = None,
        *,
        idempotency_key: Optional[str] = None,
        key_ttl_seconds: Optional[int] = None,
        requires_approval: Optional[bool] = None,
        no_wait: Optional[bool] = None,
        slot: Optional[str] = None,
        here: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        **options: Unpack[JobOptions],
    ) -> SubmittedJob:
        """
        Submits a job exactly once: retries use one idempotency key, which is random unless you give one. By default the job
        runs in the current directory, where the executor shares files with this machine. With `here` it runs in a copy of the
        current directory as it is now; `include` takes ignored files, and `exclude` leaves files out, by patterns of git.
        """
        if here:
            options["snapshot"] = self.upload(include=include, exclude=exclude).id
        elif include or exclude:
            raise TypeError("include and exclude need here=True")
        submission = {
            "spec": build_spec(command, options),
            "defaultWorkdir": os.getcwd(),
            "idempotencyKey": idempotency_key or create_key(),
            "idempotencyTtlSeconds": key_ttl_seconds,
            "requiresApproval": requires_approval,
            "noWait": no_wait,
            "slotReservationId": slot,
        }
        return _read_submission(self._mutate(documents.PYTHON_SUBMIT_JOB, submission))

    def upload(
        self,
        folder: Union[str, "os.PathLike[str]"] = ".",
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> Snapshot:
        """Uploads a folder. Pass the `id` as the keyword `snapshot`. docs/files.md has the rules."""
        return upload_folder(self._transport, os.fspath(folder), include, exclude)

    def submit_many(
        self, commands: Iterable[Command], *, idempotency_key: Optional[str] = None, **options: Unpack[JobOptions]
    ) -> List[Union[SubmittedJob, BerthError]]:
        """
        Submits many jobs in few requests. Returns a job or a refusal for each command, in the same order. The key of each job
        is `idempotency_key`, a colon and its number from 0.
        """
        key = idempotency_key or create_key()
        submissions = [
            {"spec": build_spec(command, options), "defaultWorkdir": os.getcwd(), "idempotencyKey": f"{key}:{number}"}
            for number, command in enumerate(commands)
        ]
        outcomes: List[Union[SubmittedJob, BerthError]] = []
        for start in range(0, len(submissions), _SUBMISSIONS_PER_REQUEST):
            part = submissions[start : start + _SUBMISSIONS_PER_REQUEST]
            outcomes += self._submit_part(part)
        return outcomes

    def preview(self, command: Optional[Command] = None, **options: Unpack[JobOptions]) -> Preview:
        """Predicts whether, where and when a job would start; nothing is stored."""
        submission = {"spec": build_spec(command, options), "defaultWorkdir": os.getcwd()}
        return Preview.from_json(self._mutate(documents.PREVIEW_JOB, {"submit": submission}))

    def retry(
        self, job: JobOrId, *, idempotency_key: Optional[str] = None, **changes: Unpack[JobOptions]
    ) -> SubmittedJob:
        """Submits the spec of a final job again as a new job. Keywords replace fields of the spec."""
        retried = {"jobId": id_of(job), "idempotencyKey": idempotency_key or create_key()}
        overrides = build_spec(None, changes)
        return _read_submission(
            self._mutate(documents.PYTHON_RETRY_JOB, {**retried, **({"overrides": overrides} if overrides else {})})
        )

    # ── jobs ──

    def get(self, job: JobOrId) -> Job:
        """Returns the job as it is now."""
        return Job.from_json(self._read_job(documents.PYTHON_JOB, job))

    def get_by_key(self, idempotency_key: str) -> Job:
        """Returns the job that was submitted with one of your idempotency keys."""
        found = self._ask(documents.PYTHON_KEY, {"key": idempotency_key})["idempotencyKey"]
        if found is None:
            raise NotFoundError("NOT_FOUND", f"You have no job with the key {idempotency_key}")
        return Job.from_json(found["job"])

    def list(
        self,
        *,
        limit: Optional[int] = None,
        order_by: str = "CREATED_AT",
        descending: bool = True,
        **filters: Unpack[JobFilterFields],
    ) -> Iterator[Job]:
        """Yields the jobs that match all filters, newest first. Pages are read while you iterate."""
        direction = "DESC" if descending else "ASC"
        variables: Dict[str, Any] = {
            "filter": build_filter(filters),
            "orderBy": {"field": order_by, "direction": direction},
        }
        left = limit
        while left is None or left > 0:
            first = _PAGE_SIZE if left is None else min(_PAGE_SIZE, left)
            page = self._ask(documents.LIVE_JOBS, {**variables, "first": first})["jobs"]
            yield from map(Job.from_json, page["nodes"])
            if not page["pageInfo"]["hasNextPage"]:
                return
            variables["after"] = page["pageInfo"]["endCursor"]
            left = None if left is None else left - len(page["nodes"])

    def cancel(self, job: JobOrId, *, reason: Optional[str] = None) -> Job:
        """Cancels a job. Does nothing if the job has ended."""
        answer = self._mutate(documents.PYTHON_CANCEL_JOB, {"jobId": id_of(job), "reason": reason})
        return Job.from_json(answer["job"])

    def why(self, job: JobOrId) -> Explanation:
        """Explains why a job waits and when it may start, or how it ended; `str` returns sentences."""
        return Explanation.from_json(self._read_job(documents.PYTHON_EXPLANATION, job))

    def spec(self, job: JobOrId) -> Dict[str, Any]:
        """Returns the spec of a job with the names of a job file, without fields that are not set."""
        spec = self._read_job(documents.JOB_SPEC, job)["spec"]
        return {name: value for name, value in spec.items() if value not in (None, [])}

    # ── following ──

    def wait(self, job: JobOrId, *, timeout: Optional[float] = None) -> Job:
        """Waits until a job has ended, and returns it. Raises a TimeoutError after `timeout` seconds."""
        with _follow.follow_job(self._transport, id_of(job)) as updates:
            with _follow.deadline(updates, timeout) as is_over:
                for update in updates:
                    if update.is_final:
                        return update.job
        if is_over():
            raise TimeoutError(f"{id_of(job)} has not ended after {timeout} s")
        raise BerthError("CLOSED", "The stream was closed")

    def events(self, job: JobOrId) -> Following[JobEvent]:
        """Yields the events of a job from the first to the last, each once. Waits for later events."""
        return _follow.follow_events(self._transport, id_of(job))

    def logs(
        self,
        job: JobOrId,
        *,
        follow: bool = True,
        tail: Optional[int] = None,
        run: Optional[int] = None,
        streams: Optional[Sequence[str]] = None,
    ) -> Following[str]:
        """
        Yields the output of a job by lines, without their ends. Each line arrives once, even after lost connections and
        restarts of the server. With `follow=False` it ends with the output so far; with `tail` it starts with the last lines.
        Missing output causes a BerthWarning.
        """
        parts = self.log_text(job, follow=follow, tail=tail, run=run, streams=streams)
        return Following(parts.stream, _follow.split_lines(parts))

    def log_text(
        self,
        job: JobOrId,
        *,
        follow: bool = True,
        tail: Optional[int] = None,
        run: Optional[int] = None,
        streams: Optional[Sequence[str]] = None,
    ) -> Following[str]:
        """Like `logs`, but yields pieces of text as they arrive. Joined, they are the whole output."""
        begin = {"lastLines": tail, "run": run, "streams": streams}
        return _follow.follow_text(self._transport, id_of(job), begin, is_live=follow, on_gap=_warn_of_gap)

    def log_bytes(self, job: JobOrId, *, run: Optional[int] = None) -> Iterator[bytes]:
        """Yields the exact bytes of the output so far, in pieces. A broken download continues at its offset."""
        return _follow.download_log(self._transport, id_of(job), run)

    # ── artifacts ──

    def artifacts(self, job: JobOrId) -> Iterator[Artifact]:
        """Yields the artifacts that a job published, oldest first."""
        after: Optional[str] = None
        while True:
            page = self._read_job(documents.ARTIFACTS, job, first=_PAGE_SIZE, after=after)["artifacts"]
            yield from map(Artifact.from_json, page["nodes"])
            if not page["pageInfo"]["hasNextPage"]:
                return
            after = page["pageInfo"]["endCursor"]

    def artifact_body(self, artifact: Union[Artifact, str]) -> Optional[str]:
        """Returns the text of an artifact; None: its `uri` points to the result."""
        node = self._ask(documents.ARTIFACT, {"id": id_of(artifact)})["node"]
        if node is None:
            raise NotFoundError("NOT_FOUND", f"Artifact {id_of(artifact)} not found")
        body: Optional[str] = node["body"]
        return body

    # ── requests ──

    def _ask(self, document: str, variables: Dict[str, Any]) -> Dict[str, Any]:
        return self._transport.request(document, variables)

    def _mutate(self, document: str, input_: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the success of a mutation. Raises its problem."""
        present = {name: value for name, value in input_.items() if value is not None}
        result: Dict[str, Any] = next(iter(self._ask(document, {"input": present}).values()))
        raise_problem(result)
        return result

    def _read_job(self, document: str, job: JobOrId, **variables: Any) -> Dict[str, Any]:
        found: Optional[Dict[str, Any]] = self._ask(document, {"id": id_of(job), **variables})["job"]
        if found is None:
            raise NotFoundError("NOT_FOUND", f"Job {id_of(job)} not found")
        return found

    def _submit_part(self, submissions: List[Dict[str, Any]]) -> List[Union[SubmittedJob, BerthError]]:
        """Submits jobs, and retries those that were refused temporarily. The keys prevent duplicate jobs."""
        for attempt in range(self._transport.attempts):
            results = self._mutate(documents.PYTHON_SUBMIT_JOBS, {"submissions": submissions})["results"]
            outcomes = [_outcome_of(result) for result in results]
            if not any(isinstance(outcome, BerthError) and outcome.retryable for outcome in outcomes):
                break
            time.sleep(retry_wait(attempt))
        return outcomes


def create_key() -> str:
    """Creates an idempotency key of 128 random bits."""
    return secrets.token_hex(16)


def _read_submission(answer: Dict[str, Any]) -> SubmittedJob:
    job = Job.from_json(answer["job"])
    for remark in answer["warnings"]:
        warnings.warn(remark, BerthWarning, stacklevel=3)
    return SubmittedJob(**vars(job), idempotent_hit=answer["idempotentHit"], warnings=tuple(answer["warnings"]))


def _outcome_of(result: Dict[str, Any]) -> Union[SubmittedJob, BerthError]:
    try:
        raise_problem(result)
    except BerthError as refusal:
        return refusal
    return _read_submission(result)


def _warn_of_gap(gap: LogGap) -> None:
    warnings.warn(
        f"Output is missing: bytes {gap.start_offset} to {gap.end_offset} of run {gap.run_number} ({gap.reason})",
        BerthWarning,
        stacklevel=2,
    )
