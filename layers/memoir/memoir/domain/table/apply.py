"""Apply settled edits to a table: good ones take effect, bad ones are told, deletes wait where unsafe."""

import unicodedata
from dataclasses import dataclass, field, replace
from typing import Literal

from memoir.domain.table.cell import is_placeholder
from memoir.domain.table.command import UNREADABLE, Cells, ColumnKey, written_index
from memoir.domain.table.document import Row, Sheet, TableDocument, json_bytes
from memoir.domain.table.limits import MAX_CELL_CHARACTERS, MAX_DOCUMENT_BYTES, MAX_ROWS
from memoir.domain.table.resolve import Edit

Status = Literal["applied", "noop", "rejected", "held", "ignored"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one edit. `changed`: the columns that got another text."""

    status: Status
    code: str | None = None
    row_id: str | None = None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Applied:
    """A table after a reply, and what became of each edit, in text order."""

    document: TableDocument
    outcomes: tuple[Outcome, ...]


def apply_edits(document: TableDocument, edits: tuple[Edit, ...], *, truncated: bool) -> Applied:
    """Return *document* after *edits*: inserts and updates in text order, deletes last.

    Deletes are held where the reply was *truncated* or any command of it could not be read: a lost insert can
    come again in the next round, a wrong delete cannot be taken back by it.
    """
    unsafe = truncated or any(edit.code in UNREADABLE for edit in edits)
    run = _Run(document=document, size_bytes=document.size_bytes())
    outcomes: list[Outcome] = []
    deletes: list[int] = []
    for edit in edits:
        outcome = _refused(edit) or run.take(edit, unsafe=unsafe)
        if edit.command.op == "delete" and outcome.status == "applied":
            deletes.append(len(outcomes))
        outcomes.append(outcome)
    for index in deletes:
        run.remove(edits[index].sheet or "", outcomes[index].row_id or "")
    return Applied(document=run.document, outcomes=tuple(outcomes))


def _refused(edit: Edit) -> Outcome | None:
    if edit.command.status == "ignored":
        return Outcome(status="ignored", code=edit.code)
    return Outcome(status="rejected", code=edit.code) if edit.code else None


@dataclass
class _Run:
    """The table while edits are applied. `new_rows`: ids of the rows that this reply inserted, by sheet."""

    document: TableDocument
    size_bytes: int
    new_rows: dict[str, list[str | None]] = field(default_factory=dict)
    deleted: set[tuple[str, str]] = field(default_factory=set)

    def take(self, edit: Edit, *, unsafe: bool) -> Outcome:
        """Apply one edit; of a delete, only decide it."""
        sheet = self.document.sheet(edit.sheet or "")
        if sheet is None:
            return Outcome(status="rejected", code="unknown_table")
        if edit.command.op == "insert" or edit.becomes_insert:
            return self._insert(sheet, edit)
        row, outcome = self._row(sheet, edit)
        if outcome or row is None:
            return outcome or Outcome(status="rejected", code="row_gone")
        if not _holds(sheet, row, edit.command.expect):
            return Outcome(status="rejected", code="guard_mismatch", row_id=row.id)
        if edit.command.op == "delete":
            if unsafe:
                return Outcome(status="held", code="unsafe_delete", row_id=row.id)
            self.deleted.add((sheet.name, row.id))
            return Outcome(status="applied", row_id=row.id)
        return self._update(sheet, row, edit.command.cells)

    def remove(self, sheet_name: str, row_id: str) -> None:
        """Take a row out of the table."""
        sheet = self.document.sheet(sheet_name)
        if sheet is not None:
            rows = tuple(row for row in sheet.rows if row.id != row_id)
            self.document = self.document.with_sheet(replace(sheet, rows=rows))

    def _row(self, sheet: Sheet, edit: Edit) -> tuple[Row | None, Outcome | None]:
        """Return the row that *edit* means, or why there is none."""
        deletes = edit.command.op == "delete"
        if edit.row_id is None and edit.new_row is None:
            found = [
                row
                for row in sheet.rows
                if (sheet.name, row.id) not in self.deleted and _holds(sheet, row, edit.command.match)
            ]
            if len(found) != 1:
                return None, Outcome(status="rejected", code="many_matches" if found else "no_match")
            return found[0], None
        row_id = edit.row_id
        if edit.new_row is not None:
            row_id = self.new_rows.get(sheet.name, [])[edit.new_row]
            if row_id is None:  # the insert was refused
                return None, Outcome(status="rejected", code="row_out_of_range")
        if (sheet.name, row_id) in self.deleted:
            if deletes:
                return None, Outcome(status="noop", code="already_deleted", row_id=row_id)
            return None, Outcome(status="rejected", code="row_deleted_in_batch", row_id=row_id)
        row = sheet.row(row_id or "")
        if row is None and deletes:
            return None, Outcome(status="noop", code="already_deleted", row_id=row_id)
        return row, None

    def _insert(self, sheet: Sheet, edit: Edit) -> Outcome:
        """Insert a row; whatever comes of it, it is the next one that later indexes of the reply may mean."""
        outcome = self._inserted(sheet, edit.command.cells)
        self.new_rows.setdefault(sheet.name, []).append(outcome.row_id)
        if outcome.status == "applied" and edit.becomes_insert:
            return replace(outcome, code="converted_to_insert")
        return outcome

    def _inserted(self, sheet: Sheet, cells: Cells) -> Outcome:
        placed, code = _placed(sheet, cells)
        if code and (not placed or code != "unknown_column"):
            return Outcome(status="rejected", code=code)
        if not any(placed.values()):
            return Outcome(status="rejected", code="no_data")
        texts = tuple(placed.get(index, "") for index in range(len(sheet.columns)))
        if _is_only_placeholders(texts):
            return Outcome(status="rejected", code="placeholder_row")
        same = next((row for row in sheet.rows if row.cells == texts), None)
        if same is not None and (sheet.name, same.id) not in self.deleted:
            return Outcome(status="noop", code="duplicate_row", row_id=same.id)
        if len(sheet.rows) >= MAX_ROWS:
            return Outcome(status="rejected", code="table_full")
        row = Row(id=f"r{self.document.next_row}", cells=texts)
        grown = self.size_bytes + json_bytes(list(texts)) + json_bytes(row.id) + 2
        if grown > MAX_DOCUMENT_BYTES:
            return Outcome(status="rejected", code="document_too_large")
        self.size_bytes = grown
        changed = self.document.with_sheet(replace(sheet, rows=(*sheet.rows, row)))
        self.document = replace(changed, next_row=changed.next_row + 1)
        return Outcome(status="applied", code=code, row_id=row.id, changed=_names(sheet, placed))

    def _update(self, sheet: Sheet, row: Row, cells: Cells) -> Outcome:
        placed, code = _placed(sheet, cells)
        if code and (not placed or code != "unknown_column"):
            return Outcome(status="rejected", code=code, row_id=row.id)
        if not placed:
            return Outcome(status="rejected", code="no_data", row_id=row.id)
        different = {index: text for index, text in placed.items() if row.cells[index] != text}
        if not different:
            return Outcome(status="noop", code=code or "unchanged", row_id=row.id)
        texts = tuple(different.get(index, old) for index, old in enumerate(row.cells))
        if _is_only_placeholders(texts):
            return Outcome(status="rejected", code="placeholder_row", row_id=row.id)
        grown = self.size_bytes + json_bytes(list(texts)) - json_bytes(list(row.cells))
        if grown > MAX_DOCUMENT_BYTES and grown > self.size_bytes:
            return Outcome(status="rejected", code="document_too_large", row_id=row.id)
        self.size_bytes = grown
        self.document = self.document.with_sheet(sheet.with_row(Row(id=row.id, cells=texts)))
        if 0 in different and row.cells[0] and different[0]:
            code = code or "key_changed"
        return Outcome(status="applied", code=code, row_id=row.id, changed=_names(sheet, different))


def _is_only_placeholders(texts: tuple[str, ...]) -> bool:
    given = [text for text in texts if text]
    return bool(given) and all(map(is_placeholder, given))


def _placed(sheet: Sheet, cells: Cells) -> tuple[dict[int, str], str | None]:
    """Return the cells by column index, and the code of what is wrong with them.

    `unknown_column` alone leaves the other cells good.
    """
    placed: dict[int, str] = {}
    code: str | None = None
    for key, text in cells:
        index = _column(sheet, key)
        if index is None:
            code = code or "unknown_column"
        elif index in placed:
            return {}, "column_twice"
        elif len(text) > MAX_CELL_CHARACTERS:
            return {}, "cell_too_long"
        else:
            placed[index] = text
    return placed, code


def _column(sheet: Sheet, key: ColumnKey) -> int | None:
    named = sheet.column(key) if isinstance(key, str) else None
    index = written_index(key) if named is None else named
    return index if index is not None and index < len(sheet.columns) else None


def _holds(sheet: Sheet, row: Row, wanted: Cells) -> bool:
    for key, text in wanted:
        index = _column(sheet, key)
        if index is None or _compared(row.cells[index]) != _compared(text):
            return False
    return True


def _compared(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _names(sheet: Sheet, placed: dict[int, str]) -> tuple[str, ...]:
    return tuple(sheet.columns[index] for index in sorted(placed))
