"""The JSON form: `{"edits": [{"op": "update", "table": "人物表", "row": 1, "set": {"物": "大盾"}}]}`.

Read strictly first; only where that fails, by the tolerant reader, object by object, so that what stands
before a cut is kept.
"""

import json
import re
from typing import Any

from memoir.domain.table.call_form import cells_of, column_key, op_of, row_index, sheet_ref
from memoir.domain.table.cell import cell_text
from memoir.domain.table.command import Cells, Command
from memoir.domain.table.limits import MAX_COMMANDS, MAX_NESTING
from memoir.domain.table.literals import Bare, Pairs, Reader, Unreadable

_ALIASES = {
    "op": ("op", "type", "action"),
    "table": ("table", "tableIndex", "table_index", "tableName", "table_name", "sheet"),
    "row": ("row", "rowIndex", "row_index"),
    "data": ("set", "data", "values", "cells"),
    "key": ("row_key_value", "rowKeyValue"),
}
_WRAPPER = re.compile(r"[{｛]\s{0,200}[\"'“”]?edits[\"'“”]?\s{0,200}[:：]\s{0,200}[\[［]")
_OP = re.compile(r"[\"'“”]?(?:op|type)[\"'“”]?\s{0,20}[:：]\s{0,20}[\"'“”]?([A-Za-z_]{3,12})")
_DECODER = json.JSONDecoder(
    object_pairs_hook=Pairs, parse_float=Bare, parse_int=Bare, parse_constant=Bare, strict=False
)


def read_json_edits(reader: Reader, at: int) -> list[Command]:
    """Return the edits of the JSON value at *at*; the reader then stands behind what was read."""
    reader.begin(at)
    try:
        value, reader.pos = _DECODER.raw_decode(reader.text, at)
        return [edit_command(edit, at=at) for edit in _edits(value)]
    except RecursionError:
        _skip_block(reader)
        return [Command(op="unknown", status="rejected", code="bad_object", at=at)]
    except ValueError:
        return _read_loosely(reader, at)


def plain_edits(edits: list[Any]) -> list[Command]:
    """Return the commands of *edits*, JSON that was parsed already: the API's own form."""
    return [edit_command(_as_read(edit)) for edit in edits[: MAX_COMMANDS + 1]]


def edit_command(edit: Any, *, at: int | None = None) -> Command:
    """Return the command that one object of the JSON form is."""
    if not isinstance(edit, Pairs):
        return Command(op="unknown", status="rejected", code="bad_object", at=at)
    if _nesting(edit) > MAX_NESTING:
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
    keys = [column_key(name) for name, _ in data]
    if len(set(keys)) != len(keys):
        raise Unreadable("column_twice")
    return cells_of(data)


def _where(value: Any) -> Cells:
    if value is None:
        return ()
    if not isinstance(value, Pairs):
        raise Unreadable("bad_object")
    return cells_of(value)


def _member(members: dict[str, Any], name: str) -> Any:
    return next((members[alias] for alias in _ALIASES[name] if alias in members), None)


def _edits(value: Any) -> list[Any]:
    if isinstance(value, Pairs):
        wrapped = dict(value).get("edits")
        return wrapped if type(wrapped) is list else [value]
    return value if isinstance(value, list) else [value]


def _read_loosely(reader: Reader, at: int) -> list[Command]:
    wrapper = _WRAPPER.match(reader.text, at)
    reader.pos = wrapper.end() if wrapper else at
    if not wrapper and reader.peek() in "[［":
        reader.pos += 1
    commands: list[Command] = []
    while len(commands) <= MAX_COMMANDS:
        reader.skip_blank()
        if reader.at_end() or not reader.peek():
            break
        if reader.peek() in ",，;；]］}｝":
            reader.pos += 1
            continue
        if reader.peek() not in "{｛":
            break
        start = reader.pos
        reader.begin(start)
        try:
            value = reader.value("object")
        except Unreadable as reason:
            commands.append(_broken(reader, start, reason.code))
            _skip_block(reader)
            break
        command = edit_command(value, at=start)
        commands.append(
            Command(**{**vars(command), "repairs": tuple(dict.fromkeys(["loose_json", *reader.repairs]))})
        )
    return commands


def _broken(reader: Reader, start: int, code: str) -> Command:
    told = _OP.search(reader.text, start, start + 200)
    return Command(op=op_of(told[1]) if told else "unknown", status="rejected", code=code, at=start)


def _skip_block(reader: Reader) -> None:
    reader.pos = max(reader.pos, reader.marks.next_tag(reader.pos))


def _as_read(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs((name, _as_read(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return [_as_read(inner) for inner in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Bare(json.dumps(value))
    return value


def _nesting(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        inner: list[Any] = []
        for item in level:
            if isinstance(item, Pairs):
                inner += [member for _, member in item]
            elif isinstance(item, list):
                inner += item
        depth += any(isinstance(item, list) for item in level)
        level = inner
    return depth
