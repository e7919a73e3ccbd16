"""A scripted language model for development and tests: OpenAI's chat completions over a real socket.

It knows the service's two kinds of prompt. A summary is always the same but for its number. In a state the
guard is at the newest round, and whatever the instruction calls `canary-…` stands in a record for the
director alone. `GET /control/log` answers what it was asked.
"""

import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAME = "openai:scripted"


@contextmanager
def model_server() -> Iterator[str]:
    """Run the server on loopback; yield its URL."""
    handler = type("Handler", (_Handler,), {"log": [], "summaries": 0})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.request_queue_size = 128
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    log: list[dict[str, str]]

    def do_GET(self) -> None:
        """Answer what was asked."""
        self._send({"log": self.log})

    def do_POST(self) -> None:
        """Answer one prompt."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked = {message["role"]: message["content"] for message in body["messages"]}
        self.log.append(asked)
        wants_state = "response_format" in body
        text = _state(asked["user"]) if wants_state else _summary(asked["user"], number=len(self.log))
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self._send({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 50}})

    def _send(self, answer: Any) -> None:
        raw = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _summary(user: str, *, number: int) -> str:
    if re.search(r"[\u4e00-\u9fff]", user):
        return f"林舟在城门把铜钥匙交给守卫，守卫答应次日日落前归还；阿莱娜在旧礼拜堂后养伤。（第{number}次）"
    return f"The traveller gave the brass key to the guard, who promised to return it by sunset. ({number})"


def _state(user: str) -> str:
    rounds = re.findall(r"〔(?:最新一轮|newest turn) ([0-9]+)〕", user)
    people = [{"name": "守卫", "round": int(rounds[-1])}]
    plot = [
        {"plan": secret, "visibility": "director"} for secret in re.findall(r"canary-[0-9a-f]+", user)[:1]
    ]
    return json.dumps({"text": "城门口", "records": {"people": people, "plot": plot}}, ensure_ascii=False)
