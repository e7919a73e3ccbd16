"""The history that a host sends: fixed system messages, and turns that are never torn."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memoir.errors import RequestInvalid

CountTokens = Callable[[str], int]
"""How many tokens a text has, as far as we can tell."""

SUMMARY_MARK = "<summary turns="


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message. *tokens*: the host's count, None where it gave none. *covers_turns*: it is our summary.

    *tool_calls*: JSON text, as the host gave it.
    """

    turn_id: str | None
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tokens: int | None = None
    covers_turns: int | None = None
    tool_calls: str | None = None
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """All that a model reads of it."""
        return self.content + (self.tool_calls or "")

    @property
    def is_summary(self) -> bool:
        """A summary of ours that the host has sent back."""
        marked = self.covers_turns is not None or self.content.startswith(SUMMARY_MARK)
        return self.role == "system" and self.turn_id is None and marked


@dataclass(frozen=True, kw_only=True)
class HistoryTurn:
    """The messages of one turn, and a hash by which a changed one is noticed."""

    id: str
    messages: tuple[Message, ...]
    tokens: int
    hash: str

    @property
    def begins_with_tool(self) -> bool:
        """Its first message answers a call of the turn before: the two are not parted."""
        return self.messages[0].role == "tool"


@dataclass(frozen=True, kw_only=True)
class History:
    """A history taken apart. *fixed*: the host's system messages. *estimated*: some count is our own."""

    messages: tuple[Message, ...]
    fixed: tuple[Message, ...]
    turns: tuple[HistoryTurn, ...]
    fixed_tokens: int
    estimated: bool

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.fixed_tokens + tokens_of(self.turns)


def read_history(messages: Sequence[Message], *, count_tokens: CountTokens) -> History:
    """Return *messages* taken apart. Raises RequestInvalid where a turn's messages do not stand together."""
    given = [message for message in messages if not message.is_summary]
    fixed = tuple(message for message in given if message.role == "system")
    grouped: dict[str, list[Message]] = {}
    newest: str | None = None
    for i, message in enumerate(messages):
        if message.role == "system":
            continue
        if message.turn_id is None:
            raise _refused(f"/messages/{i}/turnId", "is missing")
        if message.turn_id in grouped and message.turn_id != newest:
            raise _refused(f"/messages/{i}/turnId", "the messages of a turn must stand together")
        newest = message.turn_id
        grouped.setdefault(newest, []).append(message)
    return History(
        messages=tuple(messages),
        fixed=fixed,
        turns=tuple(_turn(turn_id, listed, count_tokens) for turn_id, listed in grouped.items()),
        fixed_tokens=sum(_tokens(message, count_tokens) for message in fixed),
        estimated=any(message.tokens is None for message in given),
    )


def tokens_of(turns: Iterable[HistoryTurn]) -> int:
    """Return the tokens of *turns*."""
    return sum(turn.tokens for turn in turns)


def _turn(turn_id: str, messages: list[Message], count_tokens: CountTokens) -> HistoryTurn:
    digest = hashlib.sha256()
    for message in messages:
        raw = message.text.encode("utf-8", "surrogatepass")
        digest.update(f"{message.role} {len(raw)} ".encode() + raw)
    return HistoryTurn(
        id=turn_id,
        messages=tuple(messages),
        tokens=sum(_tokens(message, count_tokens) for message in messages),
        hash=digest.hexdigest()[:16],
    )


def _tokens(message: Message, count_tokens: CountTokens) -> int:
    return count_tokens(message.text) if message.tokens is None else message.tokens


def _refused(path: str, reason: str) -> RequestInvalid:
    return RequestInvalid(path=path, detail=f"{path}: {reason}")
