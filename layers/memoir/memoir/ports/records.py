"""Records: everything that is stored, as small facts that conditions compare and a body that they do not.

One port for every kind of memory. A kind is a key and a codec (`memoir.records`), not a store of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from memoir.domain.scope import ProductScope, Scope, UserScope

Owner = Scope | UserScope | ProductScope
"""Whose record it is: a conversation's, a user's across conversations, or a product's."""

Fact = str | int | bool


@dataclass(frozen=True, kw_only=True)
class RecordKey:
    """Which record: whose, of what kind, and the parts of its name where the kind has many.

    Records of one kind are ordered by their names, part by part; numbers in them have a fixed width.
    """

    owner: Owner
    kind: str
    name: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is stored under a key. A fact that is missing means 0 or empty.

    `body`: text of at most 393,216 bytes, None for none or an unreadable one. `expires_at`: seconds since
    1970; past it, there is no record, whether or not the store has deleted it.
    """

    facts: Mapping[str, Fact] = field(default_factory=dict)
    body: str | None = None
    expires_at: int | None = None

    def text(self, fact: str) -> str:
        """Return a fact that is text, empty where it is missing. Raises ValueError."""
        value = self.facts.get(fact, "")
        if not isinstance(value, str):
            raise ValueError(f"{fact} is no text")
        return value

    def number(self, fact: str) -> int:
        """Return a fact that is a whole number, 0 where it is missing. Raises ValueError."""
        value = self.facts.get(fact, 0)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{fact} is no whole number")
        return value


@dataclass(frozen=True)
class Is:
    """One thing that has to hold of a stored record. `=` to 0 or empty holds where the fact is missing."""

    fact: str
    relation: Literal["=", "<", "<=", ">", "does not begin with"]
    value: Fact


@dataclass(frozen=True, kw_only=True)
class Stands:
    """There is a record that has not expired, and all of *facts* hold of it."""

    facts: tuple[Is, ...] = ()


@dataclass(frozen=True)
class Absent:
    """There is no record, or it has expired."""


Condition = tuple[Stands | Absent, ...]
"""Holds where any part of it holds; an empty one always."""

ABSENT: Condition = (Absent(),)


def stands(**facts: Fact) -> Condition:
    """Return the condition that these facts of the stored record are so. 0 and empty: or missing."""
    return (Stands(facts=tuple(Is(name, "=", value) for name, value in facts.items())),)


@dataclass(frozen=True, kw_only=True)
class Write:
    """One write, if `when` holds. `name` is what a failure calls it, its kind where empty.

    `remembers`: the record's facts hold the write's own token, by which its caller recognises it.
    """

    key: RecordKey
    when: Condition = ()
    name: str = ""
    remembers: bool = False

    @property
    def label(self) -> str:
        """What a failure calls this write."""
        return self.name or self.key.kind


@dataclass(frozen=True, kw_only=True)
class Put(Write):
    """Store *record* in place of what is there."""

    record: Record


@dataclass(frozen=True, kw_only=True)
class Amend(Write):
    """Set facts, and the body where one is given, and leave the rest; makes a record where there is none.

    `at_first`: facts that are set only where they are missing. `add`: numbers that are added to.
    """

    facts: Mapping[str, Fact] = field(default_factory=dict)
    body: str | None = None
    at_first: Mapping[str, Fact] = field(default_factory=dict)
    add: Mapping[str, int] = field(default_factory=dict)
    expires_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class Remove(Write):
    """Delete what is there, if anything is."""


@dataclass(frozen=True, kw_only=True)
class Check(Write):
    """Write nothing; let the others happen only if `when` holds."""


class Refused(Exception):
    """Conditions did not hold; nothing was written.

    `held`: by the name of each write whose condition failed, what is stored there, None for nothing.
    `maybe_executed`: an earlier send of the same single write may have been executed.
    """

    def __init__(self, held: Mapping[str, Record | None], *, maybe_executed: bool = False) -> None:
        super().__init__(", ".join(held))
        self.held = held
        self.maybe_executed = maybe_executed


Found = Mapping[RecordKey, Record]


class Records(Protocol):
    """The store. What is read is as of the last finished write."""

    def read(self, *keys: RecordKey) -> Found:
        """Return what is stored under *keys*, at most 100, in one request; what is not there is left out.

        Records of one answer may be of different moments, each a true one.
        Raises StoreUnavailable.
        """

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
        """Yield (name, record) of a kind with *first* ≤ name ≤ *last*, in order.

        One request for each *page* records, or for less where they are large. Raises StoreUnavailable.
        """

    def write(self, *writes: Write) -> None:
        """Do all of *writes* or none, in one request.

        A write recognises itself where an answer was lost and it was sent again.
        Raises Refused, StoreUnavailable, TooLarge: nothing was written; WriteOutcomeUnknown.
        """
