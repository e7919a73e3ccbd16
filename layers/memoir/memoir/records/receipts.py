"""Receipts: a record for each worker and version of a round, written with the effect that it tells of."""

import json
from typing import get_args

from memoir.domain.receipt import Outcome, Receipt
from memoir.domain.scope import Scope
from memoir.domain.turns import Position
from memoir.errors import RecordCorrupt
from memoir.ports.records import ABSENT, Put, Record, RecordKey, stands
from memoir.records.positions import position_name

_SECONDS_A_DAY = 86_400

_OUTCOMES: dict[str, Outcome] = {outcome: outcome for outcome in get_args(Outcome)}


def receipt_write(scope: Scope, receipt: Receipt, *, now: float, kept_days: int) -> Put:
    """Return the write of *receipt*, for the transaction of the effect that it tells of."""
    record = Record(
        facts={
            "worker": receipt.worker,
            "turn_id": receipt.turn_id,
            "outcome": receipt.outcome,
            "reason": receipt.reason,
            "revision_before": receipt.revision_before,
            "revision_after": receipt.revision_after,
            "created_at": receipt.created_at,
        },
        body=json.dumps(receipt.details, ensure_ascii=False, separators=(",", ":")),
        expires_at=int(now) + kept_days * _SECONDS_A_DAY,
    )
    key = RecordKey(owner=scope, kind="receipt", name=(*position_name(receipt.position), receipt.worker))
    return Put(key=key, record=record)


def receipt_note(scope: Scope, receipt: Receipt, *, now: float, kept_days: int) -> Put:
    """Return the write of the receipt of no effect: it replaces that of a failure and no other."""
    put = receipt_write(scope, receipt, now=now, kept_days=kept_days)
    return Put(key=put.key, record=put.record, when=(*ABSENT, *stands(outcome="failed")))


def read_receipt(name: tuple[str, ...], record: Record) -> Receipt:
    """Return the receipt that is stored under *name*. Raises RecordCorrupt."""
    try:
        return Receipt(
            worker=record.text("worker"),
            position=Position(round=int(name[0]), version=int(name[1])),
            turn_id=record.text("turn_id"),
            outcome=_OUTCOMES[record.text("outcome")],
            reason=record.text("reason"),
            revision_before=record.number("revision_before"),
            revision_after=record.number("revision_after"),
            created_at=record.text("created_at"),
            details=json.loads(record.body or ""),
        )
    except (ValueError, KeyError, IndexError):
        raise RecordCorrupt(detail="a stored receipt breaks its own rules; it is kept as it is") from None
