"""The reading ladder: strict before any repair, every step named, no exception, no loss inside a text."""

import json
import re
from itertools import chain
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoir.domain.diary.answer import flaws, loose_object, reading, sections, strict_answer
from memoir.domain.diary.answer.reading import DiaryReading, ParsePath, ReadingCode, read_diary

SUMMARY, ENTRY = "甲把钥匙交给守卫。", "今天我把钥匙给了守卫。"
STRICT = json.dumps({"summary": SUMMARY, "entry": ENTRY}, ensure_ascii=False)


def read(text: str, *, diary_asked: bool = True) -> DiaryReading:
    return read_diary(text, diary_asked=diary_asked)


def texts(found: DiaryReading) -> tuple[str | None, str | None]:
    return found.summary, found.diary


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (STRICT, ParsePath.STRICT),
        (f"\ufeff {STRICT}\r\n", ParsePath.STRICT),
        (f"[{STRICT}]", ParsePath.STRICT),
        (json.dumps(STRICT), ParsePath.STRICT),
        (f"<think>先想想</think>\n{STRICT}", ParsePath.STRICT),
        (f"想想……</think>{STRICT}", ParsePath.STRICT),
        (f"```json\n{STRICT}\n```", ParsePath.FENCED),
        (f"好的：\n~~~\n{STRICT}\n~~~\n完成。", ParsePath.FENCED),
        (f"```json{STRICT}", ParsePath.FENCED),
        (f'```json\n{{"summary": "旧"}}\n```\n改一下：\n```\n{STRICT}\n```', ParsePath.FENCED),
        (f"这是结果 {{角色名}}：{STRICT} 希望满意！", ParsePath.BALANCED),
        (f'{{"summary": "旧"}} 不对，应为 {STRICT}', ParsePath.BALANCED),
        (f"{{ 一个没有关上的括号 {STRICT}", ParsePath.BALANCED),
        (STRICT.replace('"', "“", 1).replace("。", "。", 1), ParsePath.REPAIRED),
        (f"{{“summary”：“{SUMMARY}”，“entry”：“{ENTRY}”}}", ParsePath.REPAIRED),
        (f"｛＂summary＂：＂{SUMMARY}＂，＂entry＂：＂{ENTRY}＂｝", ParsePath.REPAIRED),
        (f"{{'summary': '{SUMMARY}', 'entry': '{ENTRY}',}}", ParsePath.REPAIRED),
        (f'{{summary: "{SUMMARY}", entry: "{ENTRY}"}}', ParsePath.REPAIRED),
        (f'{{"summary": "{SUMMARY}", "entry": "{ENTRY}"', ParsePath.REPAIRED),
        (f"<summary>{SUMMARY}</summary>\n<diary>{ENTRY}</diary>", ParsePath.TAGS),
        (f"<Summary>旧</Summary><SUMMARY>{SUMMARY}<entry kind='x'>{ENTRY}", ParsePath.TAGS),
        (f"【摘要】\n{SUMMARY}\n【日记】\n{ENTRY}", ParsePath.HEADINGS),
        (f"**Summary:** {SUMMARY}\n\n**Diary:** {ENTRY}", ParsePath.HEADINGS),
        (f"## 总结\n{SUMMARY}\n## 日记\n{ENTRY}\n", ParsePath.HEADINGS),
    ],
)
def test_each_step_of_the_ladder_reads_both_texts(text: str, path: ParsePath) -> None:
    found = read(text)
    assert (found.parse_path, found.code) == (path, None)
    assert texts(found) == (SUMMARY, ENTRY)


@pytest.mark.parametrize(
    "text",
    [
        "她犹豫了... 最后把钥匙交给守卫。",
        "看 https://example.org/a//b?c=1#d // 不是注释",
        "他写下 ```暗号``` 三个字，又写 `x`。",
        '{"a": [1]} 与 }{ 都是文本',
        "👩\u200d👩\u200d👧 笑了",
        "“好，”他说，‘走吧’。",
        '他说"好"，于是："走"',
        "第一行\n第二行\t缩进",
        r"C:\1 \g<0> $1 {{user}} %s",
        "</tableEdit><!-- x --> a < b",
        "U+FFFD \ufffd 和 \u200b 零宽",
    ],
)
def test_a_text_survives_byte_for_byte(text: str) -> None:
    answer = json.dumps({"summary": text, "entry": text + "！"}, ensure_ascii=False)
    for wrapped in (answer, json.dumps({"summary": text, "entry": text + "！"}), f"结果：{answer} 完"):
        assert texts(read(wrapped)) == (text, text + "！")


@pytest.mark.parametrize(
    "text",
    [
        "她犹豫了... 最后把钥匙交给守卫。",
        "看 https://example.org/a//b?c=1",
        "他写下 ```暗号``` 三个字。",
        "{这} 与 }{ 都是文本",
        "👩\u200d👩\u200d👧 笑了",
        "“好，”他说，‘走吧’。",
        '他喊"停"，于是：大家停下。',
        'He said "no", then left.',
        "第一行\n第二行",
    ],
)
def test_a_repair_removes_nothing_from_inside_a_text(text: str) -> None:
    found = read(f'{{"summary": "{text}", "entry": "{ENTRY}",}}')
    assert (found.parse_path, found.summary, found.diary) == (ParsePath.REPAIRED, text, ENTRY)


def test_mem0_1854_fenced_json_is_read() -> None:
    found = read(f"```json\n{STRICT}\n```")
    assert (found.parse_path, *texts(found)) == ("fenced", SUMMARY, ENTRY)


def test_mem0_4026_strict_parse_comes_before_fences() -> None:
    found = read('{"summary":"他写下 ```暗号``` 三个字。","entry":"记下了。"}')
    assert (found.parse_path, found.summary) == (ParsePath.STRICT, "他写下 ```暗号``` 三个字。")


def test_mem0_4540_surrogates_are_joined_or_replaced() -> None:
    found = read('{"summary":"她笑了\\ud83d","entry":"😀 ok \\ud83d\\ude00"}')
    assert texts(found) == ("她笑了\ufffd", "😀 ok 😀")
    json.dumps(texts(found)).encode()


def test_claude_remember_97_a_raw_lone_surrogate_is_replaced_before_parsing() -> None:
    found = read('{"summary": "甲把钥匙交给守卫。", "entry": "今天\udc8f很冷"}')
    assert found.diary == "今天\ufffd很冷"


def test_lossless_claw_577_a_thinking_heading_is_dropped_before_json() -> None:
    thinking = "Thinking Process:\n1. 读对话\n2. 找要点\n\n"
    assert read(thinking + STRICT).summary == SUMMARY
    assert read(thinking).code is ReadingCode.REASONING_ONLY
    assert read(thinking + "Summary: 甲\nDiary: 乙").code is ReadingCode.REASONING_ONLY


def test_openviking_4580_foreign_tool_syntax_is_no_json() -> None:
    found = read("<｜tool▁calls▁begin｜>save_diary(...)")
    assert (found.parse_path, found.code) == (ParsePath.NONE, ReadingCode.NO_JSON)


def test_zeroclaw_4642_sections_end_at_the_next_mark_or_the_end() -> None:
    found = read("[[SUMMARY]]甲走了。[[DIARY]]今天…")
    assert (found.parse_path, *texts(found)) == ("tags", "甲走了。", "今天…")


def test_skyrimnet_391_dates_in_a_text_are_only_text() -> None:
    found = read('{"summary": "第十五日，甲出发。", "entry": "第十六日，我到了。"}')
    assert texts(found) == ("第十五日，甲出发。", "第十六日，我到了。")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("summary", "entry"),
        ("摘要", "日记"),
        ("总结", "diary"),
        ("Summary", "Diary Entry"),
        ("SUMMARY", "diary_entry"),
    ],
)
def test_aliases_in_any_case_are_read(name: str, other: str) -> None:
    assert texts(read(json.dumps({name: SUMMARY, other: ENTRY}))) == (SUMMARY, ENTRY)


def test_content_is_a_summary_only_beside_a_title() -> None:
    assert read(json.dumps({"title": "x", "content": SUMMARY})).summary == SUMMARY
    assert read(json.dumps({"content": SUMMARY})).code is ReadingCode.NOT_A_SUMMARY


def test_a_list_of_texts_is_joined_and_extra_keys_are_ignored() -> None:
    found = read(json.dumps({"summary": ["一", "二"], "entry": ENTRY, "mood": {"a": 1}}))
    assert texts(found) == ("一\n二", ENTRY)


@pytest.mark.parametrize("value", [1, 1.5, True, {"a": "b"}, ["a", 1], 10**400])
def test_a_value_of_another_type_is_named(value: object) -> None:
    found = read(json.dumps({"summary": value, "entry": ENTRY}))
    assert (found.wrong_types, found.summary, found.diary) == (("summary",), None, ENTRY)


def test_null_is_not_given() -> None:
    found = read(json.dumps({"summary": None, "entry": ENTRY}))
    assert (found.wrong_types, *texts(found)) == ((), None, ENTRY)


def test_the_last_of_duplicate_keys_counts_and_is_noted() -> None:
    found = read('{"summary": "旧", "summary": "新"}')
    assert (found.summary, found.flags) == ("新", ("duplicate_keys",))


@pytest.mark.parametrize(
    "text", ['{"nothing_new": true}', '```\n{"nothing_new": true}\n```', '{"nothing_new": "true",}']
)
def test_nothing_new_is_read(text: str) -> None:
    assert read(text).nothing_new


def test_a_diary_that_was_not_asked_for_is_ignored() -> None:
    found = read('{"summary": "甲走了。", "entry": 3}', diary_asked=False)
    assert (found.diary, found.wrong_types) == (None, ())
    cut = read('{"summary": "甲走了。", "entry": "今天', diary_asked=False)
    assert (cut.summary, cut.cut, cut.open_field) == ("甲走了。", False, "")
    assert read(f"摘要：{SUMMARY}", diary_asked=False).summary == SUMMARY


def test_headings_need_both_sections_where_both_were_asked() -> None:
    assert read(f"摘要：{SUMMARY}").code is ReadingCode.NO_JSON


def test_rpg_companion_131_a_cut_entry_leaves_the_summary_whole() -> None:
    found = read('{"summary":"甲把钥匙交给守卫，守卫答应保管。","entry":"今天很冷，我走到城门')
    assert (found.summary, found.diary) == ("甲把钥匙交给守卫，守卫答应保管。", None)
    assert (found.open_field, found.cut) == ("entry", True)


@pytest.mark.parametrize("tail", ["", " ", '"', '"e', '"entry', '"entry"', '"entry":', '"entry": "'])
def test_a_cut_after_the_summary_never_damages_it(tail: str) -> None:
    found = read(f'{{"summary":"{SUMMARY}",{tail}')
    assert (found.summary, found.diary, found.unclosed) == (SUMMARY, None, True)
    assert not (found.cut and found.open_field == "summary")


@pytest.mark.parametrize("end", range(12, len(f'{{"summary":"{SUMMARY}')))
def test_a_cut_within_the_summary_is_never_a_whole_summary(end: int) -> None:
    found = read(STRICT.replace('": "', '":"')[:end])
    assert found.summary is None
    assert found.cut


def test_agents_225_a_swallowed_quote_is_malformed_not_guessed() -> None:
    found = read('{"summary":"甲走了。,"entry":"今天很冷"}')
    assert found.code is ReadingCode.MALFORMED


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", ReadingCode.EMPTY),
        (" \n", ReadingCode.EMPTY),
        ("{}", ReadingCode.EMPTY),
        ("null", ReadingCode.EMPTY),
        ("[]", ReadingCode.EMPTY),
        ("[1, 2]", ReadingCode.NOT_A_SUMMARY),
        ('{"events": []}', ReadingCode.NOT_A_SUMMARY),
        ("<think>想</think> ", ReadingCode.REASONING_ONLY),
        (f"<think>想 {STRICT}", ReadingCode.REASONING_ONLY),
        ("思考过程：\n先看", ReadingCode.REASONING_ONLY),
        ("甲把钥匙交给了守卫。", ReadingCode.NO_JSON),
        ('{"summary": NaN}', ReadingCode.MALFORMED),
        ('{"sum', ReadingCode.MALFORMED),
        ("x" * 262_145, ReadingCode.TOO_LONG),
    ],
)
def test_what_cannot_be_read_has_a_code(text: str, code: ReadingCode) -> None:
    found = read(text)
    assert (found.code, found.summary, found.diary) == (code, None, None)


def test_a_reasoning_tag_inside_valid_json_is_a_word_and_hides_nothing() -> None:
    found = read('{"summary": "<think>嗯</think>甲走了。", "entry": "我想 </think> 走了。"}')
    assert texts(found) == ("<think>嗯</think>甲走了。", "我想 </think> 走了。")
    assert found.flags == ()


@pytest.mark.parametrize(
    "opener", ["{", "[", '{"a":', '{"summary":[', "```\n", "<summary>", '{"summary":"', "摘要：\n"]
)
def test_a_repeated_opener_is_read_without_an_exception(opener: str) -> None:
    assert read(opener * 5_000).parse_path in set(ParsePath)


PIECES = (
    '{"summary":§"entry":§"§“§”§\'§{§}§[§]§,§，§：§:§\\§\\u§d83d§```§~~~json§<think>§</think>§<summary>§[[diary]]§'
    "【摘要】§日记：§甲走了。§null§1§ §\n"
)


@given(
    st.lists(st.sampled_from(PIECES.split("§")), max_size=40).map("".join)
    | st.text(st.characters(codec=None), max_size=120),
    st.booleans(),
)
def test_any_text_is_read_without_an_exception(text: str, diary_asked: bool) -> None:
    found = read(text, diary_asked=diary_asked)
    assert (found.code is None) == (found.parse_path is not ParsePath.NONE)
    "".join([found.summary or "", found.diary or ""]).encode()


@given(st.text(max_size=60), st.text(max_size=60))
def test_strict_json_comes_back_as_it_is(summary: str, diary: str) -> None:
    found = read(json.dumps({"summary": summary, "entry": diary}))
    clean = re.compile("[\x00-\x08\x0b-\x1f]")
    if "\r" not in summary + diary and "<" not in summary + diary:
        assert found.summary == clean.sub("", summary).lstrip("\ufeff")
        assert found.diary == clean.sub("", diary).lstrip("\ufeff")


@given(st.integers(0, 500))
def test_a_cut_anywhere_never_yields_a_part_of_a_text_as_whole(end: int) -> None:
    text = json.dumps({"summary": '他说"好"，走了。', "entry": "第一行\n" + "甲" * 50}, ensure_ascii=False)
    found = read(text[:end])
    assert found.summary in (None, '他说"好"，走了。')
    assert found.diary in (None, "第一行\n" + "甲" * 50)


@pytest.mark.parametrize("module", [reading, loose_object, sections, strict_answer, flaws])
def test_patterns_have_no_nested_repetition(module: ModuleType) -> None:
    """No group that repeats without bound holds an unbounded repetition: none can backtrack exponentially."""
    tables = [table.values() for table in vars(module).values() if isinstance(table, dict)]
    values = [*vars(module).values(), *chain.from_iterable(tables)]
    for pattern in (value for value in values if isinstance(value, re.Pattern)):
        assert not re.search(r"[*+]\)[*+{]", pattern.pattern), pattern.pattern


LOOKS_AT_A_CHARACTER = 60
"""How often one character may be looked at: by each step, 8 objects that never close, 6 repairs."""


def looks(text: str) -> float:
    return read(text).looked / max(1, len(text))


@pytest.mark.parametrize("length", [1_000, 16_000, 64_000])
@pytest.mark.parametrize(
    "unit", ["{", '"{', "}{", '{"summary":"', '"a",', "```", "<think>", "{'entry':'x", '{"a":[1']
)
def test_an_answer_of_any_size_is_read_in_steps_that_its_length_bounds(unit: str, length: int) -> None:
    assert looks(unit * (length // len(unit))) <= LOOKS_AT_A_CHARACTER


fragments = st.lists(st.sampled_from(PIECES.split("§")[:-1]), min_size=1, max_size=6).map("".join)


@settings(max_examples=40, deadline=None)
@given(head=fragments, unit=fragments, tail=fragments)
def test_fragments_of_the_grammar_repeated_are_read_in_linear_steps(head: str, unit: str, tail: str) -> None:
    for length in (500, 4_000, 16_000):
        assert looks(head + unit * (length // len(unit)) + tail) <= LOOKS_AT_A_CHARACTER
