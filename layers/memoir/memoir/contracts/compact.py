"""`POST …/compact`: the history of a conversation, to be brought within a budget."""

import json
from typing import Any, Literal

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.compact.history import Message
from memoir.domain.compact.request import CompactRequest, messages_text
from memoir.domain.page import MAX_PAGE_BYTES
from memoir.domain.scope import check_opaque_id
from memoir.domain.tokens.estimate import check_tokenizer
from memoir.errors import LimitExceeded, RequestInvalid, TooLarge
from memoir.strict_json import read_json

MAX_MESSAGES = 5_000
MAX_CONTENT_BYTES = 256 * 1024
MAX_HISTORY_TURNS = 1_000
MAX_TOKENS = 10_000_000


class _Message(Contract):
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    turn_id: str | None = None
    tokens: int | None = None
    covers_turns: int | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None


class _Turns(Contract):
    turns: int


class _Compact(Contract):
    messages: list[_Message] | None = None
    history: _Turns | None = None
    token_budget: int
    scenario_id: str | None = None
    tokenizer: str | None = None


def read_compact(body: bytes) -> CompactRequest:
    """Return the request that *body* is.

    It has either `messages` or `history: {turns}`, so many of the stored ones. Only system messages may be
    without `turnId`. Limits: 5,000 messages, 262,144 bytes of content each, 1,000 stored turns, 10,000,000
    tokens, and the messages have to fit an answer. Raises JsonMalformed, RequestInvalid, LimitExceeded,
    TooLarge.
    """
    request = read_contract(_Compact, read_json(body))
    if (request.messages is None) == (request.history is None):
        raise RequestInvalid(path="/messages", detail='/messages: give them, or "history": {"turns": n}')
    _check_number(request.token_budget, path="/tokenBudget", least=1)
    if request.history is not None:
        _check_number(request.history.turns, path="/history/turns", least=1, most=MAX_HISTORY_TURNS)
    scenario_id, tokenizer = request.scenario_id, request.tokenizer
    return CompactRequest(
        messages=None if request.messages is None else _messages(request.messages),
        history_turns=request.history.turns if request.history else 0,
        token_budget=request.token_budget,
        scenario_id=None if scenario_id is None else check_opaque_id(scenario_id, path="/scenarioId"),
        tokenizer=None if tokenizer is None else check_tokenizer(tokenizer, path="/tokenizer"),
    )


def _messages(given: list[_Message]) -> tuple[Message, ...]:
    """Return the messages; they have to fit an answer, for they may come back as they are."""
    if len(given) > MAX_MESSAGES:
        raise LimitExceeded(
            code="too_many_messages",
            value=len(given),
            limit=MAX_MESSAGES,
            path="/messages",
            detail=f"/messages: {len(given)} messages, the limit is {MAX_MESSAGES}",
        )
    messages = tuple(_message(message, path=f"/messages/{i}") for i, message in enumerate(given))
    size_bytes = len(json.dumps(messages_text(messages)))
    if size_bytes > MAX_PAGE_BYTES:
        raise TooLarge(
            code="messages_too_large",
            path="/messages",
            size_bytes=size_bytes,
            limit_bytes=MAX_PAGE_BYTES,
            detail=f"/messages: {size_bytes} bytes, escaped, the limit is {MAX_PAGE_BYTES}",
        )
    return messages


def _message(given: _Message, *, path: str) -> Message:
    if given.turn_id is not None:
        check_opaque_id(given.turn_id, path=f"{path}/turnId")
    elif given.role != "system":
        raise RequestInvalid(
            code="member_missing", path=f"{path}/turnId", detail=f"{path}/turnId: is missing"
        )
    for name, count in (("tokens", given.tokens), ("coversTurns", given.covers_turns)):
        if count is not None:
            _check_number(count, path=f"{path}/{name}")
    if given.tool_calls is not None and given.role != "assistant":
        detail = f"{path}/toolCalls: only an assistant calls tools"
        raise RequestInvalid(path=f"{path}/toolCalls", detail=detail)
    if given.tool_call_id is not None:
        check_opaque_id(given.tool_call_id, path=f"{path}/toolCallId")
    size_bytes = len(given.content.encode())
    if size_bytes > MAX_CONTENT_BYTES:
        raise TooLarge(
            code="message_too_large",
            path=f"{path}/content",
            size_bytes=size_bytes,
            limit_bytes=MAX_CONTENT_BYTES,
            detail=f"{path}/content: {size_bytes} bytes of text, the limit is {MAX_CONTENT_BYTES}",
        )
    return Message(
        turn_id=given.turn_id,
        role=given.role,
        content=given.content,
        tokens=given.tokens,
        covers_turns=given.covers_turns,
        tool_calls=None if given.tool_calls is None else _json_text(given.tool_calls),
        tool_call_id=given.tool_call_id,
    )


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _check_number(count: int, *, path: str, least: int = 0, most: int = MAX_TOKENS) -> None:
    if not least <= count <= most:
        raise RequestInvalid(code="number_invalid", path=path, detail=f"{path}: must be {least} to {most}")
