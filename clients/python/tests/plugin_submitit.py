"""
submitit through Berth; needs submitit and the installed package: `python3 -m unittest tests.plugin_submitit`.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from typing import Any, Tuple

import submitit
from submitit.core.utils import DelayedSubmission, FailedJobError, UncompletedJobError

import berth

from .case import ServerCase


def greet(name: str) -> Tuple[str, int]:
    print(f"hello {name}")
    print("a remark", file=sys.stderr)
    return name.upper(), submitit.JobEnvironment().global_rank


def fail() -> None:
    raise ValueError("on purpose")


class Patient:
    """Works until its maximum run time is over. The next run returns a result."""

    def __call__(self, is_second: bool = False) -> str:
        print(f"run {os.environ['BERTH_RUN']}")
        if not is_second:
            time.sleep(60)
        return f"ended in run {os.environ['BERTH_RUN']}"

    def checkpoint(self, is_second: bool = False) -> DelayedSubmission:
        return DelayedSubmission(self, is_second=True)


class SubmititJobs(ServerCase):
    def executor(self, **parameters: Any) -> submitit.AutoExecutor:
        executor = submitit.AutoExecutor(os.path.join(self.folder, "of %j"), cluster="berth")
        executor.update_parameters(mem_gb=0.1, timeout_min=2, **parameters)
        return executor

    def test_a_function_has_its_result_and_its_output_in_files_and_in_the_log(self) -> None:
        job = self.executor(name="greeting", berth_labels={"kind": "test"}).submit(greet, "ann")
        self.assertEqual(job.result(), ("ANN", 0))
        self.assertIn("hello ann\n", job.stdout() or "")
        self.assertEqual(job.stderr(), "a remark\n")
        ended = self.client.wait(job.job_id)
        self.assertEqual((ended.state, ended.name, ended.labels), ("SUCCEEDED", "greeting", {"kind": "test"}))
        self.assertIn("hello ann", list(self.client.logs(job.job_id)))
        job.get_info()
        self.assertEqual((job.state, pickle.loads(pickle.dumps(job)).result()), ("COMPLETED", ("ANN", 0)))

    def test_many_calls_are_one_submission_and_tasks_have_ranks(self) -> None:
        executor = self.executor(tasks_per_node=2, stderr_to_stdout=True)
        jobs = executor.map_array(greet, ["bob", "cy"])
        self.assertEqual([job.results() for job in jobs], [[("BOB", 0), ("BOB", 1)], [("CY", 0), ("CY", 1)]])
        self.assertIn("a remark\n", jobs[0].task(1).stdout() or "")

    def test_a_failure_has_its_traceback(self) -> None:
        error = self.executor().submit(fail).exception()
        self.assertIsInstance(error, FailedJobError)
        self.assertIn("ValueError: on purpose", str(error))

    def test_a_function_with_a_checkpoint_continues_in_another_run(self) -> None:
        executor = submitit.AutoExecutor(self.folder, cluster="berth", berth_max_num_timeout=1)
        executor.update_parameters(mem_gb=0.1, timeout_min=1, berth_signal_delay_s=50)
        job = executor.submit(Patient())
        self.assertEqual(job.result(), "ended in run 2")
        self.assertRegex(job.stdout() or "", "run 1\n[^$]*run 2\n")

    def test_a_cancelled_job_has_no_result(self) -> None:
        job = self.executor().submit(time.sleep, 60)
        job.cancel()
        self.client.wait(job.job_id)
        type(job)._results_timeout_s = 0
        self.assertIsInstance(job.exception(), UncompletedJobError)
        self.assertEqual(job.state, "CANCELLED")

    def test_a_wrong_parameter_is_refused(self) -> None:
        with self.assertRaises(NameError):
            self.executor(berth_gpus=1)
        with self.assertRaisesRegex(berth.InvalidInputError, "queue"):
            self.executor(berth_queue="no such queue").submit(greet, "ann")
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".pkl")], [])
