"""Renews the log-in of a context by OpenID: before it expires, and when the server refuses it."""

from __future__ import annotations

import base64
import json
import threading
import time
import urllib.error
import urllib.request
from dataclasses import replace
from typing import Any, Dict, Mapping, Optional, Tuple
from urllib.parse import urlencode, urlsplit

from ._config import Context, ContextFiles
from ._lock import hold_lock
from .errors import BerthError, LogInFailedError

_REQUEST_SECONDS_MAX = 15.0
_LIFE_SECONDS_DEFAULT = 300.0
_RENEWED_PART = 0.75
# After a failed renewal, the next attempt waits this long if the token is still valid.
_RETRY_AFTER_SECONDS = 10.0
_PASSING_ERRORS = ("server_error", "temporarily_unavailable")
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


class LogInRenewal:
    """Renews a log-in. Concurrent programs renew it only once, because a refresh token is valid for one use."""

    def __init__(self, files: ContextFiles, name: str) -> None:
        self._files = files
        self._name = name
        self._context = files.read(name)
        self._threads = threading.Lock()
        self._renewed_upon_refusal: Optional[str] = None
        self._retry_at = 0.0

    def token(self, refused: Optional[str]) -> str:
        with self._threads:
            token, renew_at = self._usable(refused)
            if token and time.time() < max(renew_at, self._retry_at):
                return token
            with hold_lock(self._files.path(self._name).with_suffix(".lock")):
                return self._renew(refused)

    def _usable(self, refused: Optional[str]) -> Tuple[Optional[str], float]:
        """Returns the token if it has not expired and the server has not refused it, and the time of its renewal."""
        open_id = self._context.open_id or {}
        is_valid = time.time() * 1000 < open_id.get("expiresAtMs", 0)
        token = self._context.token if is_valid and self._context.token != refused else None
        return token, open_id.get("renewAtMs", 0) / 1000

    def _renew(self, refused: Optional[str]) -> str:
        # Reads the file again, because another program may have renewed or ended the log-in.
        self._context = self._files.read(self._name)
        token, renew_at = self._usable(refused)
        if token and time.time() < renew_at:
            return token
        if refused is not None and refused == self._renewed_upon_refusal:
            raise self._failure(f"{self._context.url} refuses your renewed log-in")
        try:
            renewed = _renew_at_provider(self._context)
        except (OSError, ValueError) as cause:
            if token is None:
                raise BerthError("UNREACHABLE", f"The OpenID provider is unreachable: {cause}") from cause
            self._retry_at = time.time() + _RETRY_AFTER_SECONDS
            return token
        if renewed is None:
            if token is not None:
                return token
            raise self._failure("Your log-in is over")
        self._context = renewed
        self._files.write(self._name, renewed)
        if refused is not None:
            self._renewed_upon_refusal = renewed.token
        return str(renewed.token)

    def _failure(self, reason: str) -> LogInFailedError:
        is_current = self._files.read_current() == self._name
        command = "berth login" if is_current else f"berth login --context {self._name}"
        return LogInFailedError("LOG_IN_FAILED", f"{reason}; log in again: {command}")


def _renew_at_provider(context: Context) -> Optional[Context]:
    """Gets a new token; None: the provider ended the log-in."""
    open_id = context.open_id or {}
    if not open_id.get("refreshToken"):
        return None
    issuer = str(open_id["issuer"])
    metadata = _read_json(_checked(f"{issuer.rstrip('/')}/.well-known/openid-configuration"))
    form = {
        "grant_type": "refresh_token",
        "refresh_token": open_id["refreshToken"],
        "client_id": open_id["clientId"],
    }
    try:
        tokens = _read_json(_checked(metadata["token_endpoint"]), urlencode(form).encode())
    except urllib.error.HTTPError as error:
        if _error_code(error) in _PASSING_ERRORS or error.code >= 500:
            raise
        return None
    token = tokens.get(open_id["accepted"])
    if not token:
        return None
    renewed = {**open_id, "refreshToken": tokens.get("refresh_token") or open_id["refreshToken"], **_plan(token)}
    return replace(context, token=token, open_id=renewed)


def _plan(token: str) -> Mapping[str, float]:
    """Uses the lifetime of the token and not its expiry date, because the clock of this machine may be wrong."""
    part = token.split(".")[1]
    claims: Dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    life = claims["exp"] - claims["iat"] if "exp" in claims and "iat" in claims else _LIFE_SECONDS_DEFAULT
    now = time.time()
    return {"renewAtMs": int((now + life * _RENEWED_PART) * 1000), "expiresAtMs": int((now + life) * 1000)}


def _checked(url: str) -> str:
    """Refuses a URL without TLS, except on this machine."""
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK_HOSTS):
        return url
    raise LogInFailedError("LOG_IN_FAILED", f"The OpenID provider has no HTTPS: {url}")


def _read_json(url: str, form: Optional[bytes] = None) -> Dict[str, Any]:
    with urllib.request.urlopen(urllib.request.Request(url, form), timeout=_REQUEST_SECONDS_MAX) as response:
        answer: Dict[str, Any] = json.load(response)
        return answer


def _error_code(error: urllib.error.HTTPError) -> Optional[str]:
    try:
        code: Optional[str] = json.loads(error.read()).get("error")
        return code
    except (ValueError, AttributeError):
        return None
