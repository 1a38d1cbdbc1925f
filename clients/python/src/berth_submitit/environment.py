"""The environment of a task inside its job."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import List, Optional

from submitit.core import logger
from submitit.core.job_environment import JobEnvironment, SignalHandler
from submitit.core.utils import DelayedSubmission, JobPaths

REQUEUE_CODE = os.EX_TEMPFAIL
"""Exit code of a task that wants to run again; the job is submitted with a retry for it."""

NODES = "SUBMITIT_BERTH_NODES"
START = "SUBMITIT_BERTH_START"
SIGNAL_AFTER = "SUBMITIT_BERTH_SIGNAL_AFTER_S"


class BerthJobEnvironment(JobEnvironment):
    _env = {
        "job_id": "BERTH_JOB_ID",
        "num_tasks": "BERTH_RANKS",
        "num_nodes": NODES,
        "global_rank": "BERTH_RANK",
    }

    @property
    def node(self) -> int:
        return self.global_rank // self._tasks_per_node

    @property
    def local_rank(self) -> int:
        return self.global_rank % self._tasks_per_node

    @property
    def hostnames(self) -> List[str]:
        path = os.environ.get("PSIJ_NODEFILE")
        if path is None:
            return [self.hostname]
        with open(path, encoding="utf-8") as file:
            return list(dict.fromkeys(file.read().split()))

    @property
    def _tasks_per_node(self) -> int:
        return max(1, self.num_tasks // self.num_nodes)

    def _handle_signals(self, paths: JobPaths, submission: DelayedSubmission) -> None:
        """
        Handles TERM, which means that the job is preempted or cancelled, and the user signal, which is sent shortly before the
        maximum run time is over.
        """
        handler = _Handler(self, paths, submission)
        for number in (signal.SIGTERM, self._usr_sig()):
            signal.signal(number, handler.interrupt)
        signal_at = float(os.environ[START]) + float(os.environ[SIGNAL_AFTER])
        timer = threading.Timer(max(signal_at - time.time(), 0), os.kill, (os.getpid(), self._usr_sig()))
        timer.daemon = True
        timer.start()

    def _requeue(self, countdown: int) -> None:
        logger.get_logger().info(f"{self.job_id} runs again ({countdown} remaining timeouts)")
        sys.exit(REQUEUE_CODE)


class _Handler(SignalHandler):
    _is_timeout = False

    def has_timed_out(self) -> bool:
        return self._is_timeout

    def interrupt(self, number: int, frame: Optional[FrameType] = None) -> None:
        for each in (signal.SIGTERM, self.env._usr_sig()):
            signal.signal(each, signal.SIG_IGN)
        if self.env.global_rank != 0:
            sys.exit(0)  # the exit code of task 0 is that of the job
        self._is_timeout = number == self.env._usr_sig()
        self.checkpoint_and_try_requeue(number, frame)
