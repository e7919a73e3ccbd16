"""GET …/diary, GET …/diary/recall, PUT and DELETE …/diary/{endRound}: the diary of a conversation."""

import json
from typing import Any

from memoir import wiring
from memoir.domain.clock import utc_text
from memoir.domain.diary.due.policy import node_policy
from memoir.domain.diary.record.agent_ref import canonical_agent_ref
from memoir.domain.diary.record.entry import DiaryEntry
from memoir.domain.scenario import DEFAULT
from memoir.edge.http import Request, Response, serve
from memoir.edge.observe import scope_facts
from memoir.edge.paging import next_page, read_before_round, read_limit
from memoir.usecases import diary

AGENT = canonical_agent_ref(
    next(s.agent_ref for s in DEFAULT.memory_sources if s.variable == "compassMemory")
)


def get_diary(request: Request) -> Response:
    """Answer a page of entries, newest first."""
    page = diary.list_diary(
        diaries=wiring.diaries(),
        scope=request.conversation,
        agent=AGENT,
        before=read_before_round(request.query),
        limit=read_limit(request.query),
    )
    answer: dict[str, Any] = {"entries": [_as_json(entry) for entry in page.entries]}
    if page.more:
        answer["next"] = next_page(str(page.entries[-1].last_round))
    return _answer(request, answer, event="diary.read", entries=len(page.entries))


def get_recall(request: Request) -> Response:
    """Answer what the next turn gets back."""
    recalled = diary.recall(
        diaries=wiring.diaries(),
        scope=request.conversation,
        agent=AGENT,
        policy=node_policy(),
        subscription_category=request.query.get("subscriptionCategory"),
    )
    answer = {
        "compassMemory": recalled.compass_memory,
        "entries": [_as_json(entry) for entry in recalled.entries],
        "nextAt": recalled.next_at,
        "staleCount": recalled.stale_count,
        "truncated": recalled.truncated,
    }
    return _answer(request, answer, event="diary.recalled", entries=len(recalled.entries))


def put_entry(request: Request) -> Response:
    """Put the user's own texts into an entry."""
    from memoir.contracts.diary import read_put_entry

    scope, end_round = request.conversation, request.path_number("endRound")
    put = read_put_entry(request.json_body())
    if token := request.request_token():
        wiring.request_keys().bind(scope, token)
    entry = diary.edit_entry(
        diaries=wiring.diaries(),
        scope=scope,
        agent=AGENT,
        end_round=end_round,
        summary=put.summary,
        diary=put.diary,
    )
    return _answer(request, _as_json(entry), event="diary.edited", round=end_round)


def delete_entry(request: Request) -> Response:
    """Delete an entry for good."""
    scope, end_round = request.conversation, request.path_number("endRound")
    if token := request.request_token():
        wiring.request_keys().bind(scope, token)
    diary.delete_entry(diaries=wiring.diaries(), scope=scope, agent=AGENT, end_round=end_round)
    return _answer(request, {"lastRound": end_round, "deleted": True}, event="diary.deleted", round=end_round)


def _as_json(entry: DiaryEntry) -> dict[str, Any]:
    texts = {"summary": entry.summary} | ({"diary": entry.diary} if entry.diary else {})
    return {
        "firstRound": entry.first_round,
        "lastRound": entry.last_round,
        **texts,
        "generator": entry.generator,
        "createdAt": utc_text(entry.created_at_ms / 1000),
        "edited": entry.edited,
        "stale": entry.stale,
        "partial": entry.partial,
    }


def _answer(request: Request, body: dict[str, Any], *, event: str, **facts: int) -> Response:
    return Response(
        body=json.dumps(body, ensure_ascii=False),
        event=event,
        facts={**scope_facts(request.conversation), **facts},
    )


ROUTES = {
    "GET /v1/conversations/{id}/diary": get_diary,
    "GET /v1/conversations/{id}/diary/recall": get_recall,
    "PUT /v1/conversations/{id}/diary/{endRound}": put_entry,
    "DELETE /v1/conversations/{id}/diary/{endRound}": delete_entry,
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES)
