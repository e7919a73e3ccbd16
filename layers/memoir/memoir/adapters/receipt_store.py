"""Receipts in DynamoDB: an item each, written with the effect that it tells of, kept for some days."""

import json
import time
from typing import Any

from memoir.adapters import keys
from memoir.adapters.dynamodb import ConditionFailed, Item, query, write_item
from memoir.adapters.packing import pack, unpack
from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.errors import RecordCorrupt
from memoir.ports import Clock

_SECONDS_A_DAY = 86_400
_ATTRIBUTE_BYTES = 150


class DynamoDbReceiptStore:
    """The ReceiptStore port on one DynamoDB table."""

    def __init__(self, *, client: Any, table_name: str, kept_days: int, clock: Clock = time.time) -> None:
        """Keep receipts in *table_name* for *kept_days*."""
        self._client = client
        self._table_name = table_name
        self._kept_days = kept_days
        self._clock = clock

    def put_write(self, scope: Scope, receipt: Receipt) -> Item:
        """Return the write of *receipt* for the transaction of the effect that it tells of."""
        return {"Put": {"TableName": self._table_name, "Item": self._item(scope, receipt)}}

    def note(self, scope: Scope, receipt: Receipt) -> None:
        """See `ReceiptStore.note`. One PutItem."""
        try:
            write_item(
                self._client,
                "put_item",
                TableName=self._table_name,
                Item=self._item(scope, receipt),
                ConditionExpression="attribute_not_exists(pk) OR outcome = :failed",
                ExpressionAttributeValues={":failed": {"S": "failed"}},
            )
        except ConditionFailed:
            return  # the turn has its receipt

    def page(self, scope: Scope, *, before: str | None, limit: int) -> tuple[tuple[Receipt, str], ...]:
        """See `ReceiptStore.page`. One Query."""
        found: list[tuple[Receipt, str]] = []
        for item in query(
            self._client,
            table_name=self._table_name,
            pk=keys.conversation_pk(scope),
            first=keys.FIRST_RECEIPT_SK,
            last=before or keys.LAST_RECEIPT_SK,
            backwards=True,
            page_items=limit + 1,
        ):
            sk = item["sk"]["S"]
            if sk == before or float(item["expires_at"]["N"]) <= self._clock():
                continue
            found.append((_receipt(item), sk))
            if len(found) == limit:
                break
        return tuple(found)

    def _item(self, scope: Scope, receipt: Receipt) -> Item:
        details = json.dumps(receipt.details, ensure_ascii=False, separators=(",", ":"))
        expires_at = int(self._clock()) + self._kept_days * _SECONDS_A_DAY
        return {
            **keys.receipt(scope, receipt),
            "worker": {"S": receipt.worker},
            "turn_id": {"S": receipt.turn_id},
            "outcome": {"S": receipt.outcome},
            "reason": {"S": receipt.reason},
            "revision_before": {"N": str(receipt.revision_before)},
            "revision_after": {"N": str(receipt.revision_after)},
            "created_at": {"S": receipt.created_at},
            "body": pack(details, beside_bytes=_ATTRIBUTE_BYTES),
            "expires_at": {"N": str(expires_at)},
        }


def _receipt(item: Item) -> Receipt:
    try:
        return Receipt(
            worker=item["worker"]["S"],
            position=keys.read_receipt_sk(item["sk"]["S"]),
            turn_id=item["turn_id"]["S"],
            outcome=item["outcome"]["S"],
            reason=item["reason"]["S"],
            revision_before=int(item["revision_before"]["N"]),
            revision_after=int(item["revision_after"]["N"]),
            created_at=item["created_at"]["S"],
            details=json.loads(unpack(item["body"])),
        )
    except (KeyError, ValueError):
        raise RecordCorrupt(detail="a stored receipt breaks its own rules; it is kept as it is") from None
