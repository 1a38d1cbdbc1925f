"""
The process of a call of a BerthExecutor: `python3 -m berth._call_process WHERE`. WHERE is the path of the call without its
extension, and the result is written beside it. Or it is `inline:` and the call itself, and the result is an artifact.
"""

from __future__ import annotations

import base64
import os
import pickle
import sys
import traceback
from typing import Any, Callable, Tuple, Union

INLINE = "inline:"
RESULT_NAME = "berth-result"
# An artifact has at most 64 KiB; base64 makes 4 bytes of 3.
RESULT_BYTES_MAX = 48 * 1024
# Maximum length of a traceback. Its beginning is cut, because its end says most.
_TRACEBACK_CHARACTERS_MAX = 8 * 1024

# (True, value), or (False, exception, traceback).
Outcome = Union[Tuple[bool, Any], Tuple[bool, Any, str]]
Call = Tuple[Callable[..., Any], Tuple[Any, ...], "dict[str, Any]"]


def main(where: str) -> int:
    try:
        outcome: Outcome = (True, _call(where))
    except BaseException as error:
        traceback.print_exc()
        outcome = (False, error, traceback.format_exc()[-_TRACEBACK_CHARACTERS_MAX:])
    _store(where, _dump(outcome))
    return 0 if outcome[0] else 1


def _call(where: str) -> Any:
    if where.startswith(INLINE):
        content = base64.b64decode(where[len(INLINE) :])
    else:
        with open(f"{where}.call", "rb") as file:
            content = file.read()
    call: Call = pickle.loads(content)
    function, arguments, keywords = call
    return function(*arguments, **keywords)


def _dump(outcome: Outcome) -> bytes:
    from .futures import dump

    try:
        content = dump(outcome)
        pickle.loads(content)  # exceptions with arguments of their own may fail only here
        return content
    except Exception as error:
        succeeded, value, *trace = outcome
        text = f"The result cannot be pickled: {error!r}" if succeeded else f"{type(value).__name__}: {value}"
        return pickle.dumps((False, RuntimeError(text), *trace))


def _store(where: str, content: bytes) -> None:
    if not where.startswith(INLINE):
        written = f"{where}.{os.getpid()}.new"
        with open(written, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(written, f"{where}.result")
        return
    if len(content) > RESULT_BYTES_MAX:
        text = f"The result has {len(content)} bytes; without a folder at most {RESULT_BYTES_MAX}. Give the executor a folder"
        content = pickle.dumps((False, ValueError(text)))
    from .inside import artifact

    artifact(RESULT_NAME, base64.b64encode(content).decode(), media_type="application/x-pickle-base64")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
