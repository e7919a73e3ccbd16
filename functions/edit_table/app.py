"""The table's queue: apply the edits that stand in new replies."""

from typing import Any

from memoir import wiring
from memoir.edge.workers import follow
from memoir.usecases.edit_table import edit_table

# One turn is one read and one write of at most 15 s together.
RESERVE_MS = 15_000


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Work through one batch of SQS."""
    return follow(
        event,
        context,
        lambda ring, has_time: edit_table(wiring.worker(has_time), scope=ring.scope, rung=ring.turn),
        worker="table",
        reserve_ms=RESERVE_MS,
        postpone=wiring.postpone,
    )
