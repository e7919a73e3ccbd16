"""POST /v1/conversations/{id}/compact: a history brought within its budget."""

from typing import Any

from memoir import wiring
from memoir.contracts.compact_answers import compact_answer
from memoir.contracts.sizes import COMPACT_BODY_BYTES
from memoir.edge.http import Route, lazily, serve
from memoir.edge.request import Request
from memoir.usecases import compact


def post(request: Request) -> Any:
    """Summarise the oldest part, where the budget or a checkpoint's border demands it."""
    return compact.compact(wiring.compaction(), scope=request.conversation, request=request.body)


ROUTES = {
    "POST /v1/conversations/{id}/compact": Route(
        reads=lazily("memoir.contracts.compact", "read_compact"),
        max_bytes=COMPACT_BODY_BYTES,
        run=post,
        answer=compact_answer,
        event="history.compacted",
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
