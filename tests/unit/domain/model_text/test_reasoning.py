"""The reasoning in what a model wrote is masked, whatever its marks, and nothing else is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.model_text.reasoning import mask_reasoning

ANY_TEXT = st.text(st.characters(codec=None), max_size=200)
TAG_SOUP = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<Thinking a='1'>", "</thoughts>", "<think", ">", "<", "x", " ", "<think/>"]
    )
).map("".join)


@pytest.mark.parametrize(
    "name", ["think", "thinking", "thought", "thoughts", "reasoning", "analysis", "tableThink"]
)
def test_a_closed_block_is_masked(name: str) -> None:
    text = f'a<{name.upper()} kind="x">secret</{name}>b'
    assert mask_reasoning(text) == ("ab", ("reasoning_masked",))


@pytest.mark.parametrize(
    ("text", "rest", "flag"),
    [
        ("a<think>b", "a", "reasoning_unclosed"),
        ("a</think>b", "b", "reasoning_unopened"),
        ("<think>a</think>b</think>c", "bc", "reasoning_unopened"),
        ("<think/>b</think>c", "bc", "reasoning_unopened"),
        ("<think>a<think>b</think>c", "", "reasoning_unclosed"),
        ("x<thinking>a<analysis>b</analysis>c", "x", "reasoning_unclosed"),
        ("a<|channel|>analysis<|message|>b<|end|>", "", "reasoning_unclosed"),
        ("<think>a</thinking>b<thought>c", "b", "reasoning_unclosed"),
    ],
)
def test_an_unpaired_tag_masks_to_its_end_of_the_text(text: str, rest: str, flag: str) -> None:
    assert mask_reasoning(text) == (rest, ("reasoning_masked", flag))


@pytest.mark.parametrize(
    "text", ["a<b>c</b>", "<thinker>a", "< think>a", "<think a", "他想<了想>", "<analysis1>"]
)
def test_other_text_is_not_reasoning(text: str) -> None:
    assert mask_reasoning(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "<think>a<think>b</think>c</think>d",
        "<thinking>a<analysis>b</thinking>d",
        "<think>a</thinking>d",
        f"<think {'x' * 500}>a</think>d",
        "[THINK]a[/THINK]d",
        "◁think▷a◁/think▷d",
        "<seed:think>a</seed:think>d",
        "<思考>a</思考>d",
        "<scratchpad>a</scratchpad>d",
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>d<|return|>",
        "a<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>d",
        "<think>a<|channel|>final<|message|>d",
    ],
)
def test_reasoning_in_any_marks_ends_where_it_is_closed(text: str) -> None:
    rest, flags = mask_reasoning(text)
    assert (rest, "reasoning_masked" in flags, "reasoning_unclosed" in flags) == ("d", True, False)


def test_what_stands_in_valid_json_is_no_tag_unless_the_json_is_reasoning_itself() -> None:
    text = 'x{"a": "<think>"}y'
    assert mask_reasoning(text, opaque=[(1, 17)]) == (text, ())
    drafted = "<think>" + text + "</think>d"
    assert mask_reasoning(drafted, opaque=[(8, 24)]) == ("", ("reasoning_masked", "reasoning_unclosed"))


def test_an_empty_element_masks_nothing_else() -> None:
    assert mask_reasoning("a<think/>b")[0] == "ab"


@given(TAG_SOUP | ANY_TEXT)
def test_mask_never_raises_and_only_removes(text: str) -> None:
    rest, flags = mask_reasoning(text)
    assert len(rest) <= len(text)
    assert (rest == text) or flags
