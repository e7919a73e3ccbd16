"""What a host asks of a compaction, and how messages are written in the answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memoir.domain.compact.history import Message
from memoir.domain.compact.plan import Outcome
from memoir.domain.revision import NONE_YET, Revision


@dataclass(frozen=True, kw_only=True)
class CompactRequest:
    """A history and its budget in tokens. *messages* None: the newest *history_turns* that are stored."""

    messages: tuple[Message, ...] | None
    history_turns: int
    token_budget: int
    scenario_id: str | None
    tokenizer: str | None = None


@dataclass(frozen=True, kw_only=True)
class Compacted:
    """What a host is answered. `revision`: of the checkpoint. `calls`: how often the model was asked."""

    outcome: Outcome
    tokenizer: str
    revision: Revision = NONE_YET
    calls: int = 0


def messages_text(messages: Sequence[Message]) -> str:
    """Return *messages* as the JSON text of a list, each with the members that it was given."""
    return f"[{','.join(map(_message_text, messages))}]"


def _message_text(message: Message) -> str:
    members: dict[str, object] = {"role": message.role, "content": message.content}
    if message.turn_id is not None or message.is_summary:
        members = {"turnId": message.turn_id, **members}
    for name, value in (
        ("tokens", message.tokens),
        ("coversTurns", message.covers_turns),
        ("toolCallId", message.tool_call_id),
    ):
        if value is not None:
            members[name] = value
    text = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    return text if message.tool_calls is None else f'{text[:-1]},"toolCalls":{message.tool_calls}}}'
