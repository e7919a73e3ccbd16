"""The rounds that a diary reads: ordered, current, story text only, and cut where they are too long."""

from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.diary.prompt.rounds import (
    DialogueRound,
    cut_middle,
    fit_dialogue,
    rounds_to_write,
    story_text,
    text_hash,
)
from tests.unit.domain.diary.builders import chat_round


def test_risuai_1051_rounds_out_of_order_are_read_in_order() -> None:
    written = rounds_to_write([chat_round(3), chat_round(1), chat_round(2)], accepted=[1, 2, 3])
    assert [item.round for item in written] == [1, 2, 3]


def test_sillytavern_205_only_the_current_text_of_a_rerolled_round_is_read() -> None:
    old, new = chat_round(20, assistant="钥匙丢了"), chat_round(20, assistant="钥匙还在")
    (written,) = rounds_to_write([old, new], accepted=[20])
    assert written.assistant_text == "钥匙还在"
    assert text_hash(old) != text_hash(new)


def test_rounds_that_are_not_accepted_or_hold_nothing_are_left_out() -> None:
    rounds = [chat_round(1), chat_round(2, user=" \n", assistant=""), chat_round(3)]
    assert [item.round for item in rounds_to_write(rounds, accepted=[1, 2])] == [1]


def test_openclaw_133408_a_plan_whose_rounds_are_all_gone_has_nothing_to_write() -> None:
    assert rounds_to_write([chat_round(21)], accepted=range(1, 21)) == ()
    assert rounds_to_write([], accepted=range(1, 21)) == ()


def test_story_text_has_no_reasoning_and_no_table_edits() -> None:
    reply = (
        "<think>plan</think>她笑了。<tableEdit><!-- insertRow(0, {}) --></tableEdit>再见。<table_edit>open"
    )
    assert story_text(reply) == "她笑了。再见。"


def test_a_reasoning_tag_within_a_cell_hides_nothing_of_the_story() -> None:
    block = '<tableEdit>updateRow(0, 0, {"1":"<think>"})</tableEdit>'
    assert story_text(f"她笑了。{block}再见。") == "她笑了。再见。"
    assert story_text("<think><tableEdit>deleteRow(0, 0)</tableEdit></think>再见。") == "再见。"


def test_a_round_of_zero_width_characters_is_nothing_to_write_about() -> None:
    assert rounds_to_write([chat_round(1, user="\u200b", assistant="\u2060")], accepted=[1]) == ()


def test_a_hash_tells_where_one_text_ends_and_the_other_begins() -> None:
    assert text_hash(chat_round(1, user="ab", assistant="c")) != text_hash(
        chat_round(1, user="a", assistant="bc")
    )


def test_a_hash_of_a_lone_surrogate_is_no_exception() -> None:
    assert text_hash(chat_round(1, user="\ud83d"))


def test_eliza_8290_one_huge_round_is_cut_in_its_middle_and_marked() -> None:
    rounds = [
        chat_round(1, user="头" + "字" * 200_000 + "尾"),
        *(chat_round(number) for number in range(2, 21)),
    ]
    fitted = fit_dialogue(rounds, max_chars=48_000)
    assert fitted.truncated
    assert fitted.rounds[1:] == tuple(rounds[1:])
    huge = fitted.rounds[0].user_text
    assert huge.startswith("头字") and huge.endswith("字尾") and " [… 1" in huge
    assert len(huge) < 48_100


def test_picoclaw_854_a_dialogue_four_times_too_long_keeps_every_round() -> None:
    rounds = [chat_round(number, user="甲" * 400, assistant="乙" * 600) for number in range(1, 21)]
    fitted = fit_dialogue(rounds, max_chars=5_000)
    assert fitted.truncated
    assert len(fitted.rounds) == 20
    assert all(
        item.user_text.startswith("甲") and item.assistant_text.endswith("乙") for item in fitted.rounds
    )


def test_a_dialogue_of_exactly_the_limit_is_not_cut() -> None:
    rounds = [chat_round(1, user="甲" * 60, assistant="乙" * 40)]
    assert not fit_dialogue(rounds, max_chars=100).truncated
    assert fit_dialogue(rounds, max_chars=99).truncated


@given(st.lists(st.tuples(st.text(max_size=50), st.text(max_size=50)), max_size=8), st.integers(0, 300))
def test_what_is_kept_of_a_dialogue_never_exceeds_the_limit(texts: list[tuple[str, str]], limit: int) -> None:
    rounds = [
        DialogueRound(round=at + 1, turn_id="t", user_text=user, assistant_text=assistant)
        for at, (user, assistant) in enumerate(texts)
    ]
    fitted = fit_dialogue(rounds, max_chars=limit)
    assert fitted.truncated == (sum(len(user) + len(assistant) for user, assistant in texts) > limit)
    marks = 2 * len(rounds) * len(" [… 100 …] ")
    assert sum(len(item.user_text) + len(item.assistant_text) for item in fitted.rounds) <= limit + marks or (
        not fitted.truncated
    )


def test_a_cut_says_how_much_is_left_out() -> None:
    assert cut_middle("abcdefghij", max_chars=6) == "abcd [… 4 …] ij"
    assert cut_middle("abcdef", max_chars=6) == "abcdef"
