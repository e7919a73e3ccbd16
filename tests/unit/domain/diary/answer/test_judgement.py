"""Accept, nothing new, or reject: what becomes of an answer, and of the summary before it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.diary.answer.flaws import content_weight
from memoir.domain.diary.answer.judgement import (
    AcceptanceRules,
    Judgement,
    LanguageRule,
    Outcome,
    Retry,
    judge_diary,
)
from memoir.domain.diary.answer.reading import read_diary
from memoir.domain.diary.due.policy import Store
from memoir.domain.diary.prompt.prompt import build_prompt
from memoir.domain.language_model import FinishReason, finish_reason_of
from tests.unit.domain.diary.builders import chat_round, chinese_prompt

SUMMARY = "甲把钥匙交给守卫，守卫答应保管。"
ENTRY = "今天很冷，我走到城门，把钥匙交了出去。"
CUT_ENTRY = '{"summary":"甲把钥匙交给守卫，守卫答应保管。","entry":"今天很冷，我走到城门'


def answer(summary: object, diary: object = None) -> str:
    fields = {"summary": summary, "entry": diary}
    return json.dumps(
        {name: value for name, value in fields.items() if value is not None}, ensure_ascii=False
    )


def judge(
    text: str,
    *,
    finish: FinishReason = FinishReason.STOP,
    attempt: int = 1,
    previous: str = "甲有一把铜钥匙。",
    store: Store = Store.SUMMARY_AND_DIARY,
    rules: AcceptanceRules | None = None,
) -> Judgement:
    prompt = chinese_prompt(store=store)
    return judge_diary(
        read_diary(text, diary_asked=prompt.asks_diary),
        prompt=prompt,
        finish=finish,
        attempt=attempt,
        previous_summary=previous,
        rules=rules,
    )


def verdict(judged: Judgement) -> tuple[str, str, str]:
    return judged.outcome, judged.code, judged.retry


def test_a_good_answer_is_accepted_whole() -> None:
    judged = judge(answer(SUMMARY, ENTRY))
    assert judged == Judgement(outcome=Outcome.ACCEPT, summary=SUMMARY, diary=ENTRY)


def test_a_plan_for_the_summary_alone_ignores_a_diary() -> None:
    judged = judge(answer(SUMMARY, ENTRY), store=Store.SUMMARY)
    assert (judged.outcome, judged.diary, judged.partial, judged.missing) == (Outcome.ACCEPT, "", False, ())


ELEVEN_BAD = [
    ("", "empty"),
    ("{}", "empty"),
    ("null", "empty"),
    (answer("## 要点\n\n## 待办\n", "## 日期"), "too_short"),
    ("抱歉，我无法完成。", "refusal"),
    (answer("⟨填写：截至现在的完整要点⟩", "⟨填写：本段的第一人称日记⟩"), "echo"),
    (f"<think>{answer(SUMMARY, ENTRY)}</think>", "reasoning_only"),
    (f"<think>先看看 {answer(SUMMARY, ENTRY)}", "reasoning_only"),
    ('{"summary":"甲把钥匙交给守卫，守卫答', "truncated"),
    ("<｜tool▁calls▁begin｜>save_diary(...)", "no_json"),
    (answer("The guard took the key and left the city.", "Today I gave the key away."), "wrong_language"),
]


@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize(("text", "code"), ELEVEN_BAD)
def test_the_eleven_bad_outputs_store_nothing(text: str, code: str, attempt: int) -> None:
    finish = FinishReason.LENGTH if code == "truncated" else FinishReason.STOP
    judged = judge(text, attempt=attempt, finish=finish)
    assert (judged.outcome, judged.code) == (Outcome.REJECT, code)
    assert (judged.summary, judged.diary) == ("", "")
    assert (judged.retry is Retry.NO) == (attempt == 2)


def test_nothing_new_is_done_without_a_retry() -> None:
    assert verdict(judge('{"nothing_new": true}')) == ("nothing_new", "nothing_new", "no")


def test_nothing_new_beside_a_text_is_an_answer_like_any_other() -> None:
    text = json.dumps({"nothing_new": True, "summary": SUMMARY, "entry": ENTRY})
    assert judge(text).outcome is Outcome.ACCEPT


def test_mem0_2736_the_prompt_read_back_is_an_echo() -> None:
    assert verdict(judge(chinese_prompt().system)) == ("reject", "echo", "same")
    stored = answer(SUMMARY + "不要写日期、轮次编号或格式说明，资料里没有的事", ENTRY)
    assert judge(stored).code == "echo"
    assert judge("按下面的键填写并只输出一个 JSON 对象，不要代码块").code == "echo"


def test_memos_130_the_example_of_a_prompt_is_an_echo() -> None:
    assert judge(answer("<两三句>", "<第一人称>")).code == "echo"


def test_mem0_4061_a_refusal_is_a_failure_with_one_retry() -> None:
    assert verdict(judge("抱歉，我无法完成。")) == ("reject", "refusal", "same")
    assert verdict(judge("I'm sorry, but I can't help with that.")) == ("reject", "refusal", "same")
    assert verdict(judge("抱歉，我无法完成。", attempt=2)) == ("reject", "refusal", "no")


def test_a_refusal_between_tags_is_a_refusal() -> None:
    assert judge("<summary>很遗憾，我不能总结这段对话。</summary><diary>无</diary>").code == "refusal"


def test_characters_may_apologise_in_json() -> None:
    sorry = "抱歉，我不能答应你，他说。守卫转身离开。"
    assert judge(answer(sorry, "对不起，我无法留下来。")).outcome is Outcome.ACCEPT


def test_a_long_text_with_an_apology_is_no_refusal() -> None:
    assert judge("抱歉，我无法完成。" + "甲走了。" * 40).code == "no_json"


def test_a_models_introduction_of_itself_is_no_summary() -> None:
    assert judge(answer("抱歉，我是一个人工智能语言模型，不能写日记。", ENTRY)).code == "not_a_summary"
    assert judge(answer("我是一名AI少女，住在旧书店里，等林川回来。", ENTRY)).outcome is Outcome.ACCEPT


def test_openclaw_122617_headings_are_no_content() -> None:
    assert judge(answer("## 要点\n\n## 待办\n", "## 日期"), previous="旧" * 400).code == "too_short"


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("甲去了集市。", 10),
        ("甲去集市。", 8),
        ("Kai left at 9.", 10),
        ("Kai left it.", 9),
        ("## 要点\n【摘要】\n**总结**\n要点：\n- ……", 0),
        ("- 甲走了", 6),
    ],
)
def test_content_counts_letters_and_cjk_twice(text: str, weight: int) -> None:
    assert content_weight(text) == weight


@pytest.mark.parametrize(("text", "accepted"), [("甲去了集市。", True), ("甲去集市。", False)])
def test_too_short_is_below_a_weight_of_10(text: str, accepted: bool) -> None:
    assert (judge(answer(text, ENTRY)).outcome is Outcome.ACCEPT) is accepted


@pytest.mark.parametrize(("length", "code"), [(301, ""), (1200, ""), (1201, "too_long")])
def test_too_long_is_beyond_4_times_the_length_asked(length: int, code: str) -> None:
    assert judge(answer("甲" * length, ENTRY)).code == code


@pytest.mark.parametrize("raw", ['{"summary": "甲把钥匙交给守卫"}', '```json\n{"摘要": "甲把钥匙交给守卫"}'])
def test_an_answer_within_an_answer_is_raw_json(raw: str) -> None:
    assert judge(answer(raw, ENTRY)).code == "raw_json"


def test_wrong_types_are_rejected() -> None:
    assert verdict(judge(answer(12, ENTRY))) == ("reject", "wrong_type", "same")


def test_voicemem_8_another_language_is_retried_or_stored_with_a_warning() -> None:
    text = answer("The guard took the key and left.", "I gave the key away today.")
    assert verdict(judge(text)) == ("reject", "wrong_language", "same")
    warned = judge(text, rules=AcceptanceRules(language=LanguageRule.WARN))
    assert (warned.outcome, warned.flags) == (Outcome.ACCEPT, ("language_differs",))
    allowed = judge(text, rules=AcceptanceRules(language=LanguageRule.ALLOW))
    assert (allowed.outcome, allowed.flags) == (Outcome.ACCEPT, ())


def test_an_english_dialogue_takes_an_english_answer_and_no_chinese_one() -> None:
    item = chat_round(1, user="I give you the copper key.", assistant="She hides it well.")
    prompt = build_prompt(rounds=[item], previous_summary="", character="Aria", store=Store.SUMMARY)
    for text, code in (("Kai gave Aria the copper key.", ""), (SUMMARY, "wrong_language")):
        found = read_diary(answer(text), diary_asked=False)
        judged = judge_diary(found, prompt=prompt, finish=FinishReason.STOP, attempt=1, previous_summary="")
        assert judged.code == code


def test_the_previous_summary_again_is_nothing_new() -> None:
    judged = judge(answer("甲把钥匙交给守卫，\n守卫答应 保管。"), previous=SUMMARY, store=Store.SUMMARY)
    assert verdict(judged) == ("nothing_new", "same_as_previous", "no")
    assert judge(answer(SUMMARY, ""), previous=SUMMARY).outcome is Outcome.NOTHING_NEW


def test_claude_mem_3801_a_repeated_summary_is_noticed_by_characters() -> None:
    other = judge(answer("甲把钥匙交给守卫，守卫答应保密。"), previous=SUMMARY, store=Store.SUMMARY)
    assert other.outcome is Outcome.ACCEPT


def test_a_new_diary_beside_an_unchanged_summary_is_kept() -> None:
    judged = judge(answer(SUMMARY, ENTRY), previous=SUMMARY)
    assert (judged.outcome, judged.diary, judged.flags) == (Outcome.ACCEPT, ENTRY, ("summary_unchanged",))


def test_stavrobot_28_an_empty_summary_leaves_the_previous_one_and_keeps_the_diary() -> None:
    first = judge(answer("", "还行"))
    assert verdict(first) == ("reject", "empty", "same")
    assert first.missing == ("summary",)
    second = judge(answer("", "还行"), attempt=2)
    assert (second.outcome, second.summary, second.diary) == (Outcome.ACCEPT, "", "还行")
    assert second.missing == ("summary",)
    assert judge(answer("", "还行"), attempt=2, store=Store.SUMMARY).code == "empty"


def test_rpg_companion_131_a_cut_entry_is_retried_once_with_twice_the_room() -> None:
    first = judge(CUT_ENTRY, finish=FinishReason.LENGTH)
    assert verdict(first) == ("reject", "truncated", "doubled_cap")
    second = judge(CUT_ENTRY, finish=FinishReason.LENGTH, attempt=2)
    assert (second.outcome, second.summary, second.diary) == (Outcome.ACCEPT, SUMMARY, "")
    assert (second.partial, second.missing, second.code) == (True, ("entry",), "truncated")


def test_a_cut_entry_is_not_stored_in_part_where_the_plan_forbids_it() -> None:
    rules = AcceptanceRules(allow_partial=False)
    judged = judge(CUT_ENTRY, finish=FinishReason.LENGTH, attempt=2, rules=rules)
    assert verdict(judged) == ("reject", "truncated", "no")
    assert (judged.summary, judged.partial) == ("", False)


def test_a_cut_entry_does_not_matter_where_the_summary_alone_was_asked() -> None:
    assert judge(CUT_ENTRY, finish=FinishReason.LENGTH, store=Store.SUMMARY).outcome is Outcome.ACCEPT


def test_memory_books_69_complete_json_is_accepted_whatever_the_finish_reason() -> None:
    judged = judge(answer(SUMMARY, ENTRY), finish=FinishReason.LENGTH)
    assert (judged.outcome, judged.flags) == (Outcome.ACCEPT, ("finish_length",))
    broken = judge('{"summary":"甲走了。,"entry":"今天很冷"}', finish=FinishReason.STOP)
    assert verdict(broken) == ("reject", "malformed", "same")


def test_agents_225_only_a_truncated_answer_gets_a_larger_cap() -> None:
    broken = '{"summary":"甲走了'
    assert verdict(judge(broken, finish=FinishReason.STOP)) == ("reject", "malformed", "same")
    assert verdict(judge(broken, finish=FinishReason.LENGTH)) == ("reject", "truncated", "doubled_cap")
    assert verdict(judge(broken, finish=FinishReason.UNKNOWN)) == ("reject", "truncated", "doubled_cap")


def test_a_section_that_only_the_token_limit_ended_is_cut() -> None:
    text = f"摘要：{SUMMARY}\n日记：今天很冷，我走到"
    assert judge(text, finish=FinishReason.STOP).outcome is Outcome.ACCEPT
    assert verdict(judge(text, finish=FinishReason.LENGTH)) == ("reject", "truncated", "doubled_cap")


def test_a_filtered_answer_fails_without_a_retry() -> None:
    judged = judge(answer(SUMMARY, ENTRY), finish=FinishReason.CONTENT_FILTER)
    assert verdict(judged) == ("reject", "filtered", "no")


@pytest.mark.parametrize(
    "text", ["她犹豫了... 最后把钥匙交给守卫。", "看 https://example.org//x 上的地图与线索。"]
)
def test_ellipses_and_addresses_are_accepted_unchanged(text: str) -> None:
    judged = judge(answer(text, f"{text}“好”`x`{{y}}👩\u200d👧"))
    assert (judged.summary, judged.diary) == (text, f"{text}“好”`x`{{y}}👩\u200d👧")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("stop", "stop"),
        ("end_turn", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("guardrail_intervened", "content_filter"),
        ("tool_use", "unknown"),
        (None, "unknown"),
    ],
)
def test_finish_reasons_of_providers_have_one_name(name: object, reason: str) -> None:
    assert finish_reason_of(name) == reason


FIELDS = st.none() | st.integers() | st.lists(st.text(max_size=5), max_size=3) | st.text(max_size=60)


@given(
    FIELDS, FIELDS, st.sampled_from(FinishReason), st.integers(1, 3), st.integers(0, 60), st.text(max_size=20)
)
def test_any_answer_is_judged_without_an_exception(
    summary: object, diary: object, finish: FinishReason, attempt: int, cut_at: int, previous: str
) -> None:
    judged = judge(
        answer(summary, diary)[: cut_at or None], finish=finish, attempt=attempt, previous=previous
    )
    assert (judged.outcome is Outcome.ACCEPT) == bool(judged.summary or judged.diary)
    assert judged.retry is Retry.NO or (judged.outcome is Outcome.REJECT and attempt == 1)
    assert judged.code or judged.outcome is Outcome.ACCEPT
