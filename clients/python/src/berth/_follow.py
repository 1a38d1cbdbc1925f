"""Following jobs: events, output, downloads. Everything arrives once and in order, over any number of connections."""

from __future__ import annotations

import http.client
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, Iterator, List, Mapping, Optional, TypeVar
from urllib.parse import quote

from ._http import create_response_error
from ._transport import Stream, Transport, log, retry_wait
from .errors import BerthError, NotFoundError
from .generated import documents
from .generated.types import Job, JobEvent

Item = TypeVar("Item")

_EVENTS_PER_PAGE = 100
_LINES_PER_PAGE = 5_000


class Following(Generic[Item]):
    """An iterator over a live stream. Leaving it with `with`, or `close` from any thread, ends it at once."""

    def __init__(self, stream: Optional[Stream], items: Iterator[Item]) -> None:
        self.stream = stream
        self._items = items

    def __iter__(self) -> Following[Item]:
        return self

    def __next__(self) -> Item:
        return next(self._items)

    def close(self) -> None:
        if self.stream is not None:
            self.stream.close()

    def __enter__(self) -> Following[Item]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class JobUpdate:
    """The job after one or more events. Without events, only its progress or `state_info` changed."""

    job: Job
    events: List[JobEvent]
    is_final: bool


@dataclass(frozen=True)
class LogGap:
    """A range of missing output."""

    run_number: int
    start_offset: int
    end_offset: int
    reason: str


def follow_job(transport: Transport, job_id: str, after: Optional[str] = None) -> Following[JobUpdate]:
    """Yields updates from the current state on, or after a cursor."""
    variables = {"jobId": job_id, **({"after": after} if after else {})}
    stream = transport.stream(documents.PYTHON_JOB_STATUS, variables, lambda asked: _poll_job(transport, asked))
    return Following(stream, _read_updates(stream, job_id))


def _poll_job(transport: Transport, asked: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """Reads updates by a query. Without a cursor it returns only the current job."""
    after = asked.get("after")
    variables = {"id": asked["jobId"], "first": _EVENTS_PER_PAGE if after else 1, "after": after}
    job = _demand_job(transport.ask(documents.PYTHON_JOB_EVENTS, variables), asked["jobId"])
    page = job["events"]
    has_next = bool(after) and page["pageInfo"]["hasNextPage"]
    is_final = job["stateCategory"] == "FINAL" and not has_next
    events = page["nodes"] if after else []
    if after and not events and not is_final:
        return []
    cursor = page["pageInfo"]["endCursor"] if has_next else job["eventCursor"]
    return [{"__typename": "JobTransitions", "job": job, "transitions": events, "cursor": cursor, "isFinal": is_final}]


def _demand_job(data: Mapping[str, Any], job_id: str) -> Dict[str, Any]:
    job: Optional[Dict[str, Any]] = data["job"]
    if job is None:
        raise NotFoundError("NOT_FOUND", f"Job {job_id} not found")
    return job


def _read_updates(stream: Stream, job_id: str) -> Iterator[JobUpdate]:
    seen = 0
    for message in stream:
        kind = message["__typename"]
        if kind == "StreamReset" and message["resetReason"] == "DELETED":
            raise NotFoundError("NOT_FOUND", f"{job_id} was deleted")
        if kind == "StreamReset":
            seen = 0  # the events after a reset need not continue the sequence of those before it
        if kind != "JobTransitions":
            continue
        events = [JobEvent.from_json(each) for each in message["transitions"] if each["seq"] > seen]
        seen = events[-1].seq if events else seen
        if events or not message["transitions"] or message["isFinal"]:
            yield JobUpdate(Job.from_json(message["job"]), events, message["isFinal"])
        if message["isFinal"]:
            return


def follow_events(transport: Transport, job_id: str) -> Following[JobEvent]:
    """Yields the history page by page, and then live events."""
    history: List[JobEvent] = []
    page: Dict[str, Any] = {"after": None}
    while True:
        variables = {"id": job_id, "first": _EVENTS_PER_PAGE, **page}
        data = transport.request(documents.PYTHON_JOB_EVENTS, variables)
        job = _demand_job(data, job_id)
        history += map(JobEvent.from_json, job["events"]["nodes"])
        if not job["events"]["pageInfo"]["hasNextPage"]:
            break
        page = {"after": job["events"]["pageInfo"]["endCursor"]}
    if job["stateCategory"] == "FINAL":
        return Following(None, iter(history))
    updates = follow_job(transport, job_id, job["eventCursor"])

    def read() -> Iterator[JobEvent]:
        yield from history
        seen = history[-1].seq if history else 0
        for update in updates:
            yield from (event for event in update.events if event.seq > seen)

    return Following(updates.stream, read())


def follow_text(
    transport: Transport,
    job_id: str,
    begin: Mapping[str, Any],
    *,
    is_live: bool,
    on_gap: Callable[[LogGap], None],
) -> Following[str]:
    variables = {"jobId": job_id, **{name: value for name, value in begin.items() if value is not None}}
    if not is_live:
        return Following(None, _read_pages(transport, variables, on_gap))
    stream = transport.stream(documents.TAIL, variables, lambda asked: _poll_text(transport, asked))
    return Following(stream, _read_text(stream, job_id, on_gap))


def _read_text(stream: Stream, job_id: str, on_gap: Callable[[LogGap], None]) -> Iterator[str]:
    for message in stream:
        kind = message["__typename"]
        if kind == "LogBatch":
            if message["text"]:
                yield message["text"]
            if message["isFinal"]:
                return
        elif kind == "LogGap":
            on_gap(_read_gap(message))
        elif kind == "StreamReset" and message["resetReason"] == "DELETED":
            raise NotFoundError("NOT_FOUND", f"{job_id} was deleted")
        elif kind == "StreamReset":
            log.warning("The output of %s is not the one of before, and begins again", job_id)


def _poll_text(transport: Transport, asked: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """Reads output by a query. Gaps of a page precede its text."""
    page = _demand_job(transport.ask(documents.JOB_LOGS, _ask_page(asked)), asked["jobId"])["logs"]
    gaps = [{"__typename": "LogGap", **gap} for gap in page["gaps"]]
    if not (gaps or page["text"] or page["isFinal"]):
        return []
    return [*gaps, {"__typename": "LogBatch", **page}]


def _read_pages(transport: Transport, variables: Dict[str, Any], on_gap: Callable[[LogGap], None]) -> Iterator[str]:
    """Yields the output so far, page by page."""
    asked = _ask_page(variables)
    while True:
        data = transport.request(documents.JOB_LOGS, asked)
        page = _demand_job(data, asked["id"])["logs"]
        for gap in page["gaps"]:
            on_gap(_read_gap(gap))
        if page["text"]:
            yield page["text"]
        if page["isFinal"] or not (page["text"] or page["gaps"]):
            return
        asked["from"] = {"cursor": page["cursor"]}


def _ask_page(variables: Mapping[str, Any]) -> Dict[str, Any]:
    """Converts the variables of a stream to those of a page of the log."""
    asked = {name: value for name, value in variables.items() if name in ("run", "streams")}
    asked.update(id=variables["jobId"], first=_LINES_PER_PAGE)
    if "after" in variables:
        asked["from"] = {"cursor": variables["after"]}
    elif "lastLines" in variables:
        asked["from"] = {"lastLines": variables["lastLines"]}
    return asked


def _read_gap(gap: Mapping[str, Any]) -> LogGap:
    return LogGap(gap["runNumber"], gap["startOffset"], gap["endOffset"], gap["gapReason"])


class LineSplitter:
    """Splits text into lines without their ends. Only a line feed ends a line; the last line may lack it."""

    def __init__(self) -> None:
        self._pending: List[str] = []

    def feed(self, piece: str) -> List[str]:
        """Returns the lines that end in this piece."""
        *lines, rest = piece.split("\n")
        if lines:
            lines[0] = "".join(self._pending) + lines[0]
            self._pending.clear()
        self._pending.append(rest)
        return lines

    def end(self) -> List[str]:
        last = "".join(self._pending)
        return [last] if last else []


def split_lines(pieces: Iterator[str]) -> Iterator[str]:
    splitter = LineSplitter()
    for piece in pieces:
        yield from splitter.feed(piece)
    yield from splitter.end()


@contextmanager
def deadline(stream: Following[Any], seconds: Optional[float]) -> Iterator[Callable[[], bool]]:
    """Closes the stream after `seconds`. The yielded function returns whether they are over."""
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        stream.close()

    timer = threading.Timer(seconds, end) if seconds is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield is_over.is_set
    finally:
        if timer is not None:
            timer.cancel()


def download_log(transport: Transport, job_id: str, run: Optional[int]) -> Iterator[bytes]:
    """Yields the bytes of the output so far. A broken download continues at its offset."""
    path = f"/download/jobs/{quote(job_id)}/log?format=raw" + (f"&run={run}" if run is not None else "")
    offset = 0
    failures = 0
    while True:
        try:
            for piece in _download_from(transport, path, offset):
                offset += len(piece)
                failures = 0
                yield piece
            return
        except BerthError as error:
            failures += 1
            if not error.retryable or failures >= transport.attempts:
                raise
            wait = max(error.retry_after, retry_wait(failures - 1))
            log.warning("%s; the download continues in %.1f s", error, wait)
            time.sleep(wait)


def _download_from(transport: Transport, path: str, offset: int) -> Iterator[bytes]:
    endpoint, response = transport.open("GET", path, headers={"range": f"bytes={offset}-"} if offset else {})
    try:
        if response.status == 416:
            return  # nothing follows
        if response.status not in (200, 206):
            raise create_response_error(endpoint, response, response.read())
        left = int(response.header("content-length") or 0)
        skipped = offset if response.status == 200 else 0
        while left > 0:
            piece = response.read_piece()
            if not piece:
                raise BerthError("UNREACHABLE", f"The download from {endpoint} was cut")
            left -= len(piece)
            kept, skipped = piece[skipped:], max(0, skipped - len(piece))
            if kept:
                yield kept
    except (http.client.HTTPException, OSError) as cause:
        transport.failed(endpoint)
        raise BerthError("UNREACHABLE", f"The download from {endpoint} was cut") from cause
    finally:
        response.close()
