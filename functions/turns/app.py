"""POST and GET /v1/conversations/{id}/turns, POST …/turns/{turnId}/accept: completed replies, in order."""

import json
import time
from typing import Any

from memoir import wiring
from memoir.edge.http import Request, Response, serve
from memoir.edge.observe import scope_facts
from memoir.edge.paging import next_page, read_before_round, read_limit
from memoir.usecases import turns


def post_turn(request: Request) -> Response:
    """Store a completed reply and ring its background."""
    from memoir.contracts.turns import MAX_TURN_BODY_BYTES, read_post_turn

    scope = request.conversation
    new = read_post_turn(request.json_body(max_bytes=MAX_TURN_BODY_BYTES))
    if token := request.request_token():
        wiring.request_keys().bind(scope, token)
    recorded = turns.record_turn(
        turns=wiring.turns(),
        doorbell=wiring.doorbell(),
        clock=time.time,
        scope=scope,
        new=new,
    )
    return _accepted(request, recorded, event="turn.recorded")


def accept_turn(request: Request) -> Response:
    """Note that the user accepted a turn's text, and ring its background."""
    scope = request.conversation
    if token := request.request_token():
        wiring.request_keys().bind(scope, token)
    recorded = turns.accept_turn(
        turns=wiring.turns(),
        doorbell=wiring.doorbell(),
        scope=scope,
        turn_id=request.path_parameter("turnId"),
    )
    return _accepted(request, recorded, event="turn.accepted")


def get_turns(request: Request) -> Response:
    """Answer a page of turns, newest first."""
    scope = request.conversation
    page = turns.list_turns(
        turns=wiring.turns(),
        scope=scope,
        before=read_before_round(request.query),
        limit=read_limit(request.query),
    )
    answer: dict[str, Any] = {
        "turns": [
            {
                "turnId": turn.turn_id,
                "round": turn.position.round,
                "user": {"text": turn.user_text},
                "assistant": {"text": turn.assistant_text},
                "status": page.head.status_of(turn.position.round),
            }
            for turn in page.turns
        ]
    }
    if page.next_before:
        answer["next"] = next_page(str(page.next_before))
    return Response(
        body=json.dumps(answer, ensure_ascii=False),
        event="turns.read",
        facts={**scope_facts(scope), "turns": len(page.turns)},
    )


def _accepted(request: Request, recorded: turns.Recorded, *, event: str) -> Response:
    body = {
        "turnId": recorded.turn_id,
        "round": recorded.round,
        "scheduled": list(recorded.scheduled),
        "duplicate": recorded.duplicate,
    }
    facts = {"round": recorded.round, "duplicate": recorded.duplicate, "workers": len(recorded.scheduled)}
    return Response(
        status=202,
        body=json.dumps(body, ensure_ascii=False),
        event=event,
        facts={**scope_facts(request.conversation), **facts},
    )


ROUTES = {
    "POST /v1/conversations/{id}/turns": post_turn,
    "GET /v1/conversations/{id}/turns": get_turns,
    "POST /v1/conversations/{id}/turns/{turnId}/accept": accept_turn,
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES)
