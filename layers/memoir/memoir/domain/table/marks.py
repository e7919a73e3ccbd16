"""Where edit blocks, commands and reasoning begin and end in a reply. Every pattern here is bounded."""

import re
from bisect import bisect_left
from dataclasses import dataclass

COMMAND = re.compile(r"(insert|add|update|delete|remove)[_ ]?row[ \t　]{0,8}[(（]", re.IGNORECASE)

# A command at the beginning of its line, after a bullet, a number, a quote or comment mark.
LINE_COMMAND = re.compile(
    r"^[ \t　]{0,40}(?:(?:[-*•>]|\d{1,3}[.)、．]|<!--|//|#)[ \t　]{0,8}){0,2}"
    r"(?=(?:insert|add|update|delete|remove)[_ ]?row[ \t　]{0,8}[(（])",
    re.IGNORECASE | re.MULTILINE,
)

EDIT_TAG = re.compile(r"<(/?)table[_-]?edit(?:\s[^<>]{0,200})?>", re.IGNORECASE)

REASONING_TAG = re.compile(
    r"<(/?)(?:tablethink|thinking|thoughts?|think|reasoning|analysis)(?:\s[^<>]{0,200})?>", re.IGNORECASE
)

COMMENT_END = "-->"


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Positions of edit tags and of commands that begin their line, in order."""

    opens: tuple[int, ...]
    closes: tuple[int, ...]
    line_commands: tuple[int, ...]
    end: int

    def next_open(self, position: int) -> int:
        """Return the next opening tag at or after *position*, or the end of the text."""
        return _next(self.opens, position, self.end)

    def next_close(self, position: int) -> int:
        """Return the next closing tag at or after *position*, or the end of the text."""
        return _next(self.closes, position, self.end)

    def next_tag(self, position: int) -> int:
        """Return the next tag of either kind."""
        return min(self.next_open(position), self.next_close(position))

    def next_line_command(self, position: int) -> int:
        """Return the next command that begins its line, or the end of the text."""
        return _next(self.line_commands, position, self.end)

    def string_limit(self, position: int) -> int:
        """Return where a string that is open at *position* has to have ended.

        The next line that begins with a command ends it. A closing tag inside it is text as long as the same
        block has a later one.
        """
        close = self.next_close(position)
        last_close = bisect_left(self.closes, self.next_open(close)) - 1
        block_end = self.closes[last_close] if last_close >= 0 and close < self.end else close
        return min(self.next_line_command(position), block_end)


def find_marks(text: str) -> Marks:
    """Return the marks of *text*."""
    opens: list[int] = []
    closes: list[int] = []
    for tag in EDIT_TAG.finditer(text):
        (closes if tag[1] else opens).append(tag.start())
    return Marks(
        opens=tuple(opens),
        closes=tuple(closes),
        line_commands=tuple(found.end() for found in LINE_COMMAND.finditer(text)),
        end=len(text),
    )


def _next(positions: tuple[int, ...], position: int, end: int) -> int:
    index = bisect_left(positions, position)
    return positions[index] if index < len(positions) else end
