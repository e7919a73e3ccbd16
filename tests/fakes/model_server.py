"""A scripted server of OpenAI's chat completions and of Bedrock Converse, over a real socket on loopback."""

import http.server
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    """What the server sends, after `wait` seconds. `body`: text or bytes as they are, else as JSON."""

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0


@dataclass
class ModelServer:
    """The server's address, what it will say, and what it was sent."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)


def completion(text: str, *, finish_reason: str = "stop") -> dict[str, Any]:
    """Return a chat completion that says *text*."""
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30},
    }


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Run the server; its script may be written at any time."""
    state = ModelServer()

    class Handler(http.server.BaseHTTPRequestHandler):
        """Says the next reply of the script."""

        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Answer."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.requests.append((self.path, headers, body))
            reply = state.script.pop(0)
            time.sleep(reply.wait)
            raw = reply.body if isinstance(reply.body, bytes) else None
            if raw is None:
                text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
                raw = text.encode()
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            try:
                self.wfile.write(raw)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
