"""The call form: `updateRow(0, 1, {"1": "…"})`, as existing prompts ask for it."""

import re
import unicodedata
from dataclasses import replace
from typing import Any

from memoir.domain.model_text.cursor import CLOSE_PARENTHESES, COMMAS
from memoir.domain.table.cell import cell_text
from memoir.domain.table.command import Cells, Command, SheetRef
from memoir.domain.table.document import folded
from memoir.domain.table.literals import Reader
from memoir.domain.table.values import Bare, Pairs, Unreadable

_OPS = {"insert": "insert", "add": "insert", "update": "update", "delete": "delete", "remove": "delete"}
_NAMED = re.compile(r"([A-Za-z_]{3,14})[ \t　]{0,4}[:=：]")
_LABEL = re.compile(r"[\[［]\s{0,4}([0-9０-９]{1,9})\s{0,4}[:：]\s{0,4}([^\]］\n]{1,128})[\]］]")
_INDEX_AND_NAME = re.compile(r"([0-9]{1,9})\s{0,4}[:：]\s{0,4}(.{1,128})")
_NAMES = {
    "table": "table",
    "tableindex": "table",
    "tablename": "table",
    "sheet": "table",
    "row": "row",
    "rowindex": "row",
    "data": "data",
    "set": "data",
    "values": "data",
    "guard": "guard",
    "expect": "guard",
}


def op_of(name: str) -> str:
    """Return the operation that *name* means: insert, update, delete; else the name itself, in lower case."""
    key = name.lower().replace("_", "").replace(" ", "").removesuffix("row")
    return _OPS.get(key, name.lower())


def read_call(reader: Reader, found: re.Match[str]) -> Command:
    """Return the command whose name and parenthesis *found* is; the reader then stands behind it."""
    op = op_of(found[1])
    at = found.start()
    reader.begin(found.end())
    try:
        given, named = _arguments(reader)
    except Unreadable as reason:
        _go_on_behind(reader, at)
        return Command(op=op, status="rejected", code=reason.code, at=at, repairs=tuple(reader.repairs))
    command = build_command(op, given, named, repairs=reader.repairs, at=at)
    return replace(command, repairs=tuple(reader.repairs)) if reader.repairs else command


def _go_on_behind(reader: Reader, at: int) -> None:
    """After what cannot be read, go on at the next line that begins with a command, or at the block's end."""
    position = max(reader.pos, at + 1)
    reader.pos = min(reader.marks.next_line_command(position), reader.marks.end_of_draft(position))


def _arguments(reader: Reader) -> tuple[list[Any], dict[str, Any]]:
    given: list[Any] = []
    named: dict[str, Any] = {}
    while True:
        reader.skip_blank()
        if reader.at(CLOSE_PARENTHESES):
            reader.pos += 1
            return given, named
        if reader.at(COMMAS):
            reader.pos += 1
            continue
        if reader.at_end() or reader.at(";；"):
            return _unclosed(reader, given, named)
        name = None
        if (argument := reader.match(_NAMED, reader.pos)) and argument[1].lower() in _NAMES:
            name = _NAMES[argument[1].lower()]
            reader.pos = argument.end()
            reader.repaired("named_arguments")
            reader.skip_blank()
        before = reader.pos
        value = _argument(reader)
        if reader.pos == before:
            if given and isinstance(given[-1], Pairs):
                return _unclosed(reader, given, named)
            raise Unreadable("bad_args")
        if name is None:
            given.append(value)
        else:
            named[name] = value


def _argument(reader: Reader) -> Any:
    index = reader.index()
    if index is not None:
        return index
    label = reader.match(_LABEL, reader.pos)
    if label:
        reader.pos = label.end()
        reader.repaired("sheet_label")
        return SheetRef(index=int(unicodedata.normalize("NFKC", label[1])), name=label[2].strip())
    return reader.value("args")


def _unclosed(reader: Reader, given: list[Any], named: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Accept a missing parenthesis where the last argument is certainly whole."""
    whole = (bool(given) and isinstance(given[-1], Pairs)) or isinstance(named.get("data"), Pairs)
    if reader.block_is_over() and not whole:
        raise Unreadable("truncated")
    if not given and not named:
        raise Unreadable("bad_args")
    reader.repaired("missing_parenthesis")
    return given, named


def build_command(
    op: str, given: list[Any], named: dict[str, Any], *, repairs: list[str], at: int | None = None
) -> Command:
    """Return the command that arguments make, by position and by name. *at*: where in the reply."""
    if op not in _OPS.values():
        return _rejected(op, "unknown_op", at)
    rest = list(given)
    try:
        sheet = sheet_ref(named["table"] if "table" in named else rest.pop(0))
        if op == "insert":
            return _insert(sheet, rest, named, repairs, at)
        if "row" not in named and not rest:
            return _rejected(op, "arity", at)
        row = named["row"] if "row" in named else rest.pop(0)
        if op == "delete":
            guard = named.get("guard", rest[0] if rest else None)
            return Command(op=op, sheet=sheet, row=row_index(row), expect=_guard(guard), at=at)
        data = named["data"] if "data" in named else (rest.pop(0) if rest else None)
        if isinstance(row, Pairs) or not isinstance(data, Pairs):
            return _rejected(op, "arity" if data is None else "bad_object", at)
        guard = named.get("guard", rest[0] if rest else None)
        return Command(
            op=op, sheet=sheet, row=row_index(row), cells=cells_of(data), expect=_guard(guard), at=at
        )
    except IndexError:
        return _rejected(op, "arity", at)
    except Unreadable as reason:
        return _rejected(op, reason.code, at)


def _insert(
    sheet: SheetRef, rest: list[Any], named: dict[str, Any], repairs: list[str], at: int | None
) -> Command:
    data = named.get("data")
    if (
        data is None
        and len(rest) == 2
        and not isinstance(rest[0], Pairs)
        and isinstance(rest[1], Pairs | list)
    ):
        rest = rest[1:]
        repairs.append("extra_argument")
    if data is None and len(rest) == 1 and isinstance(rest[0], Pairs | list):
        data = rest[0]
    if data is None:
        if not rest or any(isinstance(value, Pairs | list) for value in rest):
            return _rejected("insert", "bad_args" if rest else "arity", at)
        data = rest
    if isinstance(data, Pairs):
        return Command(op="insert", sheet=sheet, cells=cells_of(data), at=at)
    if not isinstance(data, list):
        return _rejected("insert", "bad_args", at)
    repairs.append("positional_cells")
    cells = tuple((index, cell_text(value)) for index, value in enumerate(data))
    return Command(op="insert", sheet=sheet, cells=cells, positional=True, at=at)


def cells_of(pairs: Pairs) -> Cells:
    """Return the members of an object as cells; of a name that stands twice, the last."""
    return tuple({folded(name): cell_text(value) for name, value in pairs}.items())


def sheet_ref(value: Any) -> SheetRef:
    """Return which sheet *value* names. Raises Unreadable."""
    if isinstance(value, SheetRef):
        return value
    if value is None or isinstance(value, bool | list):
        raise Unreadable("unknown_table")
    text = folded(str(value))
    if text.isascii() and text.isdigit():
        return SheetRef(index=int(text[:18]))
    both = _INDEX_AND_NAME.fullmatch(text)
    if both and isinstance(value, Bare):
        return SheetRef(index=int(both[1]), name=both[2].strip())
    return SheetRef(name=str(value))


def row_index(value: Any) -> int:
    """Return *value* as the index of a row: at most 9 digits, `1.0` is 1. Raises Unreadable."""
    if isinstance(value, str):
        text = folded(value)
        whole, dot, zeros = text.partition(".")
        integral = not dot or (zeros != "" and not zeros.strip("0"))
        if whole.isascii() and whole.isdigit() and len(whole) <= 9 and integral:
            return int(whole)
    raise Unreadable("bad_row")


def _guard(value: Any) -> Cells:
    if value is None:
        return ()
    if isinstance(value, Pairs):
        return cells_of(value)
    return ((0, cell_text(value)),)


def _rejected(op: str, code: str, at: int | None) -> Command:
    return Command(op=op, status="rejected", code=code, at=at)
