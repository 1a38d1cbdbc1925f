"""Submits jobs of submitit, and reads their states."""

from __future__ import annotations

import dataclasses
import functools
import os
import shlex
import sys
import time
import uuid
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Union

from submitit.core import core, logger
from submitit.core.utils import DelayedSubmission, JobPaths

from berth import BerthError, Client, Job, JobOptions, Resources, Retry

from .__main__ import MERGE
from .environment import NODES, REQUEUE_CODE, SIGNAL_AFTER, START

_IDS_PER_READ = 100
_TIMEOUT_MIN = 5
_SIGNAL_DELAY_S_MAX = 90

_STATES = {
    "BLOCKED": "PENDING",
    "QUEUED": "PENDING",
    "STARTING": "PENDING",
    "RUNNING": "RUNNING",
    "CANCELLING": "COMPLETING",
    "SUCCEEDED": "COMPLETED",
}
_REASONS = {"MAX_RUN_TIME": "TIMEOUT", "OOM_KILLED": "OUT_OF_MEMORY"}

_GENERIC = {
    "name",
    "timeout_min",
    "mem_gb",
    "nodes",
    "cpus_per_task",
    "gpus_per_node",
    "tasks_per_node",
    "stderr_to_stdout",
}
_OWN = {"setup", "signal_delay_s"}
# Fields of a spec that the executor itself sets.
_SET_HERE = {
    "command",
    "executable",
    "arguments",
    "handler",
    "input",
    "stdin_path",
    "stdout_path",
    "stderr_path",
    "launcher",
}


@functools.lru_cache(maxsize=None)
def _client() -> Client:
    return Client()


class BerthInfoWatcher(core.InfoWatcher):
    """Reads the states of all jobs together, and names them like Slurm."""

    def get_state(self, job_id: str, mode: str = "standard") -> str:
        return self.get_info(job_id, mode=mode).get("State", "UNKNOWN")

    def update(self) -> None:
        ids = sorted(self._registered - self._finished)
        self._num_calls += 1
        try:
            for start in range(0, len(ids), _IDS_PER_READ):
                part = ids[start : start + _IDS_PER_READ]
                found = {job.id: _describe(job) for job in _client().list(ids=part)}
                self._info_dict.update({job_id: found.get(job_id, {"State": "DELETED"}) for job_id in part})
        except BerthError as error:
            logger.get_logger().warning(f"{error}; the states of jobs may be old")
        self._last_status_check = time.time()
        self._finished |= {job_id for job_id in ids if self.is_done(job_id, mode="cache")}


def _describe(job: Job) -> Dict[str, str]:
    state = _STATES.get(job.state) or _REASONS.get(job.state_reason or "") or job.state
    return {
        "JobID": job.id,
        "State": state,
        "BerthState": job.state,
        "Reason": job.state_info or "",
        "ExitCode": "" if job.exit_code is None else str(job.exit_code),
    }


class BerthJob(core.Job[core.R]):
    watcher = BerthInfoWatcher(delay_s=10)

    def cancel(self, check: bool = True) -> None:
        """Cancels the job. With `check`, raises failures."""
        try:
            _client().cancel(self.job_id)
        except BerthError:
            if check:
                raise


class BerthExecutor(core.Executor):
    """
    Submits functions to the server of the command line. `folder` must be visible to the jobs.

    A preempted job runs again. A job whose maximum run time is over runs again if its function has a checkpoint, at most
    `max_num_timeout` times. `python`: the command of the interpreter in the job; default: this one, or python3 of the image.
    """

    job_class = BerthJob

    def __init__(self, folder: Union[str, Path], max_num_timeout: int = 3, python: Optional[str] = None) -> None:
        super().__init__(folder)
        self.max_num_timeout = max_num_timeout
        self.python = python

    @classmethod
    def affinity(cls) -> int:
        """Returns 0: the executor must be chosen by name, because an installed client does not mean that Berth is wanted."""
        return 0

    @classmethod
    def _valid_parameters(cls) -> Set[str]:
        """Returns the keywords of `berth.Client.submit`, and `setup` and `signal_delay_s`."""
        return (set(JobOptions.__annotations__) | _OWN) - _SET_HERE - _GENERIC

    def _internal_update_parameters(self, **kwargs: Any) -> None:
        unknown = sorted(set(kwargs) - self._valid_parameters() - _GENERIC)
        if unknown:
            valid = ", ".join(sorted(self._valid_parameters() | _GENERIC))
            raise ValueError(f"Unknown parameters: {', '.join(unknown)}. Valid parameters: {valid}")
        super()._internal_update_parameters(**kwargs)

    def _internal_process_submissions(self, delayed_submissions: List[DelayedSubmission]) -> List[core.Job[Any]]:
        folder = JobPaths.get_first_id_independent_folder(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        pickles: List[Path] = []
        for delayed in delayed_submissions:
            pickles.append(folder / f"{uuid.uuid4().hex}.pkl")
            delayed.set_timeout(self._timeout_min, self.max_num_timeout)
            delayed.dump(pickles[-1])
        outcomes = _client().submit_many([self._command()] * len(pickles), **self._options())
        refusals = [outcome for outcome in outcomes if isinstance(outcome, BerthError)]
        if refusals:
            for outcome, path in zip(outcomes, pickles):
                path.unlink()
                if not isinstance(outcome, BerthError):
                    _client().cancel(outcome)
            raise refusals[0]
        tasks = range(self._nodes * self._tasks_per_node)
        jobs: List[core.Job[Any]] = []
        for outcome, path in zip(outcomes, pickles):
            assert not isinstance(outcome, BerthError)
            job = self.job_class(self.folder, outcome.id, list(tasks))
            job.paths.move_temporary_file(path, "submitted_pickle")  # the job waits for it
            jobs.append(job)
        return jobs

    @property
    def _timeout_min(self) -> int:
        minutes: int = self.parameters.get("timeout_min", _TIMEOUT_MIN)
        return minutes

    @property
    def _signal_after(self) -> float:
        seconds = self._timeout_min * 60
        delay: float = self.parameters.get("signal_delay_s", min(_SIGNAL_DELAY_S_MAX, seconds / 4))
        return max(seconds - delay, 0)

    @property
    def _nodes(self) -> int:
        return int(self.parameters.get("nodes", 1))

    @property
    def _tasks_per_node(self) -> int:
        return int(self.parameters.get("tasks_per_node", 1))

    def _command(self) -> Sequence[str]:
        python = self.python or ("python3" if self.parameters.get("image") else shlex.quote(sys.executable))
        run = f"exec {python} -u -m berth_submitit {shlex.quote(str(self.folder))}"
        return ["/bin/sh", "-c", " && ".join([f"export {START}=$(date +%s)", *self.parameters.get("setup", ()), run])]

    def _options(self) -> JobOptions:
        given: Mapping[str, Any] = self.parameters
        tasks = self._tasks_per_node
        resources: Dict[str, Any] = {
            "cpu": given["cpus_per_task"] * tasks if "cpus_per_task" in given else None,
            "gpu": given.get("gpus_per_node"),
            "memory": int(given["mem_gb"] * 2**30) if "mem_gb" in given else None,
        }
        options: Dict[str, Any] = {
            "name": given.get("name", "submitit"),
            "max_run_time_seconds": self._timeout_min * 60,
            "restartable": True,
            "retry": Retry(max_attempts=self.max_num_timeout + 1, on_exit_codes=[REQUEUE_CODE]),
            **{name: value for name, value in resources.items() if value is not None},
            **{name: given[name] for name in given if name not in _GENERIC | _OWN},
        }
        options["env"] = {**self._environment(), **(options.get("env") or {})}
        if self._nodes * tasks > 1:
            options["launcher"] = "multiple"
            options["resources"] = _spread(options.get("resources"), self._nodes, tasks)
        return options  # type: ignore[return-value]

    def _environment(self) -> Dict[str, str]:
        environment = {
            "SUBMITIT_EXECUTOR": self.name(),
            NODES: str(self._nodes),
            SIGNAL_AFTER: str(self._signal_after),
            MERGE: "1" if self.parameters.get("stderr_to_stdout") else "",
        }
        if not self.parameters.get("image") and self.python is None:
            environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        return environment


def _spread(resources: Optional[Resources], nodes: int, tasks: int) -> Resources:
    return dataclasses.replace(resources or Resources(), node_count=nodes, processes_per_node=tasks)
