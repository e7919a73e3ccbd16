"""GET /v1/health, and every request that no route matches. Touches no store."""

import json
from typing import Any

from memoir.edge.http import Request, Response, not_found, serve
from memoir.version import VERSION


def get_health(request: Request) -> Response:
    """Answer that the service runs, and in which version."""
    return Response(body=json.dumps({"status": "ok", "version": VERSION}), event="health.read")


ROUTES = {"GET /v1/health": get_health, "$default": not_found}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES)
