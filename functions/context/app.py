"""POST /v1/conversations/{id}/context: what the next turn of a conversation gets."""

from typing import Any

from memoir import wiring
from memoir.contracts.context_answers import context_answer
from memoir.contracts.sizes import CONTEXT_BODY_BYTES
from memoir.edge.http import Route, lazily, serve
from memoir.edge.request import Request


def post(request: Request) -> Any:
    """Put together what the scenario names."""
    return wiring.contexts().answer(
        scope=request.conversation, request=request.body, request_id=request.request_id
    )


ROUTES = {
    "POST /v1/conversations/{id}/context": Route(
        reads=lazily("memoir.contracts.context", "read_post_context"),
        max_bytes=CONTEXT_BODY_BYTES,
        run=post,
        answer=context_answer,
        event="context.answered",
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
