"""API Gateway's HTTP API (payload 2.0) on the one side, use cases on the other.

A function's `app.py` holds a table from route key to a function `Request -> Response`; `serve` runs it and
turns every error into `application/problem+json` (RFC 9457) by the table below.
"""

import base64
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Any

from memoir import errors
from memoir.domain.json_document import JsonDocument
from memoir.domain.scope import Scope, UserScope
from memoir.domain.write_token import WriteToken, idempotent_token, random_token
from memoir.edge import observe
from memoir.edge.identity import user_scope

# A document of 65,536 bytes whose every character is escaped as \uXXXX, with room for the request around it.
MAX_BODY_BYTES = 512 * 1024

STATUS: dict[type[errors.MemoirError], int] = {
    errors.JsonMalformed: 400,
    errors.RequestInvalid: 400,
    errors.NotAuthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.RevisionConflict: 409,
    errors.TurnConflict: 409,
    errors.ClaimConflict: 409,
    errors.ClaimExpired: 410,
    errors.RoundClosed: 409,
    errors.TooLarge: 413,
    errors.MediaTypeUnsupported: 415,
    errors.LimitExceeded: 422,
    errors.MessagesRefused: 422,
    errors.UpdateRefused: 422,
    errors.ScenarioInvalid: 422,
    errors.IdempotencyKeyReused: 422,
    errors.RecordCorrupt: 500,
    errors.HinosFailed: 502,
    errors.HinosUnavailable: 502,
    errors.HinosBadReply: 502,
    errors.HinosNotConfigured: 503,
    errors.HinosTimeout: 504,
    errors.DoorbellFailed: 503,
    errors.LeaseHeld: 503,
    errors.WorkLeft: 503,
    errors.ModelFailed: 503,
    errors.StoreUnavailable: 503,
    errors.WriteOutcomeUnknown: 503,
}

_RETRY_AFTER_SECONDS = 1
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, kw_only=True)
class Response:
    """An answer, and what the log says of it. `body` is JSON text. `event` is in the past tense."""

    body: str
    event: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, observe.Fact] = field(default_factory=dict)


class Request:
    """One HTTP request as API Gateway hands it over.

    `headers`: by lower-case name. `route_key`: the route that API Gateway has chosen, `GET /v1/health`.
    `request_id`: the caller's `x-request-id` where it is usable, else API Gateway's.
    """

    def __init__(self, event: Mapping[str, Any]) -> None:
        """Take *event*, of payload version 2.0."""
        self.event = event
        self.headers = {
            name.lower(): str(value).strip() for name, value in (event.get("headers") or {}).items()
        }
        self.route_key = str(event.get("routeKey", ""))
        named = self.headers.get("x-request-id", "")
        made = event.get("requestContext", {}).get("requestId", "")
        self.request_id = named if _REQUEST_ID.fullmatch(named) else str(made)

    @cached_property
    def user(self) -> UserScope:
        """The product and user that the verified token stands for. Raises NotAuthenticated, Forbidden."""
        authorizer = self.event.get("requestContext", {}).get("authorizer", {})
        claims = authorizer.get("jwt", {}).get("claims", {})
        return user_scope(claims=claims, headers=self.headers)

    @cached_property
    def conversation(self) -> Scope:
        """The conversation that the path names, of that user. Raises RequestInvalid for a bad id."""
        return self.user.conversation(self.path_parameter("id"))

    @property
    def idempotency_key(self) -> str | None:
        """The header `Idempotency-Key`: 1–255 printable ASCII characters, or None. Raises RequestInvalid."""
        key = self.headers.get("idempotency-key")
        if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
            raise errors.RequestInvalid(
                code="idempotency_key_invalid",
                path="idempotency-key",
                detail="idempotency-key: must be 1 to 255 printable ASCII characters without blanks",
            )
        return key

    def path_parameter(self, name: str) -> str:
        """Return a part of the path as API Gateway has cut and decoded it; empty where there is none."""
        return str((self.event.get("pathParameters") or {}).get(name, ""))

    def path_number(self, name: str) -> int:
        """Return a part of the path that is a round: 1 to 10 digits. Raises RequestInvalid."""
        text = self.path_parameter(name)
        if not (text.isascii() and text.isdigit() and len(text) <= 10):
            raise errors.RequestInvalid(path=name, detail=f"{name}: must be the number of a round")
        return int(text)

    @property
    def query(self) -> Mapping[str, str]:
        """The query parameters; of a repeated one, API Gateway joins the values by a comma."""
        return self.event.get("queryStringParameters") or {}

    def write_token(self, body: str) -> WriteToken:
        """Return the token of the write that this request asks for. *body*: its compact JSON."""
        key = self.idempotency_key
        return idempotent_token(idempotency_key=key, body=body) if key else random_token()

    def request_token(self) -> WriteToken | None:
        """Return what the idempotency key stands for: this route, path and body. None: there is no key."""
        key = self.idempotency_key
        if key is None:
            return None
        path = json.dumps(self.event.get("pathParameters"), sort_keys=True)
        body = self.event.get("body") or ""
        return idempotent_token(idempotency_key=f"{self.route_key} {key}", body=f"{path} {body}")

    def json_body(self, *, max_bytes: int = MAX_BODY_BYTES) -> bytes:
        """Return the body, declared as JSON. Raises MediaTypeUnsupported, TooLarge, JsonMalformed."""
        _check_media_type(self.headers)
        body = self.event.get("body") or ""
        try:
            raw = base64.b64decode(body) if self.event.get("isBase64Encoded") else body.encode()
        except (ValueError, UnicodeEncodeError):
            raise errors.JsonMalformed(detail="the body is not UTF-8 text") from None
        if "\ufffd" in body and self.headers.get("content-length") not in (None, str(len(raw))):
            # Whoever made text of the bytes put U+FFFD where they were no UTF-8.
            raise errors.JsonMalformed(detail="the body is not UTF-8 text")
        if len(raw) > max_bytes:
            raise errors.TooLarge(
                code="body_too_large",
                size_bytes=len(raw),
                limit_bytes=max_bytes,
                detail=f"the body has {len(raw)} bytes, the limit is {max_bytes}",
            )
        return raw


Route = Callable[[Request], Response]


def serve(event: Mapping[str, Any], routes: Mapping[str, Route]) -> dict[str, Any]:
    """Answer one API Gateway event by *routes* and leave one log line and one metric. Never raises."""
    started = time.perf_counter()
    request = Request(event)
    try:
        response = _route(request, routes)(request)
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


def document_response(
    request: Request, *, name: str, revision: int, document: JsonDocument | None, event: str
) -> Response:
    """Return the answer to a read: `{"revision", name}` with its ETag, or 304 if the caller has it."""
    etag = f'"{revision}"'
    known = request.headers.get("if-none-match") == etag
    text = document.text if document else "null"
    return Response(
        status=304 if known else 200,
        body="" if known else f'{{"revision":{revision},"{name}":{text}}}',
        headers={"etag": etag},
        event=event,
        facts={**observe.scope_facts(request.conversation), "revision_after": revision},
    )


def not_found(request: Request) -> Response:
    """Answer a request that no route matches."""
    raise errors.NotFound(detail="there is no such route")


def _route(request: Request, routes: Mapping[str, Route]) -> Route:
    return routes.get(request.route_key, not_found)


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


def _check_media_type(headers: Mapping[str, str]) -> None:
    media_type, _, parameters = headers.get("content-type", "").lower().partition(";")
    charset = parameters.partition("charset=")[2].strip(' "')
    encoding = headers.get("content-encoding", "identity").lower()
    if media_type.strip() != "application/json" or charset not in ("", "utf-8") or encoding != "identity":
        raise errors.MediaTypeUnsupported(
            detail="the body must be sent as content-type: application/json, UTF-8, not compressed"
        )
