"""Settle what a reply's indexes mean, once: the rows that the model was shown, by their ids.

What is settled here can be applied to a fresher table after a conflict without meaning other rows.
"""

from dataclasses import dataclass

from memoir.domain.table.command import Command, written_index
from memoir.domain.table.document import TableDocument, folded


@dataclass(frozen=True, kw_only=True)
class ShownSheet:
    """A sheet as the model was shown it: its name and the ids of its rows, in order."""

    name: str
    row_ids: tuple[str, ...]


Shown = tuple[ShownSheet, ...]


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A command with its row settled: `row_id` of the table, or the `new_row`-th insert of the same reply.

    `becomes_insert`: it updates the row right behind the last, which is how models write an insert.
    """

    command: Command
    sheet: str | None = None
    row_id: str | None = None
    new_row: int | None = None
    becomes_insert: bool = False
    code: str | None = None


def shown_rows(document: TableDocument) -> Shown:
    """Return what a model that is shown *document* sees of its rows."""
    return tuple(
        ShownSheet(name=sheet.name, row_ids=tuple(row.id for row in sheet.rows)) for sheet in document.sheets
    )


def settle(commands: tuple[Command, ...], *, shown: Shown | None) -> tuple[Edit, ...]:
    """Return *commands* with their sheets and rows settled by *shown*; None where it is no longer known.

    Codes: unknown_table, row_out_of_range, stale_base (a row index, and nobody knows what it meant).
    """
    inserted: dict[str, int] = {}
    edits: list[Edit] = []
    for command in commands:
        edit = Edit(command=command, code=command.code)
        if command.status == "read" and edit.code is None:
            edit = _settled(command, shown=shown, inserted=inserted)
        if edit.sheet is not None and edit.code is None and (command.op == "insert" or edit.becomes_insert):
            inserted[edit.sheet] = inserted.get(edit.sheet, 0) + 1
        edits.append(edit)
    return tuple(edits)


def _settled(command: Command, *, shown: Shown | None, inserted: dict[str, int]) -> Edit:
    if shown is None and (command.row is not None or (command.sheet and command.sheet.name is None)):
        return Edit(command=command, code="stale_base")
    sheet = _shown_sheet(command, shown)
    if sheet is None:
        return Edit(command=command, code="unknown_table")
    if command.row is None:
        return Edit(command=command, sheet=sheet.name)
    if command.row < len(sheet.row_ids):
        return Edit(command=command, sheet=sheet.name, row_id=sheet.row_ids[command.row])
    behind = command.row - len(sheet.row_ids)
    before = inserted.get(sheet.name, 0)
    if behind < before:
        return Edit(command=command, sheet=sheet.name, new_row=behind)
    first_cell = any(written_index(key) == 0 for key, _ in command.cells)
    if command.op == "update" and behind == 0 and before == 0 and not command.expect and first_cell:
        return Edit(command=command, sheet=sheet.name, becomes_insert=True)
    return Edit(command=command, sheet=sheet.name, code="row_out_of_range")


def _shown_sheet(command: Command, shown: Shown | None) -> ShownSheet | None:
    ref = command.sheet
    if ref is None:
        return None
    if shown is None:
        return ShownSheet(name=ref.name or "", row_ids=())
    wanted = folded(ref.name) if ref.name is not None else None
    if ref.index is None or wanted is None:
        name = wanted if ref.index is None else str(ref.index)
        named = next((sheet for sheet in shown if folded(sheet.name) == name), None)
        if named or ref.index is None:
            return named
    sheet = shown[ref.index] if ref.index < len(shown) else None
    return sheet if sheet and wanted in (None, folded(sheet.name)) else None
