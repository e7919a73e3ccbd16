"""The JSON memory of one conversation: one object, replaced whole, never merged."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memoir.domain.json_document import JsonDocument, json_document
from memoir.domain.revision import Revision
from memoir.errors import UpdateRefused

BeforeUpdate = Callable[[dict[str, Any]], object]
"""A product's own check of a new memory. It raises to refuse; what it returns is ignored."""


@dataclass(frozen=True, kw_only=True)
class MemoryRecord:
    """A memory and its revision. No memory yet is revision 0 with None; `{}` is a memory."""

    revision: Revision
    memory: JsonDocument | None


def memory_document(value: object, *, text: str | None = None) -> JsonDocument:
    """Return *value* as a memory: a JSON object of at most 65,536 bytes and 32 levels."""
    return json_document(value, name="memory", text=text)


def ask_before_update(before_update: BeforeUpdate | None, memory: JsonDocument) -> None:
    """Let the product refuse *memory*. The check gets a copy: what it changes is not stored.

    Raises UpdateRefused with what the check said.
    """
    if before_update is None:
        return
    try:
        before_update(memory.fresh_value())
    except UpdateRefused:
        raise
    except Exception as refusal:
        reason = str(refusal) or type(refusal).__name__
        raise UpdateRefused(reason=reason, detail=f"the update was refused: {reason}") from refusal
