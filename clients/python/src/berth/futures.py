"""
Functions as jobs. `BerthExecutor` is a `concurrent.futures.Executor` whose calls are jobs: they outlive this process and the
server, and `attach` finds their results again.
"""

from __future__ import annotations

import base64
import concurrent.futures
import os
import pickle
import sys
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Iterable, List, Optional, Sequence, Tuple, TypeVar, Union, cast

from ._call_process import INLINE, RESULT_NAME, Outcome
from ._spec import id_of
from ._transport import Stream, log
from ._views import FINAL_STATES
from .client import Client, JobOrId, create_key
from .errors import BerthError, JobFailedError, NotFoundError
from .generated import documents
from .generated.types import Job

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Unpack

    from ._spec import JobOptions

    Parameters = ParamSpec("Parameters")

try:
    import cloudpickle as pickler
except ImportError:
    pickler = pickle

Result = TypeVar("Result")

_LABEL = "berth-call"
# A call is a word of a command, which Linux limits to 128 KiB; base64 makes 4 bytes of 3.
_CALL_BYTES_MAX = 90 * 1024
_CHECK_SECONDS = 5.0
_IDS_PER_CHECK = 100
# Maximum wait for a result file, because a shared folder may show files of another machine late.
_RESULT_SECONDS_MAX = 10.0


class RemoteTraceback(Exception):
    """The traceback of a call in its job. It is the cause of the exception that the future raises, as in `concurrent.futures`."""

    def __str__(self) -> str:
        return f"\n\"\"\"\n{self.args[0]}\"\"\""


def _with_traceback(error: BaseException, trace: Optional[str] = None) -> BaseException:
    if trace is not None:
        error.__cause__ = RemoteTraceback(trace)
    return error


class BerthFuture(Future[Result]):
    """The result of a call. `job_id` names its job, also for `attach` in another process."""

    def __init__(self, client: Client, job_id: str) -> None:
        super().__init__()
        self.job_id = job_id
        self._client = client
        self._is_running = False

    def running(self) -> bool:
        return self._is_running and not self.done()

    def cancel(self) -> bool:
        """Cancels the job, even if it is running. False: the job has ended."""
        if self.done():
            return self.cancelled()
        if self._client.cancel(self.job_id).state not in ("CANCELLED", "CANCELLING"):
            return False
        return super().cancel()


class BerthExecutor(Executor):
    """
    Runs calls as jobs. With `folder`, which the jobs and this process must share, arguments and results are files in it. Without
    it they go through the API: at most 90 KiB for a call, 48 KiB for a result. Keywords are those of `Client.submit`. With `here`
    the first call uploads the current directory, and all calls run in copies of it.
    """

    def __init__(
        self,
        client: Optional[Client] = None,
        *,
        folder: Union[str, "os.PathLike[str]", None] = None,
        python: Optional[str] = None,
        here: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        **options: Unpack[JobOptions],
    ) -> None:
        self._client = client or Client()
        self._here = (include, exclude) if here else None
        self._folder = Path(folder).absolute() if folder is not None else None
        self._options = dict(options)
        self._python = python or ("python3" if options.get("image") else sys.executable)
        self._lock = threading.RLock()
        self._pending: Dict[str, BerthFuture[Any]] = {}
        self._is_shut = False
        self._stop = threading.Event()
        self._stream: Optional[Stream] = None
        self._readers: Optional[ThreadPoolExecutor] = None

    def submit(
        self, fn: Callable[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> BerthFuture[Result]:
        """Submits the call as a job. Raises a BerthError if the server refuses it."""
        self._send_here()
        key = create_key()
        where = self._store_call(key, _unwrap(fn), args, kwargs)
        options: Dict[str, Any] = {"name": getattr(fn, "__name__", None), **self._options}
        options["labels"] = {**dict(options.get("labels") or {}), _LABEL: key}
        if not options.get("image"):
            paths = os.pathsep.join(map(self._place_of, filter(None, sys.path)))
            options["env"] = {"PYTHONPATH": paths, **(options.get("env") or {})}
        with self._lock:
            if self._is_shut:
                raise RuntimeError("cannot submit after shutdown")
            self._watch()
        command = [self._python, "-m", "berth._call_process", where]
        job = self._client.submit(command, idempotency_key=key, **options)
        return self._expect(job.id)

    def _send_here(self) -> None:
        with self._lock:
            if self._here and not self._options.get("snapshot"):
                include, exclude = self._here
                self._options["snapshot"] = self._client.upload(include=include, exclude=exclude).id

    def _place_of(self, path: str) -> str:
        """Converts a path below the current directory to one in the job's copy of that directory."""
        relative = os.path.relpath(path)
        return relative if self._here and not relative.startswith("..") else path

    def attach(self, job: JobOrId) -> BerthFuture[Any]:
        """Returns the future of an earlier call, also of another process. Results are pickles, so the job must be trusted."""
        command = self._client.spec(job).get("command") or []
        if "berth._call_process" not in command:
            raise NotFoundError("NOT_FOUND", f"{id_of(job)} is not the job of a call")
        with self._lock:
            self._watch()
        future = self._expect(id_of(job))
        self._check([future.job_id])
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Jobs continue unless `cancel_futures` is set. With `wait`, waits for them."""
        with self._lock:
            self._is_shut = True
            pending = list(self._pending.values())
        if cancel_futures:
            for future in pending:
                future.cancel()
        if wait:
            concurrent.futures.wait(pending)
        self._close_if_idle()

    # ── calls ──

    def _store_call(self, key: str, function: Callable[..., Any], args: Any, kwargs: Any) -> str:
        if pickler is pickle and getattr(function, "__module__", None) == "__main__":
            raise TypeError("A function of the main program needs cloudpickle: pip install cloudpickle")
        content = dump((function, args, kwargs))
        if self._folder is None:
            if len(content) > _CALL_BYTES_MAX:
                raise ValueError(f"The call has {len(content)} bytes, more than {_CALL_BYTES_MAX}; give the executor a folder")
            return INLINE + base64.b64encode(content).decode()
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{key}.call"
        path.write_bytes(content)
        return str(path.with_suffix(""))

    def _read_outcome(self, job: Job) -> Optional[Outcome]:
        """Reads the result of a job; None: the job has not stored one."""
        where = str(self._client.spec(job)["command"][-1])
        if where.startswith(INLINE):
            results = [each for each in self._client.artifacts(job) if each.name == RESULT_NAME]
            body = self._client.artifact_body(results[-1]) if results else None
            return pickle.loads(base64.b64decode(body)) if body else None
        until = time.monotonic() + (_RESULT_SECONDS_MAX if job.exit_code in (0, 1) else 0)
        while True:
            try:
                return cast(Outcome, pickle.loads(Path(f"{where}.result").read_bytes()))
            except FileNotFoundError:
                if time.monotonic() > until:
                    return None
            time.sleep(0.1)

    # ── futures ──

    def _expect(self, job_id: str) -> BerthFuture[Any]:
        with self._lock:
            return self._pending.setdefault(job_id, BerthFuture(self._client, job_id))

    def _watch(self) -> None:
        if self._stream is not None:
            return
        filter_ = {"labels": [{"key": _LABEL}]}
        self._stream = self._client._transport.stream(documents.JOB_UPDATES, {"filter": filter_})
        self._readers = ThreadPoolExecutor(4, thread_name_prefix="berth results")
        threading.Thread(target=self._follow, args=(self._stream,), name="berth calls", daemon=True).start()
        threading.Thread(target=self._check_often, name="berth checks", daemon=True).start()

    def _follow(self, stream: Stream) -> None:
        try:
            for message in stream:
                if message["__typename"] == "JobTransitions":
                    self._note(message["job"]["id"], message["job"]["state"])
        except BerthError as error:
            log.warning("%s; results arrive a few seconds late", error)

    def _check_often(self) -> None:
        """Finds the jobs that ended before the stream began, or whose events were deleted."""
        while not self._stop.wait(_CHECK_SECONDS):
            with self._lock:
                ids = list(self._pending)
            try:
                self._check(ids)
            except BerthError as error:
                log.warning("%s; the next check of results is in %d s", error, _CHECK_SECONDS)

    def _check(self, ids: List[str]) -> None:
        for start in range(0, len(ids), _IDS_PER_CHECK):
            part = ids[start : start + _IDS_PER_CHECK]
            for job in self._client.list(ids=part, state_categories=["FINAL"]):
                self._note(job.id, job.state)

    def _note(self, job_id: str, state: str) -> None:
        with self._lock:
            future = self._pending.get(job_id)
            if future is None:
                return
            future._is_running = state == "RUNNING"
            if state not in FINAL_STATES or self._readers is None:
                return
            del self._pending[job_id]
            self._readers.submit(self._resolve, future)
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        with self._lock:
            if not self._is_shut or self._pending:
                return
            self._stop.set()
            if self._stream is not None:
                self._stream.close()
            if self._readers is not None:
                self._readers.shutdown(wait=False)

    def _resolve(self, future: BerthFuture[Any]) -> None:
        try:
            job = self._client.get(future.job_id)
            outcome = self._read_outcome(job)
            if outcome is None and job.state == "CANCELLED":
                Future.cancel(future)
        except Exception as error:
            outcome = (False, error)
        if not future.set_running_or_notify_cancel():
            return
        if outcome is None:
            future.set_exception(JobFailedError(f"{job} ended without a result", job))
        elif outcome[0]:
            future.set_result(outcome[1])
        else:
            future.set_exception(_with_traceback(*outcome[1:]))


class Function(Generic[Result]):
    """A function with the resources that it needs as a job. A plain call runs it in this process."""

    def __init__(self, function: Callable[..., Result], create_executor: Callable[[], BerthExecutor]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self._create_executor = create_executor
        self._executor: Optional[BerthExecutor] = None

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        return self.function(*args, **kwargs)

    @property
    def executor(self) -> BerthExecutor:
        if self._executor is None:
            self._executor = self._create_executor()
        return self._executor

    def submit(self, *args: Any, **kwargs: Any) -> BerthFuture[Result]:
        """Runs the call as a job."""
        return self.executor.submit(self, *args, **kwargs)

    def map(self, *iterables: Iterable[Any]) -> Iterable[Result]:
        """Runs a job for each tuple of arguments, and yields the results in order."""
        return self.executor.map(self, *iterables)

    def __reduce__(self) -> str:
        return self.__qualname__


def job(
    *,
    client: Optional[Client] = None,
    folder: Union[str, "os.PathLike[str]", None] = None,
    python: Optional[str] = None,
    here: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    **options: Unpack[JobOptions],
) -> Callable[[Callable[..., Result]], Function[Result]]:
    """
    Decorates a function whose calls can be jobs: `train.submit(0.1).result()`. With `here` the first call uploads its module and
    all other files of the current directory.
    """

    def decorate(function: Callable[..., Result]) -> Function[Result]:
        def create() -> BerthExecutor:
            sent: Dict[str, Any] = {"here": here, "include": include, "exclude": exclude}
            return BerthExecutor(client, folder=folder, python=python, **sent, **options)

        return Function(function, create)

    return decorate


def dump(value: Any) -> bytes:
    return cast(bytes, pickler.dumps(value))


def _unwrap(function: Callable[..., Any]) -> Callable[..., Any]:
    # pickle stores the name of a function, which leads to the Function. cloudpickle stores the function itself.
    return function.function if isinstance(function, Function) and pickler is not pickle else function
