"""How models punctuate values, full-width and curly forms included, and a cursor that reads their strings."""

import re
from collections.abc import Callable
from dataclasses import dataclass

OPEN_BRACES, CLOSE_BRACES = "{｛", "}｝"
OPEN_BRACKETS, CLOSE_BRACKETS = "[［", "]］"
CLOSE_PARENTHESES = ")）"
COMMAS = ",，"
COLONS = ":："

CLOSERS = {
    '"': '"＂',
    "＂": '"＂',
    "'": "'",
    "`": "`",
    "“": '”“"＂',
    "”": '”“"＂',
    "‘": "’‘'",
    "’": "’‘'",
}
"""What may close a string, by what opened it."""

QUOTES = "".join(CLOSERS)

_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\"'\\/ntr])")
_MARKS = {
    closers: re.compile(rf"\\(?:u[0-9a-fA-F]{{4}}|[\"'\\/ntr])?|[{closers}]")
    for closers in set(CLOSERS.values())
}
_JOINT = re.compile(rf"[\s　]*+[+＋][\s　]*+(?=[{QUOTES}])")


_NESTING_MARK = re.compile(r'["\\{}\[\]]')


@dataclass
class Looked:
    """How many characters were looked at in reading a text, those looked at again included."""

    characters: int = 0


@dataclass(frozen=True, kw_only=True)
class Quoted:
    """A string from quote to quote: `start` and `end` of what is between. `inner_quotes`: it holds some."""

    start: int
    end: int
    inner_quotes: bool


class Cursor:
    """A place in a text. What it looks at is counted in `looked`, for reading has to be linear."""

    def __init__(self, text: str, pos: int = 0, *, looked: Looked) -> None:
        self.text = text
        self.pos = pos
        self.looked = looked

    def peek(self) -> str:
        """Return the character at the cursor, empty at the end."""
        return self.text[self.pos : self.pos + 1]

    def at(self, characters: str) -> bool:
        """Tell whether one of *characters* stands at the cursor."""
        return self.pos < len(self.text) and self.text[self.pos] in characters

    def match(self, pattern: re.Pattern[str], position: int) -> re.Match[str] | None:
        """Return what *pattern* finds at *position*."""
        found = pattern.match(self.text, position)
        self.looked.characters += found.end() - position + 1 if found else 1
        return found

    def search(self, pattern: re.Pattern[str], start: int, end: int) -> re.Match[str] | None:
        """Return what *pattern* finds first between *start* and *end*."""
        found = pattern.search(self.text, start, end)
        self.looked.characters += (found.end() if found else end) - start
        return found

    def quoted(self, *, limit: int, ends: Callable[[int], bool]) -> Quoted | None:
        """Return the string whose quote stands at the cursor and go behind it; None where nothing closes it.

        A quote closes it only where *ends* says that what follows, from a position, can follow a value, or
        where a `+` joins another string to it; else it is text.
        """
        start = self.pos + 1
        inner = False
        for mark in _MARKS[CLOSERS[self.text[self.pos]]].finditer(self.text, start, limit):
            if mark[0][0] == "\\":
                continue
            if ends(mark.end()) or (not inner and self.match(_JOINT, mark.end())):
                self.looked.characters += mark.end() - start
                self.pos = mark.end()
                return Quoted(start=start, end=mark.start(), inner_quotes=inner)
            inner = True
        self.looked.characters += limit - start
        return None

    def quoted_within(self, outer: Quoted) -> Quoted:
        """Return the string at the cursor, within *outer* of the same quotes: it ends where that ends."""
        start = self.pos + 1
        marks = _MARKS[CLOSERS[self.text[self.pos]]].finditer(self.text, start)
        first = next(mark.start() for mark in marks if mark[0][0] != "\\")
        self.looked.characters += first - start + 1
        self.pos = outer.end + 1
        return Quoted(start=start, end=outer.end, inner_quotes=first < outer.end)

    def go_to_joined(self) -> bool:
        """Go to the string that a `+` joins to the one before the cursor, if there is one."""
        joint = self.match(_JOINT, self.pos)
        if joint:
            self.pos = joint.end()
        return joint is not None

    def unescaped(self, start: int, end: int) -> str:
        """Return the text from *start* to *end* with escapes replaced. Any other backslash stays."""
        raw = self.text[start:end]
        return _ESCAPE.sub(_meant, raw) if "\\" in raw else raw


def end_of_nested(text: str, start: int, *, looked: Looked) -> int | None:
    """Return the index behind what closes the brace or bracket at *start*, None where nothing does.

    Those in double-quoted strings do not count.
    """
    depth, in_string, escaped_at = 0, False, -1
    for mark in _NESTING_MARK.finditer(text, start):
        if mark.start() == escaped_at:
            continue
        if mark[0] == "\\":
            escaped_at = mark.end() if in_string else -1
        elif mark[0] == '"':
            in_string = not in_string
        elif not in_string:
            depth += 1 if mark[0] in "{[" else -1
            if depth == 0:
                looked.characters += mark.end() - start
                return mark.end()
    looked.characters += len(text) - start
    return None


def _meant(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if code[0] == "u" else _ESCAPED.get(code, code)
