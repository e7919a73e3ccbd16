"""Diaries in DynamoDB: an item for each entry, a head that sorts behind them, a lease, and raw failures.

The head's key sorts behind every entry's, so that one query backwards reads the head and the newest entries,
however long the conversation is. A save is one transaction: entries, head, the lease given back, receipt.
"""

import json
import time
from collections.abc import Iterator
from secrets import token_urlsafe
from typing import Any

from memoir.adapters import keys
from memoir.adapters.dynamodb import (
    ConditionFailed,
    Item,
    ItemsBusy,
    batch_get,
    query,
    transact,
    write_item,
)
from memoir.adapters.packing import pack, unpack
from memoir.adapters.receipt_store import DynamoDbReceiptStore
from memoir.adapters.turn_item import read_head
from memoir.diary_ports import DiaryChange, DiaryView, Lease
from memoir.domain.diary.due.policy import DiaryQuota
from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.diary.record.entry import (
    DiaryEntry,
    DiaryHead,
    entry_as_plain,
    entry_from_plain,
    head_as_plain,
    head_from_plain,
)
from memoir.domain.scope import Scope
from memoir.errors import LeaseHeld, MemoirError, RecordCorrupt, RevisionConflict, StoreUnavailable
from memoir.ports import Clock

MAX_RAW_BYTES = 16 * 1024
_RAW_SECONDS = 7 * 86_400
_QUOTA_KEPT_SECONDS = 62 * 86_400

# Entries are read a few at a time: a recall wants five at most, and some may be stale.
_PAGE_ITEMS = 8
_ATTRIBUTE_BYTES = 100


class DynamoDbDiaryStore:
    """The DiaryStore port on one DynamoDB table."""

    def __init__(
        self,
        *,
        client: Any,
        table_name: str,
        receipts: DynamoDbReceiptStore,
        monthly_quota: int | None = None,
        clock: Clock = time.time,
    ) -> None:
        """Keep diaries in *table_name*, and their receipts in *receipts* of the same table.

        *monthly_quota*: how many diaries a user has in a calendar month (UTC); None is no limit.
        """
        self._client = client
        self._table_name = table_name
        self._receipts = receipts
        self._monthly_quota = monthly_quota
        self._clock = clock

    def look(self, scope: Scope, *, agent: AgentRef) -> DiaryView:
        """See `DiaryStore.look`. One BatchGetItem."""
        head, turns, quota = keys.diary_head(scope, agent), keys.turn_head(scope), self._quota_key(scope)
        wanted = [head, turns] if self._monthly_quota is None else [head, turns, quota]
        found = batch_get(self._client, table_name=self._table_name, keys=wanted)
        charged = found.get(quota["sk"]["S"], {})
        return DiaryView(
            head=_head(found.get(head["sk"]["S"])),
            turns=read_head(found.get(turns["sk"]["S"])),
            quota=DiaryQuota(used=int(charged.get("used", {}).get("N", "0")), limit=self._monthly_quota),
        )

    def newest(
        self, scope: Scope, *, agent: AgentRef, before_round: int | None = None
    ) -> Iterator[DiaryEntry | DiaryHead]:
        """See `DiaryStore.newest`. One Query for each eight entries that are taken."""
        last = keys.diary_head(scope, agent) if before_round is None else None
        for item in query(
            self._client,
            table_name=self._table_name,
            pk=keys.conversation_pk(scope),
            first=keys.diary_entry(scope, agent, 0)["sk"]["S"],
            last=(last or keys.diary_entry(scope, agent, (before_round or 1) - 1))["sk"]["S"],
            backwards=True,
            page_items=_PAGE_ITEMS,
        ):
            is_head = item["sk"]["S"] == keys.diary_head(scope, agent)["sk"]["S"]
            yield _head(item) if is_head else entry_from_plain(_plain(item))

    def take_lease(self, scope: Scope, *, agent: AgentRef, seconds: int) -> Lease:
        """See `DiaryStore.take_lease`. One UpdateItem."""
        now = int(self._clock())
        owner = token_urlsafe(9)
        try:
            answer = write_item(
                self._client,
                "update_item",
                TableName=self._table_name,
                Key=keys.diary_lease(scope, agent),
                UpdateExpression="SET lease_owner = :owner, leased_until = :until ADD fence :one",
                ConditionExpression="attribute_not_exists(pk) OR leased_until <= :now "
                "OR lease_owner = :owner",
                ExpressionAttributeValues={
                    ":owner": {"S": owner},
                    ":until": {"N": str(now + seconds)},
                    ":now": {"N": str(now)},
                    ":one": {"N": "1"},
                },
                ReturnValues="UPDATED_NEW",
            )
        except ConditionFailed as held:
            raise LeaseHeld(detail="another worker is writing this diary") from held
        return Lease(owner=owner, fence=int(answer["Attributes"]["fence"]["N"]))

    def release(self, scope: Scope, *, agent: AgentRef, lease: Lease) -> None:
        """See `DiaryStore.release`. One UpdateItem."""
        try:
            write_item(self._client, "update_item", **self._return_lease(scope, agent, lease))
        except (ConditionFailed, MemoirError):
            return

    def save(self, scope: Scope, *, agent: AgentRef, change: DiaryChange) -> None:
        """See `DiaryStore.save`. One TransactWriteItems."""
        writes = [self._put_head(scope, agent, change)]
        writes += [self._put_entry(scope, agent, entry) for entry in change.put]
        ends = {entry.last_round for entry in change.put}
        writes += [
            {
                "Delete": {
                    "TableName": self._table_name,
                    "Key": keys.diary_entry(scope, agent, entry.last_round),
                }
            }
            for entry in change.removed
            if entry.last_round not in ends
        ]
        if change.lease:
            writes.append({"Update": self._return_lease(scope, agent, change.lease)})
        if change.charges_quota and self._monthly_quota is not None:
            writes.append(self._charge(scope))
        if change.receipt:
            writes.append(self._receipts.put_write(scope, change.receipt))
        try:
            transact(self._client, writes)
        except ConditionFailed as moved:
            raise RevisionConflict(
                expected_revision=change.before.version,
                current_revision=_version(moved.item),
                detail="the diary moved, or its lease was lost; nothing was written",
            ) from moved
        except ItemsBusy as busy:
            raise StoreUnavailable(detail="another write held the diary; nothing was written") from busy

    def keep_raw(self, scope: Scope, *, agent: AgentRef, last_round: int, text: str) -> None:
        """See `DiaryStore.keep_raw`. One PutItem."""
        raw = text.encode()[:MAX_RAW_BYTES].decode(errors="ignore")
        item = {
            **keys.diary_raw(scope, agent, last_round),
            "body": pack(raw, beside_bytes=_ATTRIBUTE_BYTES),
            "expires_at": {"N": str(int(self._clock()) + _RAW_SECONDS)},
        }
        try:
            write_item(self._client, "put_item", TableName=self._table_name, Item=item)
        except ConditionFailed:  # it has no condition
            return

    def _put_head(self, scope: Scope, agent: AgentRef, change: DiaryChange) -> Item:
        unmoved = "attribute_not_exists(pk)" if change.before.version == 0 else "version = :before"
        write: Item = {
            "TableName": self._table_name,
            "Item": {
                **keys.diary_head(scope, agent),
                "version": {"N": str(change.after.version)},
                "body": _packed(head_as_plain(change.after)),
            },
            "ConditionExpression": unmoved,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if change.before.version:
            write["ExpressionAttributeValues"] = {":before": {"N": str(change.before.version)}}
        return {"Put": write}

    def _put_entry(self, scope: Scope, agent: AgentRef, entry: DiaryEntry) -> Item:
        item = {
            **keys.diary_entry(scope, agent, entry.last_round),
            "body": _packed(entry_as_plain(entry)),
        }
        return {"Put": {"TableName": self._table_name, "Item": item}}

    def _quota_key(self, scope: Scope) -> keys.Key:
        return keys.diary_quota(scope, time.strftime("%Y-%m", time.gmtime(self._clock())))

    def _charge(self, scope: Scope) -> Item:
        return {
            "Update": {
                "TableName": self._table_name,
                "Key": self._quota_key(scope),
                "UpdateExpression": "ADD used :one SET expires_at = :later",
                "ExpressionAttributeValues": {
                    ":one": {"N": "1"},
                    ":later": {"N": str(int(self._clock()) + _QUOTA_KEPT_SECONDS)},
                },
            }
        }

    def _return_lease(self, scope: Scope, agent: AgentRef, lease: Lease) -> Item:
        return {
            "TableName": self._table_name,
            "Key": keys.diary_lease(scope, agent),
            "UpdateExpression": "SET leased_until = :none",
            "ConditionExpression": "lease_owner = :owner AND fence = :fence",
            "ExpressionAttributeValues": {
                ":none": {"N": "0"},
                ":owner": {"S": lease.owner},
                ":fence": {"N": str(lease.fence)},
            },
        }


def _packed(value: dict[str, Any]) -> Item:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return pack(text, beside_bytes=_ATTRIBUTE_BYTES)


def _plain(item: Item) -> dict[str, Any]:
    try:
        value = json.loads(unpack(item.get("body")))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RecordCorrupt(detail="a stored diary record is not a JSON object; it is kept as it is")
    return value


def _head(item: Item | None) -> DiaryHead:
    return head_from_plain(_plain(item)) if item else DiaryHead()


def _version(item: Item | None) -> int:
    return int(item.get("version", {}).get("N", "0")) if item else 0
