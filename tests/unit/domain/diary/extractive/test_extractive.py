"""The summariser without a model: central sentences, whole, in order, bounded, the same every time."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.diary.answer.judgement import Outcome, judge_diary
from memoir.domain.diary.answer.reading import read_diary
from memoir.domain.diary.due.policy import Store
from memoir.domain.diary.extractive import extractive, sentences
from memoir.domain.diary.extractive.extractive import ExtractedDiary, extract_diary, extracted_answer
from memoir.domain.diary.extractive.sentences import split_sentences, terms_of
from memoir.domain.diary.prompt.prompt import build_prompt
from memoir.domain.diary.prompt.rounds import DialogueRound
from memoir.domain.language_model import FinishReason
from tests.unit.domain.diary.builders import chat_round

CHINESE = [
    ("我叫林川，从北境来。这座城叫什么名字？", "*少女抬起头。* “这里是雾港。我是艾莉，旧书店的看守人。”"),
    ("我在找一把铜钥匙，是我父亲留下的。", "“三年前，有个男人把一把铜钥匙交给我，要我答应不告诉任何人。”"),
    ("嗯。", "“嘘，别出声。”"),
    ("今天天气不错。", "是啊。"),
    ("林远就是我父亲！钥匙还在吗？", "“铜钥匙藏在地下室的钟里。”艾莉点亮油灯，“但是钟只在午夜打开。”"),
    ("（小声）我答应你，拿到铜钥匙以后带你离开雾港。", "她愣了一下。“我从来没有离开过雾港……好，我记住了。”"),
]
LATER = [
    ("午夜到了吗？", "钟敲了十二下。钟门打开，铜钥匙躺在红绒布上，旁边还有一封信。"),
    ("打开信看看。", "信上写着：“钥匙能打开北塔的门，但不要相信守卫队长莫格。”"),
]
ENGLISH = [
    (
        "I'm Kai. I came to find my father.",
        '*Aria looks up.* "This is Mistport," she said. "You look tired, Mr. Kai."',
    ),
    (
        "I'm looking for a copper key.",
        '"Three years ago a man gave me a copper key and made me promise to tell nobody."',
    ),
    ("Yeah.", "She nods."),
    ("Where is the copper key now?", '"It is hidden in the clock. The clock opens only at midnight."'),
    ("I promise to take you away from Mistport.", '"I have never left Mistport... I will remember that."'),
]


def dialogue(pairs: Sequence[tuple[str, str]], *, first: int = 1) -> list[DialogueRound]:
    return [chat_round(first + at, user=user, assistant=reply) for at, (user, reply) in enumerate(pairs)]


def extract(
    rounds: Sequence[DialogueRound],
    *,
    previous: str = "",
    summary_chars: int = 150,
    diary_chars: int = 120,
    character: str = "艾莉",
) -> ExtractedDiary:
    return extract_diary(
        rounds=rounds,
        previous_summary=previous,
        character=character,
        summary_chars=summary_chars,
        diary_chars=diary_chars,
    )


def test_what_the_story_turns_on_is_kept_and_small_talk_is_not() -> None:
    found = extract(dialogue(CHINESE))
    assert "铜钥匙藏在地下室的钟里" in found.summary
    assert "答应" in found.summary
    assert "天气" not in found.summary and "嗯" not in found.summary


def test_english_is_summarised_too() -> None:
    found = extract(dialogue(ENGLISH), character="Aria", summary_chars=330, diary_chars=200)
    assert "User: I promise to take you away from Mistport." in found.summary
    assert "Aria: " in found.summary and "copper key" in found.summary
    assert "She nods" not in found.summary


def test_speakers_are_labelled_and_the_diary_is_the_characters_own() -> None:
    found = extract(dialogue(CHINESE))
    assert all(line.startswith(("艾莉：", "用户：")) for line in found.summary.splitlines())
    assert "艾莉：" not in found.diary
    assert found.generator == "extractive"


def test_sentences_come_in_the_order_in_which_they_were_said() -> None:
    summary = extract(dialogue(CHINESE)).summary
    assert summary.index("三年前") < summary.index("地下室")


def test_the_previous_summary_competes_and_new_events_find_room() -> None:
    before = extract(dialogue(CHINESE)).summary
    after = extract(dialogue(LATER, first=7), previous=before).summary
    assert "铜钥匙藏在地下室的钟里" in after or "答应" in after
    assert "莫格" in after
    assert after.index("莫格") > after.index("艾莉")


def test_a_prose_summary_of_a_model_is_carried_on() -> None:
    found = extract(dialogue(LATER, first=7), previous="林川来到雾港寻找父亲留下的铜钥匙。艾莉答应帮他。")
    assert "林川来到雾港寻找父亲留下的铜钥匙。" in found.summary


def test_the_diary_tells_only_the_new_rounds() -> None:
    before = extract(dialogue(CHINESE)).summary
    assert "地下室" not in extract(dialogue(LATER, first=7), previous=before).diary


def test_no_diary_is_made_where_none_is_asked() -> None:
    assert extract(dialogue(CHINESE), diary_chars=0).diary == ""


def test_equal_dialogues_give_equal_bytes() -> None:
    assert extract(dialogue(CHINESE)) == extract(dialogue(CHINESE))


@pytest.mark.parametrize("limit", [0, 1, 10, 40, 80, 300])
def test_neither_text_is_longer_than_asked_and_sentences_are_whole(limit: int) -> None:
    found = extract(dialogue([*CHINESE, *LATER]), summary_chars=limit, diary_chars=limit)
    assert len(found.summary) <= limit and len(found.diary) <= limit
    assert all(line[-1] in "。！？”…" for line in found.summary.splitlines())


def test_an_empty_dialogue_is_nothing_new() -> None:
    found = extract([])
    assert (found.summary, found.diary) == ("", "")
    assert extracted_answer(found, with_diary=True) == '{"nothing_new": true}'


@pytest.mark.parametrize(("pairs", "character"), [(CHINESE, "艾莉"), (ENGLISH, "Aria")])
def test_its_answer_passes_the_reader_and_the_judgement(pairs: list[tuple[str, str]], character: str) -> None:
    rounds = dialogue(pairs)
    prompt = build_prompt(
        rounds=rounds, previous_summary="", character=character, store=Store.SUMMARY_AND_DIARY
    )
    found = extract(
        rounds, summary_chars=prompt.summary_chars, diary_chars=prompt.diary_chars, character=character
    )
    judged = judge_diary(
        read_diary(extracted_answer(found, with_diary=True), diary_asked=True),
        prompt=prompt,
        finish=FinishReason.STOP,
        attempt=1,
        previous_summary="",
    )
    assert (judged.outcome, judged.summary, judged.diary) == (Outcome.ACCEPT, found.summary, found.diary)


def test_an_answer_for_the_summary_alone_has_no_entry() -> None:
    found = extract(dialogue(CHINESE))
    assert set(json.loads(extracted_answer(found, with_diary=False))) == {"summary"}


def test_a_summary_without_news_stays_what_it_was() -> None:
    before = extract(dialogue(CHINESE)).summary
    assert extract(dialogue([("嗯", "嗯")], first=7), previous=before).summary == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲走了。乙来了！真的？", ["甲走了。", "乙来了！", "真的？"]),
        ("她犹豫了... 然后走了", ["她犹豫了...", "然后走了"]),
        ("“好。”他说。", ["“好。”", "他说。"]),
        (
            "Mr. Kai left. See https://example.org/a.b now.",
            ["Mr. Kai left.", "See https://example.org/a.b now."],
        ),
        ("*抬头* 第一行\n> 第二行", ["抬头 第一行", "第二行"]),
        ("……\n***\n。", []),
        ("3.14 is pi.", ["3.14 is pi."]),
    ],
)
def test_sentences_are_told_apart(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_a_sentence_without_an_end_is_taken_in_pieces() -> None:
    pieces = split_sentences("字" * 1000)
    assert [len(piece) for piece in pieces] == [160] * 6 + [40]
    assert "".join(split_sentences("甲乙丙丁，" * 100)) == "甲乙丙丁，" * 100


def test_terms_are_words_and_pairs_of_characters() -> None:
    assert terms_of("我的铜钥匙 and the Copper key") == {"铜钥", "钥匙", "copper", "key"}


def test_cost_is_bounded_by_the_number_of_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring is what costs: counted for a dialogue of 128 KiB that says one thing over and over."""
    scored = []
    inner = extractive._score
    monkeypatch.setattr(extractive, "_score", lambda *given: scored.append(1) or inner(*given))
    extract([chat_round(1, user="我把钥匙给你第三次。她说好的。" * 3000, assistant="钥匙在钟里。" * 3000)])
    assert len(scored) <= 2 * (2 + extractive._MAX_RESCORES) * sentences.MAX_SENTENCES


def test_a_huge_dialogue_is_cut_and_says_so() -> None:
    assert extract([chat_round(1, user="钥匙在钟里。" * 30_000)]).truncated_input


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=4), st.text(max_size=80))
def test_any_dialogue_is_summarised_within_its_limit(pairs: list[tuple[str, str]], previous: str) -> None:
    found = extract(dialogue(pairs), previous=previous, summary_chars=60, diary_chars=30)
    assert len(found.summary) <= 60 and len(found.diary) <= 30
