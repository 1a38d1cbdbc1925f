"""psij-python through Berth; needs psij in the path: `python3 -m unittest tests.plugin_psij`."""

from __future__ import annotations

import threading
import time
import unittest
from datetime import timedelta
from pathlib import Path
from typing import Any, List

import psij
from psij import JobState

import berth

from .case import ServerCase

try:
    from psij.staging import StageIn, StageOut, StageOutFlags

    _HAS_STAGING = True
except ImportError:
    _HAS_STAGING = False

_NAMES = ["QUEUED", "STAGE_IN", "ACTIVE", "STAGE_OUT", "CLEANUP"] if _HAS_STAGING else ["QUEUED", "ACTIVE"]
_ALL = [JobState[name] for name in _NAMES]


class PsijJobs(ServerCase):
    def setUp(self) -> None:
        super().setUp()
        self.executor = psij.JobExecutor.get_instance("berth")
        self.addCleanup(self.executor._client.close)  # type: ignore[attr-defined]
        self.states: List[JobState] = []

    def submit(self, executable: str, *arguments: str, **fields: Any) -> psij.Job:
        spec = psij.JobSpec(executable, list(arguments), **fields)
        spec.resources = spec.resources or psij.ResourceSpecV1(memory=64 * 2**20)
        job = psij.Job(spec)
        job.set_job_status_callback(lambda _, status: self.states.append(status.state))
        self.executor.submit(job)
        return job

    def end(self, job: psij.Job) -> psij.JobStatus:
        status = job.wait(timedelta(seconds=30))
        assert status is not None
        return status

    def test_a_job_goes_through_all_states(self) -> None:
        status = self.end(self.submit("/bin/echo", "hello", stdout_path="out.txt"))
        self.assertEqual((status.state, status.exit_code), (JobState.COMPLETED, 0))
        self.assertEqual(self.states, [*_ALL, JobState.COMPLETED])
        self.assertEqual(Path("out.txt").read_text(), "hello\n")
        self.assertEqual(str(self.executor.version), berth.__version__)

    def test_a_failed_command_has_its_exit_code_and_the_reason(self) -> None:
        status = self.end(self.submit("/bin/sh", "-c", "exit 3"))
        self.assertEqual((status.state, status.exit_code), (JobState.FAILED, 3))
        self.assertEqual(self.states, [*_ALL, JobState.FAILED])
        assert status.metadata is not None
        self.assertEqual((status.metadata["reason"], status.metadata["run"]), ("EXIT_CODE", 1))

    def test_a_callback_may_submit_the_next_job(self) -> None:
        ended = threading.Event()
        left = [2]

        def next_job(_: psij.Job, status: psij.JobStatus) -> None:
            if status.final and left[0] == 0:
                ended.set()
            elif status.final:
                left[0] -= 1
                self.submit("/bin/true")

        self.executor.set_job_status_callback(next_job)
        self.submit("/bin/true")
        self.assertTrue(ended.wait(30))

    def test_the_fields_of_a_spec_reach_the_server(self) -> None:
        attributes = psij.JobAttributes(
            duration=timedelta(minutes=5),
            queue_name="default",
            account="lab",
            custom_attributes={"berth.tags": ["sweep"], "berth.bid": 3, "site.flag": "x"},
        )
        resources = psij.ResourceSpecV1(node_count=1, process_count=2, memory=64 * 2**20)
        fields = {"name": "all fields", "launcher": "multiple"}
        job = self.submit("/bin/true", attributes=attributes, resources=resources, **fields)
        spec = self.client.spec(str(job.native_id))
        self.assertEqual((spec["durationSeconds"], spec["project"], spec["bid"]), (300, "lab", 3))
        self.assertEqual((spec["name"], spec["customAttributes"]), ("all fields", {"site.flag": "x"}))
        asked = spec["resources"]
        self.assertEqual((asked["nodeCount"], asked["processCount"], asked["processesPerNode"]), (1, None, 2))
        self.assertIn("sweep", self.client.get(str(job.native_id)).labels)
        self.assertEqual(self.end(job).state, JobState.COMPLETED)

    def test_a_wrong_spec_is_refused_with_its_field_and_may_be_corrected(self) -> None:
        job = psij.Job(psij.JobSpec("/bin/true", directory="relative"))
        with self.assertRaisesRegex(psij.InvalidJobException, "spec.workdir: Must be an absolute path"):
            self.executor.submit(job)
        assert job.spec is not None
        job.spec.directory = Path(self.folder)
        self.executor.submit(job)
        self.assertEqual(self.end(job).state, JobState.COMPLETED)
        unknown = psij.JobAttributes(custom_attributes={"berth.imag": "ubuntu"})
        with self.assertRaisesRegex(psij.InvalidJobException, "imag"):
            self.submit("/bin/true", attributes=unknown)

    def test_an_unreachable_server_is_a_transient_failure(self) -> None:
        executor = psij.JobExecutor.get_instance("berth", url="http://127.0.0.1:9")
        with self.assertRaises(psij.SubmitException) as raised:
            executor.submit(psij.Job(psij.JobSpec("/bin/true")))
        self.assertTrue(raised.exception.transient)

    def test_a_job_is_listed_attached_and_cancelled(self) -> None:
        job = self.submit("/bin/sleep", "60")
        self.assertIn(job.native_id, self.executor.list())
        attached = psij.Job()
        psij.JobExecutor.get_instance("berth").attach(attached, str(job.native_id))
        attached.wait(timedelta(seconds=30), [JobState.ACTIVE])
        attached.cancel()
        self.assertEqual(self.end(job).state, JobState.CANCELED)
        self.assertEqual(self.end(attached).state, JobState.CANCELED)
        unknown = psij.Job()
        self.executor.attach(unknown, "job_unknown")
        self.assertEqual(self.end(unknown).state, JobState.FAILED)

    @unittest.skipUnless(_HAS_STAGING, "psij-python before its staging of files")
    def test_files_are_staged_and_removed_by_the_end_of_the_job(self) -> None:
        given, folder = Path("given.txt"), Path("work dir")
        given.write_text("content")
        folder.mkdir()
        job = self.submit(
            *["/bin/sh", "-c", "cat 'in put.txt'; exit 4"],
            directory=folder.absolute(),
            stdout_path="out.txt",
            stage_in={StageIn(given, "in put.txt")},
            stage_out={
                StageOut("out.txt", "succeeded.txt", StageOutFlags.ON_SUCCESS),
                StageOut("out.txt", "failed.txt", StageOutFlags.ON_ERROR),
                StageOut("absent.txt", "absent.txt", StageOutFlags.IF_PRESENT),
            },
            cleanup={"in put.txt"},
        )
        self.assertEqual(self.end(job).exit_code, 4)
        self.assertEqual(Path("failed.txt").read_text(), "content")
        self.assertFalse(Path("succeeded.txt").exists() or (folder / "in put.txt").exists())
        self.assertTrue(given.exists())

    def test_many_jobs_share_one_stream(self) -> None:
        before = threading.active_count()
        jobs = [self.submit("/bin/true") for _ in range(10)]
        self.assertLessEqual(threading.active_count(), before + 1)
        self.assertEqual({self.end(job).state for job in jobs}, {JobState.COMPLETED})
        until = time.monotonic() + 5
        while threading.active_count() > before and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(threading.active_count(), before)
