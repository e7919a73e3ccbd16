"""Hinos over HTTP: one request, within one budget of time, whatever the other side does.

Socket timeouts do not bound a call: a peer that sends a byte now and then holds it for ever. A timer shuts
the socket when the budget is spent.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError

from memoir.errors import HinosBadReply, HinosTimeout, HinosUnavailable, MemoirError
from memoir.strict_json import read_json

MAX_REPLY_BYTES = 1024 * 1024
_READ_BYTES = 64 * 1024


class HinosHttp:
    """The Hinos port over HTTP."""

    def __init__(
        self, *, base_url: str, timeout_ms: int, credential: Callable[[], str | None] = lambda: None
    ) -> None:
        """Call the service at *base_url*; *timeout_ms* is the budget of a whole call, connecting included."""
        url = urlsplit(base_url)
        self._kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
        self._host = url.hostname or ""
        self._port = url.port
        self._path = url.path.rstrip("/")
        self._budget_seconds = timeout_ms / 1000
        self._credential = credential

    def call(self, path: str, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> Any:
        """See `Hinos.call`. Where the connection is refused, nothing was sent: it is tried once more."""
        deadline = time.monotonic() + self._budget_seconds
        sent = {"content-type": "application/json", "accept": "application/json", **headers}
        if credential := self._credential():
            sent["authorization"] = f"Bearer {credential}"
        raw = json.dumps(body, ensure_ascii=False).encode()
        try:
            return self._once(path, raw, sent, deadline)
        except HinosUnavailable as failure:
            if failure.sent or time.monotonic() >= deadline:
                raise
            return self._once(path, raw, sent, deadline)

    def _once(self, path: str, raw: bytes, headers: Mapping[str, str], deadline: float) -> Any:
        connection = self._kind(self._host, self._port, timeout=max(0.01, deadline - time.monotonic()))
        try:
            self._connect(connection, deadline)
            watchdog = _Watchdog(connection, deadline)
            try:
                target = self._path + path
                connection.request("POST", target, body=raw, headers=dict(headers), preload_content=False)
                status, body = _answer(connection)
            except (HTTPError, OSError, ValueError) as error:
                if watchdog.fired or isinstance(error, TimeoutError) or time.monotonic() >= deadline:
                    raise _timeout() from error
                raise HinosUnavailable(detail="the connection to Hinos broke", sent=True) from error
            finally:
                watchdog.stop()
            if watchdog.fired:
                raise _timeout()
        finally:
            connection.close()
        return _parsed(status, body)

    def _connect(self, connection: HTTPConnection, deadline: float) -> None:
        try:
            connection.connect()
        except (HTTPError, OSError) as error:
            if time.monotonic() >= deadline and not isinstance(error, NewConnectionError):
                raise HinosTimeout(detail="Hinos could not be reached in time", sent=False) from error
            raise HinosUnavailable(detail="Hinos could not be reached", sent=False) from error


class _Watchdog:
    """Shuts a connection's socket at the deadline."""

    def __init__(self, connection: HTTPConnection, deadline: float) -> None:
        self.fired = False
        self._socket = connection.sock
        self._timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._fire)
        self._timer.daemon = True
        self._timer.start()

    def _fire(self) -> None:
        self.fired = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def stop(self) -> None:
        """Stop watching, and leave no thread behind."""
        self._timer.cancel()
        self._timer.join()


def _answer(connection: HTTPConnection) -> tuple[int, bytes]:
    response = connection.getresponse()
    kind = response.headers.get("content-type", "")
    parts: list[bytes] = []
    size_bytes = 0
    while part := response.read(_READ_BYTES):
        size_bytes += len(part)
        if size_bytes > MAX_REPLY_BYTES:
            raise HinosBadReply(detail=f"Hinos answered more than {MAX_REPLY_BYTES} bytes")
        parts.append(part)
    if response.status == 200 and kind.partition(";")[0].strip().lower() != "application/json":
        raise HinosBadReply(detail="Hinos answered something that is not application/json")
    return response.status, b"".join(parts)


def _parsed(status: int, body: bytes) -> Any:
    if status >= 500:
        raise HinosUnavailable(detail=f"Hinos answered status {status}", sent=True)
    if status != 200:
        raise HinosBadReply(detail=f"Hinos answered status {status}")
    try:
        return read_json(body)
    except MemoirError as error:
        raise HinosBadReply(detail="Hinos answered something that is not strict JSON") from error


def _timeout() -> HinosTimeout:
    return HinosTimeout(detail="Hinos did not answer within its budget", sent=True)
