from __future__ import annotations

import os
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Callable, List

import berth

from .case import ServerCase


class Submitting(ServerCase):
    def test_a_job_runs_in_the_current_folder_with_its_options(self) -> None:
        job = self.shell(
            'pwd; echo "$COLOUR"',
            name="with options",
            labels={"kind": "test"},
            tags=["tagged"],
            env={"COLOUR": "green"},
            max_run_time="10m",
        )
        self.assertEqual(list(self.client.logs(job)), [os.path.realpath(self.folder), "green"])
        ended = self.client.wait(job)
        self.assertTrue(ended.succeeded)
        self.assertEqual((ended.name, ended.labels), ("with options", {"kind": "test", "tagged": ""}))
        spec = self.client.spec(job)
        self.assertEqual((spec["maxRunTimeSeconds"], spec["resources"]["memoryBytes"]), (600, 64 * 2**20))

    def test_a_spec_has_every_field_and_keywords_replace_them(self) -> None:
        spec = berth.JobSpec(
            executable="/bin/echo",
            arguments=["${A}"],
            environment=[berth.EnvironmentVariable("A", "1")],
            resources=berth.Resources(cpu=0.1, memory_bytes=64 * 2**20),
            retry=berth.Retry(max_attempts=2, on_exit_codes=[75]),
        )
        job = self.client.submit(spec, name="from a spec", gpu=0)
        self.assertEqual(self.client.wait(job).exit_code, 0)
        self.assertEqual(self.client.spec(job)["retry"], {"maxAttempts": 2, "onExitCodes": [75]})

    def test_the_same_key_makes_one_job_also_at_once(self) -> None:
        def submit(_: int) -> berth.SubmittedJob:
            return self.shell("true", idempotency_key=f"key of {self.folder}")

        with ThreadPoolExecutor(8) as pool:
            jobs = list(pool.map(submit, range(24)))
        self.assertEqual(len({job.id for job in jobs}), 1)
        self.assertEqual(sum(not job.idempotent_hit for job in jobs), 1)
        self.assertEqual(self.client.get_by_key(f"key of {self.folder}").id, jobs[0].id)

    def test_many_jobs_have_an_outcome_each(self) -> None:
        good, bad = berth.JobSpec(["true"]), berth.JobSpec(["true"], name="x" * 300)
        outcomes = self.client.submit_many([good, bad, ["false"]], cpu=0.1, memory="64MiB", idempotency_key=self.folder)
        first, refused, last = outcomes
        assert isinstance(first, berth.SubmittedJob) and isinstance(last, berth.SubmittedJob)
        self.assertIsInstance(refused, berth.InvalidInputError)
        self.assertEqual([self.client.wait(job).exit_code for job in (first, last)], [0, 1])
        again = self.client.submit_many([good], cpu=0.1, memory="64MiB", idempotency_key=self.folder)
        self.assertEqual([job.id for job in again if isinstance(job, berth.SubmittedJob)], [first.id])

    def test_a_job_waits_for_another_one(self) -> None:
        first = self.shell("exit 0")
        second = self.shell("echo after", after=[first])
        self.assertEqual(list(self.client.logs(second)), ["after"])

    def test_a_failed_job_is_retried_with_changes(self) -> None:
        failed = self.client.wait(self.shell("exit 3", name="fails"))
        self.assertEqual((failed.state, failed.exit_code, failed.succeeded), ("FAILED", 3, False))
        again = self.client.retry(failed, name="again")
        self.assertEqual((again.name, self.client.wait(again).exit_code), ("again", 3))

    def test_a_preview_stores_nothing(self) -> None:
        key = {"preview": self.folder}
        self.assertIsNotNone(self.client.preview(["true"], cpu=0.1, labels=key).fit)
        self.assertEqual(list(self.client.list(labels={"preview": self.folder})), [])


class Refusals(ServerCase):
    def test_refusals_are_exceptions_by_code(self) -> None:
        with self.assertRaises(berth.InvalidInputError) as caught:
            self.shell("true", cpu=-1)
        self.assertEqual(caught.exception.code, "INVALID_INPUT")
        self.assertFalse(caught.exception.retryable)
        self.assertEqual(caught.exception.violations[0]["path"], ["spec", "resources", "cpu"])
        self.shell("true", idempotency_key=f"conflict in {self.folder}")
        with self.assertRaises(berth.IdempotencyConflictError):
            self.shell("false", idempotency_key=f"conflict in {self.folder}")

    def test_a_missing_job_is_not_found_by_every_call(self) -> None:
        missing = "job_0000000000000000000000000"
        calls: List[Callable[[], object]] = [
            lambda: self.client.get(missing),
            lambda: self.client.wait(missing),
            lambda: self.client.cancel(missing),
            lambda: self.client.why(missing),
            lambda: list(self.client.logs(missing)),
            lambda: list(self.client.logs(missing, follow=False)),
            lambda: list(self.client.log_bytes(missing)),
            lambda: list(self.client.events(missing)),
        ]
        for call in calls:
            with self.assertRaises(berth.NotFoundError):
                call()

    def test_wrong_arguments_are_refused_before_anything_is_sent(self) -> None:
        with self.assertRaises(TypeError):
            self.client.submit("make test")
        with self.assertRaises(TypeError):
            self.client.submit(["true"], gpus=1)  # type: ignore[call-arg]
        with self.assertRaises(ValueError):
            self.client.submit(["true"], memory="16 bananas")

    def test_an_unreachable_server_is_retryable(self) -> None:
        with self.assertRaises(berth.UnavailableError) as caught:
            berth.Client("http://127.0.0.1:1", attempts=1).get("job_1")
        self.assertEqual((caught.exception.code, caught.exception.retryable), ("UNREACHABLE", True))

    def test_a_url_that_is_not_of_a_server_is_refused(self) -> None:
        for url in ("ftp://host", "nothing", "http://user:password@host"):
            with self.assertRaises(ValueError):
                berth.Client(url)


class Following(ServerCase):
    def test_lines_arrive_while_the_job_runs(self) -> None:
        job = self.shell("echo first; sleep 30")
        with self.client.logs(job) as lines:
            self.assertEqual(next(lines), "first")
            self.client.cancel(job)
            self.assertEqual(list(lines), [])
        self.assertEqual(self.client.wait(job).state, "CANCELLED")

    def test_text_and_bytes_are_the_whole_output(self) -> None:
        job = self.shell("i=0; while [ $i -lt 3000 ]; do echo \"line $i é\"; i=$((i+1)); done; printf 'no end'")
        expected = "".join(f"line {i} é\n" for i in range(3000)) + "no end"
        self.assertEqual("".join(self.client.log_text(job)), expected)
        self.assertEqual("".join(self.client.log_text(job, follow=False)), expected)
        self.assertEqual(b"".join(self.client.log_bytes(job)), expected.encode())
        self.assertEqual(list(self.client.logs(job, tail=2)), ["line 2999 é", "no end"])
        self.assertEqual(list(self.client.logs(job, tail=2, follow=False)), ["line 2999 é", "no end"])

    def test_bytes_that_are_not_text_are_exact(self) -> None:
        job = self.shell("printf '\\377\\000\\r\\n\\303'")
        self.client.wait(job)
        self.assertEqual(b"".join(self.client.log_bytes(job)), b"\xff\x00\r\n\xc3")

    def test_output_so_far_ends_while_the_job_runs(self) -> None:
        job = self.shell("echo one; sleep 60")
        next(self.client.logs(job))
        self.assertEqual(list(self.client.logs(job, follow=False)), ["one"])
        self.client.cancel(job)

    def test_streams_are_selected(self) -> None:
        job = self.shell("echo out; echo err >&2")
        self.assertEqual(list(self.client.logs(job, streams=["STDERR"])), ["err"])

    def test_events_come_once_and_in_order(self) -> None:
        job = self.shell("sleep 0.3")
        live = [(event.seq, event.to) for event in self.client.events(job)]
        self.assertEqual(live, [(1, "QUEUED"), (2, "STARTING"), (3, "RUNNING"), (4, "SUCCEEDED")])
        self.assertEqual([(event.seq, event.to) for event in self.client.events(job)], live)

    def test_a_wait_ends_with_its_timeout(self) -> None:
        job = self.shell("sleep 60")
        begun = time.monotonic()
        with self.assertRaises(TimeoutError):
            self.client.wait(job, timeout=0.5)
        self.assertLess(time.monotonic() - begun, 10)
        self.client.cancel(job)

    def test_another_thread_ends_a_stream(self) -> None:
        job = self.shell("sleep 60")
        lines = self.client.logs(job)
        threading.Timer(0.5, lines.close).start()
        self.assertEqual(list(lines), [])
        self.client.cancel(job)


class Looking(ServerCase):
    def test_a_list_has_all_jobs_of_its_filters(self) -> None:
        later = datetime.now() + timedelta(days=9)
        self.client.submit_many([["true"]] * 210, cpu=0.1, memory="64MiB", labels={"list": self.folder}, not_before=later)
        jobs = list(self.client.list(labels={"list": self.folder}))
        self.assertEqual(len({job.id for job in jobs}), 210)
        self.assertEqual([job.id for job in self.client.list(labels={"list": None}, limit=3)], [job.id for job in jobs[:3]])
        self.assertEqual(list(self.client.list(labels={"list": self.folder}, states=["RUNNING"])), [])

    def test_why_says_what_a_job_waits_for(self) -> None:
        job = self.shell("true", not_before=datetime.now() + timedelta(days=9))
        self.assertIn("waits for not_before", str(self.client.why(job)))
        self.client.cancel(job)
        failed = self.client.wait(self.shell("exit 3"))
        self.assertIn("FAILED EXIT_CODE", str(self.client.why(failed)))

    def test_a_notebook_shows_a_table(self) -> None:
        html = self.shell("true", name="<script>")._repr_html_()
        self.assertIn("<td>&lt;script&gt;</td>", html)
        self.assertTrue(html.startswith("<table>"))

    def test_remarks_of_the_server_are_warnings(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            job = self.client.submit(["true"], workdir="/")
        self.assertEqual([str(each.message) for each in caught], list(job.warnings))


if __name__ == "__main__":
    unittest.main()
