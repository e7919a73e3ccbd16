"""How the demo tells: chapters and lines in one of two languages, and a check behind each line."""

import textwrap
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.api import Answer

LANGUAGES = ("en", "zh")
_WORDS = Path(__file__).with_name("words")
_WIDTH = 100

Facts = dict[str, Any]


class Broken(Exception):
    """The service did not do what this demo says it does."""


def nothing(body: Any) -> Facts:
    """Name no fact of an answer."""
    return {}


class Teller:
    """Prints the story in one language. Every text stands in `words/<language>.toml`."""

    def __init__(self, language: str) -> None:
        """Tell in *language*, one of LANGUAGES."""
        self.language = language
        self.words: dict[str, str] = tomllib.loads((_WORDS / f"{language}.toml").read_text())
        self._began = time.monotonic()

    def heading(self, name: str) -> None:
        """Begin a chapter."""
        print(f"\n{self.words[name]}", flush=True)

    def line(self, name: str, **facts: Any) -> None:
        """Print one text, with *facts* in it."""
        text = self.words[name].format(**facts)
        print(textwrap.indent(text, "  "), flush=True)

    def quote(self, text: str) -> None:
        """Print a text of the conversation whole."""
        wrapped = "\n".join(textwrap.fill(line, width=_WIDTH) for line in text.splitlines())
        print(textwrap.indent(wrapped, "      │ "), flush=True)

    def progress(self, text: str) -> None:
        """Print what is being done while one waits, with the seconds since the beginning."""
        known = next((words for words in self.words if text.startswith(words)), None)
        told = self.words[known] + text[len(known) :] if known else text
        print(f"  [{time.monotonic() - self._began:4.1f} s] {told}", flush=True)

    def step(
        self,
        name: str,
        answer: Answer,
        *,
        status: int = 200,
        holds: Callable[[Any], bool] = lambda body: True,
        facts: Callable[[Any], Facts] = nothing,
    ) -> Any:
        """Check one answer, then tell of it. Returns its body. Raises Broken, with all of the answer."""
        if answer.status != status or not holds(answer.json):
            raise Broken(f"{self.words[name]}: {answer.status} {answer.text}")
        self.line(name, **facts(answer.json))
        return answer.json
