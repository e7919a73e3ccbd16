"""The table's worker: apply the edits of each new turn, in order, once each, whatever is delivered how often.

    read (table, cursor, head, hinted turn) ── the hinted turn is the next one ── write
                                           └─ it is not: query from the cursor ── write, write, …

The cursor moves in the write of the effect. A message that is lost, late or double changes nothing: what is
done is decided by what is stored.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from memoir.domain.clock import utc_text
from memoir.domain.receipt import Outcome, Receipt
from memoir.domain.revision import NONE_YET, Revision
from memoir.domain.scenario import find_scenario
from memoir.domain.scope import Scope
from memoir.domain.table.state import TableState, read_state
from memoir.domain.table.step import Step, step_of_turn
from memoir.domain.turns import Position, RungTurn, Turn
from memoir.domain.write_token import random_token
from memoir.errors import MemoirError, RecordCorrupt, RevisionConflict, WorkLeft
from memoir.ports import Clock, EventBus, ReceiptStore, StoredDocument, TableStore, TableView, TurnStore
from memoir.usecases.tell_others import tell_others

_PAGE_TURNS = 25
_OUTCOMES: dict[str, Outcome] = {"saved": "ok", "rejected": "rejected"}


@dataclass(frozen=True, kw_only=True)
class TablePorts:
    """What the worker needs from the outside world. `has_time`: whether there is time for one more turn."""

    tables: TableStore
    turns: TurnStore
    receipts: ReceiptStore
    events: EventBus
    clock: Clock
    has_time: Callable[[], bool]


def edit_table(ports: TablePorts, *, scope: Scope, rung: RungTurn) -> list[Receipt]:
    """Apply the edits of all turns that are new to the table of *scope*, and return their receipts.

    Raises RevisionConflict (a second conflict on one turn), StoreUnavailable, WriteOutcomeUnknown,
    RecordCorrupt, WorkLeft: what was done before stands.
    """
    scenario = find_scenario(rung.scenario_id)
    if scenario.source("memoryTable") is None:
        return []
    try:
        view = ports.tables.read(scope, hint=rung.position)
        table = _Table.of(view)
    except RecordCorrupt as corrupt:
        _note_failure(ports, scope, rung.position, rung.turn_id, corrupt, revision=0)
        raise
    only_accepted = scenario.write_on == "accepted"
    receipts: list[Receipt] = []
    for turn in _new_turns(ports, scope, view, table.through):
        if only_accepted and turn.position.round > view.head.accepted_through:
            break
        if not ports.has_time():
            raise WorkLeft(detail=f"turns from round {turn.position.round} on are left")
        table, left = _take(ports, scope, table, turn)
        receipts += left
    return receipts


@dataclass(frozen=True, kw_only=True)
class _Table:
    """The table as it was read: its state, revision, and the last turn that is done with."""

    state: TableState
    revision: Revision
    through: Position

    @classmethod
    def of(cls, view: TableView) -> "_Table":
        state, revision = stored_state(view.stored)
        return cls(state=state, revision=revision, through=max(state.through, view.passed))


def stored_state(stored: StoredDocument | None) -> tuple[TableState, Revision]:
    """Return the stored state and its revision, an empty one at 0 for none. Raises RecordCorrupt."""
    if stored is None:
        return TableState(), NONE_YET
    return read_state(stored.document), stored.revision


def _new_turns(ports: TablePorts, scope: Scope, view: TableView, through: Position) -> Iterator[Turn]:
    """Yield the turns behind *through*, of each round its newest version."""
    last = view.head.last
    if last <= through:
        return
    if view.turn and view.turn.position == last and _is_next(last, through):
        yield view.turn
        return
    while True:
        page = ports.turns.since(scope, after=through, limit=_PAGE_TURNS + 1)
        for turn, following in zip(page, [*page[1:], None], strict=True):
            if following is None and len(page) > _PAGE_TURNS:
                break
            if following is None or following.position.round != turn.position.round:
                yield turn
            through = turn.position
        if len(page) <= _PAGE_TURNS:
            return


def _is_next(position: Position, through: Position) -> bool:
    """Tell whether *position* comes right behind *through*, or is a further version of the same round."""
    return position.round in (through.round, through.round + 1)


def _take(ports: TablePorts, scope: Scope, table: _Table, turn: Turn) -> tuple[_Table, list[Receipt]]:
    """Apply one turn, twice where the table moved meanwhile. No receipt where another worker has done it."""
    if table.through >= turn.position:
        return table, []
    try:
        return _write(ports, scope, table, turn)
    except RevisionConflict:
        table = _Table.of(ports.tables.read(scope))
    if table.through >= turn.position:
        return table, []
    try:
        return _write(ports, scope, table, turn)
    except RevisionConflict as conflict:
        _note_failure(ports, scope, turn.position, turn.turn_id, conflict, revision=conflict.current_revision)
        raise


def _write(ports: TablePorts, scope: Scope, table: _Table, turn: Turn) -> tuple[_Table, list[Receipt]]:
    step = step_of_turn(table.state, turn)
    if step.state is None:
        receipt = _receipt(ports, turn, step, before=table.revision, after=table.revision)
        ports.tables.pass_by(scope, position=turn.position, receipt=receipt)
        return _Table(state=table.state, revision=table.revision, through=turn.position), [receipt]
    revision = Revision(table.revision + 1)
    state = step.state.at(revision)
    receipt = _receipt(ports, turn, step, before=table.revision, after=revision)
    ports.tables.replace(
        scope, expected=table.revision, state=state.to_document(), token=random_token(), receipt=receipt
    )
    event = {"turnId": turn.turn_id, "round": turn.position.round, "revision": revision}
    failed = tell_others(
        ports.events, ports.receipts, scope, "TableChanged", event, of=receipt, worker="refinement"
    )
    return _Table(state=state, revision=revision, through=turn.position), [receipt, *failed]


def _receipt(ports: TablePorts, turn: Turn, step: Step, *, before: int, after: int) -> Receipt:
    report = step.report
    commands = [
        {name: command[name] for name in ("i", "op", "status", "code", "rowId") if name in command}
        for command in report["commands"]
    ]
    details: dict[str, Any] = {"counts": report["counts"], "commands": commands, "flags": report["flags"]}
    if "replaced" in report:
        details |= {"replaced": True, "stale": report["stale"]}
    return Receipt(
        worker="table",
        position=turn.position,
        turn_id=turn.turn_id,
        outcome=_OUTCOMES.get(report["status"], "skipped"),
        reason=report["status"],
        revision_before=before,
        revision_after=after,
        created_at=utc_text(ports.clock()),
        details=details,
    )


def _note_failure(
    ports: TablePorts, scope: Scope, position: Position, turn_id: str, error: MemoirError, *, revision: int
) -> None:
    receipt = Receipt(
        worker="table",
        position=position,
        turn_id=turn_id,
        outcome="failed",
        reason=error.code,
        revision_before=revision,
        revision_after=revision,
        created_at=utc_text(ports.clock()),
    )
    ports.receipts.note(scope, receipt)
