"""The diary's queue: plan, generate and store what is due."""

import time
from collections.abc import Mapping
from typing import Any

from memoir import wiring
from memoir.contracts.jobs import Ring
from memoir.edge.observe import Fact, scope_facts
from memoir.edge.sqs import serve_batch
from memoir.usecases.diary_work import DiaryPorts, diary_work
from memoir.usecases.write_diary import write_diary


def work(ring: Ring) -> Mapping[str, Fact]:
    """Write the diary of one conversation, if one is due."""
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
    )
    receipt = write_diary(ports, job)
    return {
        **scope_facts(ring.scope),
        "round": receipt.position.round,
        "outcome": receipt.outcome,
        "reason": receipt.reason,
    }


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Work through one batch of SQS."""
    return serve_batch(event, work, worker="diary")
