"""HTTP to one of several servers over one database, with the standard library."""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import threading
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union
from urllib.parse import urlsplit

from .errors import BerthError, create_error, create_error_of

_CONNECT_SECONDS_MAX = 10.0
_IDLE_CONNECTIONS_MAX = 8
_RETRY_AFTER_SECONDS_MAX = 600.0


class Endpoint(NamedTuple):
    """A server: its origin, and the path before `/graphql`."""

    is_secure: bool
    host: str
    port: int
    folder: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_secure else 'http'}://{host}:{self.port}{self.folder}"


def parse_endpoint(url: str) -> Endpoint:
    parts = urlsplit(re.sub(r"/(graphql/?)?$", "", url.strip()))
    if parts.username or parts.password:
        raise ValueError("The URL of a server must not contain a user or password; pass a token instead")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f'"{url}" is not the URL of a server, such as http://127.0.0.1:4000')
    is_secure = parts.scheme == "https"
    return Endpoint(is_secure, parts.hostname, parts.port or (443 if is_secure else 80), parts.path)


class Servers:
    """Several servers over one database. If one is unreachable, the next one is used."""

    def __init__(self, urls: Union[str, Sequence[str]]) -> None:
        self._endpoints = [parse_endpoint(url) for url in ([urls] if isinstance(urls, str) else urls)]
        if not self._endpoints:
            raise ValueError("`url` must name at least one server")
        self._at = 0

    def endpoint(self) -> Endpoint:
        return self._endpoints[self._at]

    def failed(self, endpoint: Endpoint) -> None:
        """Switches to the next server if this one is still the current one."""
        if endpoint == self.endpoint():
            self._at = (self._at + 1) % len(self._endpoints)


class Response:
    """A response that is read piece by piece."""

    def __init__(
        self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse, opened: socket.socket
    ) -> None:
        self._connection = connection
        self._response = response
        # Keeps the socket, which http.client drops if the connection closes after this response.
        self._socket = opened

    @property
    def status(self) -> int:
        return self._response.status

    def header(self, name: str) -> str:
        return self._response.headers.get(name) or ""

    def read(self) -> bytes:
        return self._response.read()

    def read_piece(self, size: int = 65_536) -> bytes:
        """Reads at least one byte; b"" is the end."""
        return self._response.read1(size)

    def set_timeout(self, seconds: float) -> None:
        self._socket.settimeout(seconds)

    def interrupt(self) -> None:
        """Ends a read in another thread. Only the reading thread may close the response."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other side was faster

    def close(self) -> None:
        self._response.close()
        self._connection.close()


class Http:
    """Sends requests, and keeps a few connections open for further ones. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: List[Tuple[Endpoint, http.client.HTTPConnection]] = []
        self._tls: Optional[ssl.SSLContext] = None

    def post(self, endpoint: Endpoint, headers: Mapping[str, str], body: bytes, timeout: float) -> Tuple[Response, bytes]:
        """Returns the response and its body. Replaces a connection that the server has closed."""
        while True:
            kept = self._take_idle(endpoint)
            connection = kept or self._connect(endpoint)
            try:
                response = self._send(connection, "POST", f"{endpoint.folder}/graphql", headers, body, timeout)
                content = response.read()
            except (http.client.HTTPException, OSError):
                connection.close()
                if kept is None:
                    raise
                continue
            self._keep(endpoint, connection)
            return response, content

    def open(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: Union[bytes, Iterable[bytes], None],
        timeout: float,
    ) -> Response:
        """Opens a response over a separate connection, which `Response.close` ends."""
        connection = self._connect(endpoint)
        try:
            return self._send(connection, method, endpoint.folder + path, headers, body, timeout)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _connect(self, endpoint: Endpoint) -> http.client.HTTPConnection:
        if not endpoint.is_secure:
            return http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=_CONNECT_SECONDS_MAX)
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return http.client.HTTPSConnection(
            endpoint.host, endpoint.port, timeout=_CONNECT_SECONDS_MAX, context=self._tls
        )

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: Union[bytes, Iterable[bytes], None],
        timeout: float,
    ) -> Response:
        if connection.sock is None:
            connection.connect()
        opened = connection.sock
        assert opened is not None
        opened.settimeout(timeout)
        connection.request(method, path, body, dict(headers))
        return Response(connection, connection.getresponse(), opened)

    def _take_idle(self, endpoint: Endpoint) -> Optional[http.client.HTTPConnection]:
        with self._lock:
            for at, (known, connection) in enumerate(self._idle):
                if known == endpoint:
                    del self._idle[at]
                    return connection
        return None

    def _keep(self, endpoint: Endpoint, connection: http.client.HTTPConnection) -> None:
        if connection.sock is None:
            return  # the server closes it
        with self._lock:
            if len(self._idle) < _IDLE_CONNECTIONS_MAX:
                self._idle.append((endpoint, connection))
                return
        connection.close()


def create_response_error(endpoint: Endpoint, response: Response, content: bytes) -> BerthError:
    """Creates the error for a response without a GraphQL result, from the gate of the server or from a proxy."""
    status = response.status
    errors = read_json(content).get("errors")
    if errors:
        return create_error_of(errors, retry_after=_read_retry_after(response))
    text = content.decode("utf-8", "replace")
    title = re.search(r"<title>([^<]*)", text, re.IGNORECASE)
    reason = (title.group(1) if title else text)[:200].strip()
    location = response.header("location")
    if location:
        reason = f"redirects to {location} (use that URL)"
    return create_error(
        "UNREACHABLE" if status >= 502 else _STATUS_CODES.get(status, _code_of(status)),
        f"{endpoint} answered {status}: {reason}",
        retry_after=_read_retry_after(response),
        is_foreign=True,
    )


def read_json(content: bytes) -> Dict[str, Any]:
    """Parses the JSON object of a response; empty if it is not one."""
    try:
        answer = json.loads(content)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


_STATUS_CODES: Dict[int, str] = {401: "UNAUTHENTICATED", 403: "FORBIDDEN", 404: "NOT_FOUND", 429: "RATE_LIMITED"}


def _code_of(status: int) -> str:
    return "INTERNAL_SERVER_ERROR" if status >= 500 else "BAD_REQUEST"


def _read_retry_after(response: Response) -> float:
    try:
        return min(float(response.header("retry-after") or 0), _RETRY_AFTER_SECONDS_MAX)
    except ValueError:
        return 0.0


def create_unreachable(endpoint: Endpoint, cause: BaseException) -> BerthError:
    if isinstance(cause, socket.timeout):
        return create_error("TIMEOUT", f"{endpoint} did not answer in time")
    return create_error("UNREACHABLE", f"No server answers at {endpoint}: {cause or type(cause).__name__}")
