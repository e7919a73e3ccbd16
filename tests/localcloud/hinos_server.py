"""A reference Hinos for development and tests: speaks the protocol over a real socket, misbehaves when told.

It keeps what was committed for each conversation and prepares its memory from that. `POST /control/misbehave`
`{"conversation": "c1" or null for all, "how": …, "path": "prepare" or "commit", "ms": …}` sets what the next
calls meet, `{"how": null}` ends it; `GET /control/log` answers what was received.
"""

import http.server
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

HOW = (
    *(
        "slow",
        "late",
        "never",
        "cut",
        "drip",
        "huge",
        "status_500",
        "status_404",
        "redirect",
        "not_json",
        "text",
    ),
    *(
        "no_claim_id",
        "empty_claim_id",
        "memory_number",
        "turn_text",
        "turn_true",
        "turn_negative",
        "not_object",
    ),
    *("committed_false", "committed_text", "committed_absent", "extra_members"),
)


@dataclass
class HinosState:
    """What the server knows: committed texts by conversation, claims, what to do wrong, what it received."""

    remembered: dict[str, list[str]] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    faults: dict[tuple[str | None, str], dict[str, Any]] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)


@contextmanager
def hinos_server() -> Iterator[tuple[str, HinosState]]:
    """Run the server on loopback; yield its URL and its state."""
    state = HinosState()
    handler = type("Handler", (_Handler,), {"state": state})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.request_queue_size = 128
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", state
    finally:
        state.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    state: HinosState

    def do_GET(self) -> None:
        """Answer what was received."""
        self._send(200, {"log": self.state.log})

    def do_POST(self) -> None:
        """Answer one call, well or badly."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/control/misbehave":
            key = (body.get("conversation"), body.get("path", "prepare"))
            self.state.faults.pop(key, None)
            if body.get("how"):
                self.state.faults[key] = body
            return self._send(200, {"how": HOW})
        kind = self.path.rsplit("/", 1)[-1]
        conversation = self.headers["x-flow-conversation-id"]
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.state.log.append({"path": self.path, "headers": headers, "body": body})
        faults = self.state.faults
        fault = faults.get((conversation, kind)) or faults.get((None, kind)) or {}
        how, seconds = fault.get("how"), fault.get("ms", 0) / 1000
        if how == "slow":
            self.state.stopping.wait(seconds)
        good = (
            self._prepared(conversation, body) if kind == "prepare" else self._committed(conversation, body)
        )
        if how == "late":
            self.state.stopping.wait(seconds)
        if how and how not in ("slow", "late"):
            return self._misbehave(how, good)
        return self._send(200, good)

    def _prepared(self, conversation: str, body: Any) -> dict[str, Any]:
        known = self.state.remembered.get(conversation, [])
        claim = f"claim-{len(self.state.claims) + 1}-{conversation}"
        self.state.claims[claim] = conversation
        return {
            "claim_id": claim,
            "memory": "\n".join(known),
            "turn": sum(message["role"] == "user" for message in body["messages"]),
            "state_through_round": len(known),
        }

    def _committed(self, conversation: str, body: Any) -> dict[str, Any]:
        if self.state.claims.get(body["claim_id"]) != conversation:
            return {"committed": False}
        texts = f"{body['user']} / {body['assistant']}"
        self.state.remembered.setdefault(conversation, []).append(texts)
        return {"committed": True}

    def _misbehave(self, how: str, good: dict[str, Any]) -> None:
        if how == "never":
            self.state.stopping.wait(30)
            self.close_connection = True
        elif how in ("cut", "drip"):
            self._raw(how)
        elif how == "huge":
            self._send(200, {**good, "memory": "x" * (1024 * 1024 + 1)})
        elif how.startswith("status_"):
            self._send(int(how.removeprefix("status_")), {})
        elif how == "redirect":
            self._send(302, {}, location="/v1/elsewhere")
        elif how == "not_json":
            self._send(200, b"{not json")
        elif how == "text":
            self._send(200, good, kind="text/plain")
        elif how == "not_object":
            self._send(200, [good])
        else:
            self._send(200, _with(how, good))

    def _raw(self, how: str) -> None:
        """Promise a body and send a part of it, or all of it a byte at a time."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n")
        self.wfile.write(b'{"claim_id"')
        self.wfile.flush()
        while how == "drip" and not self.state.stopping.is_set():
            try:
                self.wfile.write(b" ")
                self.wfile.flush()
            except OSError:
                break
            time.sleep(0.05)
        self.close_connection = True

    def _send(self, status: int, body: Any, *, kind: str = "application/json", location: str = "") -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            if location:
                self.send_header("location", location)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)
        except OSError:  # the caller has gone
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _with(how: str, good: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, dict[str, Any]] = {
        "empty_claim_id": {"claim_id": ""},
        "memory_number": {"memory": 7},
        "turn_text": {"turn": "1"},
        "turn_true": {"turn": True},
        "turn_negative": {"turn": -1},
        "committed_false": {"committed": False},
        "committed_text": {"committed": "true"},
        "extra_members": {"more": {"of": "it"}},
    }
    removed = {"no_claim_id": "claim_id", "committed_absent": "committed"}.get(how)
    return {name: value for name, value in {**good, **changes.get(how, {})}.items() if name != removed}
