"""GET /v1/health, and every request that no route matches. Touches no store."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import Answer
from memoir.edge.http import Route, serve
from memoir.version import VERSION

ROUTES = {
    "GET /v1/health": Route(
        run=lambda request: {"status": "ok", "version": VERSION},
        answer=lambda body: Answer(body=body),
        event="health.read",
    )
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
