from typing import Any

import pytest

from memoir.domain.json_document import json_document
from memoir.domain.table.apply import apply_edits
from memoir.domain.table.document import TableDocument, json_bytes, table_document
from memoir.domain.table.history import changes_between, shown_as_plain, shown_from_plain, undone
from memoir.domain.table.reply import read_reply
from memoir.domain.table.resolve import Shown, ShownSheet, settle, shown_rows
from memoir.domain.table.state import MAX_STATE_BYTES, TableState, read_state
from memoir.domain.table.text import memory_table_text
from memoir.domain.turns import Position
from memoir.errors import LimitExceeded, RecordCorrupt, RequestInvalid, TooLarge


def sheet(**members: Any) -> dict[str, Any]:
    return {"name": "s", "columns": ["a", "b"], "rows": [["1", "2"]], **members}


def doc(*sheets: dict[str, Any]) -> dict[str, Any]:
    return {"sheets": list(sheets)}


def test_rows_get_ids_that_are_told_back() -> None:
    table = table_document(doc(sheet(rows=[["1", "2"], ["3", "4"]])))
    assert table.to_json()["sheets"][0]["rowIds"] == ["r1", "r2"]
    assert table_document(table.to_json()).to_json() == table.to_json()


def test_ids_that_are_given_are_kept_and_never_made_again() -> None:
    table = table_document(doc(sheet(rowIds=["r7"]), sheet(name="t")))
    assert [row.id for found in table.sheets for row in found.rows] == ["r7", "r8"]


def test_a_row_that_stays_the_same_keeps_its_id_where_none_are_given() -> None:
    before = table_document(doc(sheet(rows=[["1", "2"], ["3", "4"], ["3", "4"]])))
    after = table_document(doc(sheet(rows=[["3", "4"], ["5", "6"], ["3", "4"]])), previous=before)
    assert [row.id for row in after.sheets[0].rows] == ["r2", "r4", "r3"]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, "/table"),
        ([], "/table"),
        ({}, "/table/sheets"),
        ({"sheets": [], "x": 1}, "/table/x"),
        ({"sheets": {}}, "/table/sheets"),
        (doc({"name": "s", "columns": []}), "/table/sheets/0/rows"),
        (doc(sheet(name="")), "/table/sheets/0/name"),
        (doc(sheet(name=" ")), "/table/sheets/0/name"),
        (doc(sheet(name=7)), "/table/sheets/0/name"),
        (doc(sheet(name="n" * 129)), "/table/sheets/0/name"),
        (doc(sheet(), sheet(name=" ｓ ")), "/table/sheets/1"),
        (doc(sheet(columns=["a", "ａ"])), "/table/sheets/0/columns/1"),
        (doc(sheet(columns=["a", 1])), "/table/sheets/0/columns/1"),
        (doc(sheet(rows=[["1"]])), "/table/sheets/0/rows/0"),
        (doc(sheet(rows=[["1", 2]])), "/table/sheets/0/rows/0/1"),
        (doc(sheet(rows=[["1", None]])), "/table/sheets/0/rows/0/1"),
        (doc(sheet(rowIds=[])), "/table/sheets/0/rowIds"),
        (doc(sheet(rowIds=["a b"])), "/table/sheets/0/rowIds/0"),
        (doc(sheet(rows=[["1", "2"]] * 2, rowIds=["x", "x"])), "/table/sheets/0/rowIds"),
    ],
)
def test_what_is_no_table_is_refused_by_its_place(value: Any, path: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        table_document(value)
    assert refusal.value.path == path


LIMITS = {
    "table_too_many_sheets": (lambda n: doc(*(sheet(name=f"s{i}") for i in range(n))), 20),
    "table_too_many_columns": (lambda n: doc(sheet(columns=[f"c{i}" for i in range(n)], rows=[])), 40),
    "table_too_many_rows": (lambda n: doc(sheet(rows=[["1", "2"]] * n)), 200),
    "cell_too_long": (lambda n: doc(sheet(rows=[["长" * n, ""]])), 4000),
}


@pytest.mark.parametrize("code", LIMITS)
def test_a_limit_is_accepted_and_one_more_is_not(code: str) -> None:
    make, limit = LIMITS[code]
    assert table_document(make(limit))
    with pytest.raises(LimitExceeded) as refusal:
        table_document(make(limit + 1))
    assert (refusal.value.code, refusal.value.value, refusal.value.limit) == (code, limit + 1, limit)


def test_65_536_bytes_are_accepted_and_one_more_is_not() -> None:
    rows = [["x" * 3900, ""] for _ in range(16)]
    size = table_document(doc(sheet(rows=rows))).size_bytes()
    rows.append(["y" * (65_536 - size - len('["",""],"r17",')), ""])
    assert table_document(doc(sheet(rows=rows))).size_bytes() == 65_536
    rows[-1][1] = "z"
    with pytest.raises(TooLarge) as refusal:
        table_document(doc(sheet(rows=rows)))
    assert refusal.value.facts() == {"size_bytes": 65_537, "limit_bytes": 65_536, "path": "/table"}


def test_the_text_for_the_model_has_the_layout_that_prompts_know() -> None:
    table = table_document(
        doc(sheet(name="人物", rows=[["甲,乙", "第一行\n第二行"]]), sheet(name="t", rows=[]))
    )
    assert memory_table_text(table) == (
        "* 0:人物\nrowIndex,0:a,1:b\n0,甲，乙,第一行 第二行\n* 1:t\nrowIndex,0:a,1:b"
    )
    assert memory_table_text(table_document(doc())) == ""


IDS = [(), ("r1",), ("r1", "r2", "r3"), ("r9", "r10", "x", "r1"), ("a", "r2", "r1")]


def shown(*revisions: tuple[str, ...]) -> dict[int, Shown]:
    return {number: (ShownSheet(name="人物", row_ids=ids),) for number, ids in enumerate(revisions, start=1)}


@pytest.mark.parametrize("ids", IDS)
def test_what_was_shown_is_read_back(ids: tuple[str, ...]) -> None:
    for kept in (shown(ids), shown(ids, *IDS), shown(*reversed(IDS))):
        assert shown_from_plain(shown_as_plain(kept, max_bytes=10_000)) == kept


def test_two_hundred_rows_that_stay_take_a_few_characters_a_revision() -> None:
    ids = tuple(f"{n:032x}" for n in range(200))
    once, often = (json_bytes(shown_as_plain(shown(*[ids] * times), max_bytes=10**6)) for times in (1, 20))
    assert often - once < 19 * 40


def test_what_does_not_fit_is_the_oldest() -> None:
    revisions = [tuple(f"{revision}-{n}" for n in range(100)) for revision in range(20)]
    kept = shown_from_plain(shown_as_plain(shown(*revisions), max_bytes=10_000))
    assert 3 < len(kept) < 20
    assert sorted(kept) == list(range(21 - len(kept), 21))
    assert kept == {number: rows for number, rows in shown(*revisions).items() if number in kept}


def test_the_largest_legal_table_that_changes_whole_is_kept_readable() -> None:
    def whole(letter: str, first: int) -> TableDocument:
        ids = [[f"{letter * 28}{first + n:04}-{i}" for n in range(200)] for i in range(4)]
        sheets = [sheet(name=f"s{i}", rows=[[letter * 10, ""]] * 200, rowIds=ids[i]) for i in range(4)]
        return table_document(doc(*sheets))

    state = TableState(document=whole("a", 0))
    for revision in range(1, 26):
        after = whole("abcdefghijklmnopqrstuvwxyz"[revision], revision)
        state = TableState(document=after, shown=state.shown, undo=changes_between(state.document, after)).at(
            revision
        )
        stored = state.to_document()
        assert stored.size_bytes <= MAX_STATE_BYTES
        state = read_state(stored)
        assert (state.document, revision in state.shown) == (after, True)


def test_a_stored_state_comes_back_and_keeps_twenty_revisions() -> None:
    before = table_document(doc(sheet()))
    after = table_document(doc(sheet(rows=[["1", "x"], ["3", "4"]])), previous=before)
    state = TableState(
        document=after, through=Position(round=3, version=2), undo=changes_between(before, after)
    )
    for revision in range(1, 26):
        state = state.at(revision)
    assert sorted(state.shown) == list(range(6, 26))
    assert read_state(state.to_document()) == state


@pytest.mark.parametrize(
    "broken", [{}, {"table": {}}, {"table": {"sheets": []}, "nextRow": 1, "through": [1]}]
)
def test_a_stored_state_that_breaks_its_rules_is_corrupt(broken: dict[str, Any]) -> None:
    with pytest.raises(RecordCorrupt):
        read_state(json_document(broken, name="state"))


def test_an_effect_is_undone_whole_where_nobody_touched_it_since() -> None:
    before = table_document(doc(sheet(rows=[["1", "2"], ["3", "4"], ["5", "6"]])))
    changed = doc(sheet(rows=[["1", "x"], ["5", "6"], ["7", "8"]], rowIds=["r1", "r3", "r9"]))
    after = table_document(changed, previous=before)
    restored, stale = undone(after, changes_between(before, after))
    assert restored.same_content(before)
    assert stale == ()


def test_a_row_that_was_changed_since_is_left_and_told() -> None:
    before = table_document(doc(sheet(rows=[["1", "2"], ["3", "4"]])))
    after = table_document(doc(sheet(rows=[["1", "x"], ["3", "y"]], rowIds=["r1", "r2"])), previous=before)
    later = table_document(doc(sheet(rows=[["1", "mine"], ["3", "y"]], rowIds=["r1", "r2"])), previous=after)
    restored, stale = undone(later, changes_between(before, after))
    assert [row.cells for row in restored.sheets[0].rows] == [("1", "mine"), ("3", "4")]
    assert stale == ("r1",)


@pytest.mark.parametrize(
    ("table", "path"),
    [
        (doc(sheet(name="7")), "/table/sheets/0/name"),
        (doc(sheet(name=" ０１ ")), "/table/sheets/0/name"),
        (doc(sheet(columns=["a", "2024"])), "/table/sheets/0/columns/1"),
    ],
)
def test_a_name_of_digits_alone_is_refused_for_models_take_it_for_an_index(table: Any, path: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        table_document(table)
    assert (refusal.value.code, refusal.value.path) == ("name_is_a_number", path)
    assert table_document(doc(sheet(name="7 月", columns=["a", "第2"])))


def stored_with_digits() -> TableDocument:
    """Return a table as it could be stored before such names were refused."""
    rows = [["x", "y", "z"]]
    first = {"name": "1", "columns": ["b", "0", "２"], "rows": rows, "rowIds": ["r1"]}
    second = {"name": "t", "columns": ["a", "c"], "rows": [["1", "2"]], "rowIds": ["r2"]}
    value = {"table": {"sheets": [first, second]}, "nextRow": 3, "through": [0, 0], "shown": {}, "undo": []}
    return read_state(json_document(value, name="state")).document


@pytest.mark.parametrize(
    ("command", "rows"),
    [
        ('updateRow(1, 0, {"0":"neu"})', [["x", "neu", "z"], ["1", "2"]]),
        ('updateRow("1", 0, {2:"neu"})', [["x", "y", "neu"], ["1", "2"]]),
        ('updateRow(0, 0, {"1":"neu"})', [["x", "neu", "z"], ["1", "2"]]),
        ('updateRow("t", 0, {"1":"neu"})', [["x", "y", "z"], ["1", "neu"]]),
        ('updateRow(1, 0, {"b":"neu"}, "x")', [["neu", "y", "z"], ["1", "2"]]),
    ],
)
def test_in_a_stored_table_a_name_of_digits_comes_before_the_index(command: str, rows: list[Any]) -> None:
    table = stored_with_digits()
    edits = settle(read_reply(f"<tableEdit>{command}</tableEdit>").commands, shown=shown_rows(table))
    after = apply_edits(table, edits, truncated=False).document
    assert [list(found.rows[0].cells) for found in after.sheets] == rows


def test_a_cell_cannot_act_as_a_mark_of_a_chat_template() -> None:
    marks = "<|im_start|> <|im_end|> [INST] [/INST] <<SYS>> </s> <end_of_turn> <think> ◁think▷ [THINK]"
    text = memory_table_text(table_document(doc(sheet(rows=[[marks, "a < b [x] -> c"]]))))
    assert not [mark for mark in marks.split() if mark in text]
    assert "im_start" in text and "a < b [x] -> c" in text
