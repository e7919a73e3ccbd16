"""POST and GET /v1/conversations/{id}/turns, POST …/turns/{turnId}/accept: completed replies, in order."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import recorded_answer, turns_answer
from memoir.contracts.sizes import TURN_BODY_BYTES
from memoir.edge.http import Route, lazily, serve
from memoir.edge.paging import read_before_round, read_limit
from memoir.edge.request import Request
from memoir.usecases.accept_turn import accept_turn
from memoir.usecases.list_turns import list_turns
from memoir.usecases.turns import record_turn


def post(request: Request) -> Any:
    """Store a completed reply and ring its background."""
    return record_turn(
        wiring.engine(),
        doorbell=wiring.doorbell(),
        scope=request.conversation,
        new=request.body,
        token=request.token,
        default=wiring.default_scenario(),
    )


def accept(request: Request) -> Any:
    """Note that the user accepted a turn's text, and ring its background."""
    return accept_turn(
        wiring.engine(),
        doorbell=wiring.doorbell(),
        scope=request.conversation,
        turn_id=request.path_parameter("turnId"),
        token=request.token,
    )


def get(request: Request) -> Any:
    """Read a page of turns, newest first."""
    return list_turns(
        wiring.engine(),
        scope=request.conversation,
        before=read_before_round(request.query),
        limit=read_limit(request.query),
    )


ROUTES = {
    "POST /v1/conversations/{id}/turns": Route(
        reads=lazily("memoir.contracts.turns", "read_post_turn"),
        max_bytes=TURN_BODY_BYTES,
        run=post,
        answer=recorded_answer,
        event="turn.recorded",
        keeps=True,
    ),
    "GET /v1/conversations/{id}/turns": Route(run=get, answer=turns_answer, event="turns.read"),
    "POST /v1/conversations/{id}/turns/{turnId}/accept": Route(
        run=accept, answer=recorded_answer, event="turn.accepted", keeps=True
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
