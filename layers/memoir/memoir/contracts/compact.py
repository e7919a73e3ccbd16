"""`POST …/compact`: the history of a conversation, to be brought within a budget."""

from dataclasses import dataclass
from typing import Literal

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.compact.history import Message
from memoir.domain.scope import check_opaque_id
from memoir.errors import LimitExceeded, RequestInvalid, TooLarge
from memoir.strict_json import read_json

MAX_MESSAGES = 5_000
MAX_CONTENT_BYTES = 256 * 1024
MAX_COMPACT_BODY_BYTES = 5 * 1024 * 1024
MAX_TOKENS = 10_000_000


class _Message(Contract):
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    turn_id: str | None = None
    tokens: int | None = None
    covers_turns: int | None = None


class _Compact(Contract):
    messages: list[_Message]
    token_budget: int
    scenario_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class CompactRequest:
    """A history and its budget in tokens."""

    messages: tuple[Message, ...]
    token_budget: int
    scenario_id: str | None


def read_compact(body: bytes) -> CompactRequest:
    """Return the request that *body* is.

    Only system messages may be without `turnId`. Limits: 5,000 messages, 262,144 bytes of content each,
    10,000,000 tokens. Raises JsonMalformed, RequestInvalid, LimitExceeded, TooLarge.
    """
    request = read_contract(_Compact, read_json(body))
    if len(request.messages) > MAX_MESSAGES:
        raise LimitExceeded(
            code="too_many_messages",
            value=len(request.messages),
            limit=MAX_MESSAGES,
            path="/messages",
            detail=f"/messages: {len(request.messages)} messages, the limit is {MAX_MESSAGES}",
        )
    _check_tokens(request.token_budget, path="/tokenBudget", least=1)
    return CompactRequest(
        messages=tuple(_message(given, path=f"/messages/{i}") for i, given in enumerate(request.messages)),
        token_budget=request.token_budget,
        scenario_id=None
        if request.scenario_id is None
        else check_opaque_id(request.scenario_id, path="/scenarioId"),
    )


def _message(given: _Message, *, path: str) -> Message:
    if given.turn_id is not None:
        check_opaque_id(given.turn_id, path=f"{path}/turnId")
    elif given.role != "system":
        raise RequestInvalid(
            code="member_missing", path=f"{path}/turnId", detail=f"{path}/turnId: is missing"
        )
    for name, count in (("tokens", given.tokens), ("coversTurns", given.covers_turns)):
        if count is not None:
            _check_tokens(count, path=f"{path}/{name}")
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
    )


def _check_tokens(count: int, *, path: str, least: int = 0) -> None:
    if not least <= count <= MAX_TOKENS:
        raise RequestInvalid(path=path, detail=f"{path}: must be {least} to {MAX_TOKENS}")
