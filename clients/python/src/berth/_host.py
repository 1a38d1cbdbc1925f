"""
The process of a handler in Python. It uses only the API of the server, so it outlives the server. Before it ends, it waits until
the server is reachable and has its reports.

Exit codes: 0 returned · 1 raised · 143 raised after TERM · 119 on_resume raised (src/executors/handler) · 126 not a handler ·
127 module not found.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import math
import os
import signal
import sys
import threading
import traceback
from typing import Any, List, Mapping, NoReturn, Optional, Union

from ._reports import Newest, Reports, create_progress, describe_artifact, describe_metrics, describe_progress
from .handlers import Handler, JobFunction, Json
from .inside import listen_for_term, saved_closure

_RAISED, _RESUME_FAILED, _NO_HANDLER, _NOT_FOUND, _TERMINATED = 1, 119, 126, 127, 143

# Maximum size of the file of unsent closures, which grows while the server is unreachable. A larger file is emptied first.
_UNSENT_BYTES_MAX = 4 * 1024 * 1024


class Context:
    """Implements JobContext for this process."""

    def __init__(self) -> None:
        self.job_id = os.environ.get("BERTH_JOB_ID", "")
        self.run = int(os.environ.get("BERTH_RUN") or 0)
        self.input: Json = _read_json("BERTH_INPUT") or {}
        self.closure = saved_closure()
        self.terminating = threading.Event()
        self._reports: Optional[Reports] = None
        self._progress: Optional[Newest[Json]] = None
        self._closures: Newest[str] = Newest("save_closure", self._send_closure, lambda older, newer: newer)
        self._newest_closure = ""

    def log(self, line: str) -> None:
        print(line, flush=True)

    def status(self, message: str) -> None:
        self._report(describe_progress(None, message))

    def progress(self, fraction: float, message: Optional[str] = None) -> None:
        self._report(describe_progress(fraction, message))

    def metrics(self, values: Mapping[str, float], step: Optional[int] = None) -> None:
        report = describe_metrics(values, step)
        if report:
            self._report(report)

    def save_closure(self, state: Mapping[str, Any]) -> None:
        self._newest_closure = json.dumps(state, allow_nan=False)
        _keep_unsent(self._newest_closure)
        self._closures.put(self._newest_closure)

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
        path = None if file is None else os.fspath(file)
        return self._open().artifact(describe_artifact(name, body, uri, path, media_type, metadata), path)

    def settle(self) -> None:
        """Waits until all reports are stored or refused."""
        self._closures.flush()
        if self._progress is not None:
            self._progress.flush()

    def _report(self, report: Json) -> None:
        if self._progress is None:
            self._progress = create_progress(self._open())
        self._progress.put(report)

    def _send_closure(self, text: str) -> None:
        self._open().closure(json.loads(text))
        if text is self._newest_closure:
            _clear_unsent()

    def _open(self) -> Reports:
        # Waits without limit for an unreachable server. The limits of the run end the wait.
        if self._reports is None:
            self._reports = Reports(os.environ, math.inf)
        return self._reports


def main() -> NoReturn:
    path = os.path.abspath(os.path.expanduser(sys.argv[1]))
    loaded = _load(path)
    if isinstance(loaded, int):
        sys.exit(loaded)
    context = Context()
    listen_for_term(context.terminating.set)
    code = _run(loaded, context)
    # Ignores TERM while it waits for the last reports. KILL ends it.
    signal.signal(signal.SIGTERM, lambda *_: None)
    context.settle()
    sys.exit(code)


def _run(handler: Handler, context: Context) -> Union[int, str, None]:
    resumes = context.closure is not None and handler.resume is not None
    try:
        if context.closure is not None and handler.resume is not None:
            _call(handler.resume, context.closure, context)
        else:
            _call(handler.run, context.input, context)
        return 0
    except SystemExit as exit_:
        return exit_.code
    except BaseException:
        traceback.print_exc()
        if context.terminating.is_set():
            return _TERMINATED
        return _RESUME_FAILED if resumes else _RAISED


def _call(function: JobFunction, argument: Json, context: Context) -> None:
    result = function(argument, context)
    if inspect.iscoroutine(result):
        asyncio.run(result)


def _load(path: str) -> Union[Handler, int]:
    if not os.path.exists(path):
        return _refuse(_NOT_FOUND, f"module not found: {path}")
    # Lets the module import its neighbours, like a script.
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("__berth_handler__", path)
    if spec is None or spec.loader is None:
        return _refuse(_NO_HANDLER, f"{path} is not a module in Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception:
        return _refuse(_NO_HANDLER, f"cannot load {path}: {traceback.format_exc()}")
    found: List[Handler] = [value for value in vars(module).values() if isinstance(value, Handler)]
    if len(set(map(id, found))) == 1:
        return found[0]
    return _refuse(_NO_HANDLER, f"{path} has {len(found)} functions with @berth.handler; decorate one function")


def _refuse(code: int, text: str) -> int:
    print(f"berth: {text}", file=sys.stderr)
    return code


def _read_json(variable: str) -> Optional[Json]:
    path = os.environ.get(variable)
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        value: Json = json.load(file)
        return value


def _keep_unsent(closure: str) -> None:
    """Writes a closure to a file, where the server finds it if the process is killed. It ignores an incomplete last line."""
    path = os.environ.get("BERTH_UNSENT_CLOSURE")
    if not path:
        return
    try:
        if os.path.getsize(path) > _UNSENT_BYTES_MAX:
            os.truncate(path, 0)
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{closure}\n")
    except OSError as error:
        print(f"berth: cannot store an unsent closure: {error}", file=sys.stderr)


def _clear_unsent() -> None:
    path = os.environ.get("BERTH_UNSENT_CLOSURE")
    if path:
        os.truncate(path, 0)
