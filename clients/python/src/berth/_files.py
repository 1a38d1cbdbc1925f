"""Snapshots of folders in the format of docs/files.md, like `@berth-jobs/berth/files` for TypeScript."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._http import create_response_error, read_json
from ._transport import Transport
from .errors import BerthError, raise_problem
from .generated import documents

IGNORE_FILE = ".berthignore"
_DIFF_BYTES_MAX = 1024 * 1024
_PIECE_BYTES = 256 * 1024
_UPLOAD_SECONDS_MAX = 120.0
_SHOWN_MAX = 10
_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f]")

Entry = Dict[str, Any]


class Snapshot(NamedTuple):
    """An uploaded folder."""

    id: str
    """The value for the keyword `snapshot` of `submit`."""
    hash: str
    """SHA-256 of the list of files."""
    files: int
    bytes: int
    new_files: int
    """Number of files whose contents the server did not have at the last attempt."""


class FolderRefusedError(BerthError):
    """The folder cannot become a snapshot; nothing was sent. The message names the files."""

    def __init__(self, message: str, files: Sequence[str] = ()) -> None:
        more = [f"and {len(files) - _SHOWN_MAX} more"] if len(files) > _SHOWN_MAX else []
        super().__init__("FOLDER_REFUSED", "\n  ".join([message, *files[:_SHOWN_MAX], *more]))


def upload_folder(
    transport: Transport, folder: str, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> Snapshot:
    """Sends the files that the server lacks. A broken upload continues after the files that arrived."""
    limits = transport.request(documents.SNAPSHOT_LIMITS, {})["serverInfo"]
    entries = list_folder(folder, include, exclude)
    _check_limits(entries, limits)
    return _upload(transport, folder, entries, read_git_facts(folder))


def upload_file(transport: Transport, path: str) -> Snapshot:
    """Sends a single file. A link is followed."""
    full = os.path.realpath(path)
    folder, name = os.path.split(full)
    entry, reason = _read_entry(full, name)
    if reason:
        raise FolderRefusedError(f"{path}: {reason}")
    return _upload(transport, folder, [entry], None)


def _upload(transport: Transport, folder: str, entries: Sequence[Entry], git: Optional[Mapping[str, Any]]) -> Snapshot:
    for entry in entries:
        if "size" in entry:
            entry["sha256"] = _hash_file(folder, entry)
    text = write_list(entries, git)
    total = sum(entry.get("size", 0) for entry in entries)
    announced = {"hash": hashlib.sha256(text).hexdigest(), "files": len(entries), "bytes": total}
    snapshot_id, sent = transport.retry(lambda: _send(transport, folder, entries, text, announced))
    return Snapshot(snapshot_id, announced["hash"], len(entries), total, sent)


def list_folder(folder: str, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> List[Entry]:
    """Lists all files and links, without their hashes, ordered by path."""
    try:
        with open(os.path.join(folder, IGNORE_FILE), encoding="utf-8") as file:
            lines = file.read().split("\n")
    except FileNotFoundError:
        lines = []
    ignored, included = Patterns([*lines, *exclude]), Patterns(include)
    if _git(folder, "rev-parse", "--is-inside-work-tree").strip() == "true":
        paths = _list_git_tree(folder, included)
    else:
        paths = list(_walk(folder, None if include else ignored))
    entries: List[Entry] = []
    refused: List[str] = []
    todo = sorted(set(paths), reverse=True)
    while todo:
        path = todo.pop()
        if ignored.match(path) and not included.match(path):
            continue
        full = os.path.join(folder, path)
        if os.path.isdir(full) and not os.path.islink(full):
            # A repository or submodule has its own ignore rules. An empty folder is a submodule that was not checked out.
            nested = _list_git_tree(full, Patterns([])) if os.listdir(full) else []
            todo += [f"{path}/{name}" for name in nested]
            continue
        try:
            entry, reason = _read_entry(full, path)
        except FileNotFoundError:
            continue
        if reason:
            refused.append(f"{os.fsencode(path).decode('utf-8', 'replace')}: {reason}")
        else:
            entries.append(entry)
    if refused:
        raise FolderRefusedError(f"{len(refused)} files cannot be part of a snapshot; name them in {IGNORE_FILE}:", refused)
    # JavaScript compares strings by UTF-16 code units.
    return sorted(entries, key=lambda entry: str(entry["path"]).encode("utf-16-be"))


def write_list(entries: Iterable[Mapping[str, Any]], git: Optional[Mapping[str, Any]]) -> bytes:
    lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in [{"git": git}, *entries]]
    return "".join(f"{line}\n" for line in lines).encode()


def read_git_facts(folder: str) -> Optional[Dict[str, Any]]:
    """Reads commit, branch and changes; None: the folder is not in a git tree."""
    if _git(folder, "rev-parse", "--is-inside-work-tree").strip() != "true":
        return None
    status = _git(folder, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", ".")
    diff = _git(folder, "diff", "--no-ext-diff", "--no-color", "HEAD", "--", ".")
    remote = re.sub(r"^(\w+://)[^/@]*@", r"\1", _git(folder, "config", "--get", "remote.origin.url").strip())
    return {
        "commit": _git(folder, "rev-parse", "--verify", "--quiet", "HEAD").strip() or None,
        "branch": _git(folder, "symbolic-ref", "--short", "--quiet", "HEAD").strip() or None,
        "remote": remote or None,
        "changed": len([each for each in status.split("\0") if each]),
        "diff": diff.replace("\0", "\ufffd") if 0 < len(diff) <= _DIFF_BYTES_MAX else None,
    }


class Patterns:
    """Patterns in the syntax of `.gitignore`; the last one that matches a path decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._rules = [rule for line in lines for rule in [_parse_pattern(line)] if rule]
        self._folders: Dict[str, bool] = {}

    def match(self, path: str) -> bool:
        parent = path.rpartition("/")[0]
        # Files below an ignored folder cannot be included again.
        return (bool(parent) and self.match_folder(parent)) or self._decide(path, False)

    def match_folder(self, path: str) -> bool:
        if path not in self._folders:
            parent = path.rpartition("/")[0]
            self._folders[path] = (bool(parent) and self.match_folder(parent)) or self._decide(path, True)
        return self._folders[path]

    def _decide(self, path: str, is_folder: bool) -> bool:
        for is_ignored, only_folders, pattern in reversed(self._rules):
            if (is_folder or not only_folders) and pattern.match(path):
                return is_ignored
        return False


def _parse_pattern(line: str) -> Optional[Tuple[bool, bool, "re.Pattern[str]"]]:
    """Returns whether the pattern ignores, whether it is only for folders, and its regular expression. None: no pattern."""
    text = re.sub(r"(?<!\\)\s+$", "", line.rstrip("\r"))
    if not text or text.startswith("#"):
        return None
    is_ignored = not text.startswith("!")
    text = text if is_ignored else text[1:]
    only_folders = text.endswith("/")
    text = text.rstrip("/") if only_folders else text
    start = "" if "/" in text else "(?:.*/)?"
    form = re.sub(r"\*\*/|/\*\*$|\*+|\?|\[!?\]?(?:\\.|[^\]\\])*\]|\\.|.", _translate, text.lstrip("/"), flags=re.DOTALL)
    # Ignores case, like the client for TypeScript.
    return is_ignored, only_folders, re.compile(f"{start}{form}\\Z", re.DOTALL | re.IGNORECASE)


def _translate(match: "re.Match[str]") -> str:
    token = match.group()
    fixed = {"**/": "(?:.*/)?", "/**": "/.+", "?": "[^/]"}
    if token in fixed:
        return fixed[token]
    if token.startswith("*"):
        return "[^/]*"
    if token.startswith("[") and len(token) > 2:
        return "(?!/)[" + re.sub(r"^!", "^", token[1:-1]).replace("[", r"\[") + "]"
    return re.escape(token[1:] if len(token) == 2 and token.startswith("\\") else token)


def _git(folder: str, *words: str) -> str:
    """Returns the output of git; empty if git failed or is not installed."""
    try:
        answer = subprocess.run(["git", "-C", folder, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    if answer.returncode != 0:
        return ""
    # Decodes file names so that they can be passed to the system unchanged.
    return os.fsdecode(answer.stdout) if words[0] == "ls-files" else answer.stdout.decode("utf-8", "replace")


def _list_git_tree(folder: str, included: Patterns) -> List[str]:
    listed = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    more = _git(folder, "ls-files", "-z", "--others", "--ignored", "--exclude-standard").split("\0")
    return [name.rstrip("/") for name in [*listed, *filter(included.match, more)] if name]


def _walk(folder: str, skipped: Optional[Patterns], below: str = "") -> Iterator[str]:
    for entry in os.scandir(os.path.join(folder, below)):
        path = f"{below}/{entry.name}" if below else entry.name
        if not entry.is_dir(follow_symlinks=False):
            yield path
        elif entry.name != ".git" and not (skipped and skipped.match_folder(path)):
            yield from _walk(folder, skipped, path)


def _read_entry(full: str, path: str) -> Tuple[Entry, Optional[str]]:
    """Reads the entry of a file, or returns why it cannot be part of a snapshot."""
    facts = os.lstat(full)
    try:
        path.encode()
    except UnicodeEncodeError:
        return {}, "its name is not in UTF-8"
    if _CONTROL_CHARACTERS.search(path):
        return {}, "it has a control character in its name"
    if stat.S_ISLNK(facts.st_mode):
        target = os.readlink(full)
        place = os.path.normpath(os.path.join(os.path.dirname(path), target))
        leaves = os.path.isabs(target) or place == ".." or place.startswith("../")
        return {"path": path, "link": target}, f"it is a link that leads outside of the folder, to {target}" if leaves else None
    if not stat.S_ISREG(facts.st_mode):
        return {}, "it is not a file"
    return {"path": path, "mode": stat.S_IMODE(facts.st_mode) & 0o777, "size": facts.st_size}, None


def _check_limits(entries: Sequence[Entry], limits: Mapping[str, Any]) -> None:
    if not entries:
        raise FolderRefusedError(f"The folder has no files; check {IGNORE_FILE} and `exclude`")
    total = sum(entry.get("size", 0) for entry in entries)
    bytes_max, files_max = limits["maxSnapshotBytes"], limits["maxSnapshotFiles"]
    is_large = bytes_max is not None and total > bytes_max
    if not is_large and (files_max is None or len(entries) <= files_max):
        return
    largest = sorted((entry for entry in entries if "size" in entry), key=lambda entry: -int(entry["size"]))[:_SHOWN_MAX]
    lines = [f"{entry['size'] / 1e6:8.1f} MB  /" + re.sub(r"([*?[\]\\])", r"\\\1", entry["path"]) for entry in largest]
    what = f"{total / 1e6:.1f} MB" if is_large else f"{len(entries)} files"
    most = f"{bytes_max / 1e6:.1f} MB" if is_large else f"{files_max} files"
    raise FolderRefusedError(f"The folder has {what}, and a snapshot has at most {most}; lines for {IGNORE_FILE}:", lines)


def _read_pieces(folder: str, entry: Mapping[str, Any]) -> Iterator[bytes]:
    """Reads a file in pieces. Raises a FolderRefusedError if it no longer has the listed size and content."""
    digest = hashlib.sha256()
    left = entry["size"]
    try:
        with open(os.open(os.path.join(folder, entry["path"]), os.O_RDONLY | os.O_NOFOLLOW), "rb", buffering=0) as file:
            while left >= 0:
                piece = file.read(min(_PIECE_BYTES, left + 1))
                left -= len(piece)
                if left < 0 or not piece:
                    break
                digest.update(piece)
                yield piece
    except OSError:
        left = -1
    if left != 0 or entry.get("sha256", digest.hexdigest()) != digest.hexdigest():
        raise FolderRefusedError(f"changed while it was read: {entry['path']}")


def _hash_file(folder: str, entry: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for piece in _read_pieces(folder, entry):
        digest.update(piece)
    return digest.hexdigest()


def _send(
    transport: Transport, folder: str, entries: Sequence[Entry], text: bytes, announced: Mapping[str, Any]
) -> Tuple[str, int]:
    """Sends the list and the missing files. Returns the id of the snapshot, and the number of files sent."""
    created = transport.request(documents.CREATE_SNAPSHOT, {"input": announced})["createSnapshot"]
    raise_problem(created)
    snapshot_id: str = created["snapshot"]["id"]
    if created["uploadUrl"] is None:
        return snapshot_id, 0
    answer = _put(transport, created["uploadUrl"], [text], len(text))
    if answer["uploadUrl"] is None:
        return snapshot_id, 0
    by_hash = {entry["sha256"]: entry for entry in entries if "sha256" in entry}
    missing = [by_hash[each] for each in answer["missing"]]
    headings = [f"{entry['sha256']} {entry['size']}\n".encode() for entry in missing]
    total = sum(len(heading) + entry["size"] for heading, entry in zip(headings, missing))
    _put(transport, answer["uploadUrl"], _pack(folder, headings, missing), total)
    return snapshot_id, len(missing)


def _pack(folder: str, headings: Sequence[bytes], files: Sequence[Entry]) -> Iterator[bytes]:
    for heading, entry in zip(headings, files):
        yield heading
        yield from _read_pieces(folder, entry)


def _put(transport: Transport, address: str, body: Iterable[bytes], length: int) -> Dict[str, Any]:
    headers = {"content-length": str(length), "content-type": "application/octet-stream"}
    endpoint, response = transport.open("PUT", address, body=body, headers=headers, timeout=_UPLOAD_SECONDS_MAX)
    try:
        content = response.read()
        if response.status != 200:
            raise create_response_error(endpoint, response, content)
        return read_json(content)
    finally:
        response.close()
