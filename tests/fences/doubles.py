"""The store and the engine with one fence left out."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.scope import Scope
from memoir.domain.turns import TurnHead
from memoir.ports.records import Absent, Condition, Found, Owner, Record, RecordKey, Records, Stands, Write
from memoir.records.turns import head_key, read_head
from memoir.usecases.engine import Engine
from tests.fences.store import Name


class ReadsOnce(Engine):
    """Takes what it reads for one moment's, whatever the stamps say."""

    def read_together(self, scope: Scope, *keys: RecordKey) -> tuple[TurnHead, Found]:
        """See `Engine.read_together`, but for the comparison."""
        found = self.records.read(head_key(scope), *keys)
        return read_head(found.get(head_key(scope))), found


@dataclass(frozen=True, kw_only=True)
class SeesNoRewind(Engine):
    """Shows the generation that it has shown first, so that a worker goes on with the turn in its hand."""

    first: list[int] = field(default_factory=list)

    def read_together(self, scope: Scope, *keys: RecordKey) -> tuple[TurnHead, Found]:
        """See `Engine.read_together`."""
        head, found = super().read_together(scope, *keys)
        self.first.append(head.generation)
        return replace(head, generation=self.first[0]), found


@dataclass(frozen=True)
class _Wrapped:
    """A store that others build on."""

    records: Records

    def read(self, *keys: RecordKey) -> Found:
        return self.records.read(*keys)

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
        return self.records.walk(owner, kind, first=first, last=last, backwards=backwards, page=page)

    def write(self, *writes: Write) -> None:
        self.records.write(*writes)


class WalksOn(_Wrapped):
    """Walks turns to the last that is stored, not to the head's."""

    def walk(self, owner: Owner, kind: str, **how: Any) -> Iterator[tuple[Name, Record]]:
        """See `Records.walk`."""
        return super().walk(owner, kind, **{**how, "last": ("~",)})


class PassesRewinds(_Wrapped):
    """Moves cursors whatever their generation."""

    def write(self, *writes: Write) -> None:
        """See `Records.write`."""
        self.records.write(
            *(replace(w, when=_without_generation(w.when)) if w.key.kind == "cursor" else w for w in writes)
        )


def _without_generation(condition: Condition) -> Condition:
    return tuple(
        part
        if isinstance(part, Absent)
        else Stands(facts=tuple(wanted for wanted in part.facts if wanted.fact != "generation"))
        for part in condition
    )
