"""GET /v1/conversations: a user's own conversations, newest first."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import conversations_answer
from memoir.edge.http import Route, serve
from memoir.edge.paging import CONVERSATION, read_before, read_limit
from memoir.edge.request import Request
from memoir.usecases.conversations import list_conversations


def get(request: Request) -> Any:
    """Read a page of conversations."""
    return list_conversations(
        wiring.engine(),
        owner=request.user,
        before=read_before(request.query, CONVERSATION),
        limit=read_limit(request.query),
    )


ROUTES = {"GET /v1/conversations": Route(run=get, answer=conversations_answer, event="conversations.read")}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
