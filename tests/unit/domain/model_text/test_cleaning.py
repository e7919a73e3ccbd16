"""What a model wrote can be stored, logged and parsed after cleaning, and loses nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.model_text.cleaning import clean_model_text, encodable, is_blank

ANY_TEXT = st.text(st.characters(codec=None), max_size=200)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("她笑了\ud83d", "她笑了\ufffd"),
        ("\udc8f", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("甲\r\n乙", "甲\n乙"),
        ("a\x00b\x1b\tc\n", "ab\tc\n"),
        ("\ufeff{}", "{}"),
        ("\x00\ufeff{}", "{}"),
        ("a\ufeffb", "a\ufeffb"),
        ("👩\u200d👧 a\u200bb", "👩\u200d👧 a\u200bb"),
    ],
)
def test_clean_keeps_all_but_what_cannot_be_stored(raw: str, clean: str) -> None:
    assert clean_model_text(raw) == clean


@given(ANY_TEXT)
def test_clean_text_can_be_encoded_and_is_clean_already(text: str) -> None:
    clean = clean_model_text(text)
    clean.encode()
    assert clean_model_text(clean) == clean


@given(ANY_TEXT)
def test_encodable_changes_surrogates_alone(text: str) -> None:
    found = encodable(text)
    found.encode()
    assert found == text or any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize("text", ["", " \n\t　", "\u200b\u2060\ufeff", "\u3164", "\u2800", "\u00ad\u200d"])
def test_what_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["…", "。", "a\u200b", "👩\u200d👧", "\ufffd"])
def test_what_shows_anything_is_not_blank(text: str) -> None:
    assert not is_blank(text)
