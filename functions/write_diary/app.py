"""The diary's queue: plan, generate and store what is due."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from memoir import wiring
from memoir.contracts.jobs import Ring
from memoir.edge.observe import Fact, scope_facts
from memoir.edge.sqs import serve_batch
from memoir.usecases.diary_work import DiaryPorts, diary_work
from memoir.usecases.write_diary import write_diary

# What is around the two tries of a model: reads, and the save.
RESERVE_MS = 20_000


def work(ring: Ring, *, has_time: Callable[[], bool]) -> Mapping[str, Fact]:
    """Write the diaries of one conversation that are due."""
    job = diary_work(scope=ring.scope, turn=ring.turn)
    if job is None:
        return {**scope_facts(ring.scope), "outcome": "skipped", "reason": "no_source"}
    ports = DiaryPorts(
        diaries=wiring.diaries(),
        turns=wiring.turns(),
        receipts=wiring.receipts(),
        model=wiring.language_model(),
        clock=time.time,
        sleep=time.sleep,
        lease_seconds=wiring.settings().lease_seconds,
        has_time=has_time,
    )
    last = write_diary(ports, job)[-1]
    return {
        **scope_facts(ring.scope),
        "round": last.position.round,
        "outcome": last.outcome,
        "reason": last.reason,
    }


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Work through one batch of SQS."""

    def has_time() -> bool:
        two_tries_ms = 2 * wiring.settings().model_timeout_ms + RESERVE_MS
        return bool(context.get_remaining_time_in_millis() > two_tries_ms)

    return serve_batch(event, lambda ring: work(ring, has_time=has_time), worker="diary")
