"""
Runs a task of a job. Its output goes to the files of submitit, to which later runs append. The log of the job gets a copy.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import IO, Dict

from submitit.core.utils import JobPaths

from .environment import BerthJobEnvironment

MERGE = "SUBMITIT_BERTH_STDERR_TO_STDOUT"

_COPY_SECONDS = 0.2


def run(folder: str) -> int:
    env = BerthJobEnvironment()
    paths = JobPaths(folder, job_id=env.job_id, task_id=env.global_rank)
    paths.folder.mkdir(parents=True, exist_ok=True)
    outputs = {1: paths.stdout} if os.environ.get(MERGE) else {1: paths.stdout, 2: paths.stderr}
    with ExitStack() as files:
        written = {descriptor: files.enter_context(path.open("ab")) for descriptor, path in outputs.items()}
        read: Dict[int, IO[bytes]] = {}
        for descriptor, path in outputs.items():
            read[descriptor] = files.enter_context(path.open("rb", buffering=0))
            read[descriptor].seek(0, os.SEEK_END)
        command = [sys.executable, "-u", "-m", "submitit.core._submit", folder]
        task = subprocess.Popen(command, stdout=written[1], stderr=written.get(2, subprocess.STDOUT))
        for number in (signal.SIGTERM, env._usr_sig()):
            signal.signal(number, lambda received, _: task.send_signal(received))
        code = _copy_until_end(task, read)
    return code


def _copy_until_end(task: subprocess.Popen[bytes], read: Dict[int, IO[bytes]]) -> int:
    while True:
        try:
            task.wait(_COPY_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        for descriptor, file in read.items():
            for piece in iter(lambda: file.read(65_536), b""):
                while piece:
                    piece = piece[os.write(descriptor, piece) :]
        if task.returncode is not None:
            return task.returncode if task.returncode >= 0 else 128 - task.returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
