from __future__ import annotations

import os
import sys
import textwrap
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List
from unittest import mock

import berth
from berth._reports import describe_metrics, describe_progress, merge_reports

from .case import ServerCase

SOURCE = str(Path(__file__).parents[1] / "src")


class InsideAJob(ServerCase):
    def program(self, text: str, **options: Any) -> berth.SubmittedJob:
        """Submits a job that runs a Python program."""
        env = {"PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1"}
        fields: Dict[str, Any] = {"cpu": 0.5, "memory": "128MiB", "env": env, **options}
        return self.client.submit([sys.executable, "-c", textwrap.dedent(text)], **fields)

    def test_progress_artifacts_and_closures_are_stored(self) -> None:
        job = self.program(
            """
            import berth
            for step in range(1000):
                berth.progress(step / 1000, f"step {step}")
            berth.progress(1, "done")
            print(berth.artifact("report", "all is well", metadata={"loss": 0.5}))
            berth.artifact("model", uri="s3://models/1", media_type="application/x-tar")
            berth.closure({"next": 51})
            """
        )
        ended = self.client.wait(job)
        self.assertTrue(ended.succeeded, list(self.client.logs(job)))
        progress = ended.progress
        assert progress is not None
        self.assertEqual((progress.fraction, progress.message), (1, "done"))
        report, model = self.client.artifacts(job)
        self.assertEqual((report.name, report.media_type, model.uri), ("report", "text/plain", "s3://models/1"))
        self.assertEqual(list(self.client.logs(job)), [report.id])
        self.assertEqual(self.client.artifact_body(report), "all is well")

    def test_a_file_is_stored_with_the_type_of_its_name(self) -> None:
        job = self.program(
            """
            import berth, os, pathlib
            pathlib.Path("table").write_bytes(bytes(range(256)) * 1_000)
            os.symlink("table", "link")
            for name in ("out/table.csv", "model"):
                berth.artifact(name, file=pathlib.Path("link"), metadata={"rows": 3})
            for call in (lambda: berth.artifact("a", file="no-such"), lambda: berth.artifact("a", "b", file="table")):
                try:
                    call()
                except (OSError, TypeError) as error:
                    print(type(error).__name__)
            """,
            workdir=self.folder,
        )
        self.assertTrue(self.client.wait(job).succeeded, list(self.client.logs(job)))
        table, model = self.client.artifacts(job)
        self.assertEqual((table.name, table.kind, table.media_type), ("out/table.csv", "FILE", "text/csv"))
        self.assertEqual((table.size_bytes, model.media_type), (256_000, "application/octet-stream"))
        self.assertEqual(list(self.client.logs(job)), ["FileNotFoundError", "TypeError"])

    def test_metrics_are_stored_by_name_and_step(self) -> None:
        job = self.program(
            """
            import berth
            for step in range(300):
                berth.metrics({"loss": 1 / (step + 1), "val/accuracy": step / 300}, step=step)
            berth.metrics({"loss": float("nan")}, step=300)
            """
        )
        self.assertTrue(self.client.wait(job).succeeded, list(self.client.logs(job)))
        query = "query ($id: ID!) { job(id: $id) { currentRun { metrics { name last { step value } points(points: 1000) { step } } } } }"
        loss, accuracy = self.client._ask(query, {"id": job.id})["job"]["currentRun"]["metrics"]
        self.assertEqual((loss["name"], loss["last"]), ("loss", {"step": 299, "value": 1 / 300}))
        self.assertEqual([len(loss["points"]), len(accuracy["points"])], [300, 300])

    def test_a_job_that_must_end_saves_its_state_and_exits_with_143(self) -> None:
        job = self.program(
            """
            import time, berth
            def save():
                berth.closure({"next": 3})
                print("saved", flush=True)
            berth.on_terminate(save)
            print("ready", flush=True)
            time.sleep(600)
            """
        )
        with self.client.logs(job) as lines:
            self.assertEqual(next(lines), "ready")
            self.client.cancel(job)
            self.assertEqual(list(lines), ["saved"])
        self.assertEqual(self.client.wait(job).exit_code, 143)

    def test_a_program_continues_from_the_closure_of_its_first_run(self) -> None:
        job = self.program(
            """
            import os, signal, time, berth
            state = berth.saved_closure()
            print("first" if state is None else state["next"], flush=True)
            if state is None:
                berth.closure({"next": 51})
                time.sleep(1)  # the supervisor, which takes the output, dies as well
                os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
            """,
            resumable=True,
        )
        self.assertEqual(list(self.client.logs(job)), ["first", "51"])

    def test_a_fraction_that_is_no_number_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "fraction: nan is not a finite number"):
            describe_progress(float("nan"), None)

    def test_of_too_many_metrics_every_second_is_dropped_but_not_the_newest(self) -> None:
        older = [{"name": name, "value": 1.0, "step": step} for step in range(500) for name in ("a", "b")]
        merged = merge_reports({"metrics": older}, describe_metrics({"a": 2.0, "b": 2.0}, 500))["metrics"]
        self.assertEqual([each["step"] for each in merged if each["name"] == "b"], list(range(0, 501, 2)))
        self.assertEqual(merge_reports({"fraction": 0.1}, {"message": "x"}), {"fraction": 0.1, "message": "x"})

    def test_outside_of_a_job_the_calls_do_nothing_with_a_warning(self) -> None:
        with mock.patch.dict(os.environ):
            os.environ.pop("BERTH_TOKEN", None)
            calls: List[Callable[[], object]] = [
                lambda: berth.progress(0.5),
                lambda: berth.artifact("a", "b"),
                lambda: berth.closure({}),
                lambda: berth.metrics({"loss": 1}),
                lambda: berth.on_terminate(lambda: None),
            ]
            for call in calls:
                with self.assertWarns(berth.BerthWarning) as caught:
                    self.assertIsNone(call())
                self.assertEqual(caught.filename, __file__)


class Handlers(ServerCase):
    def test_a_handler_reports_and_continues_from_its_closure(self) -> None:
        Path(self.folder, "count.py").write_text(
            textwrap.dedent(
                """
                import os, signal, time
                import berth

                @berth.handler
                def run(input, job):
                    job.log(f"from {input['start']}")
                    job.save_closure({"next": 3})
                    time.sleep(1)  # the supervisor, which takes the output, dies as well
                    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
                    time.sleep(60)

                @run.on_resume
                def resume(closure, job):
                    job.log(f"run {job.run} from {closure['next']}")
                    job.status("half way")
                    job.progress(0.5)
                    job.metrics({"loss": 0.3}, step=closure["next"])
                    job.artifact("count", "3")
                """
            )
        )
        job = self.client.submit(
            handler="count.py", input={"start": 1}, resumable=True, cpu=0.5, memory="128MiB", env={"PYTHONUNBUFFERED": "1"}
        )
        self.assertEqual(list(self.client.logs(job)), ["from 1", "run 2 from 3"])
        ended = self.client.wait(job)
        progress = ended.progress
        assert progress is not None
        self.assertEqual((ended.succeeded, progress.fraction, progress.message), (True, 0.5, "half way"))
        self.assertEqual([artifact.name for artifact in self.client.artifacts(job)], ["count"])


if __name__ == "__main__":
    unittest.main()
