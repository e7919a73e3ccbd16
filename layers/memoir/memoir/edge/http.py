"""API Gateway's HTTP API on the one side, use cases on the other.

A function's `app.py` holds a table from route key to `Route`: what it reads, runs and answers. `serve` does
the rest: the body, the idempotency key, JSON, ETag and 304, one log line and one metric, and every error as
`application/problem+json` (RFC 9457) by the table below.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib import import_module
from typing import Any, Protocol

import orjson

from memoir import errors
from memoir.contracts.answers import Answer, Spliced
from memoir.contracts.sizes import DOCUMENT_BODY_BYTES
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken
from memoir.edge import observe
from memoir.edge.paging import next_page
from memoir.edge.request import Request

STATUS: dict[type[errors.MemoirError], int] = {
    errors.JsonMalformed: 400,
    errors.RequestInvalid: 400,
    errors.NotAuthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.ScenarioUnknown: 404,
    errors.RevisionConflict: 409,
    errors.TurnConflict: 409,
    errors.ClaimConflict: 409,
    errors.CandidateStale: 409,
    errors.StoryConflict: 409,
    errors.ConversationRewound: 409,
    errors.GenerationConflict: 409,
    errors.TurnDiscarded: 409,
    errors.HistoryExpired: 410,
    errors.BoundaryUnknown: 422,
    errors.ClaimExpired: 410,
    errors.RoundClosed: 409,
    errors.PreconditionFailed: 412,
    errors.TooLarge: 413,
    errors.MediaTypeUnsupported: 415,
    errors.LimitExceeded: 422,
    errors.MessagesRefused: 422,
    errors.UpdateRefused: 422,
    errors.ScenarioInvalid: 422,
    errors.ScenarioForbids: 422,
    errors.IdempotencyKeyReused: 422,
    errors.RecordCorrupt: 500,
    errors.StoreMisused: 500,
    errors.HinosFailed: 502,
    errors.HinosUnavailable: 502,
    errors.HinosBadReply: 502,
    errors.HinosNotConfigured: 503,
    errors.HinosTimeout: 504,
    errors.HinosUncertain: 504,
    errors.DoorbellFailed: 503,
    errors.LeaseHeld: 503,
    errors.WorkLeft: 503,
    errors.ModelFailed: 503,
    errors.StoreUnavailable: 503,
    errors.WriteOutcomeUnknown: 503,
}

_RETRY_AFTER_SECONDS = 1


class Service(Protocol):
    """What `serve` needs of the service behind it."""

    def audiences(self) -> tuple[str, ...]:
        """Return the audiences that tokens without a client id are for."""

    def keep_refused(self, scope: Scope, token: WriteToken) -> None:
        """Let an idempotency key stand for a request that was refused. Raises IdempotencyKeyReused."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """A route: `reads` makes a value of the body, `run` does it, `answer` shapes what comes of it.

    `event`: what the log calls a success. `keeps`: the idempotency key stands for the request even where it
    was refused. `max_bytes`: of the body. `needs`: what has to be configured, or raises what is missing.
    """

    run: Callable[[Request], Any]
    answer: Callable[[Any], Answer]
    event: str
    reads: Callable[[Request, bytes], Any] | None = None
    max_bytes: int = DOCUMENT_BODY_BYTES
    keeps: bool = False
    needs: Callable[[], object] = lambda: None


Routes = Mapping[str, Route]


@dataclass(frozen=True, kw_only=True)
class Response:
    """An answer, and what the log says of it. `body` is JSON text. `event` is in the past tense."""

    body: str
    event: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, observe.Fact] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)


def lazily(module: str, name: str) -> Callable[[Request, bytes], Any]:
    """Return a reader of *module* that is imported when it is first called: pydantic only for bodies."""

    def read(request: Request, body: bytes) -> Any:
        return getattr(import_module(module), name)(body)

    return read


def serve(event: Mapping[str, Any], routes: Routes, service: Service) -> dict[str, Any]:
    """Answer one API Gateway event by *routes* and leave one log line and one metric. Never raises."""
    started = time.perf_counter()
    request = Request(event, audiences=service.audiences)
    try:
        route = routes.get(request.route_key)
        if route is None:
            raise errors.NotFound(detail="there is no such route")
        response = _respond(request, route, service)
    except errors.MemoirError as error:
        response = problem(error)
    except Exception as error:
        observe.crashed(error, request_id=request.request_id)
        response = problem(errors.MemoirError(detail="an unexpected error; the log has it"))
    observe.finished(
        response.event,
        request_id=request.request_id,
        duration_ms=(time.perf_counter() - started) * 1000,
        facts={"route": request.route_key, "status": response.status, **response.facts},
        measures=response.measures,
    )
    return {
        "statusCode": response.status,
        "headers": {
            "content-type": "application/json",
            "cache-control": "no-store",
            **response.headers,
            "x-request-id": request.request_id,
        },
        "body": response.body,
    }


def _respond(request: Request, route: Route, service: Service) -> Response:
    scope = request.conversation if "{id}" in request.route_key else None
    facts: dict[str, observe.Fact] = dict(observe.scope_facts(scope)) if scope else {}
    route.needs()
    if route.reads:
        raw = request.json_body(max_bytes=route.max_bytes)
        request.body = route.reads(request, raw)
        facts["bytes"] = len(raw)
    expected = getattr(request.body, "expected_revision", None)
    if not request.route_key.startswith("GET "):
        request.check_if_match(expected)
    if expected is not None:
        facts["revision_before"] = expected
    try:
        answer = route.answer(route.run(request))
    except errors.RequestRefused:
        if route.keeps and scope and request.token.body_hash:
            service.keep_refused(scope, request.token)
        raise
    return _response(request, route, answer, facts)


def _response(request: Request, route: Route, answer: Answer, facts: Mapping[str, observe.Fact]) -> Response:
    event = answer.event or route.event
    headers = {"etag": f'"{answer.etag}"'} if answer.etag else {}
    told = {**facts, **answer.facts}
    if answer.etag and request.route_key.startswith("GET ") and request.has(answer.etag):
        return Response(status=304, body="", headers=headers, event=event, facts=told)
    body = answer.body
    if answer.next_place is not None and not isinstance(body, Spliced):
        body = {**body, "next": next_page(answer.next_place)}
    return Response(
        status=answer.status,
        body=as_json(body),
        headers=headers,
        event=event,
        facts=told,
        measures=answer.measures,
    )


def as_json(value: Any) -> str:
    """Return *value* as compact JSON, with documents spliced in as they were accepted."""
    return orjson.dumps(value, default=_spliced, option=orjson.OPT_PASSTHROUGH_DATACLASS).decode()


def _spliced(value: Any) -> orjson.Fragment:
    if isinstance(value, Spliced):
        return orjson.Fragment(value.text)
    raise TypeError(f"{type(value).__name__} is no answer")


def problem(error: errors.MemoirError) -> Response:
    """Return *error* as `application/problem+json`."""
    status = STATUS.get(type(error), 500)
    members = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": error.code,
        "detail": error.detail,
        **{_camel_case(name): value for name, value in error.facts().items()},
    }
    headers = {"content-type": "application/problem+json"}
    if isinstance(error, errors.StoreUnavailable | errors.DoorbellFailed):
        headers["retry-after"] = str(_RETRY_AFTER_SECONDS)
    return Response(
        status=status,
        headers=headers,
        body=json.dumps(members, ensure_ascii=False),
        event=f"request.{_outcome(error)}",
        facts={"error_code": error.code},
    )


def _outcome(error: errors.MemoirError) -> str:
    if isinstance(error, errors.WriteOutcomeUnknown):
        return "outcome_unknown"
    if isinstance(error, errors.RequestRefused | errors.RevisionConflict):
        return "rejected"
    return "failed"


def _camel_case(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)
