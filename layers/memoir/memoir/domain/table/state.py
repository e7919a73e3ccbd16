"""All that is stored of a memory table: the document, through which turn it was made, and its recent past."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.json_document import JsonDocument
from memoir.domain.table.document import Row, Sheet, TableDocument, json_bytes
from memoir.domain.table.history import (
    KEPT_REVISIONS,
    RowChange,
    Undo,
    shown_as_plain,
    shown_from_plain,
)
from memoir.domain.table.resolve import Shown, shown_rows
from memoir.domain.turns import START, Position
from memoir.errors import RecordCorrupt

MAX_STATE_BYTES = 360 * 1024
"""A document of 64 KiB and what undoes a change of all of it take less than 200 KiB."""


@dataclass(frozen=True, kw_only=True)
class TableState:
    """A table at one revision.

    `through`: the last turn whose edits it holds. `shown`: the rows of the last 20 revisions, by revision.
    `undo`: what the turn at `through` did, in case its reply is regenerated.
    """

    document: TableDocument = field(default_factory=TableDocument)
    through: Position = START
    shown: dict[int, Shown] = field(default_factory=dict)
    undo: Undo = ()

    def at(self, revision: int) -> "TableState":
        """Return the state as it is stored at *revision*: with the rows of this one in its past."""
        kept = {known: rows for known, rows in self.shown.items() if known > revision - KEPT_REVISIONS}
        return replace(self, shown={**kept, revision: shown_rows(self.document)})

    def to_document(self) -> JsonDocument:
        """Return the state as a document to store, of at most 360 KiB: of its past, the oldest goes first."""
        value: dict[str, Any] = {
            "table": self.document.to_json(),
            "nextRow": self.document.next_row,
            "through": [self.through.round, self.through.version],
            "undo": [
                [change.sheet, change.row_id, change.before, change.after, change.index]
                for change in self.undo
            ],
        }
        value["shown"] = shown_as_plain(self.shown, max_bytes=MAX_STATE_BYTES - json_bytes(value))
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return JsonDocument(text=text, value=value, size_bytes=len(text.encode()))


def read_state(stored: JsonDocument) -> TableState:
    """Return the state that was stored. Raises RecordCorrupt: it is neither empty nor overwritten."""
    value = stored.value
    try:
        turn_round, version = value["through"]
        return TableState(
            document=TableDocument(
                sheets=tuple(_sheet(sheet) for sheet in value["table"]["sheets"]), next_row=value["nextRow"]
            ),
            through=Position(round=turn_round, version=version),
            shown=shown_from_plain(value["shown"]),
            undo=tuple(
                RowChange(
                    sheet=sheet,
                    row_id=row_id,
                    before=None if before is None else tuple(before),
                    after=None if after is None else tuple(after),
                    index=index,
                )
                for sheet, row_id, before, after, index in value["undo"]
            ),
        )
    except (KeyError, ValueError, TypeError, AttributeError, IndexError):
        raise RecordCorrupt(detail="the stored table breaks its own rules; it is kept as it is") from None


def _sheet(value: dict[str, Any]) -> Sheet:
    columns = tuple(value["columns"])
    rows = tuple(
        Row(id=row_id, cells=tuple(cells))
        for row_id, cells in zip(value["rowIds"], value["rows"], strict=True)
    )
    if any(len(row.cells) != len(columns) for row in rows):
        raise ValueError("a row has other cells than columns")
    return Sheet(name=value["name"], columns=columns, rows=rows)
