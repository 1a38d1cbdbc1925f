"""The lock of a context, shared with the command line: a file that its holder creates and removes."""

from __future__ import annotations

import os
import socket
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Optional

from .errors import BerthError

_POLL_SECONDS = 0.025
# Maximum age of a lock, longer than a renewal can take.
_HELD_SECONDS_MAX = 120.0
_WAIT_SECONDS_MAX = 2 * _HELD_SECONDS_MAX


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    mark = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4()}"
    begun = time.monotonic()
    while not _create(path, mark):
        _remove_abandoned(path)
        if time.monotonic() - begun > _WAIT_SECONDS_MAX:
            raise BerthError("UNAVAILABLE", f"another program holds {path}; remove it")
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        # If this process was suspended for a long time, another program may hold the lock now.
        if _read_holder(path) == mark:
            path.unlink()


def _create(path: Path, mark: str) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with open(descriptor, "w") as file:
        file.write(mark)
    return True


def _read_holder(path: Path) -> Optional[str]:
    try:
        return path.read_text()
    except OSError:
        return None


def _remove_abandoned(path: Path) -> None:
    holder = _read_holder(path)
    if holder is None or not _is_abandoned(path, holder):
        return
    # Two programs may find the same abandoned lock. The second must not remove the new lock of the first.
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.rename(aside)
    except OSError:
        return
    taken = _read_holder(aside)
    if taken is not None and taken != holder:
        _create(path, taken)
    try:
        aside.unlink()
    except FileNotFoundError:
        pass


def _is_abandoned(path: Path, holder: str) -> bool:
    host, _, rest = holder.partition(" ")
    pid = rest.partition(" ")[0]
    if host == socket.gethostname() and pid.isdigit() and not _is_alive(int(pid)):
        return True
    try:
        return time.time() - path.stat().st_mtime > _HELD_SECONDS_MAX
    except OSError:
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
