"""Records in memory, faithful to their port, and a wrapper that lets a test step in between."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from memoir.adapters.keys import item_key, name_of, partition, sort_key
from memoir.adapters.packing import pack
from memoir.errors import StoreMisused
from memoir.ports.clock import Clock
from memoir.ports.records import (
    Absent,
    Amend,
    Condition,
    Found,
    Is,
    Owner,
    Put,
    Record,
    RecordKey,
    Records,
    Refused,
    Remove,
    Stands,
    Write,
)

MAX_WRITES = 100

Place = tuple[str, str]
"""Partition and sort key: the store's own, so that order and collisions are the store's own too."""


@dataclass
class InMemoryRecords:
    """The Records port without a store. An expired record stays where it is, as in DynamoDB."""

    clock: Clock = time.time
    stored: dict[Place, Record] = field(default_factory=dict)

    def read(self, *keys: RecordKey) -> Found:
        """See the port."""
        found = {key: self._standing(_place(key)) for key in keys}
        return {key: record for key, record in found.items() if record is not None}

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
        """See the port."""
        pk, lowest, highest = (
            partition(owner, kind),
            sort_key(owner, kind, first),
            sort_key(owner, kind, last),
        )
        if lowest > highest:
            raise StoreMisused(detail="DynamoDB refuses a range whose end is before its beginning")
        places = sorted(place for place in self.stored if place[0] == pk and lowest <= place[1] <= highest)
        for place in reversed(places) if backwards else places:
            record = self._standing(place)
            if record is not None:
                yield name_of(owner, kind, place[1]), record

    def write(self, *writes: Write) -> None:
        """See the port."""
        places = [_place(write.key) for write in writes]
        if len(set(places)) < len(places) or not 1 <= len(places) <= MAX_WRITES:
            raise StoreMisused(detail="one transaction takes 1 to 100 writes, each of another record")
        after = [self._after(place, write) for place, write in zip(places, writes, strict=True)]
        held = {
            write.label: self._standing(place)
            for place, write in zip(places, writes, strict=True)
            if not _holds(write.when, self._standing(place))
        }
        if held:
            raise Refused(held)
        for place, record in zip(places, after, strict=True):
            if record is None:
                self.stored.pop(place, None)
            else:
                self.stored[place] = record

    def _standing(self, place: Place) -> Record | None:
        record = self.stored.get(place)
        if record is None or (record.expires_at is not None and record.expires_at <= self.clock()):
            return None
        return record

    def _after(self, place: Place, write: Write) -> Record | None:
        """Return what stands there after *write*. Raises TooLarge."""
        before = self.stored.get(place)
        if isinstance(write, Put):
            _check_size(write.record.body)
            return write.record
        if isinstance(write, Amend):
            _check_size(write.body)
            return _amended(before or Record(), write)
        return None if isinstance(write, Remove) else before


def _place(key: RecordKey) -> Place:
    whole = item_key(key)
    return whole["pk"]["S"], whole["sk"]["S"]


def _check_size(body: str | None) -> None:
    if body is not None:
        pack(body, beside_bytes=0)


def _amended(before: Record, write: Amend) -> Record:
    facts = {**write.at_first, **before.facts, **write.facts}
    for name, value in write.add.items():
        facts[name] = before.number(name) + value
    return Record(
        facts=facts,
        body=before.body if write.body is None else write.body,
        expires_at=before.expires_at if write.expires_at is None else write.expires_at,
    )


def _holds(condition: Condition, record: Record | None) -> bool:
    return not condition or any(_part_holds(part, record) for part in condition)


def _part_holds(part: Stands | Absent, record: Record | None) -> bool:
    if isinstance(part, Absent):
        return record is None
    return record is not None and all(_fact_holds(wanted, record) for wanted in part.facts)


def _fact_holds(wanted: Is, record: Record) -> bool:
    value: Any = record.facts.get(wanted.fact)
    if wanted.relation == "does not begin with":
        return not (isinstance(value, str) and value.startswith(str(wanted.value)))
    if value is None:
        return wanted.relation == "=" and not wanted.value
    if type(value) is not type(wanted.value):
        return False
    return bool(
        {
            "=": value == wanted.value,
            "<": value < wanted.value,
            "<=": value <= wanted.value,
            ">": value > wanted.value,
        }[wanted.relation]
    )


Hook = Callable[..., object]
"""Called with the keys of a read, or the writes of a write. What it raises is what the caller gets."""


def nothing(*_: object) -> None:
    """Step in nowhere."""


def once(action: Callable[[], object]) -> Hook:
    """Return the hook that runs *action* when it is first called, and never again."""
    left = [action]

    def hook(*_: object) -> None:
        if left:
            left.pop()()

    return hook


@dataclass
class HookedRecords:
    """A store, and callables that run before and after its reads and writes: other writers, or failures.

    What a hook itself reads and writes meets no hook.
    """

    records: Records
    before_read: Hook = nothing
    after_read: Hook = nothing
    before_write: Hook = nothing
    after_write: Hook = nothing
    hooked: bool = True

    def read(self, *keys: RecordKey) -> Found:
        """See the port."""
        self._meet(self.before_read, keys)
        found = self.records.read(*keys)
        self._meet(self.after_read, keys)
        return found

    def walk(self, owner: Owner, kind: str, **bounds: Any) -> Iterator[tuple[tuple[str, ...], Record]]:
        """See the port. A walk meets no hook."""
        return self.records.walk(owner, kind, **bounds)

    def write(self, *writes: Write) -> None:
        """See the port."""
        self._meet(self.before_write, writes)
        self.records.write(*writes)
        self._meet(self.after_write, writes)

    def _meet(self, hook: Hook, met: tuple[Any, ...]) -> None:
        if not self.hooked:
            return
        self.hooked = False
        try:
            hook(*met)
        finally:
            self.hooked = True
