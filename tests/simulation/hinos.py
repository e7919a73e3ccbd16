"""A Hinos below the sockets: it answers as it is told, and counts what it was sent under each claim."""

import io
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.faults import Crash

URL = "http://127.0.0.1:9/"
"""Loopback, which plain HTTP is allowed for. Nothing listens there."""


@dataclass
class ScriptedHinos:
    """The server. `script`: how the next calls end, one after the other, then well.

    good · refused (no connection, twice) · cut (taken, no answer) · status_500 · not_json · crash
    `sent`: how often a commit came, by claim. `committed`: the claims that it took.
    """

    script: list[str] = field(default_factory=list)
    claims: int = 0
    sent: Counter[str] = field(default_factory=Counter)
    committed: set[str] = field(default_factory=set)

    def connect(self, *_: Any, **__: Any) -> "_Socket":
        """Stand for `urllib3.util.connection.create_connection`."""
        if self.script[:1] == ["refused"]:
            self.script.pop(0)
            raise ConnectionRefusedError("refused")
        return _Socket(self)

    def answer(self, path: str, body: dict[str, Any]) -> bytes:
        """Take one call and return the bytes of its answer; none where the connection breaks."""
        how = self.script.pop(0) if self.script else "good"
        if path.endswith("/commit"):
            self.sent[body["claim_id"]] += 1
            if how != "status_500":
                self.committed.add(body["claim_id"])
            answer: dict[str, Any] = {"committed": True}
        else:
            self.claims += 1
            answer = {"claim_id": f"claim-{self.claims}", "memory": "", "turn": 1, "state_through_round": 0}
        if how == "crash":
            raise Crash
        if how == "cut":
            return b""
        status = "500 Internal Server Error" if how == "status_500" else "200 OK"
        raw = b"<html>" if how == "not_json" else json.dumps(answer).encode()
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(raw)}\r\n\r\n"
        return head.encode() + raw


class _Socket:
    """As much of a socket as an HTTP client asks for."""

    def __init__(self, hinos: ScriptedHinos) -> None:
        self._hinos = hinos
        self._sent = bytearray()

    def sendall(self, data: bytes) -> None:
        self._sent += data

    def makefile(self, *_: Any, **__: Any) -> io.BytesIO:
        head, _, body = bytes(self._sent).partition(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode()
        return io.BytesIO(self._hinos.answer(path, json.loads(body)))

    def settimeout(self, seconds: float | None) -> None:
        """It never waits."""

    def setsockopt(self, *_: Any) -> None:
        """It has none."""

    def shutdown(self, how: int) -> None:
        """Nothing is under way."""

    def close(self) -> None:
        """Nothing is held."""
