"""The state's queue: bring the state up to new turns."""

from typing import Any

from memoir import wiring
from memoir.edge.workers import follow
from memoir.usecases.write_state import write_state

# What is around the two tries of a model: reads, and the save.
RESERVE_MS = 20_000


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Work through one batch of SQS."""
    return follow(
        event,
        context,
        lambda ring, has_time: write_state(wiring.state_worker(has_time), scope=ring.scope, rung=ring.turn),
        worker="state",
        reserve_ms=2 * wiring.settings().model_timeout_ms + RESERVE_MS,
        postpone=wiring.postpone,
    )
