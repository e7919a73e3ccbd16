"""What is kept of a table's past: the rows that a model was shown, and how the last reply is undone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memoir.domain.table.document import Row, Sheet, TableDocument, json_bytes
from memoir.domain.table.resolve import Shown, ShownSheet

KEPT_REVISIONS = 20


def shown_as_plain(shown: Mapping[int, Shown], *, max_bytes: int) -> dict[str, Any]:
    """Return what models were shown, by revision, as plain JSON of at most about *max_bytes*.

    Each id stands once, a sheet's rows are runs of their numbers; what does not fit is the oldest.
    """
    numbers: dict[str, int] = {}
    revisions: dict[str, list[list[str]]] = {}
    size_bytes = 0
    for revision in sorted(shown, reverse=True):
        known = len(numbers)
        sheets = [[sheet.name, _runs(sheet.row_ids, numbers)] for sheet in shown[revision]]
        new_ids = list(numbers)[known:]
        size_bytes += json_bytes(sheets) + json_bytes(new_ids) + 12
        if size_bytes > max_bytes:
            numbers = {row_id: number for row_id, number in numbers.items() if number < known}
            break
        revisions[str(revision)] = sheets
    return {"ids": list(numbers), "revisions": revisions}


def shown_from_plain(value: Any) -> dict[int, Shown]:
    """Return what `shown_as_plain` wrote; nothing for what was kept in another form before.

    Raises ValueError, TypeError, KeyError, IndexError.
    """
    if "ids" not in value:
        return {}
    ids = value["ids"]
    return {
        int(revision): tuple(
            ShownSheet(name=str(name), row_ids=tuple(str(ids[number]) for number in _numbers(runs)))
            for name, runs in sheets
        )
        for revision, sheets in value["revisions"].items()
    }


def _runs(row_ids: Iterable[str], numbers: dict[str, int]) -> str:
    """Return ids as runs of their numbers, `0~57,60`; ids that have none yet are given one."""
    runs: list[list[int]] = []
    for row_id in row_ids:
        number = numbers.setdefault(row_id, len(numbers))
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("~".join(map(str, run)) for run in runs)


def _numbers(runs: str) -> Iterator[int]:
    for run in runs.split(",") if runs else ():
        first, _, last = run.partition("~")
        yield from range(int(first), int(last or first) + 1)


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
