"""The table's worker: apply the edits of each new turn, in order, once each."""

from typing import Any

from memoir.domain.receipt import Outcome, Receipt
from memoir.domain.scope import Scope
from memoir.domain.table.state import TableState, read_state
from memoir.domain.table.step import step_of_turn
from memoir.domain.turns import RungTurn, Turn
from memoir.ports.records import RecordKey
from memoir.records.documents import StoredDocument
from memoir.usecases.follow_turns import follow_turns
from memoir.usecases.governed_work import governed_by, rules_of
from memoir.usecases.scenarios import governing_keys
from memoir.usecases.worker import Effect, View, Worker, WorkerPorts

_OUTCOMES: dict[str, Outcome] = {"saved": "ok", "rejected": "rejected"}


def table_key(scope: Scope) -> RecordKey:
    """Return the key of a conversation's memory table."""
    return RecordKey(owner=scope, kind="table")


def edit_table(ports: WorkerPorts, *, scope: Scope, rung: RungTurn) -> list[Receipt]:
    """Apply the edits of all turns that are new to the table of *scope*, and return their receipts.

    Where the scenario has no table any more, nothing is read nor written.
    """
    scenario = governed_by(ports, scope, rung)
    worker = Worker(
        name="table",
        key=table_key(scope),
        step=lambda view, turn: _step(view, turn, refine=scenario(view).table.refine),
        cursor=("table",),
        beside=governing_keys(scope, rung.scenario_id, revision=rung.scenario_revision),
        rules=lambda view: rules_of(scenario(view), "memoryTable"),
        teller="refinement",
    )
    return follow_turns(ports, worker, scope=scope, rung=rung)


def stored_state(stored: StoredDocument | None) -> TableState:
    """Return the stored state, an empty one for none. Raises RecordCorrupt.

    Its rows are those that a model was shown at its revision. The text does not say so where a rewind made
    the revision, for that stores an older text as it was.
    """
    if stored is None:
        return TableState()
    state = TableState() if stored.document is None else read_state(stored.document)
    return state.at(stored.revision)


def _step(view: View, turn: Turn, *, refine: bool) -> Effect:
    step = step_of_turn(stored_state(view.stored), turn)
    report = step.report
    commands = [
        {name: command[name] for name in ("i", "op", "status", "code", "rowId") if name in command}
        for command in report["commands"]
    ]
    details: dict[str, Any] = {"counts": report["counts"], "commands": commands, "flags": report["flags"]}
    if "replaced" in report:
        details |= {"replaced": True, "stale": report["stale"]}
    reason = report["status"]
    if step.state is None:
        # A regenerated reply may lead to the table that the old one left.
        reason = "no_change" if reason == "saved" else reason
        return Effect(outcome=_OUTCOMES.get(reason, "skipped"), reason=reason, details=details)
    revision = view.revision + 1
    return Effect(
        outcome="ok",
        reason=reason,
        details=details,
        document=step.state.at(revision).to_document(),
        event=("TableChanged", {"revision": revision}) if refine else None,
    )
