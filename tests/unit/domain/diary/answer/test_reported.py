"""Faults of other projects, by the report's name: the answer that showed it, and what it has to give."""

import json

import pytest

from memoir.domain.diary.answer.judgement import Outcome
from memoir.domain.diary.answer.reading import ReadingCode, read_diary
from memoir.domain.language_model import FinishReason
from tests.unit.domain.diary.answer.test_judgement import ENTRY, SUMMARY, answer, judge, verdict

DRAFT = answer(SUMMARY, ENTRY)


@pytest.mark.parametrize(
    "text",
    [
        f"<thinking><analysis>要点</analysis>草稿 {DRAFT}",
        f"<think><think>要点</think>草稿 {DRAFT}",
        f"<think {'x' * 300}>{DRAFT}",
    ],
)
def test_qwen_code_8818_what_stands_behind_an_unclosed_opener_is_reasoning(text: str) -> None:
    assert verdict(judge(text, finish=FinishReason.LENGTH)) == ("reject", "reasoning_only", "doubled_cap")
    assert "reasoning_unclosed" in read_diary(text, diary_asked=True).flags


@pytest.mark.parametrize(
    "opener", ["[THINK]", "<seed:think>", "◁think▷", "<x:thinking>", "<思考>", "<scratchpad>"]
)
def test_roo_code_8522_reasoning_in_other_marks_is_no_diary(opener: str) -> None:
    cut = judge(f"{opener}草稿 {DRAFT}", finish=FinishReason.LENGTH)
    assert verdict(cut) == ("reject", "reasoning_only", "doubled_cap")
    closer = opener.replace("think", "/think") if opener[0] == "◁" else opener[0] + "/" + opener[1:]
    assert judge(f'{opener}草稿 {{"summary":"旧"}}{closer}{DRAFT}').summary == SUMMARY


@pytest.mark.parametrize(
    ("draft", "final"),
    [
        (
            f"<|channel|>analysis<|message|>先写 {DRAFT}",
            "<|end|><|start|>assistant<|channel|>final<|message|>",
        ),
        (f"analysis先写 {DRAFT}", "assistantfinal"),
    ],
)
def test_macprovider_743_only_the_final_channel_counts(draft: str, final: str) -> None:
    cut = judge(draft, finish=FinishReason.LENGTH)
    assert verdict(cut) == ("reject", "reasoning_only", "doubled_cap")
    other = answer("乙把铜钥匙藏进靴筒里带走了。", ENTRY)
    assert judge(f"{draft}{final}{other}").summary == "乙把铜钥匙藏进靴筒里带走了。"


TAGGED = {
    "summary": "守卫写下 <think>这两个字</think> 之后把铜钥匙藏进靴筒里。",
    "entry": "我看到 <think> 这个词。",
}


@pytest.mark.parametrize(
    "form", ["{}", "```json\n{}\n```", "好的：{}", "<think>草稿</think>{}", "{}<think/>"]
)
def test_deeptutor_675_words_in_a_string_of_valid_json_stay(form: str) -> None:
    found = read_diary(form.replace("{}", json.dumps(TAGGED, ensure_ascii=False)), diary_asked=True)
    assert (found.summary, found.diary) == (TAGGED["summary"], TAGGED["entry"])


def test_a_draft_in_reasoning_is_none_though_its_json_is_valid() -> None:
    draft = json.dumps({"summary": "旧</think>的"}, ensure_ascii=False)
    assert judge(f"<think>草稿 {draft}").code == "no_json"
    assert judge(f"<think>草稿</think>{DRAFT}</think>").summary == SUMMARY


FORGOTTEN = '{"summary": "乙问路。他说：“月亮升起之前能到。”}'


@pytest.mark.parametrize("text", [FORGOTTEN, f"```json\n{FORGOTTEN}\n```", FORGOTTEN.replace("”}", "”\n}")])
def test_a_last_quote_that_the_model_forgot_before_the_last_brace_is_no_cut(text: str) -> None:
    judged = judge(text, attempt=2)
    assert (judged.outcome, judged.summary) == (Outcome.ACCEPT, "乙问路。他说：“月亮升起之前能到。”")
    assert "last_quote_missing" in judged.flags
    assert verdict(judge(text, finish=FinishReason.LENGTH)) == ("reject", "truncated", "doubled_cap")


def test_without_a_last_brace_it_is_a_cut() -> None:
    assert verdict(judge(FORGOTTEN[:-1])) == ("reject", "malformed", "same")


def test_a_forgotten_quote_that_swallowed_another_field_is_not_guessed() -> None:
    assert judge('{"summary": "甲走了。, "entry": "今天很冷}').code == "malformed"


@pytest.mark.parametrize("nothing", ["\u200b\u200b", "\ufeff\u2060", "\u3164", "\u00ad \u200d\n", "\u2800"])
def test_a_summary_that_shows_nothing_is_empty(nothing: str) -> None:
    assert judge(answer(nothing, nothing)).code == "empty"


def test_a_diary_that_repeats_its_summary_is_none() -> None:
    first = judge(answer(SUMMARY, f" {SUMMARY}\n"))
    assert verdict(first) == ("reject", "empty", "same")
    assert first.missing == ("entry",)
    second = judge(answer(SUMMARY, SUMMARY), attempt=2)
    assert (second.outcome, second.summary, second.diary) == (Outcome.ACCEPT, SUMMARY, "")
    assert (second.partial, second.flags) == (True, ("diary_repeats_summary",))


def test_strings_that_a_plus_joins_are_one() -> None:
    found = read_diary('{"summary": "甲把钥匙" + "交给守卫。", "entry": "我走了。"}', diary_asked=True)
    assert (found.summary, found.diary) == ("甲把钥匙交给守卫。", "我走了。")


def test_reasoning_alone_in_channels_has_its_code() -> None:
    found = read_diary("analysis用户要日记，先想想", diary_asked=True)
    assert (found.code, found.flags) == (ReadingCode.REASONING_ONLY, ("reasoning_masked",))
