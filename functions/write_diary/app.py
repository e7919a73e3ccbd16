"""The diary's queue: plan, generate and store what is due."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from memoir import wiring
from memoir.contracts.jobs import Ring
from memoir.domain.receipt import Receipt
from memoir.edge.observe import Fact, count, scope_facts
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
        model_reasons=wiring.settings().model_reasons,
        events=wiring.events(),
        clock=time.time,
        sleep=time.sleep,
        lease_seconds=wiring.settings().lease_seconds,
        has_time=has_time,
    )
    receipts = write_diary(ports, job)
    for receipt in receipts:
        _count(receipt)
    last = receipts[-1]
    return {
        **scope_facts(ring.scope),
        "round": last.position.round,
        "outcome": last.outcome,
        "reason": last.reason,
    }


def _count(receipt: Receipt) -> None:
    """Count how models' answers were read, and what became of them, apart for each model."""
    if receipt.worker == "notification":
        count("notification.failed")
    elif "modelTries" in receipt.details:
        count(
            "diary.answered",
            generator=str(receipt.details.get("generator", "none")),
            parse_path=str(receipt.details.get("parsePath", "none")),
            result=receipt.reason if receipt.outcome == "failed" else "accepted",
        )


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Work through one batch of SQS."""

    def has_time() -> bool:
        two_tries_ms = 2 * wiring.settings().model_timeout_ms + RESERVE_MS
        return bool(context.get_remaining_time_in_millis() > two_tries_ms)

    return serve_batch(event, lambda ring: work(ring, has_time=has_time), worker="diary")
