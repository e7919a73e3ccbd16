"""A plain HTTP client of a deployed stack, for the demo and the tests over HTTP."""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

TIMEOUT_SECONDS = 40


@dataclass(frozen=True)
class Answer:
    """What came back: status, headers by lower-case name, and the body as text."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.text)


@dataclass
class Api:
    """A caller of one stack: *stack* is what `.local/stack.json` holds, *client* one of its two clients."""

    stack: dict[str, Any]
    client: str = "hostClient"
    user: str | None = "demo-user"
    scope: str | None = None
    extra_headers: dict[str, str] = field(default_factory=dict)

    @cached_property
    def token(self) -> str:
        """An access token by client credentials, with all scopes where `scope` is None."""
        client = self.stack[self.client]
        form = {"grant_type": "client_credentials"} | ({"scope": self.scope} if self.scope else {})
        basic = base64.b64encode(f"{client['id']}:{client['secret']}".encode()).decode()
        answer = send(
            "POST",
            self.stack["tokenUrl"],
            body=urllib.parse.urlencode(form).encode(),
            headers={
                "authorization": f"Basic {basic}",
                "content-type": "application/x-www-form-urlencoded",
            },
        )
        if answer.status != 200:
            raise RuntimeError(f"no token: {answer.status} {answer.text[:200]}")
        return str(answer.json["access_token"])

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send one request to the API. *body*: bytes as they are, anything else as JSON."""
        raw = body if isinstance(body, bytes | None) else json.dumps(body, ensure_ascii=False).encode()
        sent = {"authorization": f"Bearer {self.token}", **self.extra_headers}
        if self.user is not None:
            sent["x-user-id"] = self.user
        if raw is not None:
            sent["content-type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return send(method, self.stack["apiUrl"] + path, body=raw, headers=sent)

    def wait_for(self, path: str, ready: Any, *, seconds: float = 30) -> Answer:
        """GET *path* until `ready(answer)` holds. Raises TimeoutError with the last answer."""
        deadline = time.monotonic() + seconds
        while True:
            answer = self.call("GET", path)
            if ready(answer):
                return answer
            if time.monotonic() > deadline:
                raise TimeoutError(f"GET {path} is still {answer.status} {answer.text[:500]}")
            time.sleep(0.2)


def send(
    method: str, url: str, *, body: bytes | None = None, headers: dict[str, str] | None = None
) -> Answer:
    """Send one request and return the answer, whatever its status."""
    request = urllib.request.Request(url, data=body, headers=headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return _answer(answer)
    except urllib.error.HTTPError as answer:
        with answer:
            return _answer(answer)


def _answer(answer: Any) -> Answer:
    return Answer(
        status=answer.status,
        headers={name.lower(): value for name, value in answer.headers.items()},
        text=answer.read().decode(),
    )
