"""GraphQL requests and subscriptions, with tokens, retries and cursors."""

from __future__ import annotations

import http.client
import json
import logging
import random
import socket
import threading
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from ._http import Endpoint, Http, Response, Servers, create_response_error, create_unreachable, read_json
from .errors import BerthError, UnauthenticatedError, create_error, create_error_of

TokenSource = Union[str, Callable[[Optional[str]], str], None]
"""The token, or a function that gets the refused token and returns a new one."""

Poll = Callable[[Mapping[str, Any]], List[Dict[str, Any]]]
"""Reads the messages of a subscription after the cursor `after` by a query."""

Result = TypeVar("Result")

log = logging.getLogger("berth")

_REQUEST_SECONDS_MAX = 30.0
_WAIT_SECONDS_MAX = 30.0
# The server sends a first byte at once, and then at least every 15 s.
_FIRST_BYTE_SECONDS_MAX = 15.0
_SILENCE_SECONDS_MAX = 45.0
# Number of failed connections, for example behind a proxy that blocks streams, before a stream polls.
_TRIES_BEFORE_POLLING = 3
_POLL_SECONDS = 1.0
_POLLING_SECONDS_MAX = 60.0


def retry_wait(attempt: int) -> float:
    """Returns the wait after attempt 0, 1, 2 …, with full jitter, so that clients do not reconnect at the same moment."""
    return random.random() * min(_WAIT_SECONDS_MAX, 2.0 ** min(attempt, 10))


class Transport:
    """A connection to the servers. Thread-safe. Requests and downloads are attempted up to `attempts` times."""

    def __init__(self, url: Union[str, Sequence[str]], token: TokenSource = None, attempts: int = 1) -> None:
        self.attempts = attempts
        self._servers = Servers(url)
        self._source = token
        self._refused: Optional[str] = None
        self._http = Http()

    @property
    def url(self) -> str:
        return str(self._servers.endpoint())

    def request(self, document: str, variables: Mapping[str, Any]) -> Dict[str, Any]:
        """Returns the data of a response. Retries retryable failures and problems; returns other problems."""
        return self.retry(lambda: self.ask(document, variables), _is_retryable)

    def retry(self, work: Callable[[], Result], is_refused: Callable[[Result], bool] = lambda _: False) -> Result:
        """Returns the result of `work`. Retries it after retryable failures and after results that `is_refused`."""
        attempt = 0
        while True:
            error: Optional[BerthError] = None
            try:
                result = work()
                if attempt + 1 >= self.attempts or not is_refused(result):
                    return result
            except BerthError as failure:
                if attempt + 1 >= self.attempts or not failure.retryable:
                    raise
                error = failure
            wait = max(retry_wait(attempt), error.retry_after if error else 0.0)
            log.warning("%s; next attempt in %.1f s", error or "The server refuses for now", wait)
            time.sleep(wait)
            attempt += 1

    def ask(self, document: str, variables: Mapping[str, Any]) -> Dict[str, Any]:
        """Sends a request once. If its token has expired, sends it again with a new one, because it was not executed."""
        body = json.dumps({"query": document, "variables": variables}, allow_nan=False).encode()
        token = self.token()
        try:
            return self._post(body, token)
        except UnauthenticatedError:
            if not self.renew(token):
                raise
        return self._post(body, self.token())

    def stream(self, document: str, variables: Mapping[str, Any], poll: Optional[Poll] = None) -> Stream:
        return Stream(self, document, variables, poll)

    def open(
        self,
        method: str,
        path: str,
        *,
        body: Union[bytes, Iterable[bytes], None] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = _REQUEST_SECONDS_MAX,
    ) -> Tuple[Endpoint, Response]:
        """Opens a response without reading it. Raises a BerthError if no server answers."""
        endpoint = self._servers.endpoint()
        sent = {**_bearer(self.token()), **(headers or {})}
        try:
            return endpoint, self._http.open(endpoint, method, path, sent, body, timeout)
        except (http.client.HTTPException, OSError) as cause:
            self.failed(endpoint)
            raise create_unreachable(endpoint, cause) from cause

    def token(self) -> Optional[str]:
        token = self._source(self._refused) if callable(self._source) else self._source
        token = (token or "").strip()
        if any(not "!" <= character <= "~" for character in token):
            raise create_error("UNAUTHENTICATED", "The token contains characters that are not allowed in a token")
        return token or None

    def renew(self, refused: Optional[str]) -> bool:
        """Gets a new token. Returns whether it differs from the refused one."""
        self._refused = refused
        return callable(self._source) and self.token() != refused

    def failed(self, endpoint: Endpoint) -> None:
        self._servers.failed(endpoint)

    def close(self) -> None:
        self._http.close()

    def _post(self, body: bytes, token: Optional[str]) -> Dict[str, Any]:
        endpoint = self._servers.endpoint()
        headers = {"content-type": "application/json", **_bearer(token)}
        try:
            response, content = self._http.post(endpoint, headers, body, _REQUEST_SECONDS_MAX)
        except (http.client.HTTPException, OSError) as cause:
            self.failed(endpoint)
            raise create_unreachable(endpoint, cause) from cause
        return _read_data(endpoint, response, content)


class Stream:
    """
    Yields the messages of a subscription in order, each once, over any number of connections and servers. Retries from the last
    cursor until the server completes the stream, a failure is permanent, or any thread calls `close`. If connections fail
    repeatedly, it polls, and tries a connection once a minute.
    """

    def __init__(
        self, transport: Transport, document: str, variables: Mapping[str, Any], poll: Optional[Poll] = None
    ) -> None:
        self._transport = transport
        self._document = document
        self._variables = dict(variables)
        self._poll = poll
        self._is_polling = False
        self._tries = 0
        self._closed = threading.Event()
        self._response: Optional[Response] = None

    def close(self) -> None:
        self._closed.set()
        response = self._response
        if response is not None:
            response.interrupt()

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        failures = 0
        is_served = False
        while not self._closed.is_set():
            token: Optional[str] = None
            try:
                token = self._transport.token()
                for message in self._poll_for_a_minute() if self._is_polling else self._connect():
                    failures = 0
                    is_served = True
                    yield message
                if not self._is_polling:
                    return
                self._is_polling = False
            except BerthError as error:
                if self._closed.is_set():
                    return
                if isinstance(error, UnauthenticatedError):
                    if not self._transport.renew(token):
                        raise
                # A foreign response before the first message means a wrong URL. Later, a proxy sent it, and it is temporary.
                elif not error.retryable and not (error.is_foreign and is_served):
                    raise
                self._choose_way(error)
                wait = max(error.retry_after, retry_wait(failures))
                if failures > 1:
                    log.warning("%s; next attempt in %.1f s", error, wait)
                failures += 1
                self._closed.wait(wait)

    def _choose_way(self, error: BerthError) -> None:
        self._tries += 1
        is_cut_off = error.code == "TIMEOUT" or self._tries >= _TRIES_BEFORE_POLLING
        self._is_polling = self._poll is not None and is_cut_off and not self._is_polling

    def _poll_for_a_minute(self) -> Iterator[Dict[str, Any]]:
        until = time.monotonic() + _POLLING_SECONDS_MAX
        while self._poll is not None and time.monotonic() < until and not self._closed.is_set():
            try:
                messages = self._poll(self._variables)
            except BerthError as error:
                if error.code != "INVALID_CURSOR" or self._variables.pop("after", None) is None:
                    raise
                messages = [{"__typename": "StreamReset", "resetReason": "RETENTION"}]
            for message in messages:
                self._advance(message)
                yield message
            if not messages:
                self._closed.wait(_POLL_SECONDS)

    def _connect(self) -> Iterator[Dict[str, Any]]:
        body = json.dumps({"query": self._document, "variables": self._variables}).encode()
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        endpoint, response = self._transport.open(
            "POST", "/graphql", body=body, headers=headers, timeout=_FIRST_BYTE_SECONDS_MAX
        )
        self._response = response
        try:
            if self._closed.is_set():
                return
            if response.status != 200 or not response.header("content-type").startswith("text/event-stream"):
                _read_data(endpoint, response, response.read())
            for name, data in read_events(response):
                if name == "complete":
                    return
                if data:
                    yield self._read_message(data)
        except (http.client.HTTPException, OSError, ValueError) as cause:
            self._transport.failed(endpoint)
            code = "TIMEOUT" if isinstance(cause, socket.timeout) else "UNREACHABLE"
            raise create_error(code, f"The stream of {endpoint} was cut") from cause
        finally:
            response.close()
        self._transport.failed(endpoint)
        raise create_error("UNREACHABLE", f"The stream of {endpoint} was cut")

    def _read_message(self, data: str) -> Dict[str, Any]:
        answer = json.loads(data)
        if answer.get("errors"):
            raise create_error_of(answer["errors"])
        message: Dict[str, Any] = next(iter(answer["data"].values()))
        self._tries = 0
        self._advance(message)
        return message

    def _advance(self, message: Mapping[str, Any]) -> None:
        if message.get("cursor"):
            self._variables["after"] = message["cursor"]
            self._variables.pop("lastLines", None)  # the cursor replaces the starting point


def read_events(response: Response) -> Iterator[Tuple[str, str]]:
    """Yields the name and data of server-sent events. Lines that start with a colon are keep-alive comments."""
    pending = b""
    while True:
        piece = response.read_piece()
        if not piece:
            return
        response.set_timeout(_SILENCE_SECONDS_MAX)
        *events, pending = (pending + piece.replace(b"\r", b"")).split(b"\n\n")
        for event in events:
            fields: Dict[str, str] = {}
            for line in event.decode().split("\n"):
                name, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                fields[name] = f"{fields[name]}\n{value}" if name in fields else value
            yield fields.get("event", ""), fields.get("data", "")


def _read_data(endpoint: Endpoint, response: Response, content: bytes) -> Dict[str, Any]:
    answer = read_json(content)
    data: Optional[Dict[str, Any]] = answer.get("data")
    if data and not answer.get("errors"):
        return data
    raise create_response_error(endpoint, response, content)


def _is_retryable(data: Mapping[str, Any]) -> bool:
    return any(isinstance(result, dict) and result.get("retryable") is True for result in data.values())


def _bearer(token: Optional[str]) -> Dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}
