"""Faults of other projects, by the report's name: the reply that showed it, and what it has to do."""

import json
from typing import Any

import pytest

from memoir.domain.table.reply import read_reply
from tests.unit.domain.table.test_any_text import STEPS_OF_A_CHARACTER
from tests.unit.domain.table.test_cases import FIXTURE, edited

PEOPLE = "人物表"
UPDATE = '<tableEdit>updateRow(0, 0, {"1":"长剑"})</tableEdit>'
DELETE = "<tableEdit>deleteRow(0, 0)</tableEdit>"
LOOP = '<tableEdit>updateRow(0, 0, {"1":"'
UPDATED = [["甲", "长剑", "a"], *FIXTURE[PEOPLE]["rows"][1:]]
UNTOUCHED = FIXTURE[PEOPLE]["rows"]


def told(report: dict[str, Any]) -> list[str]:
    return [
        f"{command['op']} {command['status']}" + (f":{command['code']}" if "code" in command else "")
        for command in report["commands"]
    ]


@pytest.mark.parametrize("kib", [8, 32, 110])
def test_json_repair_59_a_reply_that_repeats_one_fragment_costs_what_its_length_says(kib: int) -> None:
    text = LOOP * (kib * 1024 // len(LOOP))
    assert read_reply(text).looked <= STEPS_OF_A_CHARACTER * len(text)
    rows, report = edited(text)
    assert rows[PEOPLE] == UNTOUCHED
    assert report["counts"]["rejected"] == len(report["commands"]) > 0


@pytest.mark.parametrize(
    "text",
    [
        f"<thinking><analysis>先看人物表</analysis>甲已经离开，要不要删？{DELETE}不，他还会回来，",
        f"<think><think>内</think>外{UPDATE}",
        f"<think {'x' * 300}>{DELETE}",
        "<thinking>先想<tableEdit>\ndeleteRow(0, 0)\n",
    ],
)
def test_qwen_code_8818_what_stands_behind_an_unclosed_opener_is_reasoning(text: str) -> None:
    rows, report = edited(text)
    assert rows[PEOPLE] == UNTOUCHED
    assert (report["commands"], report["flags"]) == ([], ["reasoning_unclosed"])


@pytest.mark.parametrize(
    "text",
    [
        f"<think />她点头。{UPDATE}",
        f"<think/>{UPDATE}",
        f"<thought  />{UPDATE}",
        f"{UPDATE}<thinking />",
        f"{UPDATE}她点头。<think/>",
    ],
)
def test_openclaw_113164_a_self_closing_tag_is_an_empty_thought(text: str) -> None:
    rows, report = edited(text)
    assert rows[PEOPLE] == UPDATED
    assert report["flags"] == []


@pytest.mark.parametrize(
    ("opener", "closer"),
    [
        ("[THINK]", "[/THINK]"),
        ("<seed:think>", "</seed:think>"),
        ("<x:thinking>", "</x:thinking>"),
        ("◁think▷", "◁/think▷"),
        ("<思考>", "</思考>"),
        ("<scratchpad>", "</scratchpad>"),
    ],
)
def test_roo_code_8522_reasoning_in_other_marks_is_no_edit(opener: str, closer: str) -> None:
    rows, report = edited(f"{opener}也许 {DELETE}{closer}她点头。{UPDATE}")
    assert (rows[PEOPLE], told(report)) == (UPDATED, ["update applied"])
    rows, report = edited(f"{opener}也许 {DELETE}")
    assert (rows[PEOPLE], report["flags"]) == (UNTOUCHED, ["reasoning_unclosed"])


def test_macprovider_743_only_the_final_channel_counts() -> None:
    draft = f"<|channel|>analysis<|message|>也许 {DELETE}<|end|>"
    rows, report = edited(f"{draft}<|start|>assistant<|channel|>final<|message|>她点头。{UPDATE}")
    assert (rows[PEOPLE], told(report)) == (UPDATED, ["update applied"])
    rows, report = edited(draft)
    assert (rows[PEOPLE], report["flags"]) == (UNTOUCHED, ["reasoning_unclosed"])


def test_a_closing_tag_behind_closed_reasoning_keeps_the_edit_and_is_told() -> None:
    rows, report = edited(f"<think>先看</think>她点头。{UPDATE}</think>")
    assert (rows[PEOPLE], report["flags"]) == (UPDATED, ["reasoning_unopened"])


def test_a_block_that_reasoning_ended_before_it_was_closed_is_a_draft() -> None:
    rows, report = edited(f"也许 <tableEdit>deleteRow(0, 0) 不</think>她点头。{UPDATE}")
    assert (rows[PEOPLE], told(report)) == (UPDATED, ["update applied"])


@pytest.mark.parametrize("between", ["\n", " "])
def test_reasoning_between_the_commands_of_a_block_is_no_edit(between: str) -> None:
    thought = between.join(["<think>", "deleteRow(0, 0)", "</think>"])
    rows, report = edited(f'<tableEdit>\n{thought}\nupdateRow(0, 0, {{"1":"长剑"}})\n</tableEdit>')
    assert (rows[PEOPLE], told(report)) == (UPDATED, ["update applied"])


EDIT = {"op": "update", "table": 0, "row": 0, "set": {"1": "长剑"}}
ONE_EDIT = json.dumps(EDIT, ensure_ascii=False)


@pytest.mark.parametrize(
    "content",
    [
        f'好的，更新如下：{{"edits":[{ONE_EDIT}]}}',
        f'更新：{{\n "edits":[{ONE_EDIT}]\n}}\n',
        f"更新：[{ONE_EDIT}]",
        f'{{"edits":{ONE_EDIT}}}',
        f'{{"edits":{ONE_EDIT},}}',
        json.dumps(json.dumps({"edits": [EDIT]})),
        json.dumps(json.dumps({"edits": [EDIT]}, ensure_ascii=False), ensure_ascii=False),
        json.dumps({"edits": json.dumps([EDIT])}),
        json.dumps({"edits": [json.dumps(EDIT)]}),
        f'"{{"edits":[{ONE_EDIT}]}}"',
        'updateRow(0, 0, {"1":"长" + "剑"})',
        "updateRow(0, 0, {'1': '长' + '剑'})",
        ONE_EDIT.replace('"长剑"', '"长" + "剑"'),
    ],
)
def test_edits_whose_intent_is_certain_are_read(content: str) -> None:
    rows, report = edited(f"<tableEdit>{content}</tableEdit>")
    assert (rows[PEOPLE], told(report)) == (UPDATED, ["update applied"])


@pytest.mark.parametrize(
    ("content", "commands"),
    [
        (f"这里写 {ONE_EDIT} 就能更新。", ["update ignored:inline_mention"]),
        (f"// {ONE_EDIT}", []),
        ("// 先<think>想</think>deleteRow(0, 0)\n", ["delete ignored:inline_mention"]),
        ('updateRow(0, 0, {"1":"剑" + "盾"响"})', ["update rejected:ambiguous_quotes"]),
    ],
)
def test_what_is_only_mentioned_or_a_guess_is_not_executed(content: str, commands: list[str]) -> None:
    rows, report = edited(f"<tableEdit>{content}</tableEdit>")
    assert (rows[PEOPLE], told(report)) == (UNTOUCHED, commands)


def test_a_plus_between_quotes_within_a_cell_is_text() -> None:
    rows, _ = edited('<tableEdit>updateRow(0, 0, {"1":"他写"1" + "1"等于2"})</tableEdit>')
    assert rows[PEOPLE][0][1] == '他写"1" + "1"等于2'


@pytest.mark.parametrize("cells", ['"...","…"', '"<日>","<地>"', '"……",""', '"⟨日⟩","。。。"'])
def test_a_row_of_placeholders_alone_is_refused(cells: str) -> None:
    rows, report = edited(f"<tableEdit>insertRow(1, [{cells}])</tableEdit>")
    assert told(report) == ["insert rejected:placeholder_row"]
    assert rows["时间表"] == FIXTURE["时间表"]["rows"]


def test_a_row_that_also_says_something_may_hold_dots() -> None:
    rows, report = edited('<tableEdit>insertRow(1, ["d2", "……"])</tableEdit>')
    assert (told(report), rows["时间表"][-1]) == (["insert applied"], ["d2", "……"])
    everything = '<tableEdit>updateRow(1, 0, {"0":"...","1":"..."})</tableEdit>'
    assert told(edited(everything)[1]) == ["update rejected:placeholder_row"]


def test_half_a_surrogate_pair_in_an_escape_is_replaced_wherever_it_is_told() -> None:
    half = '"\\ud83d"'
    rows, report = edited(
        f'<tableEdit>{{"op":"update","table":0,"row":0,"set":{{"1":{half},"2":[{half}]}}}}\n'
        f'{{"op":{half},"table":{half}}}\n{{"op":"delete","table":{half},"row":0}}</tableEdit>'
    )
    assert rows[PEOPLE][0] == ["甲", "\ufffd", '["\ufffd"]']
    json.dumps([rows, report], ensure_ascii=False).encode()
