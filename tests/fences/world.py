"""The conversation that is explored, what it has to be at the end, and what has to hold at every write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from memoir.domain.scope import Scope
from memoir.domain.table.document import TableDocument
from memoir.domain.turns import NewTurn, Position, Recorded, RungTurn, TurnHead
from memoir.domain.write_token import WriteToken
from memoir.errors import MemoirError, RevisionConflict, RoundClosed, StoreUnavailable
from memoir.ports.records import Found, Record, RecordKey, Records
from memoir.records.positions import read_position
from memoir.records.turns import head_key, read_head, turn_id_key, turn_key
from memoir.usecases.accept_turn import accept_turn
from memoir.usecases.edit_table import edit_table, table_key
from memoir.usecases.engine import Engine
from memoir.usecases.follow_turns import WorkerPorts
from memoir.usecases.list_turns import list_turns
from memoir.usecases.table import read_table, replace_table
from memoir.usecases.turns import record_turn
from tests.fences.replay import Operation, Violation
from tests.fences.rewind import Rewind, Rewound
from tests.fences.store import Direct, Name, Store, copy_key

SCOPE = Scope(product="p", user="u", conversation="c")
TABLE = {"sheets": [{"name": "log", "columns": ["what", "who"], "rows": []}]}
HOSTS_TABLE = {"sheets": [{"name": "log", "columns": ["what", "who"], "rows": [["host", "host"]]}]}
NEW = "new"

_NONE = Record()


class Silent:
    """A doorbell and an event bus that nobody hears: whoever explores rings himself."""

    def ring(self, scope: Scope, *, workers: tuple[str, ...], turn: RungTurn) -> None:
        """See the port."""

    def publish(self, kind: str, detail: Mapping[str, Any]) -> None:
        """See the port."""


class Watched(Engine):
    """The engine, which also looks at what it takes for read together. I5."""

    def read_together(self, scope: Scope, *keys: RecordKey) -> tuple[TurnHead, Found]:
        """See `Engine.read_together`. Raises Violation."""
        head, found = super().read_together(scope, *keys)
        for key, record in found.items():
            generation = record.number("generation")
            if key.kind in ("table", "cursor") and generation != head.generation:
                raise Violation(
                    f"a head of generation {head.generation} was read with a {key.kind} of {generation}"
                )
        return head, found


def engine_on(records: Records, made: type[Engine] = Engine) -> Engine:
    """Return an engine whose clock stands still."""
    return made(records=records, clock=lambda: 0.0, receipt_days=30)


def token_of(name: str) -> WriteToken:
    """Return a token that is the same each time an operation is run."""
    return WriteToken(name=f"{name:_<12}"[:12])


def said(turn_id: str, *, edits: bool = True, **members: Any) -> NewTurn:
    """Return a turn that adds a row which tells of it, or that does nothing."""
    edit = f'<tableEdit>insertRow("log", {{"0":"{turn_id}","1":"model"}})</tableEdit>'
    return NewTurn(
        turn_id=turn_id, user_text="", assistant_text=edit if edits else "no edits here", **members
    )


def say(records: Records, new: NewTurn) -> Recorded:
    """Record a turn, ringing nobody."""
    return record_turn(
        engine_on(records), doorbell=Silent(), scope=SCOPE, new=new, token=token_of(new.turn_id)
    )


def ring(turn_id: str, place: Position, *, life: str = "") -> RungTurn:
    """Return the ring for a turn."""
    return RungTurn(
        position=place, turn_id=turn_id, scenario_id="default", subscription_category=None, life=life
    )


def work(engine: Engine, rung: RungTurn, *, turns: int = 99) -> Any:
    """Let the table's worker answer a ring, with time for so many turns."""
    time = iter([True] * turns)
    ports = WorkerPorts(engine=engine, events=Silent(), doorbell=Silent(), has_time=lambda: next(time, False))
    return edit_table(ports, scope=SCOPE, rung=rung)


def host_puts(engine: Engine, table: Any = HOSTS_TABLE) -> int:
    """Read the table and replace it, as a host does."""
    revision = read_table(engine, scope=SCOPE).revision
    return replace_table(engine, scope=SCOPE, expected=revision, table=table, token=token_of("host"))


@dataclass(frozen=True, kw_only=True)
class World:
    """A conversation before the exploration, the new turn that comes and the rewind.

    `turns`: ids of the turns; one in capital letters edits the table, any other leaves it. `taken_back`:
    turns that an earlier rewind to the same round took back. `judged`: so many turns the worker has passed,
    not counting what it had passed before that rewind. `table`: the host has made one. `rung_round`: of the
    worker's ring, which may be late; the last round where it is not given.
    """

    turns: tuple[str, ...]
    judged: int = 0
    new: NewTurn = field(default_factory=lambda: said(NEW))
    rewind: Rewind = field(default_factory=lambda: Rewind(to_round=1))
    table: bool = True
    rung_round: int | None = None
    taken_back: tuple[str, ...] = ()
    engine: type[Engine] = Watched
    worker_engine: type[Engine] | None = None
    worker_records: Callable[[Records], Records] = lambda records: records

    def store(self) -> Store:
        """Return what is stored before the exploration."""
        records = Direct(Store())
        if self.table:
            host_puts(engine_on(records), TABLE)
        stays = self.turns[: self.rewind.to_round] if self.taken_back else ()
        for turn_id in (*stays, *self.taken_back):
            say(records, said(turn_id, edits=turn_id.isupper()))
        if self.taken_back:
            work(engine_on(records), self.ring(1))
            Rewind(to_round=self.rewind.to_round)(engine_on(records), SCOPE)
        for turn_id in self.turns[len(stays) :]:
            say(records, said(turn_id, edits=turn_id.isupper()))
        if self.judged:
            work(engine_on(records), self.ring(len(self.turns)), turns=self.judged)
        return records.store

    def ring(self, turn_round: int) -> RungTurn:
        """Return the ring of the turn of that round."""
        version = 2 if self.taken_back and turn_round > self.rewind.to_round else 1
        return ring(self.turns[turn_round - 1], Position(round=turn_round, version=version))

    def operations(self, *names: str) -> dict[str, Operation]:
        """Return those of `worker`, `second` (another one), `rewind`, `turn`, `host` and `accept`."""
        every: dict[str, Operation] = {
            "worker": self._work,
            "second": self._work,
            "rewind": lambda records: self.rewind(engine_on(records, self.engine), SCOPE),
            "turn": lambda records: say(records, self.new),
            "host": lambda records: host_puts(engine_on(records, self.engine)),
            "accept": lambda records: accept_turn(
                engine_on(records),
                doorbell=Silent(),
                scope=SCOPE,
                turn_id=self.turns[0],
                token=token_of("accept"),
            ),
        }
        return {name: every[name] for name in names}

    def _work(self, records: Records) -> Any:
        engine = engine_on(self.worker_records(records), self.worker_engine or self.engine)
        return work(engine, self.ring(self.rung_round or len(self.turns)))


@dataclass(frozen=True)
class Promises:
    """What has to hold of a conversation that is rewound while others are at it."""

    world: World

    def after_write(self, operation: str, before: Store, after: Store) -> None:
        """I1, I6, I8, and that no document is of another generation than the head."""
        head = read_head(after.get(head_key(SCOPE)))
        old, new = before.get(table_key(SCOPE)) or _NONE, after.get(table_key(SCOPE)) or _NONE
        if old is not new:
            risen = new.number("revision") - old.number("revision")
            stays = (old.body, old.text("place")) == (new.body, new.text("place"))
            _check(risen == 1 or (stays and risen == 0), "a revision was skipped or reused")
            _check(new.number("generation") == head.generation, "the table is of another generation")
            place = read_position(new.text("place"))
            if operation in ("worker", "second") and place.round > self.world.rewind.to_round:
                turn = after.get(turn_key(SCOPE, place)) or Record()
                _check(turn.number("generation") == head.generation, "a discarded turn was folded")
        for key, record in before.records.items():
            if key.kind == "turn":
                _check(after.records.get(key) is record, "a stored turn was changed")
        given = [key for key in after.records if key.kind == "turn"]
        known = [record.text("place") for key, record in after.records.items() if key.kind == "turn_id"]
        _check(sorted(known) == ["#".join(key.name) for key in sorted(given, key=_name)], "a place twice")

    def at_end(self, store: Store, outcomes: Mapping[str, Any]) -> None:
        """I2: after all rings are answered, the conversation is as if what was taken back never was."""
        self._check_outcomes(outcomes)
        records = Direct(store)
        self._drain(records, outcomes)
        head = read_head(store.get(head_key(SCOPE)))
        live = self._live(store, head)
        listed = tuple(
            turn.turn_id
            for turn in list_turns(engine_on(records), scope=SCOPE, before=None, limit=20).turns[::-1]
        )
        _check(listed == tuple(turn.turn_id for turn in live), f"live are {listed}")
        table = read_table(engine_on(records), scope=SCOPE)
        _check(table.through_round == len(live), "not all turns were judged")
        wanted = fold(live, self.world.table, self._put_after(store, outcomes))
        _check(table.document == wanted, f"the table is {_rows(table.document)}, not {_rows(wanted)}")
        if isinstance(outcomes.get("accept"), Recorded):
            _check(head.accepted_through >= 1, "an acceptance was lost")

    def _check_outcomes(self, outcomes: Mapping[str, Any]) -> None:
        expected: dict[str, type[MemoirError]] = {
            "worker": RevisionConflict,
            "second": RevisionConflict,
            "host": RevisionConflict,
            "turn": RoundClosed,  # it replaces a turn that is not live any more
            "rewind": StoreUnavailable,  # others came first, five times
        }
        for name, outcome in outcomes.items():
            if isinstance(outcome, MemoirError):
                _check(isinstance(outcome, expected.get(name, ())), f"{name} raised {outcome!r}: {outcome}")

    def _drain(self, records: Direct, outcomes: Mapping[str, Any]) -> None:
        """Answer the rings of the old turn, of the new one and of the rewind, each twice."""
        head = read_head(records.store.get(head_key(SCOPE)))
        rings = [
            self.world.ring(len(self.world.turns)),
            ring(head.last_turn_id or "", head.last, life=head.life),
        ]
        known = records.store.get(turn_id_key(SCOPE, self.world.new.turn_id))
        if known is not None:
            rings.insert(1, ring(self.world.new.turn_id, read_position(known.text("place")), life=head.life))
        for rung in rings * 2:
            try:
                work(engine_on(records), rung)
            except MemoirError as error:
                raise Violation(f"a ring afterwards raised {error!r}: {error}") from error

    def _live(self, store: Store, head: TurnHead) -> tuple[NewTurn, ...]:
        rewound = head.generation > bool(self.world.taken_back)
        count = self.world.rewind.to_round if rewound else len(self.world.turns)
        live = [said(turn_id, edits=turn_id.isupper()) for turn_id in self.world.turns[:count]]
        known = store.get(turn_id_key(SCOPE, self.world.new.turn_id))
        if known is not None and known.number("generation") == head.generation:
            if self.world.new.replaces:
                live.pop()
            live.append(self.world.new)
        return tuple(live)

    def _put_after(self, store: Store, outcomes: Mapping[str, Any]) -> int | None:
        """Return after how many turns the host's table came; None where it did not or was taken back."""
        revision, rewound = outcomes.get("host"), outcomes.get("rewind")
        if not isinstance(revision, int):
            return None
        if isinstance(rewound, Rewound) and revision < rewound.table_revision:
            return None
        copied = store.get(copy_key(SCOPE, revision - 1)) or Record()
        return read_position(copied.text("place")).round


@cache
def fold(turns: tuple[NewTurn, ...], table: bool, put_after: int | None) -> TableDocument | None:
    """Return the table of a fresh conversation of these turns, with the host's put after so many of them."""
    records = Direct(Store())
    if table:
        host_puts(engine_on(records), TABLE)
    for number, turn in enumerate(turns):
        if number == put_after:
            host_puts(engine_on(records))
        new = NewTurn(turn_id=turn.turn_id, user_text="", assistant_text=turn.assistant_text)
        recorded = say(records, new)
        work(engine_on(records), ring(turn.turn_id, Position(round=recorded.round, version=1)))
    if put_after == len(turns):
        host_puts(engine_on(records))
    return read_table(engine_on(records), scope=SCOPE).document


def _name(key: RecordKey) -> Name:
    return key.name


def _rows(document: TableDocument | None) -> list[tuple[str, ...]]:
    return [row.cells for sheet in document.sheets for row in sheet.rows] if document else []


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Violation(otherwise)
