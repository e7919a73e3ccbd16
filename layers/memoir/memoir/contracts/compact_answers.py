"""What a compaction answers."""

import json
from typing import TYPE_CHECKING, NotRequired, TypedDict

from memoir.contracts.answers import Answer, Spliced
from memoir.domain.compact.request import messages_text

if TYPE_CHECKING:
    from memoir.domain.compact.request import Compacted


class CheckpointAnswer(TypedDict):
    """The stored summary that an answer stands on, and the turns that it stands for."""

    revision: int
    coversTurns: int
    firstTurnId: str
    throughTurnId: str
    nextTurnId: str
    generator: str


class TokensAnswer(TypedDict):
    """How large the messages are. `estimated`: some count is not the host's own."""

    total: int
    limit: int
    estimated: bool
    tokenizer: str


class CompactAnswer(TypedDict):
    """A history within its budget, or as it was and why. `messages` as of the request."""

    status: str
    reason: NotRequired[str]
    summary: NotRequired[str]
    checkpoint: NotRequired[CheckpointAnswer]
    messages: list[dict[str, object]]
    tokens: TokensAnswer


def compact_answer(compacted: "Compacted") -> Answer:
    """Return what became of a history."""
    outcome = compacted.outcome
    body: CompactAnswer = {
        "status": str(outcome.status),
        "messages": [],
        "tokens": {
            "total": outcome.tokens,
            "limit": outcome.limit,
            "estimated": outcome.estimated,
            "tokenizer": compacted.tokenizer,
        },
    }
    if outcome.reason:
        body["reason"] = str(outcome.reason)
    checkpoint = outcome.checkpoint
    if checkpoint:
        body["summary"] = checkpoint.summary
        body["checkpoint"] = {
            "revision": compacted.revision,
            "coversTurns": checkpoint.count,
            "firstTurnId": checkpoint.first_turn_id,
            "throughTurnId": checkpoint.through_turn_id,
            "nextTurnId": checkpoint.next_turn_id,
            "generator": checkpoint.generator,
        }
    text = json.dumps({**body, "messages": None}, ensure_ascii=False, separators=(",", ":"))
    text = text.replace('"messages":null', f'"messages":{messages_text(outcome.messages)}', 1)
    facts: dict[str, str | int] = {
        "compact_status": str(outcome.status),
        "compact_reason": str(outcome.reason),
        "tokens": outcome.tokens,
        "model_calls": compacted.calls,
        "covers_turns": checkpoint.count if checkpoint else 0,
    }
    return Answer(body=Spliced(text), facts=facts)
