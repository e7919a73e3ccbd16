"""Records in DynamoDB: an item each, facts as attributes, the body compressed where that pays.

A write names itself in the item (`written`), or its facts do. The timeline that needs it:

    us        UpdateItem, revision 7 -> 8 ......................... executed, answer lost
    SDK       the same UpdateItem again -> condition fails: revision is 8, not 7
    DynamoDB  returns the item with the failure (ALL_OLD), and it names our write
    us        success: not a false conflict, no second request

DynamoDB itself recognises the SDK's repeat of a transaction by its request token.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memoir.adapters import dynamodb
from memoir.adapters.expressions import Expressions, Item, attribute
from memoir.adapters.keys import item_key, name_of, partition, sort_key
from memoir.adapters.packing import pack, unpack
from memoir.ports.clock import Clock
from memoir.ports.records import Amend, Check, Fact, Found, Owner, Put, Record, RecordKey, Refused, Write

_OPERATIONS = {"Put": "put_item", "Update": "update_item", "Delete": "delete_item"}
_NO_FACTS = frozenset({"pk", "sk", "body", "expires_at", "written"})


class DynamoDbRecords:
    """The Records port on one DynamoDB table."""

    def __init__(
        self,
        *,
        client: Any,
        table_name: str,
        clock: Clock = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Use *table_name* through *client*, a low-level client of `memoir.adapters.aws`."""
        self._client = client
        self._table_name = table_name
        self._clock = clock
        self._sleep = sleep

    def read(self, *keys: RecordKey) -> Found:
        """See `Records.read`. One GetItem or BatchGetItem."""
        wanted = {key: item_key(key) for key in dict.fromkeys(keys)}
        items = dynamodb.get_items(
            self._client,
            table_name=self._table_name,
            keys=list(wanted.values()),
        )
        by_place = {_place(item): item for item in items}
        found: dict[RecordKey, Record] = {}
        for key, place in wanted.items():
            item = by_place.get(_place(place))
            if item is not None and not self._expired(item):
                found[key] = _record(item)
        return found

    def walk(
        self,
        owner: Owner,
        kind: str,
        *,
        first: tuple[str, ...] = (),
        last: tuple[str, ...] = ("~",),
        backwards: bool = False,
        page: int = 100,
    ) -> Iterator[tuple[tuple[str, ...], Record]]:
        """See `Records.walk`. One Query for each *page* records or MiB."""
        for item in dynamodb.query(
            self._client,
            table_name=self._table_name,
            pk=partition(owner, kind),
            first=sort_key(owner, kind, first),
            last=sort_key(owner, kind, last),
            page_items=page,
            backwards=backwards,
        ):
            if not self._expired(item):
                yield name_of(owner, kind, item["sk"]["S"]), _record(item)

    def write(self, *writes: Write) -> None:
        """See `Records.write`. One request: a single write alone, several as one TransactWriteItems."""
        if len(writes) == 1:
            self._write_one(writes[0])
            return
        try:
            dynamodb.transact(self._client, [self._action(write) for write in writes], sleep=self._sleep)
        except dynamodb.ConditionFailed as failure:
            held = {
                write.label: self._held(failure.items[index])
                for index, write in enumerate(writes)
                if index in failure.items
            }
            raise Refused(held) from failure

    def _write_one(self, write: Write) -> None:
        token = "" if write.remembers else secrets.token_urlsafe(9)
        ((operation, parameters),) = self._action(write, written=token).items()
        try:
            dynamodb.write_item(self._client, _OPERATIONS[operation], sleep=self._sleep, **parameters)
        except dynamodb.ConditionFailed as failure:
            item = failure.items[0]
            if token and item is not None and item.get("written") == {"S": token}:
                return  # an earlier send of this very write
            raise Refused(
                {write.label: self._held(item)}, maybe_executed=failure.after_ambiguous_send
            ) from failure

    def _action(self, write: Write, *, written: str = "") -> Item:
        """Return *write* as an action of TransactWriteItems."""
        expressions = Expressions(now=int(self._clock()))
        expressions.require(write.when)
        key = item_key(write.key)
        mark: dict[str, Fact] = {"written": written} if written else {}
        action: Item = {"TableName": self._table_name}
        if isinstance(write, Put):
            operation = "Put"
            action["Item"] = _item(key, write.record, {**write.record.facts, **mark})
        else:
            operation = "Delete"
            action["Key"] = key
        if isinstance(write, Amend):
            operation = "Update"
            facts = {**write.facts, **mark}
            body = None
            if write.body is not None:
                body = pack(write.body, beside_bytes=_size(key, facts))
            expressions.change(write, facts=facts, body=body)
        elif isinstance(write, Check):
            operation = "ConditionCheck"
        action |= expressions.parameters()
        if write.when:
            action["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return {operation: action}

    def _held(self, item: Item | None) -> Record | None:
        return None if item is None or self._expired(item) else _record(item)

    def _expired(self, item: Item) -> bool:
        expires_at = item.get("expires_at", {}).get("N")
        return expires_at is not None and float(expires_at) <= self._clock()


def _place(item: Item) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def _item(key: Mapping[str, Item], record: Record, facts: Mapping[str, Fact]) -> Item:
    item: Item = {**key, **{name: attribute(value) for name, value in facts.items()}}
    if record.body is not None:
        item["body"] = pack(record.body, beside_bytes=_size(key, facts))
    if record.expires_at is not None:
        item["expires_at"] = attribute(record.expires_at)
    return item


def _size(key: Mapping[str, Item], facts: Mapping[str, Fact]) -> int:
    """Return about how many bytes an item takes beside its body."""
    ids = sum(len(value["S"]) for value in key.values())
    return 40 + ids + sum(len(name) + len(str(value).encode()) for name, value in facts.items())


def _record(item: Item) -> Record:
    facts: dict[str, Fact] = {}
    for name, value in item.items():
        if name not in _NO_FACTS:
            ((kind, content),) = value.items()
            if kind in ("S", "BOOL"):
                facts[name] = content
            elif kind == "N" and content.removeprefix("-").isdigit():
                facts[name] = int(content)
    expires_at = item.get("expires_at", {}).get("N")
    return Record(
        facts=facts,
        body=unpack(item.get("body")),
        expires_at=None if expires_at is None else int(float(expires_at)),
    )
