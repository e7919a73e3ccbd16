"""Where edit blocks, commands and comments begin and end in a reply. Every pattern here is bounded."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from memoir.domain.model_text.cursor import QUOTES
from memoir.domain.model_text.marks import next_tag
from memoir.domain.model_text.reasoning import closes_reasoning

_NAME = r"(?:insert|add|update|delete|remove)[_ ]?row[ \t　]{0,8}[(（]"
COMMAND = re.compile(_NAME.replace("(?:insert", "(insert", 1), re.IGNORECASE)

# A command at the beginning of its line, after a bullet, a number, a quote or comment mark.
_LINE_COMMAND = re.compile(
    r"^[ \t　]{0,40}(?:(?:[-*•>]|\d{1,3}[.)、．]|<!--|//|#)[ \t　]{0,8}){0,2}"
    rf"(?={_NAME})",
    re.IGNORECASE | re.MULTILINE,
)
_KEY_INSIDE = re.compile(rf"[{QUOTES}][ \t]{{0,4}}[\w.-]{{1,64}}[ \t]{{0,4}}[{QUOTES}][ \t]{{0,4}}[:：]")

COMMENT_END = "-->"


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Positions in *text*: tags of edits and reasoning, commands that begin their line, ends of comments."""

    text: str
    opens: tuple[int, ...]
    closes: tuple[int, ...]
    reasoning: tuple[int, ...]
    reasoning_ends: tuple[int, ...]

    @cached_property
    def line_commands(self) -> tuple[int, ...]:
        """The commands that begin their line."""
        return tuple(found.end() for found in _LINE_COMMAND.finditer(self.text))

    @cached_property
    def _comment_ends(self) -> tuple[int, ...]:
        return tuple(found.end() for found in re.finditer(r"\*/", self.text))

    @cached_property
    def _quoted_keys(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        found = [(key.start(), key.end()) for key in _KEY_INSIDE.finditer(self.text)]
        return tuple(start for start, _ in found), tuple(end for _, end in found)

    def next_open(self, position: int) -> int:
        """Return the next opening tag at or after *position*, or the end of the text."""
        return self._next(self.opens, position)

    def next_close(self, position: int) -> int:
        """Return the next closing tag at or after *position*, or the end of the text."""
        return self._next(self.closes, position)

    def next_tag(self, position: int) -> int:
        """Return the next edit tag of either kind."""
        return min(self.next_open(position), self.next_close(position))

    def next_reasoning(self, position: int) -> int:
        """Return the next tag of reasoning at or after *position*, or the end of the text."""
        return self._next(self.reasoning, position)

    def end_of_draft(self, position: int) -> int:
        """Return where a block ends at the latest: at the next edit tag, or at the end of reasoning."""
        return min(self.next_tag(position), self._next(self.reasoning_ends, position))

    def next_line_command(self, position: int) -> int:
        """Return the next command that begins its line, or the end of the text."""
        return self._next(self.line_commands, position)

    def comment_end(self, position: int) -> int | None:
        """Return where the comment whose `/*` stands at *position* ends in its block, if it does."""
        index = bisect_left(self._comment_ends, position + len("/**/"))
        end = self._comment_ends[index] if index < len(self._comment_ends) else None
        return end if end is not None and end <= self.next_tag(position) else None

    def holds_key(self, start: int, end: int) -> bool:
        """Tell whether between *start* and *end* stands what looks like a quoted name and its colon."""
        starts, ends = self._quoted_keys
        index = bisect_left(starts, start)
        return index < len(starts) and ends[index] <= end

    def string_limit(self, position: int) -> int:
        """Return where a string that is open at *position* has to have ended.

        The next line that begins with a command ends it. A closing tag inside it is text as long as the same
        block has a later one.
        """
        close = self.next_close(position)
        last_close = bisect_left(self.closes, self.next_open(close)) - 1
        block_end = self.closes[last_close] if last_close >= 0 and close < len(self.text) else close
        return min(self.next_line_command(position), block_end)

    def _next(self, positions: tuple[int, ...], position: int) -> int:
        index = bisect_left(positions, position)
        return positions[index] if index < len(positions) else len(self.text)


def find_marks(text: str) -> Marks:
    """Return the marks of *text*."""
    tags = list(_tags(text))
    edits = [tag for tag in tags if tag["edit"]]
    reasoning = [tag for tag in tags if not tag["edit"]]
    return Marks(
        text=text,
        opens=_starts(tag for tag in edits if not tag["edit_shut"]),
        closes=_starts(tag for tag in edits if tag["edit_shut"]),
        reasoning=_starts(reasoning),
        reasoning_ends=_starts(tag for tag in reasoning if tag["channel"] or closes_reasoning(tag)),
    )


def _tags(text: str) -> Iterator[re.Match[str]]:
    tag = next_tag(text, 0)
    while tag:
        yield tag
        tag = next_tag(text, tag.end())


def _starts(found: Iterable[re.Match[str]]) -> tuple[int, ...]:
    return tuple(match.start() for match in found)
