"""JSON documents in DynamoDB: one item a document, one request a read, one request a write.

A write names itself in the item. `w<revision % 16>` holds the token of the write that made that revision, so
the item tells the last 16 writes. The timeline that needs it:

    us        UpdateItem, revision 7 -> 8 ......................... executed, answer lost
    SDK       the same UpdateItem again -> condition fails: revision is 8, not 7
    DynamoDB  returns the item with the failure (ALL_OLD), w8 = our token
    us        success, revision 8: not a false conflict, no second request

An `Idempotency-Key` is such a token too, so the caller's own retry finds its first receipt the same way.
"""

import time
from typing import Any

from memoir.adapters.dynamodb import (
    ConditionFailed,
    Item,
    ItemsBusy,
    read_item,
    read_revision,
    transact,
    write_item,
)
from memoir.adapters.keys import document_key
from memoir.adapters.packing import pack, unpack
from memoir.domain.json_document import JsonDocument
from memoir.domain.revision import NONE_YET, Revision
from memoir.domain.write_token import NAME_CHARACTERS, WriteToken
from memoir.errors import (
    IdempotencyKeyReused,
    MemoirError,
    RecordCorrupt,
    RevisionConflict,
    StoreUnavailable,
    WriteOutcomeUnknown,
)
from memoir.ports import Clock, DocumentKey, StoredDocument
from memoir.strict_json import read_json

REMEMBERED_WRITES = 16

# Names and values of the attributes beside the body and the keys.
_ATTRIBUTE_BYTES = 32 + REMEMBERED_WRITES * (len("w15") + NAME_CHARACTERS)

_NOT_EXPIRED = "(attribute_not_exists(expires_at) OR expires_at > :now)"


class DynamoDbDocumentStore:
    """The DocumentStore port on one DynamoDB table."""

    def __init__(self, *, client: Any, table_name: str, clock: Clock = time.time) -> None:
        """Use *table_name* through *client*, a low-level client of `memoir.adapters.aws`."""
        self._client = client
        self._table_name = table_name
        self._clock = clock

    def read(self, key: DocumentKey) -> StoredDocument | None:
        """See `DocumentStore.read`. One GetItem."""
        return self.stored(read_item(self._client, table_name=self._table_name, key=document_key(key)))

    def stored(self, item: Item | None) -> StoredDocument | None:
        """Return the document that *item* holds, None for no item or an expired one. Raises RecordCorrupt."""
        if item is None or self._expired(item):
            return None
        return StoredDocument(revision=read_revision(item), document=_document(item))

    def replace(
        self,
        key: DocumentKey,
        *,
        expected: Revision,
        document: JsonDocument,
        token: WriteToken,
        beside: tuple[Item, ...] = (),
    ) -> Revision:
        """See `DocumentStore.replace`. One PutItem or UpdateItem, also when it conflicts.

        *beside*: further writes that happen with this one or not at all; then it is one TransactWriteItems.
        """
        keys = document_key(key)
        beside_bytes = sum(len(value["S"]) for value in keys.values()) + _ATTRIBUTE_BYTES
        body = pack(document.text, beside_bytes=beside_bytes)
        if expected == NONE_YET:
            write = self._create(keys, body=body, token=token)
        else:
            write = self._update(keys, expected=expected, body=body, token=token)
        try:
            if beside:
                write["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
                operation = "Put" if expected == NONE_YET else "Update"
                transact(self._client, [{operation: write}, *beside])
            else:
                operation = "put_item" if expected == NONE_YET else "update_item"
                write_item(self._client, operation, **write)
        except ItemsBusy as busy:
            raise StoreUnavailable(detail="another write held the document; nothing was written") from busy
        except ConditionFailed as failure:
            return self._settle(failure, expected=expected, token=token)
        return Revision(expected + 1)

    def _create(self, keys: Item, *, body: Item, token: WriteToken) -> Item:
        # TTL deletes late: an expired item is no item, and PutItem clears all that it held.
        return {
            "TableName": self._table_name,
            "Item": {**keys, "revision": {"N": "1"}, "body": body, _slot(1): {"S": _written(token)}},
            "ConditionExpression": "attribute_not_exists(pk) OR expires_at <= :now",
            "ExpressionAttributeValues": {":now": self._now()},
        }

    def _update(self, keys: Item, *, expected: Revision, body: Item, token: WriteToken) -> Item:
        condition = f"revision = :expected AND {_NOT_EXPIRED}"
        values = {
            ":expected": {"N": str(expected)},
            ":revision": {"N": str(expected + 1)},
            ":body": body,
            ":written": {"S": _written(token)},
            ":now": self._now(),
        }
        if token.body_hash:  # a key that the caller chose may have been used for an earlier write
            values[":name"] = {"S": token.name}
            used = " OR ".join(f"begins_with({_slot(n)}, :name)" for n in range(REMEMBERED_WRITES))
            condition += f" AND NOT ({used})"
        return {
            "TableName": self._table_name,
            "Key": keys,
            "UpdateExpression": f"SET revision = :revision, body = :body, {_slot(expected + 1)} = :written",
            "ConditionExpression": condition,
            "ExpressionAttributeValues": values,
        }

    def _settle(self, failure: ConditionFailed, *, expected: Revision, token: WriteToken) -> Revision:
        """Return the revision of our own write if the stored item shows it, else raise what it shows."""
        item = failure.item
        if item is None or self._expired(item):
            raise _conflict(expected=expected, current=NONE_YET)
        current = read_revision(item)
        for revision in range(current, max(0, current - REMEMBERED_WRITES), -1):
            written = item.get(_slot(revision), {}).get("S", "")
            if written[:NAME_CHARACTERS] == token.name:
                if written[NAME_CHARACTERS:] == token.body_hash:
                    return Revision(revision)
                raise IdempotencyKeyReused(detail="this idempotency key stands for a write with another body")
        if failure.after_ambiguous_send and current - expected > REMEMBERED_WRITES:
            # Ours may have been executed and then pushed out by the 16 writes after it.
            raise WriteOutcomeUnknown(detail="too many writes followed to tell whether this one was executed")
        raise _conflict(expected=expected, current=current)

    def _expired(self, item: Item) -> bool:
        expires_at = item.get("expires_at", {}).get("N")
        return expires_at is not None and float(expires_at) <= self._clock()

    def _now(self) -> Item:
        return {"N": str(int(self._clock()))}


def _slot(revision: int) -> str:
    return f"w{revision % REMEMBERED_WRITES}"


def _written(token: WriteToken) -> str:
    return token.name + token.body_hash


def _conflict(*, expected: Revision, current: Revision) -> RevisionConflict:
    return RevisionConflict(
        expected_revision=expected,
        current_revision=current,
        detail=f"the write was based on revision {expected}, the current one is {current}",
    )


def _document(item: Item) -> JsonDocument:
    text = unpack(item.get("body"))
    try:
        value = read_json(text.encode())
    except MemoirError:
        value = None
    if not isinstance(value, dict):
        raise RecordCorrupt(detail="a stored document is not a JSON object; it is kept as it is")
    return JsonDocument(text=text, value=value, size_bytes=len(text.encode()))
