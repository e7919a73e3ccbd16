"""GET /v1/conversations/{id}/receipts: what the background did for each turn, and why."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import receipts_answer
from memoir.edge.http import Route, serve
from memoir.edge.paging import RECEIPT, read_before, read_limit
from memoir.edge.request import Request
from memoir.usecases.receipts import list_receipts


def get(request: Request) -> Any:
    """Read a page of receipts."""
    return list_receipts(
        wiring.engine(),
        scope=request.conversation,
        before=read_before(request.query, RECEIPT),
        limit=read_limit(request.query),
    )


ROUTES = {
    "GET /v1/conversations/{id}/receipts": Route(run=get, answer=receipts_answer, event="receipts.read")
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
