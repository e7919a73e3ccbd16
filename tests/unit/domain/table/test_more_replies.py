"""Replies of the same survey that are described in words, written out here, with the outcome asked for."""

import pytest

from tests.unit.domain.table.test_cases import FIXTURE, edited

PEOPLE, TIMES = "人物表", "时间表"


def block(*lines: str) -> str:
    return "正文\n<tableEdit>\n<!--\n" + "\n".join(lines) + "\n-->\n</tableEdit>"


def told(report: dict) -> list[str]:
    return [
        command["status"] + (f":{command['code']}" if "code" in command else "")
        for command in report["commands"]
    ]


CASES = {
    "inner_double": (
        block('updateRow(0, 0, {"1":"他说"好"然后走","2":"y"})'),
        ["applied"],
        {1: '他说"好"然后走', 2: "y"},
    ),
    "apostrophe": (block("updateRow(0, 0, {'1':'it's red'})"), ["applied"], {1: "it's red"}),
    "fw_paren": (block('updateRow（0, 0, {"1":"长剑"}）'), ["applied"], {1: "长剑"}),
    "fw_comma_args": (block('updateRow(0，0，{"1":"长剑"})'), ["applied"], {1: "长剑"}),
    "no_close_tag": ('<tableEdit>\n<!--\nupdateRow(0, 0, {"1":"长剑"})\n-->', ["applied"], {1: "长剑"}),
    "slash_comment": (
        block("// 更新武器", 'updateRow(0, 0, {"1":"长剑"}) // 完成', "// 结束"),
        ["applied"],
        {1: "长剑"},
    ),
    "cut_closed": (
        '<tableEdit>\nupdateRow(0, 0, {"1":"长剑"})\ninsertRow(1, {"0":"d2","1":"p\n</tableEdit>',
        ["applied", "rejected:truncated"],
        {1: "长剑"},
    ),
    "fn_case": (block('UpdateRow(0, 0, {"1":"长剑"})'), ["applied"], {1: "长剑"}),
    "upd_no_row": (block('updateRow(0, {"1":"长剑"})'), ["rejected:arity"], {}),
    "row_string": (block('updateRow(0, "0", {"1":"长剑"})'), ["applied"], {1: "长剑"}),
    "table_name": (block('updateRow("人物表", 0, {"1":"长剑"})'), ["applied"], {1: "长剑"}),
    "table_name_bare": (block('updateRow(人物表, 0, {"1":"长剑"})'), ["applied"], {1: "长剑"}),
    "col_oob": (block('updateRow(0, 0, {"1":"长剑","9":"x"})'), ["applied:unknown_column"], {1: "长剑"}),
    "bool": (block('updateRow(0, 0, {"1":true})'), ["applied"], {1: "true"}),
    "tag_in_cell": (
        '<tableEdit>\nupdateRow(0, 0, {"1":"写着 </tableEdit> 的纸"})\n</tableEdit>',
        ["applied"],
        {1: "写着 </tableEdit> 的纸"},
    ),
    "table_label": (block('updateRow([0:人物表], 0, {"1":"长剑"})'), ["applied"], {1: "长剑"}),
    "empty_obj": (block("insertRow(1, {})"), ["rejected:no_data"], {}),
    "missing_paren": (
        block('updateRow(0, 0, {"1":"长剑"}', 'updateRow(0, 0, {"2":"y"})'),
        ["applied", "applied"],
        {1: "长剑", 2: "y"},
    ),
    "prose": (
        block("这里用 deleteRow(0, 1) 删除。", 'updateRow(0, 0, {"1":"长剑"})'),
        ["ignored:inline_mention", "applied"],
        {1: "长剑"},
    ),
    "entities": (
        "&lt;tableEdit&gt;updateRow(0, 0, {&quot;1&quot;:&quot;长剑&quot;})&lt;/tableEdit&gt;",
        ["applied"],
        {1: "长剑"},
    ),
    "comment_paren": (
        block('updateRow(0, 0, {"1":"长剑"}) // (换了武器)', 'updateRow(0, 0, {"2":"y"})'),
        ["applied", "applied"],
        {1: "长剑", 2: "y"},
    ),
    "bare_comment": ('<!-- updateRow(0, 0, {"1":"长剑"}) -->', [], {}),
    "json_trailing_bracket": (
        '<tableEdit>{"op":"update","table":0,"row":0,"set":{"1":"长剑"}},'
        '{"op":"update","table":0,"row":0,"set":{"2":"y"}}]</tableEdit>',
        ["applied", "applied"],
        {1: "长剑", 2: "y"},
    ),
    "json_unknown_op": (
        '<tableEdit>{"edits":[{"op":"move","table":0,"row":0,"to":2},'
        '{"op":"update","table":0,"row":0,"set":{"1":"长剑"}}]}</tableEdit>',
        ["rejected:unknown_op", "applied"],
        {1: "长剑"},
    ),
    "json_no_op": (
        '<tableEdit>{"edits":[{"table":0,"row":0,"set":{"1":"x"}}]}</tableEdit>',
        ["rejected:unknown_op"],
        {},
    ),
    "json_negative": (
        '<tableEdit>{"edits":[{"op":"delete","table":0,"row":-1}]}</tableEdit>',
        ["rejected:bad_row"],
        {},
    ),
    "unknown_column_only": (block('updateRow(0, 0, {"9":"x"})'), ["rejected:unknown_column"], {}),
    "key_changed": (block('updateRow(0, 0, {"0":"丁"})'), ["applied:key_changed"], {0: "丁"}),
    "guard_fails": (block('updateRow(0, 0, {"1":"长剑"}, "乙")'), ["rejected:guard_mismatch"], {}),
    "guard_blank": (block('updateRow(0, 0, {"1":"长剑"}, "")'), ["rejected:guard_mismatch"], {}),
    "guard_trimmed": (block('updateRow(0, 0, {"1":"长剑"}, " 甲 ")'), ["applied"], {1: "长剑"}),
    "rebuild": ('<新的表格>[{"tableName":"人物表","columns":["名"],"content":[["甲"]]}]</新的表格>', [], {}),
    "url": (
        block('updateRow(0, 0, {"1":"见 http://a.b/c?x=1 // 备注"})'),
        ["applied"],
        {1: "见 http://a.b/c?x=1 // 备注"},
    ),
    "backreference": (
        block(r'updateRow(0, 0, {"1":"$1 \g<0> {{user}}"})'),
        ["applied"],
        {1: r"$1 \g<0> {{user}}"},
    ),
    "reasoning_in_cell": (
        block('updateRow(0, 0, {"1":"<think>嗯</think>"})'),
        ["applied"],
        {1: "<think>嗯</think>"},
    ),
    "closed_reasoning_only": (
        "<tableEdit>deleteRow(0, 0)</tableEdit></think>好\n"
        '<tableEdit>updateRow(0, 0, {"1":"长剑"})</tableEdit>',
        ["applied"],
        {1: "长剑"},
    ),
    "multiline_missing_brace": (block('updateRow(0, 0, {\n"1":"长剑"\n)'), ["applied"], {1: "长剑"}),
}


@pytest.mark.parametrize(("text", "statuses", "cells"), CASES.values(), ids=CASES)
def test_a_described_reply_has_its_recommended_effect(
    text: str, statuses: list[str], cells: dict[int, str]
) -> None:
    rows, report = edited(text)
    assert told(report) == statuses
    expected = list(FIXTURE[PEOPLE]["rows"][0])
    for column, cell in cells.items():
        expected[column] = cell
    assert rows[PEOPLE][0] == expected
    assert rows[TIMES] == FIXTURE[TIMES]["rows"]


def test_an_insert_given_twice_is_one_row() -> None:
    insert = 'insertRow(1, {"0":"d2","1":"p2"})'
    rows, report = edited(block(insert, insert))
    assert told(report) == ["applied", "noop:duplicate_row"]
    assert rows[TIMES] == [["d1", "p1"], ["d2", "p2"]]


def test_an_insert_takes_a_list() -> None:
    rows, report = edited(block('insertRow(1, ["d2", "p2"])'))
    assert told(report) == ["applied"]
    assert rows[TIMES][-1] == ["d2", "p2"]


def test_deleting_a_row_twice_is_once() -> None:
    rows, report = edited(block("deleteRow(0, 0)", "deleteRow(0, 0)"))
    assert told(report) == ["applied", "noop:already_deleted"]
    assert [row[0] for row in rows[PEOPLE]] == ["乙", "丙"]


def test_two_blocks_with_several_commands_are_each_read_once() -> None:
    first = '<tableEdit>\ninsertRow(1, {"0":"d2","1":"p2"})\ninsertRow(1, {"0":"d3","1":"p3"})\n</tableEdit>'
    second = first.replace("d2", "d4").replace("p2", "p4").replace("d3", "d5").replace("p3", "p5-long-long")
    rows, report = edited(f"a{first}b{second}")
    assert told(report) == ["applied"] * 4
    assert rows[TIMES] == [["d1", "p1"], ["d2", "p2"], ["d3", "p3"], ["d4", "p4"], ["d5", "p5-long-long"]]


def test_an_update_right_behind_the_last_row_is_an_insert() -> None:
    rows, report = edited(block('updateRow(1, 1, {"0":"d2","1":"p2"})'))
    assert told(report) == ["applied:converted_to_insert"]
    assert rows[TIMES][-1] == ["d2", "p2"]


def test_an_update_of_the_row_that_was_just_inserted_changes_that_row() -> None:
    rows, report = edited(block('insertRow(1, {"0":"d2","1":"p2"})', 'updateRow(1, 1, {"1":"新"})'))
    assert told(report) == ["applied", "applied"]
    assert rows[TIMES] == [["d1", "p1"], ["d2", "新"]]


def test_a_delete_beside_a_broken_insert_is_held() -> None:
    rows, report = edited(block("deleteRow(0, 1)", 'insertRow(0, {"0":"乙,"1":"矛","2":"b"})'))
    assert told(report) == ["held:unsafe_delete", "rejected:ambiguous_quotes"]
    assert rows[PEOPLE] == FIXTURE[PEOPLE]["rows"]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("正文", "no_block"),
        ("<tableEdit></tableEdit>", "no_edits"),
        ("<tableEdit>NO_CHANGE</tableEdit>", "no_edits"),
        (block('updateRow(0, 0, {"1":"剑"})'), "no_change"),
        (block("deleteRow(0, 9)"), "rejected"),
        (block("deleteRow(0, 0)"), "saved"),
    ],
)
def test_the_whole_reply_has_a_status(text: str, status: str) -> None:
    assert edited(text)[1]["status"] == status


def test_a_rejected_command_tells_its_place_and_source() -> None:
    _, report = edited(
        '<tableEdit>\nupdateRow(0, 0, {"1":"长剑})\nupdateRow(0, 1, {"1":"大盾"})\n</tableEdit>'
    )
    broken = report["commands"][0]
    assert (broken["at"], broken["src"]) == (12, 'updateRow(0, 0, {"1":"长剑})')
    assert report["counts"] == {"applied": 1, "noop": 0, "rejected": 1, "held": 0, "ignored": 0}


def test_after_two_hundred_commands_the_rest_is_refused_and_deletes_are_held() -> None:
    inserts = [f'insertRow(1, {{"0":"x{number}","1":"y"}})' for number in range(199)]
    exactly = edited(block("deleteRow(0, 0)", *inserts))[1]
    assert exactly["counts"] == {"applied": 200, "noop": 0, "rejected": 0, "held": 0, "ignored": 0}
    beyond = edited(block("deleteRow(0, 0)", *inserts, "deleteRow(0, 1)"))[1]
    assert beyond["counts"] == {"applied": 199, "noop": 0, "rejected": 1, "held": 1, "ignored": 0}
    assert beyond["commands"][-1]["code"] == "too_many_commands"


def test_a_cell_may_have_4_000_characters_and_not_one_more() -> None:
    fits = block(f'updateRow(0, 0, {{"1":"{"长" * 4000}"}})')
    assert told(edited(fits)[1]) == ["applied"]
    beyond = block(f'updateRow(0, 0, {{"1":"{"长" * 4001}"}})')
    assert told(edited(beyond)[1]) == ["rejected:cell_too_long"]
