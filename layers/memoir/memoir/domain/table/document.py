"""The table document: named sheets of text cells, whose rows keep their ids whatever is done around them."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memoir.domain.table.limits import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    MAX_DOCUMENT_BYTES,
    MAX_NAME_CHARACTERS,
    MAX_ROWS,
    MAX_SHEETS,
)
from memoir.errors import LimitExceeded, RequestInvalid, TooLarge

_ROW_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_MADE_ID = re.compile(r"r([1-9][0-9]{0,14})")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row. Its id is never used again in the document, so it means this row or none."""

    id: str
    cells: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A named sheet; every row has a cell for each column."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def row(self, row_id: str) -> Row | None:
        """Return the row of that id."""
        index = self._index(row_id)
        return None if index is None else self.rows[index]

    def with_row(self, changed: Row) -> "Sheet":
        """Return the sheet with the row of that id replaced."""
        index = self._index(changed.id)
        if index is None:
            raise KeyError(changed.id)
        rows = (*self.rows[:index], changed, *self.rows[index + 1 :])
        return Sheet(name=self.name, columns=self.columns, rows=rows)

    def _index(self, row_id: str) -> int | None:
        for index, row in enumerate(self.rows):
            if row.id == row_id:
                return index
        return None

    def column(self, name: str) -> int | None:
        """Return the index of the column of that name, compared after NFKC and trimming."""
        if name in self.columns:
            return self.columns.index(name)
        wanted = folded(name)
        names = _folded_names(self.columns)
        return names.index(wanted) if wanted in names else None


@dataclass(frozen=True, kw_only=True)
class TableDocument:
    """All sheets. `next_row`: the number of the next row id that is made, above every one made before."""

    sheets: tuple[Sheet, ...] = ()
    next_row: int = 1

    def sheet(self, name: str) -> Sheet | None:
        """Return the sheet of that name, compared after NFKC and trimming."""
        exact = next((sheet for sheet in self.sheets if sheet.name == name), None)
        if exact is not None:
            return exact
        wanted = folded(name)
        return next((sheet for sheet in self.sheets if folded(sheet.name) == wanted), None)

    def with_sheet(self, changed: Sheet) -> "TableDocument":
        """Return the document with the sheet of that name replaced."""
        sheets = tuple(changed if sheet.name == changed.name else sheet for sheet in self.sheets)
        return TableDocument(sheets=sheets, next_row=self.next_row)

    def to_json(self) -> dict[str, Any]:
        """Return the document as the API answers it."""
        return {
            "sheets": [
                {
                    "name": sheet.name,
                    "columns": list(sheet.columns),
                    "rows": [list(row.cells) for row in sheet.rows],
                    "rowIds": [row.id for row in sheet.rows],
                }
                for sheet in self.sheets
            ]
        }

    def same_content(self, other: "TableDocument") -> bool:
        """Tell whether both hold the same sheets and rows; what ids come next does not matter."""
        return self.sheets == other.sheets

    def size_bytes(self) -> int:
        """Return the length of the document as compact UTF-8 JSON."""
        return json_bytes(self.to_json())


def folded(name: str) -> str:
    """Return *name* as names are compared: NFKC, trimmed."""
    return (name if name.isascii() else unicodedata.normalize("NFKC", name)).strip()


@lru_cache(maxsize=16)
def _folded_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(folded, names))


def json_bytes(value: object) -> int:
    """Return the length of *value* as compact UTF-8 JSON."""
    return len(_COMPACT.encode(value).encode())


def table_document(value: object, *, previous: TableDocument | None = None) -> TableDocument:
    """Return the parsed JSON *value* as a table, or raise what is wrong with it, naming the place.

    Where `rowIds` is left out, a row equal to one of *previous* keeps that one's id; others get new ids,
    above all that *previous* and *value* use.
    Raises RequestInvalid, LimitExceeded (sheets, columns, rows, cell characters), TooLarge (65,536 bytes).
    """
    members = _members(value, "/table", required=("sheets",))
    listed = _list(members["sheets"], "/table/sheets", code="table_too_many_sheets", limit=MAX_SHEETS)
    raw = [_raw_sheet(sheet, f"/table/sheets/{i}") for i, sheet in enumerate(listed)]
    _check_unique((sheet.name for sheet in raw), "/table/sheets", what="name")
    document = _with_ids(raw, previous or TableDocument())
    size_bytes = document.size_bytes()
    if size_bytes > MAX_DOCUMENT_BYTES:
        raise TooLarge(
            code="table_too_large",
            path="/table",
            size_bytes=size_bytes,
            limit_bytes=MAX_DOCUMENT_BYTES,
            detail=f"/table: {size_bytes} bytes of JSON, the limit is {MAX_DOCUMENT_BYTES}",
        )
    return document


@dataclass(frozen=True, kw_only=True)
class _RawSheet:
    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_ids: tuple[str, ...] | None


def _raw_sheet(value: object, path: str) -> _RawSheet:
    members = _members(value, path, required=("name", "columns", "rows"), optional=("rowIds",))
    columns = _texts(members["columns"], f"{path}/columns", code="table_too_many_columns", limit=MAX_COLUMNS)
    for i, column in enumerate(columns):
        _check_name(column, f"{path}/columns/{i}")
    _check_unique(columns, f"{path}/columns", what="column")
    listed = _list(members["rows"], f"{path}/rows", code="table_too_many_rows", limit=MAX_ROWS)
    rows = tuple(_row(row, f"{path}/rows/{i}", width=len(columns)) for i, row in enumerate(listed))
    name = members["name"]
    if not isinstance(name, str):
        raise _invalid(f"{path}/name", "must be text")
    _check_name(name, f"{path}/name")
    return _RawSheet(name=name, columns=columns, rows=rows, row_ids=_row_ids(members, path, count=len(rows)))


def _row(value: object, path: str, *, width: int) -> tuple[str, ...]:
    cells = _texts(value, path, code="table_too_many_columns", limit=MAX_COLUMNS)
    if len(cells) != width:
        raise _invalid(path, f"has {len(cells)} cells for {width} columns")
    for i, cell in enumerate(cells):
        if len(cell) > MAX_CELL_CHARACTERS:
            raise LimitExceeded(
                code="cell_too_long",
                value=len(cell),
                limit=MAX_CELL_CHARACTERS,
                path=f"{path}/{i}",
                detail=f"{path}/{i}: {len(cell)} characters, the limit is {MAX_CELL_CHARACTERS}",
            )
    return cells


def _row_ids(members: dict[str, Any], path: str, *, count: int) -> tuple[str, ...] | None:
    if "rowIds" not in members:
        return None
    ids = _texts(members["rowIds"], f"{path}/rowIds", code="table_too_many_rows", limit=MAX_ROWS)
    if len(ids) != count:
        raise _invalid(f"{path}/rowIds", f"has {len(ids)} ids for {count} rows")
    for i, row_id in enumerate(ids):
        if not _ROW_ID.fullmatch(row_id):
            raise _invalid(f"{path}/rowIds/{i}", "must be 1 to 64 of A-Z a-z 0-9 _ . : -")
    if len(set(ids)) != len(ids):
        raise _invalid(f"{path}/rowIds", "an id stands twice")
    return ids


def _with_ids(raw: list[_RawSheet], previous: TableDocument) -> TableDocument:
    given = [row_id for sheet in raw for row_id in sheet.row_ids or ()]
    made = [int(match[1]) for row_id in given if (match := _MADE_ID.fullmatch(row_id))]
    next_row = max([previous.next_row, *(number + 1 for number in made)])

    def new_id() -> str:
        nonlocal next_row
        next_row += 1
        return f"r{next_row - 1}"

    sheets = tuple(
        Sheet(
            name=sheet.name,
            columns=sheet.columns,
            rows=tuple(
                Row(id=row_id, cells=cells)
                for row_id, cells in zip(_ids_of(sheet, previous, new_id), sheet.rows, strict=True)
            ),
        )
        for sheet in raw
    )
    return TableDocument(sheets=sheets, next_row=next_row)


def _ids_of(sheet: _RawSheet, previous: TableDocument, new_id: Callable[[], str]) -> Iterable[str]:
    if sheet.row_ids is not None:
        return sheet.row_ids
    known = previous.sheet(sheet.name)
    free: dict[tuple[str, ...], list[str]] = {}
    for row in reversed(known.rows if known else ()):
        free.setdefault(row.cells, []).append(row.id)
    return [free[cells].pop() if free.get(cells) else new_id() for cells in sheet.rows]


def _members(
    value: object, path: str, *, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RequestInvalid(code="not_an_object", path=path, detail=f"{path}: must be a JSON object")
    for name in value:
        if name not in required + optional:
            raise RequestInvalid(
                code="unknown_member", path=f"{path}/{name}", detail=f"{path}/{name}: no such member"
            )
    for name in required:
        if name not in value:
            raise RequestInvalid(
                code="member_missing", path=f"{path}/{name}", detail=f"{path}/{name}: is missing"
            )
    return value


def _list(value: object, path: str, *, code: str, limit: int) -> list[Any]:
    if not isinstance(value, list):
        raise _invalid(path, "must be a list")
    if len(value) > limit:
        raise LimitExceeded(
            code=code,
            value=len(value),
            limit=limit,
            path=path,
            detail=f"{path}: {len(value)} entries, the limit is {limit}",
        )
    return value


def _texts(value: object, path: str, *, code: str, limit: int) -> tuple[str, ...]:
    listed = _list(value, path, code=code, limit=limit)
    for i, text in enumerate(listed):
        if not isinstance(text, str):
            raise _invalid(f"{path}/{i}", "must be text")
    return tuple(listed)


def _check_name(name: str, path: str) -> None:
    if not folded(name) or len(name) > MAX_NAME_CHARACTERS:
        raise _invalid(path, f"must be 1 to {MAX_NAME_CHARACTERS} characters that are not all blank")
    if folded(name).isascii() and folded(name).isdigit():
        raise RequestInvalid(
            code="name_is_a_number",
            path=path,
            detail=f"{path}: a name of digits alone would be taken for an index; put a word beside them",
        )


def _check_unique(names: Iterable[str], path: str, *, what: str) -> None:
    seen: set[str] = set()
    for i, name in enumerate(names):
        if folded(name) in seen:
            raise _invalid(f"{path}/{i}", f"the {what} stands twice, compared after NFKC and trimming")
        seen.add(folded(name))


def _invalid(path: str, reason: str) -> RequestInvalid:
    return RequestInvalid(code="table_invalid", path=path, detail=f"{path}: {reason}")
