"""The demo's texts: both languages have the same ones, with the same facts, and each is told."""

import re
import string
import tomllib
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[1] / "demo"
WORDS = {path.stem: tomllib.loads(path.read_text()) for path in sorted(DEMO.glob("words/*.toml"))}
CODE = "".join(path.read_text() for path in DEMO.glob("*.py"))


def facts(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_tell_the_same() -> None:
    assert set(WORDS) == {"en", "zh"}
    assert list(WORDS["en"]) == list(WORDS["zh"])
    assert all(facts(text) == facts(WORDS["zh"][name]) for name, text in WORDS["en"].items())


@pytest.mark.parametrize("name", [name for name in WORDS["en"] if " " not in name])
def test_each_text_is_told(name: str) -> None:
    assert re.search(rf'"{name}"', CODE)
