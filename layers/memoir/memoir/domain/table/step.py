"""One step of a memory table: what a turn's reply, or the host, makes of its state."""

from dataclasses import dataclass, replace
from typing import Any

from memoir.domain.table.apply import apply_edits
from memoir.domain.table.command import Command
from memoir.domain.table.history import changes_between, undone
from memoir.domain.table.reply import Reply, read_reply
from memoir.domain.table.report import edit_report
from memoir.domain.table.resolve import Shown, settle, shown_rows
from memoir.domain.table.state import TableState
from memoir.domain.turns import Turn


@dataclass(frozen=True, kw_only=True)
class Step:
    """The state after a step, None where the table stays as it is, and the report of the edits."""

    state: TableState | None
    report: dict[str, Any]


def step_of_turn(state: TableState, turn: Turn) -> Step:
    """Return what *turn* makes of *state*. Depends on its arguments alone.

    The reply of a regenerated turn takes the place of the old one: what that did is undone first, as far as
    nobody has changed it since; the rest is told as `stale`.
    """
    base, regenerated = state.document, False
    stale: tuple[str, ...] = ()
    if state.through.round == turn.position.round:
        base, stale = undone(state.document, state.undo)
        regenerated = True
    reply = read_reply(turn.assistant_text)
    edits = settle(reply.commands, shown=shown_at(state, turn.table_revision))
    applied = apply_edits(base, edits, truncated="truncated" in reply.flags)
    report = edit_report(base=base, reply=reply, edits=edits, applied=applied)
    if regenerated:
        report |= {"replaced": True, "stale": list(stale)}
    if applied.document.same_content(state.document):
        return Step(state=None, report=report)
    after = replace(
        state,
        document=applied.document,
        through=turn.position,
        undo=changes_between(base, applied.document),
    )
    return Step(state=after, report={**report, "status": "saved", "changed": True})


def step_of_edits(state: TableState, reply: Reply) -> Step:
    """Return what *reply*, edits that the host sends, makes of *state*. Indexes mean the rows of *state*."""
    edits = settle(reply.commands, shown=shown_rows(state.document))
    applied = apply_edits(state.document, edits, truncated="truncated" in reply.flags)
    report = edit_report(base=state.document, reply=reply, edits=edits, applied=applied)
    if not report["changed"]:
        return Step(state=None, report=report)
    return Step(state=replace(state, document=applied.document), report=report)


def given_edits(commands: list[Command]) -> Reply:
    """Return edits that were given as JSON as what a reply with one block would be."""
    return Reply(commands=tuple(commands), blocks=1)


def shown_at(state: TableState, revision: int) -> Shown | None:
    """Return the rows at *revision*, none at revision 0, None where they are no longer known."""
    return () if revision == 0 else state.shown.get(revision)
