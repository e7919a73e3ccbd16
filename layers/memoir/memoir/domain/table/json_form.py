"""The JSON form: `{"edits": [{"op": "update", "table": "人物表", "row": 1, "set": {"物": "大盾"}}]}`.

Read strictly first; only where that fails, by the tolerant reader, object by object, so that what stands
before a cut is kept.
"""

import json
import re
from dataclasses import replace
from typing import Any

from memoir.domain.model_text.cursor import (
    CLOSE_BRACES,
    CLOSE_BRACKETS,
    COLONS,
    COMMAS,
    OPEN_BRACES,
    OPEN_BRACKETS,
    QUOTES,
)
from memoir.domain.table.call_form import cells_of, op_of, row_index, sheet_ref
from memoir.domain.table.cell import cell_text
from memoir.domain.table.command import Cells, Command
from memoir.domain.table.limits import MAX_COMMANDS, MAX_NESTING
from memoir.domain.table.literals import Reader
from memoir.domain.table.marks import find_marks
from memoir.domain.table.values import DECODER, Bare, Pairs, Unreadable, nesting

_ALIASES = {
    "op": ("op", "type", "action"),
    "table": ("table", "tableIndex", "table_index", "tableName", "table_name", "sheet"),
    "row": ("row", "rowIndex", "row_index"),
    "data": ("set", "data", "values", "cells"),
    "key": ("row_key_value", "rowKeyValue"),
}
_NAME_END = rf"\\{{0,3}}[{QUOTES}]?\s{{0,200}}[{COLONS}]\s{{0,200}}"
_WRAPPER = re.compile(rf"[{OPEN_BRACES}]\s{{0,200}}[{QUOTES}]?edits{_NAME_END}[\[［]?")
_OP = re.compile(rf"[{QUOTES}]?(?:op|type|action){_NAME_END}[{QUOTES}]?([A-Za-z_]{{3,12}})")

# What certainly begins edits: an object of ours, also in a list, and also as JSON within a JSON text.
JSON_EDITS = re.compile(
    rf"[{QUOTES}]?[\[［\s]{{0,40}}[{OPEN_BRACES}](?:\s|\\n){{0,200}}\\{{0,3}}[{QUOTES}]?"
    rf"(?:edits|op|type|action){_NAME_END}"
)


def read_json_edits(reader: Reader, at: int) -> list[Command]:
    """Return the edits of the JSON value at *at*; the reader then stands behind what was read."""
    reader.begin(at)
    try:
        value = reader.strict_value()
    except RecursionError:
        return [_skip_block(reader, at, "bad_object")]
    if isinstance(value, str) and JSON_EDITS.match(value):
        return _edits_of_text(reader, value, at=at)
    if isinstance(value, str) or reader.text[at] in QUOTES:
        return read_json_edits(reader, at + 1)  # quotes around JSON that was not made a text
    if value is None:
        return _read_loosely(reader, at)
    return [edit_command(edit, at=at) for edit in _edits(value)]


def _edits_of_text(reader: Reader, text: str, *, at: int) -> list[Command]:
    """Return the edits of JSON that stood as a text in the JSON of a reply."""
    value = _decoded(text)
    if value is not None:
        return [edit_command(edit, at=at) for edit in _edits(value)]
    inner = Reader(text, find_marks(text), looked=reader.looked)
    return [replace(command, at=at) for command in _read_loosely(inner, 0)]


def _decoded(text: str) -> Any:
    """Return the JSON that *text* is, None where it is none."""
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def plain_edits(edits: list[Any]) -> list[Command]:
    """Return the commands of *edits*, JSON that was parsed already: the API's own form."""
    return [edit_command(_as_read(edit)) for edit in edits[: MAX_COMMANDS + 1]]


def edit_command(edit: Any, *, at: int | None = None) -> Command:
    """Return the command that one object of the JSON form is."""
    if not isinstance(edit, Pairs) or nesting(edit) > MAX_NESTING:
        return Command(op="unknown", status="rejected", code="bad_object", at=at)
    members: dict[str, Any] = dict(edit)
    op = op_of(str(_member(members, "op") or "unknown"))
    if op not in ("insert", "update", "delete"):
        return Command(op=op, status="rejected", code="unknown_op", at=at)
    try:
        return _command(op, members, at)
    except Unreadable as reason:
        return Command(op=op, status="rejected", code=reason.code, at=at)


def _command(op: str, members: dict[str, Any], at: int | None) -> Command:
    row, data = _member(members, "row"), _member(members, "data")
    if isinstance(row, Pairs) and data is None:
        row, data = None, row
    if op != "delete" and not isinstance(data, Pairs):
        return Command(op=op, status="rejected", code="no_data" if data is None else "bad_object", at=at)
    sheet = sheet_ref(_member(members, "table"))
    cells = _set(data) if op != "delete" else ()
    if op == "insert":
        return Command(op=op, sheet=sheet, cells=cells, at=at)
    match = _where(members.get("match"))
    key = _member(members, "key")
    if not match and key is not None:
        match = ((0, cell_text(key)),)
    if row is None and not match:
        return Command(op=op, status="rejected", code="arity", at=at)
    return Command(
        op=op,
        sheet=sheet,
        row=None if row is None else row_index(row),
        match=match,
        expect=_where(members.get("expect")),
        cells=cells,
        at=at,
    )


def _set(data: Any) -> Cells:
    """Return the cells to set. A name twice is a slip of the pen in the call form; here it is two intents."""
    cells = cells_of(data)
    if len(cells) != len(data):
        raise Unreadable("column_twice")
    return cells


def _where(value: Any) -> Cells:
    if value is None:
        return ()
    if not isinstance(value, Pairs):
        raise Unreadable("bad_object")
    return cells_of(value)


def _member(members: dict[str, Any], name: str) -> Any:
    return next((members[alias] for alias in _ALIASES[name] if alias in members), None)


def _edits(value: Any) -> list[Any]:
    """Return the edits that *value* is: a list, one, either of them as `edits` or as a JSON text."""
    if isinstance(value, Pairs):
        wrapped = dict(value).get("edits")
        wrapped = _decoded(wrapped) if isinstance(wrapped, str) else wrapped
        return [value] if wrapped is None else _edits_of(wrapped)
    return _edits_of(value)


def _edits_of(value: Any) -> list[Any]:
    edits = value if type(value) is list else [value]
    return [_decoded(edit) if isinstance(edit, str) else edit for edit in edits]


def _read_loosely(reader: Reader, at: int) -> list[Command]:
    wrapper = reader.match(_WRAPPER, at)
    reader.pos = wrapper.end() if wrapper else at
    if not wrapper and reader.at(OPEN_BRACKETS):
        reader.pos += 1
    commands: list[Command] = []
    while len(commands) <= MAX_COMMANDS:
        reader.skip_blank()
        if reader.at_end():
            break
        if reader.at(COMMAS + ";；" + CLOSE_BRACKETS + CLOSE_BRACES):
            reader.pos += 1
            continue
        if not reader.at(OPEN_BRACES):
            break
        start = reader.pos
        reader.begin(start)
        try:
            value = reader.value("object")
        except Unreadable as reason:
            commands.append(_skip_block(reader, start, reason.code))
            break
        command = edit_command(value, at=start)
        commands.append(replace(command, repairs=tuple(dict.fromkeys(["loose_json", *reader.repairs]))))
    return commands


def _skip_block(reader: Reader, start: int, code: str) -> Command:
    """Go to the end of the block and return the command that could not be read."""
    reader.pos = reader.marks.end_of_draft(max(reader.pos, start))
    told = reader.search(_OP, start, min(start + 200, len(reader.text)))
    return Command(op=op_of(told[1]) if told else "unknown", status="rejected", code=code, at=start)


def _as_read(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs((name, _as_read(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return [_as_read(inner) for inner in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Bare(json.dumps(value))
    return value
