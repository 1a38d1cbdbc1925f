"""Staging and clean-up by a shell script around the command. It can only stage files that the job sees."""

from __future__ import annotations

import os
import shlex
from typing import Any, Dict, List

import psij
from psij.staging import URI, StageOutFlags, StagingMode

_COMMANDS = {
    StagingMode.COPY: 'cp -RT -- "$1" "$2"',
    StagingMode.LINK: 'rm -rf -- "$2" && ln -s -- "$(readlink -m -- "$1")" "$2"',
    StagingMode.MOVE: 'mv -fT -- "$1" "$2"',
}

# A failure of staging ends the job with 1. TERM reaches the command itself; the shell waits for it.
_BEGIN = """\
fail() { echo "berth: $1" >&2; exit 1; }
place() {
  [ -e "$1" ] || fail "cannot stage $1: not found"
  mkdir -p -- "$(dirname -- "$2")" || fail "cannot stage $2"
}"""

_RUN = """\
end=error
trap 'end=cancel' TERM
"$@"%(redirections)s
code=$?
[ "$code" -ne 0 ] || end=success"""

_CONDITIONS = {
    StageOutFlags.ON_SUCCESS: "success",
    StageOutFlags.ON_ERROR: "error",
    StageOutFlags.ON_CANCEL: "cancel",
}


def wrap(spec: psij.JobSpec) -> Dict[str, Any]:
    """Returns fields of the spec that run the command between stage-in and stage-out."""
    if spec.launcher not in (None, "single"):
        raise psij.InvalidJobException(f"Staging needs the launcher single, not {spec.launcher}")
    outputs = {">": spec.stdout_path, "2>": spec.stderr_path}
    # The shell redirects the output, because the server's own files are complete only after the job, too late for stage-out.
    redirections = [f"{sign}{shlex.quote(str(path))}" for sign, path in outputs.items() if path is not None]
    lines = [_BEGIN]
    for each in spec.stage_in or ():
        lines += _stage(each.mode, _local_path(each.source), str(each.target))
    lines.append(_RUN % {"redirections": "".join(f" {each}" for each in redirections)})
    for out in spec.stage_out or ():
        source = str(out.source)
        steps = _stage(out.mode, source, _local_path(out.target))
        if out.flags & StageOutFlags.IF_PRESENT:
            steps = [f"if [ -e {shlex.quote(source)} ]; then", *steps, "fi"]
        lines += _when(out.flags, steps)
    for path in spec.cleanup or ():
        lines += _when(spec.cleanup_flags, [_remove(str(path))])
    lines.append('exit "$code"')
    assert spec.executable is not None
    command = [spec.executable, *(spec.arguments or [])]
    return {
        "executable": "/bin/sh",
        "arguments": ["-c", "\n".join(lines), "berth", *command],
        "stdout_path": None,
        "stderr_path": None,
    }


def _stage(mode: StagingMode, source: str, target: str) -> List[str]:
    words = f"{shlex.quote(source)} {shlex.quote(target)}"
    return [f"stage() {{ place \"$@\"; {_COMMANDS[mode]} || fail \"cannot stage $1 to $2\"; }}; stage {words}"]


def _when(flags: StageOutFlags, steps: List[str]) -> List[str]:
    ends = [name for flag, name in _CONDITIONS.items() if flags & flag] or list(_CONDITIONS.values())
    return [f"case $end in {'|'.join(ends)})", *steps, ";; esac"]


def _remove(path: str) -> str:
    """Returns a command that removes a path, only below the directory of the job."""
    quoted = shlex.quote(path)
    inside = f'case $(readlink -m -- {quoted}) in "$(pwd -P)"/*)'
    return f'{inside} rm -rf -- {quoted} ;; *) fail "cannot remove "{quoted}": not in the directory of the job" ;; esac'


def _local_path(uri: URI) -> str:
    if uri.scheme not in ("", "file") or uri.hostname not in (None, "localhost"):
        raise psij.InvalidJobException(f"Files of other machines are not staged: {uri}")
    return os.path.abspath(uri.path)
