"""GET /v1/health, GET /v1/openapi.json, and every request that no route matches. Touches no store."""

from functools import cache
from pathlib import Path
from typing import Any

from memoir import wiring
from memoir.contracts.answers import Answer, Spliced
from memoir.edge.http import Route, serve
from memoir.edge.request import Request
from memoir.version import VERSION


def health(request: Request) -> Any:
    """Say that the service is there, and its version."""
    return {"status": "ok", "version": VERSION}


@cache
def _description() -> str:
    return Path(__file__).with_name("openapi.json").read_text()


def describe(request: Request) -> Any:
    """Describe this API in OpenAPI 3.1."""
    return Spliced(_description())


ROUTES = {
    "GET /v1/health": Route(run=health, answer=lambda body: Answer(body=body), event="health.read"),
    "GET /v1/openapi.json": Route(
        run=describe, answer=lambda body: Answer(body=body), event="description.read"
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
