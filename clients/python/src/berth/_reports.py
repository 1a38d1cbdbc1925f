"""Reports of a run about itself, with the URL and the token in its environment."""

from __future__ import annotations

import math
import mimetypes
import threading
import time
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, TypeVar

from ._files import upload_file
from ._transport import Transport, log, retry_wait
from .errors import BerthError, raise_problem
from .generated import documents

Value = TypeVar("Value")

# Caps the backoff, so that a job soon notices that the server is back.
_BACKOFF_STEP_MAX = 2

# Maximum number of values in a report.
_METRICS_MAX = 1_000


class Reports:
    """Sends reports. They are idempotent, so each is retried for `retry_seconds` while the server is unreachable."""

    def __init__(self, env: Mapping[str, str], retry_seconds: float) -> None:
        self._transport = Transport(env["BERTH_URL"], env.get("BERTH_TOKEN"))
        self._retry_seconds = retry_seconds

    def progress(self, report: Mapping[str, Any]) -> None:
        self._send(documents.REPORT_PROGRESS, report)

    def closure(self, closure: Mapping[str, Any]) -> None:
        self._send(documents.SAVE_CLOSURE, {"closure": closure})

    def artifact(self, artifact: Mapping[str, Any], file: Optional[str] = None) -> str:
        """Publishes an artifact, with the content of the file if there is one. Returns the id of the artifact."""
        if file is not None:
            path = file
            artifact = {**artifact, "snapshotId": self._retry(lambda: upload_file(self._transport, path).id)}
        return str(self._send(documents.PUBLISH_ARTIFACT, artifact)["artifact"]["id"])

    def _send(self, document: str, input_: Mapping[str, Any]) -> Dict[str, Any]:
        def attempt() -> Dict[str, Any]:
            result: Dict[str, Any] = next(iter(self._transport.ask(document, {"input": input_}).values()))
            raise_problem(result)
            return result

        return self._retry(attempt)

    def _retry(self, attempt: Callable[[], Value]) -> Value:
        until = time.monotonic() + self._retry_seconds
        failures = 0
        while True:
            try:
                return attempt()
            except BerthError as error:
                wait = retry_wait(min(failures, _BACKOFF_STEP_MAX))
                if not error.retryable or time.monotonic() + wait > until:
                    raise
                failures += 1
                time.sleep(wait)


class Newest(Generic[Value]):
    """Sends values in a thread, one at a time. Values that arrive during a request are merged."""

    def __init__(self, what: str, send: Callable[[Value], None], merge: Callable[[Value, Value], Value]) -> None:
        self._what = what
        self._send = send
        self._merge = merge
        self._changed = threading.Condition()
        self._next: Optional[Value] = None
        self._is_sending = False

    def put(self, value: Value) -> None:
        with self._changed:
            self._next = value if self._next is None else self._merge(self._next, value)
            if not self._is_sending:
                self._is_sending = True
                threading.Thread(target=self._work, name=f"berth {self._what}", daemon=True).start()

    def flush(self, timeout: Optional[float] = None) -> None:
        """Waits until every value is stored or refused."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_sending, timeout)

    def _work(self) -> None:
        while True:
            with self._changed:
                value, self._next = self._next, None
                if value is None:
                    self._is_sending = False
                    self._changed.notify_all()
                    return
            try:
                self._send(value)
            except BerthError as error:
                log.warning("%s: %s", self._what, error)


def create_progress(reports: Reports) -> Newest[Dict[str, Any]]:
    return Newest("progress", reports.progress, merge_reports)


def merge_reports(older: Dict[str, Any], newer: Dict[str, Any]) -> Dict[str, Any]:
    """
    Merges values; a newer value replaces an older one of the same name and step. If there are too many, every second value of
    each name is dropped, but not the newest.
    """
    both = [*older.get("metrics", []), *newer.get("metrics", [])]
    metrics = list({(each["name"], each.get("step")): each for each in both}.values())
    if len(metrics) > _METRICS_MAX:
        series: Dict[str, List[Dict[str, Any]]] = {}
        for each in metrics:
            series.setdefault(each["name"], []).append(each)
        metrics = [each for values in series.values() for each in values[::-2][::-1]]
    return {**older, **newer, **({"metrics": metrics} if metrics else {})}


def describe_metrics(values: Mapping[str, float], step: Optional[int]) -> Dict[str, Any]:
    """Makes the report of metrics. Leaves out NaN and infinite values, with a warning."""
    metrics = []
    for name, value in values.items():
        number = float(value)
        if math.isfinite(number):
            metrics.append({"name": name, "value": number, **({} if step is None else {"step": int(step)})})
        else:
            log.warning("metrics: %s is %s, which cannot be stored", name, number)
    return {"metrics": metrics} if metrics else {}


def describe_progress(fraction: Optional[float], message: Optional[str]) -> Dict[str, Any]:
    """Makes the report of progress. A missing value is not changed."""
    if fraction is not None and not math.isfinite(fraction):
        raise ValueError(f"fraction: {fraction} is not a finite number")
    report = {"fraction": None if fraction is None else float(fraction), "message": message}
    return {name: value for name, value in report.items() if value is not None}


def describe_artifact(
    name: str,
    body: Optional[str],
    uri: Optional[str],
    file: Optional[str],
    media_type: Optional[str],
    metadata: Optional[Mapping[str, Any]],
) -> Dict[str, Any]:
    if [body, uri, file].count(None) != 2:
        raise TypeError("An artifact has either a body, a uri or a file")
    guessed = "text/plain" if file is None else mimetypes.guess_type(name)[0] or "application/octet-stream"
    artifact = {"name": name, "mediaType": media_type or guessed, "body": body, "uri": uri, "metadata": metadata}
    return {key: value for key, value in artifact.items() if value is not None}
