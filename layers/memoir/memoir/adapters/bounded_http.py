"""One HTTP request within one budget of time, whatever the other side does.

Socket timeouts do not bound a call: a peer that sends a byte now and then holds it for ever, addresses are
tried one after the other, and a name server may be silent. Names are resolved in a thread that is left
behind; a timer shuts the socket when the budget is spent.
"""

import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import urllib3.util.connection
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from memoir.adapters.deadline import within

_READ_BYTES = 64 * 1024
_SOCKET_OPTIONS: list[tuple[int, int, int | bytes]] = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]


class NotReached(Exception):
    """The connection could not be made, or not in time (`late`): nothing was sent."""

    def __init__(self, *, late: bool) -> None:
        super().__init__("not reached")
        self.late = late


class BrokenOff(Exception):
    """The request may have been sent, and there is no whole answer. `late`: the budget is spent."""

    def __init__(self, *, late: bool) -> None:
        super().__init__("broken off")
        self.late = late


class TooMuch(Exception):
    """The answer has more bytes than allowed."""


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """A whole answer. `headers` by lower-case name."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    deadline: float,
    max_bytes: int,
    port: int | None = None,
) -> HttpAnswer:
    """Post *body* to *url* and return the answer. *deadline*: of `time.monotonic`. No redirect is followed.

    *port* replaces the URL's own. Raises NotReached, BrokenOff, TooMuch.
    """
    parts = urlsplit(url)
    kind = _TlsConnection if parts.scheme == "https" else _Connection
    connection = kind(parts.hostname or "", port or parts.port, timeout=_left(deadline))
    connection.deadline = deadline
    watchdog = _Watchdog(connection, deadline)
    try:
        try:
            connection.connect()
        except (HTTPError, OSError, ValueError) as error:
            raise NotReached(late=time.monotonic() >= deadline) from error
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body=body, headers=dict(headers), preload_content=False)
            answer = _answer(connection, max_bytes)
        except (HTTPError, OSError, ValueError) as error:
            raise BrokenOff(late=watchdog.fired or time.monotonic() >= deadline) from error
        if watchdog.fired:
            raise BrokenOff(late=True)
        return answer
    finally:
        watchdog.stop()
        connection.close()


class _Bounded:
    """Connects to each address of a host within the deadline, which all of them share."""

    deadline: float
    host: str
    port: int
    dialled: socket.socket | None = None

    def _new_conn(self) -> socket.socket:
        last: OSError | None = None
        for address in _resolved(self.host, self.port, self.deadline):
            try:
                self.dialled = urllib3.util.connection.create_connection(
                    address, timeout=_left(self.deadline), socket_options=_SOCKET_OPTIONS
                )
                return self.dialled
            except OSError as error:
                last = error
        raise last or OSError("the host has no address")


class _Connection(_Bounded, HTTPConnection):
    pass


class _TlsConnection(_Bounded, HTTPSConnection):
    pass


class _Watchdog:
    """Shuts a connection's socket at the deadline."""

    def __init__(self, connection: Any, deadline: float) -> None:
        self.fired = False
        self._connection = connection
        self._timer = threading.Timer(_left(deadline), self._fire)
        self._timer.daemon = True
        self._timer.start()

    def _fire(self) -> None:
        self.fired = True
        for sock in (self._connection.sock, self._connection.dialled):
            try:
                if sock is not None:
                    sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def stop(self) -> None:
        """Stop watching, and leave no thread behind."""
        self._timer.cancel()
        self._timer.join()


def _resolved(host: str, port: int, deadline: float) -> list[tuple[str, int]]:
    """Return the addresses of *host*. A name server that is silent costs the budget and no more."""
    found = within(_left(deadline), lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return [(str(place[4][0]), port) for place in found]


def _answer(connection: HTTPConnection, max_bytes: int) -> HttpAnswer:
    response = connection.getresponse()
    parts: list[bytes] = []
    size_bytes = 0
    while part := response.read(_READ_BYTES):
        size_bytes += len(part)
        if size_bytes > max_bytes:
            raise TooMuch
        parts.append(part)
    headers = {name.lower(): value for name, value in response.headers.items()}
    return HttpAnswer(status=response.status, headers=headers, body=b"".join(parts))


def _left(deadline: float) -> float:
    return max(0.01, deadline - time.monotonic())
