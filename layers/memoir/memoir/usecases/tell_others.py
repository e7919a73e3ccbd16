"""Tell others of an effect. That it failed is told in a receipt of its own and says nothing of the effect."""

from dataclasses import replace
from typing import Any, Literal

from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.errors import MemoirError
from memoir.ports import EventBus, ReceiptStore


def tell_others(
    events: EventBus,
    receipts: ReceiptStore,
    scope: Scope,
    kind: str,
    detail: dict[str, Any],
    *,
    of: Receipt,
    worker: Literal["refinement", "notification"],
) -> list[Receipt]:
    """Publish an event of *kind* for the effect that *of* tells of; return the receipt of a failure."""
    try:
        events.publish(kind, {"conversationId": scope.conversation, **detail})
    except MemoirError as error:
        failed = replace(
            of,
            worker=worker,
            outcome="failed",
            reason=error.code,
            revision_before=of.revision_after,
            details={},
        )
        receipts.note(scope, failed)
        return [failed]
    return []
