"""Each collected reply, by its id: the table and the report that it has to give."""

import json
from pathlib import Path
from typing import Any

import pytest

from memoir.domain.table.apply import apply_edits
from memoir.domain.table.document import TableDocument, table_document
from memoir.domain.table.reply import read_reply
from memoir.domain.table.report import edit_report
from memoir.domain.table.resolve import settle, shown_rows

LINES = (Path(__file__).resolve().parents[3] / "data" / "table-edit-cases.jsonl").read_text().splitlines()
FIXTURE: dict[str, Any] = json.loads(LINES[0])["fixture"]
CASES: list[dict[str, Any]] = [json.loads(line) for line in LINES[1:]]


def fixture_table() -> TableDocument:
    return table_document({"sheets": [{"name": name, **sheet} for name, sheet in FIXTURE.items()]})


def edited(text: str) -> tuple[dict[str, list[list[str]]], dict[str, Any]]:
    table = fixture_table()
    reply = read_reply(text)
    edits = settle(reply.commands, shown=shown_rows(table))
    applied = apply_edits(table, edits, truncated="truncated" in reply.flags)
    report = edit_report(base=table, reply=reply, edits=edits, applied=applied)
    rows = {sheet.name: [list(row.cells) for row in sheet.rows] for sheet in applied.document.sheets}
    return rows, report


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_collected_reply_has_its_recommended_effect(case: dict[str, Any]) -> None:
    text = case["reply"] if "reply" in case else json.loads(case["reply_json"])
    rows, report = edited(text)
    told = [
        {name: command[name] for name in ("op", "status", "code") if name in command}
        for command in report["commands"]
    ]
    assert told == case["report"]
    unchanged = {name: sheet["rows"] for name, sheet in FIXTURE.items()}
    assert rows == (case.get("tables_after") or unchanged)
    assert report["changed"] == case["changed"]
    if case.get("flag"):
        assert case["flag"] in report["flags"]
    else:
        assert "truncated" not in report["flags"]
