"""What a new round began from: noted with its turn, and kept, so that it can be brought back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memoir.domain.history import MEMORY, REWOUND, before_of_round
from memoir.domain.scope import Scope
from memoir.domain.turn_place import Placement
from memoir.domain.turns import TurnHead
from memoir.errors import RecordCorrupt
from memoir.ports.records import Found, RecordKey
from memoir.records.documents import read_document
from memoir.records.history import copy_key, kept_of
from memoir.usecases.engine import Engine

_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class RoundFrom:
    """What stands as a turn is stored. `current`: the revision of each document, 0 for none.

    `marks_at`: when the memory's copy was written, None where its record cannot be read.
    """

    engine: Engine
    scope: Scope
    head: TurnHead
    current: Mapping[str, int]
    before: Mapping[str, int]
    marks_at: int | None

    @staticmethod
    def keys(scope: Scope, *, recalled: int | None) -> list[RecordKey]:
        """Return what has to be read. *recalled*: the memory that the model was given."""
        keys = [RecordKey(owner=scope, kind=kind) for kind in REWOUND]
        return [*keys, copy_key(scope, MEMORY, recalled)] if recalled else keys

    @classmethod
    def read(
        cls, engine: Engine, scope: Scope, head: TurnHead, found: Found, *, recalled: int | None
    ) -> "RoundFrom":
        """Return what *found* says, and keep the memory where no turn has kept it yet.

        Raises StoreUnavailable, WriteOutcomeUnknown: nothing else was written.
        """
        current = {kind: _revision(found, scope, kind) for kind in REWOUND}
        is_kept = bool(recalled) and copy_key(scope, MEMORY, recalled or 0) in found
        return cls(
            engine=engine,
            scope=scope,
            head=head,
            current=current,
            before=before_of_round(marks=head.marks, current=current, recalled=recalled, is_kept=is_kept),
            marks_at=keep_memory(engine, scope, head, found),
        )

    def marked(self, place: Placement, *, agent: str) -> Placement:
        """Return *place* with what its head says from then on. *agent*: whose diary the turn goes into.

        A regenerated reply began from what the one that it replaces did.
        """
        marks = {kind: revision for kind, revision in self.current.items() if kind != MEMORY or self.readable}
        agents = (*self.head.agents, agent) if agent and agent not in self.head.agents else self.head.agents
        after = replace(
            place.after,
            marks=marks,
            marks_at=self.marks_at or 0,
            before=self.head.before if place.supersedes else self.before,
            agents=agents,
        )
        return replace(place, after=after)

    @property
    def readable(self) -> bool:
        """The memory could be kept, or there is none."""
        return self.marks_at is not None


def keep_memory(engine: Engine, scope: Scope, head: TurnHead, found: Found) -> int | None:
    """Keep the memory that was read, unless the head says that it is kept; return since when it is.

    0 where there is none, None where its record cannot be read.
    """
    try:
        stored = read_document(found.get(RecordKey(owner=scope, kind=MEMORY)))
    except RecordCorrupt:
        return None
    if stored is None:
        return 0
    now = int(engine.clock())
    is_old = bool(engine.history_days) and now - head.marks_at > engine.history_days * _SECONDS_A_DAY
    if head.marks.get(MEMORY) == stored.revision and not is_old:
        return head.marks_at
    engine.records.write(engine.copy(scope, MEMORY, kept_of(stored)))
    return now


def _revision(found: Found, scope: Scope, kind: str) -> int:
    record = found.get(RecordKey(owner=scope, kind=kind))
    try:
        return record.number("revision") if record else 0
    except ValueError:
        return 0
