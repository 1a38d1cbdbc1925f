"""
Runs one task of a job. Its output goes to the files of submitit, where later runs append to it, and to the log of the
job.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, List

from submitit.core.utils import JobPaths

from .environment import BerthJobEnvironment

MERGE = "SUBMITIT_BERTH_STDERR_TO_STDOUT"

# A process that the task left behind may hold its output open.
_REST_SECONDS_MAX = 2.0


def run(folder: str) -> int:
    env = BerthJobEnvironment()
    paths = JobPaths(folder, job_id=env.job_id, task_id=env.global_rank)
    paths.folder.mkdir(parents=True, exist_ok=True)
    task = subprocess.Popen(
        [sys.executable, "-u", "-m", "submitit.core._submit", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if os.environ.get(MERGE) else subprocess.PIPE,
    )
    for number in (signal.SIGTERM, env._usr_sig()):
        signal.signal(number, lambda received, _: task.send_signal(received))
    copies: List[threading.Thread] = []
    for stream, path, descriptor in ((task.stdout, paths.stdout, 1), (task.stderr, paths.stderr, 2)):
        if stream is not None:
            copies.append(threading.Thread(target=_copy, args=(stream, path, descriptor), daemon=True))
            copies[-1].start()
    code = task.wait()
    for copy in copies:
        copy.join(_REST_SECONDS_MAX)
    return code if code >= 0 else 128 - code


def _copy(stream: IO[bytes], path: Path, descriptor: int) -> None:
    with path.open("ab", buffering=0) as file:
        while True:
            piece = os.read(stream.fileno(), 65_536)
            if not piece:
                return
            file.write(piece)
            left = memoryview(piece)
            while left:
                left = left[os.write(descriptor, left) :]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
