"""Tell others of an effect. That it failed is told in a receipt of its own and says nothing of the effect."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.errors import MemoirError

if TYPE_CHECKING:
    from memoir.usecases.worker import WorkerPorts


def whose(scope: Scope) -> dict[str, Any]:
    """Return what every event says of the conversation that it is about."""
    return {"product": scope.product, "user": scope.user, "conversationId": scope.conversation}


def tell_others(
    ports: "WorkerPorts", scope: Scope, kind: str, detail: dict[str, Any], *, of: Receipt, worker: str
) -> list[Receipt]:
    """Publish an event of *kind* for the effect that *of* tells of; return the receipt of a failure."""
    try:
        ports.events.publish(kind, {**whose(scope), **detail})
    except MemoirError as error:
        failed = replace(
            of,
            worker=worker,
            outcome="failed",
            reason=error.code,
            revision_before=of.revision_after,
            details={},
        )
        ports.engine.note(scope, failed)
        return [failed]
    return []
