from __future__ import annotations

import math
import operator
import os
import time
import traceback
import unittest
from concurrent.futures import CancelledError, as_completed
from typing import Any

import berth

from .case import ServerCase

SMALL: Any = {"cpu": 0.5, "memory": "96MiB"}


@berth.job(cpu=0.5, memory="96MiB")
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


class Futures(ServerCase):
    def test_results_and_exceptions_return_without_a_folder(self) -> None:
        with berth.BerthExecutor(self.client, **SMALL) as executor:
            power = executor.submit(operator.pow, 2, 10)
            broken = executor.submit(math.sqrt, -1)
            large = executor.submit(operator.mul, "x", 100_000)
            self.assertEqual(power.result(), 1024)
            with self.assertRaisesRegex(ValueError, "math domain error") as caught:
                broken.result()
            self.assertIn("Traceback (most recent call last):", str(caught.exception.__cause__))
            self.assertIn("_call_process.py", "".join(traceback.format_exception(None, caught.exception, None)))
            with self.assertRaisesRegex(ValueError, "Give the executor a folder"):
                large.result()
            with self.assertRaisesRegex(ValueError, "give the executor a folder"):
                executor.submit(len, "x" * 100_000)
        self.assertEqual(self.client.get(broken.job_id).state, "FAILED")
        self.assertEqual(self.client.get(power.job_id).name, "pow")

    def test_large_results_return_in_a_folder(self) -> None:
        with berth.BerthExecutor(self.client, folder="calls", **SMALL) as executor:
            self.assertEqual(list(executor.map(operator.mul, ["x", "y"], [300_000, 2])), ["x" * 300_000, "yy"])
            self.assertEqual({future.result() for future in as_completed([executor.submit(math.fabs, -3)])}, {3})

    def test_a_result_is_found_again_by_the_id_of_its_job(self) -> None:
        for folder in (None, "calls"):
            with berth.BerthExecutor(self.client, folder=folder, **SMALL) as executor:
                job_id = executor.submit(operator.pow, 3, 4).job_id
            with berth.BerthExecutor(berth.Client()) as other:
                self.assertEqual(other.attach(job_id).result(timeout=60), 81)
        with berth.BerthExecutor(self.client) as other, self.assertRaises(berth.NotFoundError):
            other.attach(self.shell("true"))

    def test_a_cancelled_call_ends_its_job(self) -> None:
        with berth.BerthExecutor(self.client, **SMALL) as executor:
            future = executor.submit(time.sleep, 600)
            self.assertFalse(future.done())
            self.assertTrue(future.cancel())
            with self.assertRaises(CancelledError):
                future.result(timeout=60)
            self.assertEqual(self.client.wait(future.job_id).state, "CANCELLED")

    def test_a_job_that_dies_without_a_result_is_an_exception(self) -> None:
        with berth.BerthExecutor(self.client, **SMALL) as executor:
            future = executor.submit(os._exit, 9)
            with self.assertRaises(berth.JobFailedError) as caught:
                future.result(timeout=60)
            self.assertEqual(caught.exception.job.exit_code, 9)

    def test_a_shut_executor_leaves_its_jobs_running(self) -> None:
        executor = berth.BerthExecutor(self.client, **SMALL)
        future = executor.submit(time.sleep, 0.5)
        executor.shutdown(wait=False)
        with self.assertRaises(RuntimeError):
            executor.submit(len, "")
        self.assertIsNone(future.result(timeout=60))

    def test_a_decorated_function_runs_here_or_as_a_job(self) -> None:
        self.assertEqual(double(4), 8)
        self.assertEqual(double.__doc__, "Twice the number.")
        future = double.submit(5)
        self.assertEqual(future.result(timeout=60), 10)
        self.assertEqual(self.client.spec(future.job_id)["resources"]["cpu"], 0.5)
        self.assertEqual(list(double.map([1, 2])), [2, 4])


if __name__ == "__main__":
    unittest.main()
