"""GET …/diary, GET …/diary/recall, PUT and DELETE …/diary/{endRound}: the diary of a conversation."""

from typing import Any

from memoir import wiring
from memoir.contracts.diary_answers import deleted_answer, diary_answer, entry_answer, recall_answer
from memoir.edge.http import Route, lazily, serve
from memoir.edge.paging import read_before_round, read_limit
from memoir.edge.request import Request
from memoir.usecases import diary


def scenario_of(request: Request) -> Any:
    """Return the scenario that says whose diary it is and how much of it is recalled."""
    return wiring.scenarios().find(request.conversation, request.query.get("scenarioId"))


def get(request: Request) -> Any:
    """Read a page of entries, newest first."""
    return diary.list_diary(
        wiring.engine(),
        scope=request.conversation,
        before=read_before_round(request.query),
        limit=read_limit(request.query),
        scenario=scenario_of(request),
    )


def recall(request: Request) -> Any:
    """Read what the next turn gets back."""
    return diary.recall(
        wiring.engine(),
        scope=request.conversation,
        subscription_category=request.query.get("subscriptionCategory"),
        scenario=scenario_of(request),
    )


def put(request: Request) -> Any:
    """Put the user's own texts into an entry."""
    return diary.edit_entry(
        wiring.engine(),
        scope=request.conversation,
        end_round=request.path_number("endRound"),
        summary=request.body.summary,
        diary=request.body.diary,
        expected_version=request.body.expected_version,
        token=request.token,
        scenario=scenario_of(request),
    )


def delete(request: Request) -> Any:
    """Delete an entry for good."""
    return diary.delete_entry(
        wiring.engine(),
        scope=request.conversation,
        end_round=request.path_number("endRound"),
        token=request.token,
        scenario=scenario_of(request),
    )


ROUTES = {
    "GET /v1/conversations/{id}/diary": Route(run=get, answer=diary_answer, event="diary.read"),
    "GET /v1/conversations/{id}/diary/recall": Route(
        run=recall, answer=recall_answer, event="diary.recalled"
    ),
    "PUT /v1/conversations/{id}/diary/{endRound}": Route(
        reads=lazily("memoir.contracts.diary", "read_put_entry"),
        run=put,
        answer=entry_answer,
        event="diary.edited",
        keeps=True,
    ),
    "DELETE /v1/conversations/{id}/diary/{endRound}": Route(
        run=delete, answer=deleted_answer, event="diary.deleted", keeps=True
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
