"""The chat history in a prompt: what belongs together, and how much of it fits."""

from collections.abc import Sequence
from dataclasses import dataclass

from memoir.domain.tokens.estimate import MESSAGE_TOKENS, estimate_tokens


@dataclass(frozen=True, kw_only=True)
class HistoryMessage:
    """One message as the host gave it, or as its turn is stored.

    `tokens`: as the host counted them. `tool_calls`: JSON text of the calls that an assistant makes;
    `tool_call_id`: of the call that a tool's message answers.
    """

    role: str
    content: str
    tokens: int | None = None
    turn_id: str | None = None
    tool_calls: str | None = None
    tool_call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Group:
    """Messages that stay or go together: of one turn, or a tool call and its answers."""

    messages: tuple[HistoryMessage, ...]
    tokens: int


def message_tokens(content: str, *, tokenizer: str) -> int:
    """Return about how many tokens a message of that content takes, its role and marks included."""
    return estimate_tokens(content, tokenizer=tokenizer) + MESSAGE_TOKENS


def history_groups(messages: Sequence[HistoryMessage], *, tokenizer: str) -> tuple[Group, ...]:
    """Return *messages* in groups, in their order. Where the host has counted tokens, its count holds."""
    grouped: list[list[HistoryMessage]] = []
    for message in messages:
        if grouped and _belongs_to(message, grouped[-1][-1]):
            grouped[-1].append(message)
        else:
            grouped.append([message])
    return tuple(
        Group(messages=tuple(group), tokens=sum(_tokens(message, tokenizer) for message in group))
        for group in grouped
    )


def needed_from(groups: Sequence[Group]) -> int:
    """Return the index of the first group that is never left out: the newest user message's."""
    for index in range(len(groups) - 1, -1, -1):
        if any(message.role == "user" for message in groups[index].messages):
            return index
    return len(groups)


def first_that_fits(groups: Sequence[Group], *, room: int) -> int | None:
    """Return the index of the oldest group from which on all fit into *room* tokens.

    At most the groups before the newest user message are left out; None where that is not enough.
    """
    tokens = sum(group.tokens for group in groups)
    for index in range(needed_from(groups) + 1):
        if tokens <= room:
            return index
        if index < len(groups):
            tokens -= groups[index].tokens
    return None


def _belongs_to(message: HistoryMessage, before: HistoryMessage) -> bool:
    same_turn = message.turn_id is not None and message.turn_id == before.turn_id
    return same_turn or message.role == "tool"


def _tokens(message: HistoryMessage, tokenizer: str) -> int:
    if message.tokens is not None:
        return message.tokens
    return message_tokens(message.content + (message.tool_calls or ""), tokenizer=tokenizer)
