"""The functions' real handlers, called as API Gateway calls them."""

import importlib
import json
from dataclasses import dataclass
from typing import Any

HOST = {"client_id": "p", "sub": "p", "scope": "memory/act-as-user"}
"""Claims of a trusted host's token, which names its user in `x-user-id`."""


@dataclass(frozen=True)
class Answered:
    """What a handler answered."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.text)

    @property
    def code(self) -> str | None:
        """The code of a problem, None for a success."""
        return self.json.get("code") if self.status >= 400 else None


def call(
    route: str,
    body: Any = None,
    *,
    user: str | None = "u",
    claims: dict[str, Any] | None = None,
    query: dict[str, str] | None = None,
    path: dict[str, str] | None = None,
    **headers: str,
) -> Answered:
    """Call *route*; `GET …/memory` is of the conversation c1. *body*: text as it is, all else as JSON."""
    method, _, place = route.partition(" ")
    place = place.replace("…", "/v1/conversations/{id}")
    sent = {"content-type": "application/json"} | ({} if user is None else {"x-user-id": user})
    event = {
        "routeKey": f"{method} {place}",
        "headers": sent | {name.replace("_", "-"): value for name, value in headers.items()},
        "pathParameters": {"id": "c1"} | (path or {}),
        "queryStringParameters": query or {},
        "requestContext": {"requestId": "r", "authorizer": {"jwt": {"claims": claims or HOST}}},
        "body": body if isinstance(body, str | None) else json.dumps(body),
    }
    parts = place.split("/")
    function = parts[4] if len(parts) > 4 else parts[2]
    function = {"rewinds": "rewind"}.get(function, function)
    answer = importlib.import_module(f"functions.{function}.app").handler(event, None)
    return Answered(answer["statusCode"], answer["headers"], answer["body"])
