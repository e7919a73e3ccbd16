"""One light repair of a JSON object that a model wrote badly, or that was cut. Nothing is guessed.

Repaired: curly, full-width, single and back-tick quotes as delimiters, full-width punctuation outside
strings, raw line ends in strings, quotes inside strings, bare known names, trailing commas, a missing last
brace. No character is removed from inside a string, nothing is evaluated. A string that holds what looks like
one of our members was swallowed: that object is not read at all. One pass; every look ahead is bounded or
ends at its own run of blanks.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memoir.domain.diary.answer.fields import KNOWN_NAMES
from memoir.domain.model_text import clean_model_text


class Ending(StrEnum):
    """How an object ends: closed; unclosed, but after a whole value; or cut inside the value of a member."""

    CLOSED = "closed"
    UNCLOSED = "unclosed"
    CUT = "cut"


@dataclass(frozen=True, kw_only=True)
class LooseObject:
    """The whole members of an object, how it ends, and the member that the end of the text may have cut.

    *last_name* is empty where the text ends in the name of a further one.
    """

    members: dict[str, Any]
    ending: Ending
    last_name: str


_CLOSERS = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": '”“"＂',
    "”": '”“"＂',
    "‘": "’‘'",
    "’": "’‘'",
    "＂": '＂"',
}
_QUOTES = "\"'`“”‘’＂"
_NAMES = "|".join(sorted(KNOWN_NAMES, key=len, reverse=True))
# Blanks are taken possessively: a run of them is looked at once, whatever follows.
_NEXT_MEMBER = rf"[{_QUOTES}]?(?:{_NAMES})[{_QUOTES}]?\s*+[:：]|\"[A-Za-z_]\w{{0,39}}\"\s*+:"
_BEGINNINGS = "|".join(
    sorted(
        {name[:length] for name in KNOWN_NAMES for length in range(1, len(name) + 1)}, key=len, reverse=True
    )
)
_CUT_NAME = rf"[{_QUOTES}](?:(?:{_BEGINNINGS})[{_QUOTES}]?)?\s*+\Z"
_AFTER_VALUE = re.compile(
    rf"\s*+(?:[}}\]｝］]|[,，]\s*+(?:[}}\]｝］]|\Z|{_NEXT_MEMBER}|{_CUT_NAME})|(?:`{{3,}}+|~{{3,}}+)?\s*+\Z)",
    re.IGNORECASE,
)
_AFTER_ITEM = re.compile(rf"\s*+(?:[\]］]|[,，]\s*+[{_QUOTES}\]］]|\Z)")
_SWALLOWED = re.compile(rf"[{_QUOTES}](?:{_NAMES})[{_QUOTES}]\s*+[:：]", re.IGNORECASE)
_STRING_MARKS = {opener: re.compile(rf"\\.|[{closers}]", re.DOTALL) for opener, closers in _CLOSERS.items()}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\"'\\/bfnrt])")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": ""}
_BLANKS = re.compile(r"\s*+")
_BARE = re.compile(r"[\w.+-]{1,64}")
_LITERALS = {"true": True, "false": False, "null": None, "none": None}
_NESTED_MARK = re.compile(r'["\\{}\[\]]')


def read_loose_object(text: str, start: int) -> LooseObject | None:
    """Return the object whose brace stands at *start*, or None where its members cannot be told apart."""
    return _Reader(text=text, position=start + 1).read()


class _Unreadable(Exception):
    """The object cannot be read for certain."""


class _CutOff(Exception):
    """The text ends inside a value."""


class _Reader:
    """One pass over one object."""

    def __init__(self, *, text: str, position: int) -> None:
        self.text = text
        self.position = position

    def read(self) -> LooseObject | None:
        members: dict[str, Any] = {}
        name = ""
        try:
            while True:
                mark = self.next_mark()
                if not mark or self.text.startswith(("```", "~~~"), self.position):
                    return LooseObject(members=members, ending=Ending.UNCLOSED, last_name=name)
                if mark in "}｝":
                    return LooseObject(members=members, ending=Ending.CLOSED, last_name=name)
                if mark in ",，":
                    self.position += 1
                    continue
                name = ""  # where the text ends within a name, every member before it is whole
                name = self.name()
                members[name] = self.value()
        except _CutOff:
            return LooseObject(members=members, ending=Ending.CUT, last_name=name)
        except _Unreadable:
            return None

    def next_mark(self) -> str:
        """Step over blanks and return the character there, empty at the end of the text."""
        blanks = _BLANKS.match(self.text, self.position)
        self.position = blanks.end() if blanks else self.position
        return self.text[self.position : self.position + 1]

    def name(self) -> str:
        mark = self.next_mark()
        if mark and mark in _QUOTES:
            closing = _STRING_MARKS[mark].search(self.text, self.position + 1, self.position + 80)
            if closing is None or closing[0].startswith("\\"):
                raise self.cut_or_unreadable(within=80)
            name = self.text[self.position + 1 : closing.start()]
            self.position = closing.end()
        else:
            bare = _BARE.match(self.text, self.position)
            if bare is None:
                raise _Unreadable
            name = bare[0]
            self.position = bare.end()
        colon = self.next_mark()
        if not colon:
            raise _CutOff
        if colon not in ":：":
            raise _Unreadable
        self.position += 1
        return name

    def cut_or_unreadable(self, *, within: int) -> Exception:
        return _CutOff() if len(self.text) - self.position <= within else _Unreadable()

    def value(self) -> Any:
        mark = self.next_mark()
        if not mark:
            raise _CutOff
        if mark in _QUOTES:
            return self.string(_AFTER_VALUE)
        if mark in "[［":
            return self.list()
        if mark in "{｛":
            return self.nested()
        return self.bare()

    def string(self, after: re.Pattern[str]) -> str:
        """Read a string. A quote closes it only if what follows can follow a value; else it is text."""
        begin = self.position + 1
        for mark in _STRING_MARKS[self.text[self.position]].finditer(self.text, begin):
            if not mark[0].startswith("\\") and after.match(self.text, mark.end()):
                self.position = mark.end()
                raw = self.text[begin : mark.start()]
                break
        else:
            raw = None
        if _SWALLOWED.search(self.text, begin, len(self.text) if raw is None else self.position - 1):
            raise _Unreadable
        if raw is None:
            raise _CutOff
        return clean_model_text(_ESCAPE.sub(_unescaped, raw))

    def list(self) -> list[Any]:
        self.position += 1
        items: list[Any] = []
        while True:
            mark = self.next_mark()
            if not mark:
                raise _CutOff
            if mark in "]］":
                self.position += 1
                return items
            if mark in ",，":
                self.position += 1
            elif mark in _QUOTES:
                items.append(self.string(_AFTER_ITEM))
            else:
                items.append(self.nested() if mark in "{[" else self.bare())

    def nested(self) -> dict[str, Any]:
        """Step over an object or list within: no field of ours is one."""
        depth, in_string, escaped_at = 0, False, -1
        for mark in _NESTED_MARK.finditer(self.text, self.position):
            if mark.start() == escaped_at:
                continue
            if mark[0] == "\\":
                escaped_at = mark.end()
            elif mark[0] == '"':
                in_string = not in_string
            elif not in_string:
                depth += 1 if mark[0] in "{[" else -1
            if depth == 0:
                self.position = mark.end()
                return {}
        raise _CutOff

    def bare(self) -> Any:
        word = _BARE.match(self.text, self.position)
        if word is None:
            raise _Unreadable
        if word.end() == len(self.text):
            raise _CutOff
        self.position = word.end()
        lowered = word[0].casefold()
        if lowered in _LITERALS:
            return _LITERALS[lowered]
        if not lowered[0].isdigit() and lowered[0] not in "+-.":
            raise _Unreadable
        return 1


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if code[0] == "u" else _ESCAPED.get(code, code)
