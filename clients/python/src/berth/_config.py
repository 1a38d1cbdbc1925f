"""Chooses the server like the command line: by a context, else by the environment, else by the current context."""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import urlsplit

from ._transport import TokenSource
from .errors import BerthError, NotFoundError

_DEFAULT_URL = "http://127.0.0.1:4000"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


@dataclass(frozen=True)
class Context:
    """A named server, with or without a log-in."""

    url: str
    user: Optional[str]
    token: Optional[str]
    open_id: Optional[Dict[str, Any]]
    """How the log-in by OpenID is renewed; None: the context has an API token, or no token."""


@dataclass(frozen=True)
class ServerChoice:
    url: str
    token: TokenSource


class ContextFiles:
    """The files of `berth login`: each context has one in `$XDG_CONFIG_HOME/berth/contexts`."""

    def __init__(self, env: Mapping[str, str]) -> None:
        home = env.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(home):
            home = os.path.join(env["HOME"], ".config") if env.get("HOME") else ""
        self._folder = Path(home, "berth") if home else None

    def read_current(self) -> Optional[str]:
        try:
            return (self._folder / "current-context").read_text().strip() or None if self._folder else None
        except FileNotFoundError:
            return None

    def names(self) -> List[str]:
        return sorted(file.stem for file in self._folder.glob("contexts/*.json")) if self._folder else []

    def path(self, name: str) -> Path:
        if self._folder is None or not _NAME.fullmatch(name):
            raise self._not_found(name)
        return self._folder / "contexts" / f"{name}.json"

    def read(self, name: str) -> Context:
        path = self.path(name)
        try:
            mode = path.stat().st_mode
            data = json.loads(path.read_text())
            context = Context(data["url"], data.get("user"), data.get("token"), data.get("openId"))
        except FileNotFoundError:
            raise self._not_found(name) from None
        except (ValueError, KeyError, TypeError):
            raise BerthError("BAD_CONTEXT", f'{path} is not a context; remove it, and log in again with "berth login"') from None
        if context.token is not None and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise BerthError("BAD_CONTEXT", f'{path} holds a token and is open to other accounts; "chmod 600 {path}"')
        return context

    def write(self, name: str, context: Context) -> None:
        """Replaces the file of a context atomically, readable only for this account."""
        path = self.path(name)
        written = path.with_name(f"{path.name}.{os.getpid()}.new")
        text = json.dumps(
            {"url": context.url, "user": context.user, "token": context.token, "openId": context.open_id}, indent=2
        )
        try:
            written.unlink()
        except FileNotFoundError:
            pass
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w") as file:
            file.write(f"{text}\n")
        os.replace(written, path)

    def _not_found(self, name: str) -> BerthError:
        names = self.names()
        known = f"the contexts are {', '.join(names)}" if names else '"berth login URL" makes a context'
        return NotFoundError("NOT_FOUND", f"Context {name} not found; {known}")


def choose_server(env: Mapping[str, str], context: Optional[str] = None) -> ServerChoice:
    files = ContextFiles(env)
    if context is not None:
        return _choose_context(files, context)
    url, token = env.get("BERTH_URL", ""), env.get("BERTH_TOKEN", "")
    if url and token:
        return ServerChoice(url, token)
    name = env.get("BERTH_CONTEXT") or files.read_current()
    if name is None:
        return ServerChoice(url or _DEFAULT_URL, token or None)
    chosen = _choose_context(files, name)
    if url:
        # The token of a context is never sent to another origin.
        return ServerChoice(url, chosen.token if _origin(url) == _origin(chosen.url) else None)
    return ServerChoice(chosen.url, token or chosen.token)


def _choose_context(files: ContextFiles, name: str) -> ServerChoice:
    context = files.read(name)
    if context.token is None or context.open_id is None:
        return ServerChoice(context.url, context.token)
    from ._login import LogInRenewal

    return ServerChoice(context.url, LogInRenewal(files, name).token)


def _origin(url: str) -> Any:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
