"""The table's queue: apply the edits that stand in new replies."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from memoir import wiring
from memoir.contracts.jobs import Ring
from memoir.edge.observe import Fact, count, scope_facts
from memoir.edge.sqs import serve_batch
from memoir.usecases.edit_table import TablePorts, edit_table

# One turn is one read and one write of at most 15 s together.
RESERVE_MS = 15_000


def work(ring: Ring, *, has_time: Callable[[], bool]) -> Mapping[str, Fact]:
    """Bring the table of one conversation up to its newest turn."""
    ports = TablePorts(
        tables=wiring.tables(),
        turns=wiring.turns(),
        receipts=wiring.receipts(),
        events=wiring.events(),
        clock=time.time,
        has_time=has_time,
    )
    receipts = edit_table(ports, scope=ring.scope, rung=ring.turn)
    saved = [receipt for receipt in receipts if receipt.outcome == "ok"]
    for _ in filter(lambda receipt: receipt.worker == "refinement", receipts):
        count("refinement.failed")
    return {
        **scope_facts(ring.scope),
        "turns": len(receipts),
        "saved": len(saved),
        "revision_after": receipts[-1].revision_after if receipts else None,
    }


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Work through one batch of SQS."""

    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > RESERVE_MS)

    return serve_batch(event, lambda ring: work(ring, has_time=has_time), worker="table")
