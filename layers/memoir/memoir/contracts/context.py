"""`POST /v1/conversations/{id}/context`: who asks, for whom, with which history and how much room."""

import json
from typing import Any, Literal, cast

from pydantic import ConfigDict, Field

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.request import ContextRequest, SuppliedHinos
from memoir.domain.context.source import Audience
from memoir.domain.hinos import MAX_CLAIM_ID_CHARACTERS
from memoir.domain.json_document import MAX_DOCUMENT_BYTES
from memoir.domain.scope import check_opaque_id
from memoir.domain.tokens.estimate import check_tokenizer
from memoir.errors import LimitExceeded, RequestInvalid, TooLarge
from memoir.strict_json import read_json

MAX_HISTORY_MESSAGES = 2_000
MAX_HISTORY_BYTES = 1024 * 1024
MAX_HISTORY_TURNS = 200
MAX_VALUES_BYTES = 8 * 1024
MAX_TOKENS = 10_000_000

DEFAULT_AUDIENCE: Audience = "actor"


class _Message(Contract):
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tokens: int | None = None
    turn_id: str | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None


class _Turns(Contract):
    turns: int


class _Hinos(Contract):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=None)

    claim_id: str | None = None
    memory: str | None = None
    prepare: bool | None = None
    source: dict[str, Any] | None = None


class _PostContext(Contract):
    scenario_id: str | None = None
    audience: Literal["actor", "director"] = DEFAULT_AUDIENCE
    subscription_category: str | None = None
    values: dict[str, str] = Field(default_factory=dict)
    history: list[_Message] | _Turns | None = None
    token_budget: int | None = None
    tokenizer: str | None = None
    hinos: _Hinos | None = None


def read_post_context(body: bytes) -> ContextRequest:
    """Return the request that *body* is.

    Raises JsonMalformed, RequestInvalid, LimitExceeded, TooLarge, each naming the place.
    """
    value = read_json(body)
    request = read_contract(_PostContext, _with_whole_history(value))
    _check_values(request.values, request.audience)
    turns = request.history.turns if isinstance(request.history, _Turns) else None
    return ContextRequest(
        scenario_id=_identifier(request.scenario_id, "/scenarioId"),
        audience=request.audience,
        subscription_category=_identifier(request.subscription_category, "/subscriptionCategory"),
        values=request.values,
        history=_history(request.history) if isinstance(request.history, list) else (),
        history_turns=_within(turns, "/history/turns", at_least=0, at_most=MAX_HISTORY_TURNS),
        token_budget=_within(request.token_budget, "/tokenBudget", at_least=1, at_most=MAX_TOKENS),
        tokenizer=request.tokenizer and check_tokenizer(request.tokenizer, path="/tokenizer"),
        hinos=None if request.hinos is None else _hinos(request.hinos),
    )


def _with_whole_history(value: Any) -> Any:
    """Return *value* with its history read as one of its two shapes: an error names one place."""
    if isinstance(value, dict) and not isinstance(value.get("history", []), list | dict | None):
        raise RequestInvalid(path="/history", detail='/history: must be a list of messages or {"turns": n}')
    if isinstance(value, dict) and isinstance(value.get("history"), list | dict):
        history = value["history"]
        if isinstance(history, dict):
            return {**value, "history": _read_inside(_Turns, history, "/history")}
        if len(history) > MAX_HISTORY_MESSAGES:
            raise _too_many(len(history))
        messages = [_read_inside(_Message, item, f"/history/{i}") for i, item in enumerate(history)]
        return {**value, "history": messages}
    return value


def _read_inside(model: type[Contract], value: Any, path: str) -> Contract:
    if not isinstance(value, dict):
        raise RequestInvalid(code="not_an_object", path=path, detail=f"{path}: must be a JSON object")
    try:
        return read_contract(model, value)
    except RequestInvalid as error:
        raise RequestInvalid(
            code=error.code, path=f"{path}{error.path}", detail=f"{path}{error.detail}"
        ) from None


def _history(messages: list[_Message]) -> tuple[HistoryMessage, ...]:
    size_bytes = sum(len(message.content.encode()) for message in messages)
    if size_bytes > MAX_HISTORY_BYTES:
        raise _too_large("history", size_bytes, MAX_HISTORY_BYTES)
    return tuple(_message(message, f"/history/{index}") for index, message in enumerate(messages))


def _message(message: _Message, path: str) -> HistoryMessage:
    if message.tool_calls is not None and message.role != "assistant":
        detail = f"{path}/toolCalls: only an assistant calls tools"
        raise RequestInvalid(path=f"{path}/toolCalls", detail=detail)
    if (message.tool_call_id is not None) != (message.role == "tool"):
        detail = f"{path}/toolCallId: belongs to a tool's message, and to no other"
        raise RequestInvalid(path=f"{path}/toolCallId", detail=detail)
    calls = message.tool_calls
    return HistoryMessage(
        role=message.role,
        content=message.content,
        tokens=_within(message.tokens, f"{path}/tokens", at_least=0, at_most=MAX_TOKENS),
        turn_id=_identifier(message.turn_id, f"{path}/turnId"),
        tool_calls=None if calls is None else json.dumps(calls, ensure_ascii=False, separators=(",", ":")),
        tool_call_id=_identifier(message.tool_call_id, f"{path}/toolCallId"),
    )


def _check_values(values: dict[str, str], audience: str) -> None:
    size_bytes = len(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode())
    if size_bytes > MAX_VALUES_BYTES:
        raise _too_large("values", size_bytes, MAX_VALUES_BYTES)
    if values.get("audience", audience) != audience:
        detail = f"/values/audience: the request is for the {audience}"
        raise RequestInvalid(path="/values/audience", detail=detail)


def _hinos(given: _Hinos) -> SuppliedHinos:
    prepared = given.claim_id is not None and given.memory is not None
    if given.prepare is True and given.claim_id is None and given.memory is None:
        return SuppliedHinos(prepare=True, source=given.source)
    if given.prepare is not None or given.source is not None or not prepared:
        detail = '/hinos: must be {"claim_id", "memory"} as prepared, or {"prepare": true}'
        raise RequestInvalid(path="/hinos", detail=detail)
    claim_id, memory = cast(str, given.claim_id), cast(str, given.memory)
    if not 1 <= len(claim_id) <= MAX_CLAIM_ID_CHARACTERS:
        detail = f"/hinos/claim_id: must be 1 to {MAX_CLAIM_ID_CHARACTERS} characters"
        raise RequestInvalid(path="/hinos/claim_id", detail=detail)
    size_bytes = len(memory.encode())
    if size_bytes > MAX_DOCUMENT_BYTES:
        raise _too_large("hinos/memory", size_bytes, MAX_DOCUMENT_BYTES)
    return SuppliedHinos(claim_id=claim_id, memory=memory)


def _within(value: int | None, path: str, *, at_least: int, at_most: int) -> int | None:
    if value is not None and not at_least <= value <= at_most:
        raise RequestInvalid(
            code="number_invalid", path=path, detail=f"{path}: must be {at_least} to {at_most}"
        )
    return value


def _identifier(value: str | None, path: str) -> str | None:
    return value if value is None else check_opaque_id(value, path=path)


def _too_large(name: str, size_bytes: int, limit_bytes: int) -> TooLarge:
    return TooLarge(
        code=f"{name.replace('/', '_')}_too_large",
        path=f"/{name}",
        size_bytes=size_bytes,
        limit_bytes=limit_bytes,
        detail=f"/{name}: {size_bytes} bytes, the limit is {limit_bytes}",
    )


def _too_many(value: int) -> LimitExceeded:
    return LimitExceeded(
        code="too_many_messages",
        value=value,
        limit=MAX_HISTORY_MESSAGES,
        path="/history",
        detail=f"/history: {value} messages, the limit is {MAX_HISTORY_MESSAGES}",
    )
