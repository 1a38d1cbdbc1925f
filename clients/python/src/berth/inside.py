"""Functions with which a job reports about itself. Outside of a job they only warn."""

from __future__ import annotations

import atexit
import json
import os
import signal
import threading
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from ._reports import Newest, Reports, create_progress, describe_artifact, describe_metrics, describe_progress
from .errors import BerthWarning

_RETRY_SECONDS_MAX = 60.0
_FLUSH_SECONDS_MAX = 10.0
_EXIT_CODE = 143


class Terminated(SystemExit):
    """Raised in the main thread when the run must end: it is cancelled or preempted, or its maximum run time is over."""


class _Inside:
    """The reports of this process. A forked process creates new ones."""

    def __init__(self) -> None:
        self.reports = Reports(os.environ, _RETRY_SECONDS_MAX)
        self.progress: Newest[Dict[str, Any]] = create_progress(self.reports)


_inside: Optional[_Inside] = None
_lock = threading.RLock()
_callbacks: List[Callable[[], object]] = []


def is_inside() -> bool:
    """Returns whether this process is part of a job."""
    return bool(os.environ.get("BERTH_URL") and os.environ.get("BERTH_TOKEN") and os.environ.get("BERTH_JOB_ID"))


def progress(fraction: Optional[float] = None, message: Optional[str] = None) -> None:
    """
    Sets the progress of the job, 0 … 1, and its message. Returns at once: the newest value is sent in the background, at most
    once a second.
    """
    inside = _find("progress")
    if inside is not None:
        inside.progress.put(describe_progress(fraction, message))


def metrics(values: Mapping[str, float], step: Optional[int] = None) -> None:
    """
    Reports numbers, such as `{"loss": 0.3}`, of a step. Returns at once: they are sent in the background. Without a step, only
    the newest unsent value of a name is sent. NaN and infinite values are left out, with a warning.
    """
    inside = _find("metrics")
    report = describe_metrics(values, step)
    if inside is not None and report:
        inside.progress.put(report)


def artifact(
    name: str,
    body: Optional[str] = None,
    *,
    uri: Optional[str] = None,
    file: Union[str, "os.PathLike[str]", None] = None,
    media_type: Optional[str] = None,
    metadata: Optional[Mapping[str, Any]] = None,
) -> Optional[str]:
    """
    Publishes a text of at most 64 KiB, the address of a result, or a file, and returns the id when it is stored. The default media
    type of a file is that of the name.
    """
    path = None if file is None else os.fspath(file)
    described = describe_artifact(name, body, uri, path, media_type, metadata)
    inside = _find("artifact")
    return inside.reports.artifact(described, path) if inside is not None else None


def closure(state: Mapping[str, Any]) -> None:
    """Saves the state from which a later run continues, at most 256 KiB as JSON. Returns when it is stored."""
    inside = _find("closure")
    if inside is not None:
        inside.reports.closure(state)


def saved_closure() -> Optional[Dict[str, Any]]:
    """Returns the state that an earlier run of this job saved; None: this is the first run, or nothing was saved."""
    path = os.environ.get("BERTH_CLOSURE")
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        state: Dict[str, Any] = json.load(file)
        return state


def on_terminate(callback: Callable[[], object]) -> None:
    """
    Calls the function when the run must end, before `Terminated` is raised in the main thread and ends the process with 143.
    Call it in the main thread.
    """
    if not is_inside():
        _warn("on_terminate")
        return
    listen_for_term(callback)


def listen_for_term(callback: Callable[[], object]) -> None:
    _callbacks.append(callback)
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: object) -> None:
    # A second TERM does not interrupt the end.
    signal.signal(signal.SIGTERM, lambda *_: None)
    for callback in _callbacks:
        callback()
    raise Terminated(_EXIT_CODE)


def _find(call: str) -> Optional[_Inside]:
    global _inside
    if not is_inside():
        _warn(call)
        return None
    with _lock:
        if _inside is None:
            _inside = _Inside()
        return _inside


def _warn(call: str) -> None:
    warnings.warn(f"berth.{call} does nothing outside of a job", BerthWarning, stacklevel=4)


@atexit.register
def _flush() -> None:
    if _inside is not None:
        _inside.progress.flush(_FLUSH_SECONDS_MAX)


def _forget() -> None:
    global _inside, _lock
    _inside, _lock = None, threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
