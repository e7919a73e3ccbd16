"""What is kept of a table's past: the rows that a model was shown, and how the last reply is undone."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memoir.domain.table.document import Row, Sheet, TableDocument
from memoir.domain.table.resolve import Shown, ShownSheet

KEPT_REVISIONS = 20

_MADE = re.compile(r"r([1-9][0-9]{0,14})")


def ids_text(row_ids: Iterable[str]) -> str:
    """Return ids as short text: runs of made ones as `r1~57`, all separated by commas."""
    runs: list[tuple[str, int, int] | str] = []
    for row_id in row_ids:
        made = _MADE.fullmatch(row_id)
        if made is None:
            runs.append(row_id)
            continue
        number = int(made[1])
        last = runs[-1] if runs else None
        if isinstance(last, tuple) and last[2] == number - 1:
            runs[-1] = ("r", last[1], number)
        else:
            runs.append(("r", number, number))
    return ",".join(
        run if isinstance(run, str) else f"r{run[1]}" + (f"~{run[2]}" if run[2] > run[1] else "")
        for run in runs
    )


def read_ids(text: str) -> tuple[str, ...]:
    """Return the ids that `ids_text` wrote. Raises ValueError."""
    ids: list[str] = []
    for run in text.split(",") if text else ():
        first, tilde, last = run.partition("~")
        if tilde:
            ids += (f"r{number}" for number in range(int(first[1:]), int(last) + 1))
        else:
            ids.append(run)
    return tuple(ids)


def shown_as_plain(shown: Shown) -> list[list[str]]:
    """Return *shown* as plain JSON."""
    return [[sheet.name, ids_text(sheet.row_ids)] for sheet in shown]


def shown_from_plain(value: Any) -> Shown:
    """Return what `shown_as_plain` wrote. Raises ValueError, TypeError."""
    return tuple(ShownSheet(name=str(name), row_ids=read_ids(ids)) for name, ids in value)


@dataclass(frozen=True, kw_only=True)
class RowChange:
    """What a reply did to one row: `before` None is an insert, `after` None a delete from place `index`."""

    sheet: str
    row_id: str
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None
    index: int = 0


Undo = tuple[RowChange, ...]


def changes_between(before: TableDocument, after: TableDocument) -> Undo:
    """Return how the rows of *after* came from those of *before*, both having the same sheets."""
    changes: list[RowChange] = []
    for old in before.sheets:
        new = after.sheet(old.name)
        rows: Mapping[str, Row] = {row.id: row for row in new.rows} if new else {}
        known = {row.id for row in old.rows}
        for index, row in enumerate(old.rows):
            now = rows.get(row.id)
            if now is None or now.cells != row.cells:
                changes.append(
                    RowChange(
                        sheet=old.name,
                        row_id=row.id,
                        before=row.cells,
                        after=now.cells if now else None,
                        index=index,
                    )
                )
        changes += (
            RowChange(sheet=old.name, row_id=row.id, before=None, after=row.cells)
            for row in (new.rows if new else ())
            if row.id not in known
        )
    return tuple(changes)


def undone(document: TableDocument, undo: Undo) -> tuple[TableDocument, tuple[str, ...]]:
    """Return *document* without the effect that *undo* tells of, and the ids of rows that it leaves alone.

    A row that was changed again since is somebody else's work by now: it is left as it is.
    """
    stale: list[str] = []
    for change in undo:
        sheet = document.sheet(change.sheet)
        restored = _restored(sheet, change) if sheet else None
        if restored is None:
            stale.append(change.row_id)
        else:
            document = document.with_sheet(restored)
    return document, tuple(stale)


def _restored(sheet: Sheet, change: RowChange) -> Sheet | None:
    row = sheet.row(change.row_id)
    if (row.cells if row else None) != change.after:
        return None
    if change.before is not None and len(change.before) != len(sheet.columns):
        return None
    if change.before is None:
        return replace(sheet, rows=tuple(kept for kept in sheet.rows if kept.id != change.row_id))
    old = Row(id=change.row_id, cells=change.before)
    if row is None:
        at = min(change.index, len(sheet.rows))
        return replace(sheet, rows=(*sheet.rows[:at], old, *sheet.rows[at:]))
    return replace(sheet, rows=tuple(old if kept.id == old.id else kept for kept in sheet.rows))
