"""The estimate errs on the side of too many, for any text, and names what it does not know."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.tokens.estimate import TOKENIZERS, check_tokenizer, estimate_tokens
from memoir.domain.tokens.weights import FEATURES, WEIGHTS
from memoir.errors import RequestInvalid

DATA = Path(__file__).resolve().parents[3] / "data"


def test_every_column_has_a_weight_for_every_feature() -> None:
    assert {len(column.split()) for column in WEIGHTS.values()} == {len(FEATURES)}


def test_no_text_is_no_token() -> None:
    assert estimate_tokens("") == 0


# Counted by the real tokenizers: `tests/bench/tokens.py` does it again where they are installed.
@pytest.mark.parametrize(
    ("name", "tokenizer", "truth"),
    [
        ("demo-zh.txt", "gpt4o", 1744),
        ("demo-zh.txt", "cl100k", 2578),
        ("demo-zh.txt", "deepseek_v4", 1330),
        ("demo-en.txt", "gpt4o", 759),
        ("demo-en.txt", "cl100k", 764),
        ("demo-en.txt", "deepseek_v4", 761),
    ],
)
def test_an_estimate_is_over_the_truth_by_a_quarter_at_most(name: str, tokenizer: str, truth: int) -> None:
    text = (DATA / name).read_text()[:3000]
    assert truth <= estimate_tokens(text, tokenizer=tokenizer) <= 1.25 * truth


def test_a_text_of_one_repeated_character_counts_by_its_bytes() -> None:
    assert estimate_tokens("a" * 8_000) >= 1_000


@given(st.text(max_size=300), st.sampled_from(TOKENIZERS))
def test_an_estimate_is_at_least_an_eighth_of_the_bytes(text: str, tokenizer: str) -> None:
    assert estimate_tokens(text, tokenizer=tokenizer) * 8 >= len(text.encode())


@given(st.text(max_size=100), st.text(max_size=100))
def test_more_text_is_never_much_cheaper(first: str, second: str) -> None:
    # Two runs that meet are one: at most one of each kind of run is saved.
    assert estimate_tokens(first + second) >= estimate_tokens(first) - 4


def test_an_unknown_tokenizer_is_refused_by_its_place() -> None:
    with pytest.raises(RequestInvalid) as caught:
        check_tokenizer("gpt-17", path="/tokenizer")
    assert (caught.value.code, caught.value.path) == ("tokenizer_unknown", "/tokenizer")
