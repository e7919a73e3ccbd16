"""The store of an exploration: a value that never changes, whose every write makes another one.

Faithful to the `Records` port, but for expiry: its clock stands still, before anything expires.
"""

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from memoir.ports.records import (
    Absent,
    Amend,
    Check,
    Condition,
    Fact,
    Found,
    Is,
    Owner,
    Put,
    Record,
    RecordKey,
    Refused,
    Remove,
    Stands,
    Write,
)
from memoir.records.turns import cursor_key

Name = tuple[str, ...]
Frozen = tuple[tuple[tuple[str, Fact], ...], str | None, int | None]

_COMPARE = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt}

_SEEN: dict[Frozen, Record] = {}


def same(record: Record) -> Record:
    """Return the one object that stands for all records of this content, so that `is` and `id` compare."""
    facts = tuple(sorted((name, value) for name, value in record.facts.items()))
    return _SEEN.setdefault((facts, record.body, record.expires_at), record)


@dataclass(frozen=True)
class Next:
    """The request for the first record of a walk that has not been seen yet."""

    owner: Owner
    kind: str
    first: Name
    last: Name
    backwards: bool
    seen: Name | None


@dataclass(frozen=True, eq=False)
class Store:
    """What is stored at one moment."""

    records: Mapping[RecordKey, Record] = field(default_factory=dict)

    @property
    def content(self) -> frozenset[tuple[RecordKey, int]]:
        """All that tells this store from another, to be hashed."""
        return frozenset((key, id(record)) for key, record in self.records.items())

    def get(self, key: RecordKey) -> Record | None:
        """Return one record."""
        return self.records.get(key)

    def next(self, wanted: Next) -> tuple[Name, Record] | None:
        """Return the next name and record of a walk, None at its end."""
        names = sorted(
            (
                key.name
                for key in self.records
                if (key.owner, key.kind) == (wanted.owner, wanted.kind)
                and wanted.first <= key.name <= wanted.last
            ),
            reverse=wanted.backwards,
        )
        if wanted.seen is not None:
            seen = wanted.seen
            names = [name for name in names if (name < seen if wanted.backwards else name > seen)]
        if not names:
            return None
        return names[0], self.records[RecordKey(owner=wanted.owner, kind=wanted.kind, name=names[0])]

    def written(self, writes: tuple[Write, ...]) -> "Store":
        """Return the store after all of *writes*. Raises Refused."""
        assert len({write.key for write in writes}) == len(writes), "one record twice in one transaction"
        held = {w.label: self.records.get(w.key) for w in writes if not self._allows(w.when, w.key)}
        if held:
            raise Refused(held)
        records = dict(self.records)
        for write in writes:
            self._keep_table(records, write)
            _execute(records, write)
        return Store(records)

    def _allows(self, condition: Condition, key: RecordKey) -> bool:
        record = self.records.get(key)
        return not condition or any(_holds(part, record) for part in condition)

    def _keep_table(self, records: dict[RecordKey, Record], write: Write) -> None:
        """Keep the table that *write* replaces, with how far its worker had judged the turns by then.

        Writers are to make these copies themselves; until they do, their store does it for them.
        """
        record = records.get(write.key)
        if write.key.kind != "table" or record is None:
            return
        cursor = self.records.get(cursor_key(write.key.owner, "table"), Record())
        place = max(record.text("place"), cursor.text("place"))
        key = copy_key(write.key.owner, record.number("revision"))
        copied = Record(facts={"round": record.number("round"), "place": place}, body=body_of(record))
        records[key] = same(copied)


class Direct:
    """The Records port on a store, each request at once."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def read(self, *keys: RecordKey) -> Found:
        return {key: record for key in keys if (record := self.store.get(key)) is not None}

    def walk(
        self,
        owner: Owner,
        kind: str,
        *,
        first: Name = (),
        last: Name = ("~",),
        backwards: bool = False,
        page: int = 100,
    ) -> Iterator[tuple[Name, Record]]:
        seen = None
        while found := self.store.next(Next(owner, kind, first, last, backwards, seen)):
            seen = found[0]
            yield found

    def write(self, *writes: Write) -> None:
        self.store = self.store.written(writes)


def copy_key(owner: Owner, revision: int) -> RecordKey:
    """Return the key of the copy of a table's revision."""
    return RecordKey(owner=owner, kind="copy", name=(f"{revision:016}",))


def body_of(record: Record) -> str | None:
    """Return the text of a document, None where there is none at its revision."""
    return None if record.number("absent") == record.number("revision") else record.body


def _holds(part: Stands | Absent, record: Record | None) -> bool:
    if isinstance(part, Absent) or record is None:
        return isinstance(part, Absent) and record is None
    return all(_is_so(wanted, record.facts.get(wanted.fact)) for wanted in part.facts)


def _is_so(wanted: Is, value: Fact | None) -> bool:
    if value is None:
        return wanted.relation == "does not begin with" or (wanted.relation == "=" and not wanted.value)
    if wanted.relation == "does not begin with":
        return not str(value).startswith(str(wanted.value))
    return type(value) is type(wanted.value) and _COMPARE[wanted.relation](value, wanted.value)


def _execute(records: dict[RecordKey, Record], write: Write) -> None:
    if isinstance(write, Put):
        records[write.key] = same(write.record)
    elif isinstance(write, Amend):
        record = records.get(write.key, Record())
        sums = {name: record.number(name) + number for name, number in write.add.items()}
        facts = {**write.at_first, **record.facts, **write.facts, **sums}
        body = record.body if write.body is None else write.body
        records[write.key] = same(replace(record, facts=facts, body=body))
    elif isinstance(write, Remove):
        records.pop(write.key, None)
    else:
        assert isinstance(write, Check)
