"""A worker's function: rings in, receipts out, one log line each and counts of what went wrong."""

from collections.abc import Callable, Mapping
from typing import Any

from memoir.contracts.jobs import Ring
from memoir.domain.receipt import Receipt
from memoir.edge.observe import Fact, count, scope_facts
from memoir.edge.sqs import Postpone, serve_batch

Follow = Callable[[Ring, Callable[[], bool]], list[Receipt]]
"""What a worker does for a ring, as long as it has time."""


def follow(
    event: Mapping[str, Any],
    context: Any,
    work: Follow,
    *,
    worker: str,
    reserve_ms: int,
    postpone: Postpone,
) -> dict[str, Any]:
    """Run *work* for each ring of a batch. *reserve_ms*: what one more turn may take."""

    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > reserve_ms)

    def run(ring: Ring) -> Mapping[str, Fact]:
        receipts = work(ring, has_time)
        for receipt in receipts:
            _count(receipt)
        own = [receipt for receipt in receipts if receipt.worker == worker]
        return {
            **scope_facts(ring.scope),
            "turns": len(own),
            "saved": sum(receipt.outcome == "ok" for receipt in own),
            "outcome": own[-1].outcome if own else None,
            "reason": own[-1].reason if own else None,
            "round": own[-1].position.round if own else None,
            "revision_after": own[-1].revision_after if own else None,
        }

    return serve_batch(event, run, worker=worker, postpone=postpone, has_time=has_time)


def _count(receipt: Receipt) -> None:
    """Count events that were not told, and how answers of models were read, apart for each model."""
    if receipt.worker in ("notification", "refinement"):
        count(f"{receipt.worker}.failed")
    elif "modelTries" in receipt.details:
        count(
            f"{receipt.worker}.answered",
            generator=str(receipt.details.get("generator", "none")),
            parse_path=str(receipt.details.get("parsePath", "none")),
            result=receipt.reason if receipt.outcome == "failed" else "accepted",
        )
