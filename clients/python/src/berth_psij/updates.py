"""Converts the events of jobs to the statuses of PSI/J."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional

import psij

from berth import BerthError, Client, SubmittedJob
from berth import Job as BerthJob
from berth._times import parse_time
from berth._transport import Stream
from berth.generated import documents

Message = Mapping[str, Any]

_IDS_PER_READ = 100
# psij-python 0.9.11 has no states of staging.
_BEFORE_FAILED = getattr(psij.JobState, "CLEANUP", psij.JobState.ACTIVE)


class Updates:
    """
    Sets the statuses of the jobs of an executor. Jobs that it submitted have a common label and share a stream, which is open
    while a job is not final. Each attached job has its own stream.
    """

    def __init__(self, client: Client, label: Mapping[str, str]) -> None:
        self._client = client
        self._filter = {"labels": [dict(label)]}
        self._lock = threading.Lock()
        self._jobs: Dict[str, psij.Job] = {}
        self._submissions = 0
        # Updates of jobs whose submission has not yet returned.
        self._early: Dict[str, List[Message]] = {}
        self._stream: Optional[Stream] = None

    @contextmanager
    def submission(self) -> Iterator[Callable[[psij.Job, SubmittedJob], None]]:
        """Must surround a submission, because updates may arrive first. Pass the submitted job to the yielded function."""
        with self._lock:
            if self._stream is None:
                self._stream = self._open()
            self._submissions += 1
        try:
            yield self._add
        finally:
            with self._lock:
                self._submissions -= 1
                if self._submissions == 0:
                    self._early.clear()
            self._close_if_idle()

    def attach(self, job: psij.Job, job_id: str) -> None:
        stream = self._client._transport.stream(documents.PYTHON_JOB_STATUS, {"jobId": job_id})
        threading.Thread(target=self._follow_one, args=(stream, job), name="berth job", daemon=True).start()

    def _open(self) -> Stream:
        newest = self._client._ask(documents.LIVE_JOBS, {"filter": self._filter, "first": 1})["jobs"]["asOf"]
        variables = {"filter": self._filter, "after": newest}
        stream = self._client._transport.stream(documents.JOB_UPDATES, variables)
        threading.Thread(target=self._follow, args=(stream,), name="berth jobs", daemon=True).start()
        return stream

    def _close_if_idle(self) -> None:
        with self._lock:
            if self._stream is not None and not self._jobs and self._submissions == 0:
                self._stream.close()
                self._stream = None

    def _add(self, job: psij.Job, submitted: SubmittedJob) -> None:
        _enter(job, psij.JobStatus(psij.JobState.QUEUED, submitted.created_at.timestamp()))
        with self._lock:
            self._jobs[submitted.id] = job
            early = self._early.pop(submitted.id, [])
        if submitted.idempotent_hit:
            _catch_up(job, submitted)
        for message in early:
            _apply(message, job)
        self._forget_if_final(submitted.id, job)

    def _follow(self, stream: Stream) -> None:
        try:
            for message in stream:
                if message["__typename"] == "JobTransitions":
                    self._receive(message)
                elif message["__typename"] == "StreamReset":
                    self._read_again(message)
        except BerthError as error:
            with self._lock:
                if self._stream is stream:
                    self._stream = None
                lost, self._jobs = list(self._jobs.values()), {}
            for job in lost:
                _fail(job, str(error))

    def _receive(self, message: Message) -> None:
        job_id = message["job"]["id"]
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None:
                if self._submissions > 0:
                    self._early.setdefault(job_id, []).append(message)
                return
        _apply(message, job)
        self._forget_if_final(job_id, job)

    def _read_again(self, reset: Message) -> None:
        """Reads the states of the jobs after a reset, because events are missing."""
        with self._lock:
            jobs = dict(self._jobs)
        deleted = reset["jobIds"] or []
        ids = [each for each in jobs if each in deleted] if reset["resetReason"] == "DELETED" else list(jobs)
        for start in range(0, len(ids), _IDS_PER_READ):
            part = ids[start : start + _IDS_PER_READ]
            found = {row.id: row for row in self._client.list(ids=part)}
            for job_id in part:
                if job_id not in found:
                    _fail(jobs[job_id], "The job was deleted")
                else:
                    _catch_up(jobs[job_id], found[job_id])
                self._forget_if_final(job_id, jobs[job_id])

    def _forget_if_final(self, job_id: str, job: psij.Job) -> None:
        if job.status.final:
            with self._lock:
                self._jobs.pop(job_id, None)
            self._close_if_idle()

    def _follow_one(self, stream: Stream, job: psij.Job) -> None:
        try:
            for message in stream:
                if message["__typename"] == "JobTransitions":
                    _apply(message, job)
                elif message["__typename"] == "StreamReset" and message["resetReason"] == "DELETED":
                    _fail(job, "The job was deleted")
                if job.status.final:
                    return
        except BerthError as error:
            _fail(job, str(error))


def _apply(message: Message, job: psij.Job) -> None:
    """Applies a message. Only events with a `psijState` change the state in PSI/J."""
    newest = 0
    for event in message["transitions"]:
        newest = event["seq"]
        if event["psijState"] is not None:
            _enter(job, _read_status(event))
    row = message["job"]
    state = psij.JobState[row["psijState"]]
    # The row may be newer than the events, and the event that ended the job may be deleted.
    if state.final and (message.get("isFinal") or newest >= row["version"]):
        finished = row["finishedAt"] and parse_time(row["finishedAt"])
        _enter(job, _create_end(state, finished, row["stateInfo"], row["exitCode"], row["nativeId"]))


def _read_status(event: Message) -> psij.JobStatus:
    metadata: Dict[str, object] = {
        "berthState": event["to"],
        "reason": event["stateReason"],
        "run": event["runNumber"],
        "nativeId": (event["detail"] or {}).get("nativeId"),
    }
    return psij.JobStatus(
        psij.JobState[event["psijState"]],
        time=parse_time(event["at"]).timestamp(),
        message=event["message"],
        exit_code=event["exitCode"],
        metadata={name: value for name, value in metadata.items() if value is not None},
    )


def _catch_up(job: psij.Job, row: BerthJob) -> None:
    """Sets the status of a job from its row, without events."""
    state = psij.JobState[row.psij_state]
    if state.final:
        _enter(job, _create_end(state, row.finished_at, row.state_info, row.exit_code, row.native_id))
    else:
        _enter(job, psij.JobStatus(state, _timestamp(row.started_at or row.created_at)))


def _create_end(
    state: psij.JobState, at: Optional[datetime], message: Optional[str], code: Optional[int], native_id: Optional[str]
) -> psij.JobStatus:
    metadata: Dict[str, object] = {"nativeId": native_id} if native_id is not None else {}
    return psij.JobStatus(state, time=_timestamp(at), message=message, exit_code=code, metadata=metadata)


def _fail(job: psij.Job, message: str) -> None:
    _enter(job, psij.JobStatus(psij.JobState.FAILED, message=message))


def _enter(job: psij.Job, status: psij.JobStatus) -> None:
    """Sets a status if its state is later. The job adds skipped states itself, except before FAILED and CANCELED."""
    if not status.state.is_greater_than(job.status.state):
        return
    if status.state == psij.JobState.FAILED and status.exit_code is not None:
        job.status = psij.JobStatus(_BEFORE_FAILED, status.time)
    elif job.status.state == psij.JobState.NEW and status.final:
        job.status = psij.JobStatus(psij.JobState.QUEUED, status.time)
    job.status = status


def _timestamp(moment: Optional[datetime]) -> Optional[float]:
    return None if moment is None else moment.timestamp()
