"""A rewind of memory table and turns, as its design says: one write for all that it changes.

The service has none yet; the rules that keep a rewind apart from what is under way are there, and this is the
rewind that they were made for.
"""

from dataclasses import dataclass, replace

from memoir.domain.revision import NONE_YET
from memoir.domain.scope import Scope
from memoir.domain.turns import START, Turn, TurnHead
from memoir.errors import StoreUnavailable
from memoir.ports.records import ABSENT, Amend, Fact, Found, Record, RecordKey, Refused, Write, stands
from memoir.records.diary import diary_head_key
from memoir.records.documents import REMEMBERED_WRITES, read_document
from memoir.records.positions import position_text, read_position
from memoir.records.turns import cursor_key, head_key, newest_first, read_cursor, read_turn
from memoir.usecases.edit_table import table_key
from memoir.usecases.engine import Engine
from tests.fences.store import body_of, copy_key

AGENT = "diary"
_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class Rewound:
    """Where the conversation stood before and after, and the table's new revision."""

    before: TurnHead
    after: TurnHead
    table_revision: int


@dataclass(frozen=True, kw_only=True)
class Rewind:
    """A rewind to the end of round *to_round*, without the parts of the design that are left out here.

    `always_new`: a new revision of each kind, also where it stays as it is or there is none. `all_cursors`:
    cursors are written also where there are none. `sees_accepts`: it does not overwrite an acceptance.
    """

    to_round: int
    always_new: bool = True
    all_cursors: bool = True
    sees_accepts: bool = True

    def __call__(self, engine: Engine, scope: Scope) -> Rewound | None:
        """Rewind, and return what became of it, None where there was nothing to do."""
        for _ in range(_TRIES):
            head, found = engine.read_together(
                scope, table_key(scope), cursor_key(scope, "table"), diary_head_key(scope, AGENT)
            )
            if head.last.round <= self.to_round:
                return None
            after = self._head_after(engine, scope, head)
            try:
                engine.records.write(*self._writes(engine, scope, found, head, after))
            except Refused:
                continue
            stored = read_document(found.get(table_key(scope)))
            return Rewound(
                before=head, after=after, table_revision=(stored.revision if stored else NONE_YET) + 1
            )
        raise StoreUnavailable(detail="others kept coming first")

    def _head_after(self, engine: Engine, scope: Scope, head: TurnHead) -> TurnHead:
        last: Turn | None = None
        for name, record in newest_first(engine.records, scope, before_round=self.to_round + 1, limit=1):
            last = read_turn(name, record)
            break
        return replace(
            head,
            last=last.position if last else START,
            last_turn_id=last.turn_id if last else None,
            accepted_through=min(head.accepted_through, self.to_round),
            generation=head.generation + 1,
            floor=head.top,
            stamped=("table",),
        )

    def _writes(
        self, engine: Engine, scope: Scope, found: Found, head: TurnHead, after: TurnHead
    ) -> list[Write]:
        cursor, diary = cursor_key(scope, "table"), diary_head_key(scope, AGENT)
        target = self._target(engine, scope, found)
        place = position_text(min(read_position(target.text("place")), after.last))
        stamp: dict[str, Fact] = {"generation": after.generation}
        writes: list[Write] = [_head_write(scope, head, after, sees_accepts=self.sees_accepts)]
        unmoved = ABSENT if diary not in found else stands(revision=found[diary].number("revision"))
        writes.append(Amend(key=diary, facts=stamp, add={"revision": 1}, when=unmoved, name="diary head"))
        if self.all_cursors or cursor in found:
            writes.append(Amend(key=cursor, facts={"place": place, **stamp}))
        table = found.get(table_key(scope), Record())
        if self.always_new or target.body != body_of(table):
            writes.append(_table_write(table_key(scope), table, target, {"place": place, **stamp}))
        elif table_key(scope) in found:
            writes.append(Amend(key=table_key(scope), facts=stamp))
        return writes

    def _target(self, engine: Engine, scope: Scope, found: Found) -> Record:
        """Return the newest table that no later round had a part in, with how far the turns were judged."""
        table = found.get(table_key(scope), Record())
        if table.number("round") <= self.to_round:
            through = max(
                read_position(table.text("place")), read_cursor(found.get(cursor_key(scope, "table")))
            )
            facts = {**table.facts, "place": position_text(through)}
            return replace(table, facts=facts, body=body_of(table))
        for revision in range(table.number("revision") - 1, 0, -1):
            key = copy_key(scope, revision)
            copied = engine.records.read(key)[key]
            if copied.number("round") <= self.to_round:
                return copied
        return Record()


def _head_write(scope: Scope, before: TurnHead, after: TurnHead, *, sees_accepts: bool) -> Amend:
    unmoved: dict[str, Fact] = {
        "last_position": position_text(before.last),
        "generation": before.generation,
    }
    if sees_accepts:
        unmoved["accepted_through"] = before.accepted_through
    facts: dict[str, Fact] = {
        "last_position": position_text(after.last),
        "last_turn_id": after.last_turn_id or "",
        "accepted_through": after.accepted_through,
        "generation": after.generation,
        "floor": after.floor,
        "stamped": ",".join(after.stamped),
    }
    return Amend(key=head_key(scope), facts=facts, when=stands(**unmoved))


def _table_write(key: RecordKey, table: Record, target: Record, facts: dict[str, Fact]) -> Amend:
    """Return the write of the table's next revision: the target's body, or that there is none."""
    revision = table.number("revision") + 1
    return Amend(
        key=key,
        facts={
            **facts,
            "revision": revision,
            "round": target.number("round"),
            "absent": revision if target.body is None else 0,
            f"w{revision % REMEMBERED_WRITES}": f"rewind{revision:06}",
        },
        body=target.body,
        when=stands(revision=table.number("revision")) if table.facts else ABSENT,
    )
