"""POST …/rewind and GET …/rewinds: bring a conversation back to the end of a round."""

from typing import Any

from memoir import wiring
from memoir.contracts.rewind_answers import rewind_answer, rewinds_answer
from memoir.edge.http import Route, lazily, serve
from memoir.edge.paging import read_before_round, read_limit
from memoir.edge.request import Request
from memoir.usecases.rewind import list_rewinds, rewind


def post(request: Request) -> Any:
    """Rewind to the end of a round, or take the newest rewind back."""
    return rewind(
        wiring.engine(),
        doorbell=wiring.doorbell(),
        scope=request.conversation,
        request=request.body,
        token=request.token,
    )


def get(request: Request) -> Any:
    """Read a page of rewinds, newest first."""
    return list_rewinds(
        wiring.engine(),
        scope=request.conversation,
        before=read_before_round(request.query),
        limit=read_limit(request.query),
    )


ROUTES = {
    "POST /v1/conversations/{id}/rewind": Route(
        reads=lazily("memoir.contracts.rewind", "read_rewind"),
        run=post,
        answer=rewind_answer,
        event="conversation.rewound",
        keeps=True,
    ),
    "GET /v1/conversations/{id}/rewinds": Route(run=get, answer=rewinds_answer, event="rewinds.read"),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
