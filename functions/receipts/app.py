"""GET /v1/conversations/{id}/receipts: what the background did for each turn, and why."""

import json
from typing import Any

from memoir import wiring
from memoir.edge.http import Request, Response, serve
from memoir.edge.observe import scope_facts
from memoir.edge.paging import next_page, read_before, read_limit


def get_receipts(request: Request) -> Response:
    """Answer a page of receipts, newest first."""
    scope, limit = request.conversation, read_limit(request.query)
    page = wiring.receipts().page(scope, before=read_before(request.query), limit=limit)
    answer: dict[str, Any] = {"receipts": [receipt.to_json() for receipt, _ in page]}
    if len(page) == limit:
        answer["next"] = next_page(page[-1][1])
    return Response(
        body=json.dumps(answer, ensure_ascii=False),
        event="receipts.read",
        facts={**scope_facts(scope), "receipts": len(page)},
    )


ROUTES = {"GET /v1/conversations/{id}/receipts": get_receipts}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES)
