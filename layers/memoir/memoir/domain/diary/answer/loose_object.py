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
from memoir.domain.model_text.cursor import (
    CLOSE_BRACES,
    CLOSE_BRACKETS,
    CLOSERS,
    COLONS,
    COMMAS,
    OPEN_BRACES,
    OPEN_BRACKETS,
    QUOTES,
    Cursor,
    Looked,
    end_of_nested,
)


class Ending(StrEnum):
    """How an object ends: closed; unclosed, but after a whole value; or cut inside the value of a member."""

    CLOSED = "closed"
    UNCLOSED = "unclosed"
    CUT = "cut"


@dataclass(frozen=True, kw_only=True)
class LooseObject:
    """The whole members of an object, how it ends, and the member that the end of the text may have cut.

    *last_name* is empty where the text ends in the name of a further one. *unquoted*: where the end of the
    text cut a string, what it is if only its quote was forgotten before the last brace; else None.
    """

    members: dict[str, Any]
    ending: Ending
    last_name: str
    unquoted: str | None = None


_NAMES = "|".join(sorted(KNOWN_NAMES, key=len, reverse=True))
# Blanks are taken possessively: a run of them is looked at once, whatever follows.
_NEXT_MEMBER = rf"[{QUOTES}]?(?:{_NAMES})[{QUOTES}]?\s*+[:：]|\"[A-Za-z_]\w{{0,39}}\"\s*+:"
_BEGINNINGS = "|".join(
    sorted(
        {name[:length] for name in KNOWN_NAMES for length in range(1, len(name) + 1)}, key=len, reverse=True
    )
)
_CUT_NAME = rf"[{QUOTES}](?:(?:{_BEGINNINGS})[{QUOTES}]?)?\s*+\Z"
_AFTER_VALUE = re.compile(
    rf"\s*+(?:[}}\]｝］]|[,，]\s*+(?:[}}\]｝］]|\Z|{_NEXT_MEMBER}|{_CUT_NAME})|(?:`{{3,}}+|~{{3,}}+)?\s*+\Z)",
    re.IGNORECASE,
)
_AFTER_ITEM = re.compile(rf"\s*+(?:[\]］]|[,，]\s*+[{QUOTES}\]］]|\Z)")
_SWALLOWED = re.compile(rf"[{QUOTES}](?:{_NAMES})[{QUOTES}]\s*+[:：]", re.IGNORECASE)
_BLANKS = re.compile(r"\s*+")
_BARE = re.compile(r"[\w.+-]{1,64}")
_LITERALS = {"true": True, "false": False, "null": None, "none": None}
_MAX_NAME = 80
_LAST_BRACE = re.compile(r"[}｝]\s*+(?:`{3,}+\s*+)?\Z")


def read_loose_object(text: str, start: int, *, looked: Looked) -> LooseObject | None:
    """Return the object whose brace stands at *start*, or None where its members cannot be told apart."""
    return _Reader(text, start + 1, looked=looked).read()


class _Unreadable(Exception):
    """The object cannot be read for certain."""


class _CutOff(Exception):
    """The text ends inside a value. *unquoted*: see LooseObject."""

    def __init__(self, unquoted: str | None = None) -> None:
        super().__init__()
        self.unquoted = unquoted


class _Reader(Cursor):
    """One pass over one object."""

    def read(self) -> LooseObject | None:
        members: dict[str, Any] = {}
        name = ""
        try:
            while True:
                self.skip_blanks()
                if not self.peek() or self.text.startswith(("```", "~~~"), self.pos):
                    return LooseObject(members=members, ending=Ending.UNCLOSED, last_name=name)
                if self.at(CLOSE_BRACES):
                    return LooseObject(members=members, ending=Ending.CLOSED, last_name=name)
                if self.at(COMMAS):
                    self.pos += 1
                    continue
                name = ""  # where the text ends within a name, every member before it is whole
                name = self.name()
                members[name] = self.value()
        except _CutOff as cut:
            return LooseObject(members=members, ending=Ending.CUT, last_name=name, unquoted=cut.unquoted)
        except _Unreadable:
            return None

    def skip_blanks(self) -> None:
        blanks = self.match(_BLANKS, self.pos)
        self.pos = blanks.end() if blanks else self.pos

    def name(self) -> str:
        if self.at(QUOTES):
            closers = CLOSERS[self.peek()]
            end = min(self.pos + _MAX_NAME, len(self.text))
            closing = next((at for at in range(self.pos + 1, end) if self.text[at] in closers), None)
            if closing is None:
                raise _CutOff if end == len(self.text) else _Unreadable
            name = self.text[self.pos + 1 : closing]
            self.pos = closing + 1
        else:
            bare = self.match(_BARE, self.pos)
            if bare is None:
                raise _Unreadable
            name = bare[0]
            self.pos = bare.end()
        self.skip_blanks()
        if not self.peek():
            raise _CutOff
        if not self.at(COLONS):
            raise _Unreadable
        self.pos += 1
        return name

    def value(self) -> Any:
        self.skip_blanks()
        if not self.peek():
            raise _CutOff
        if self.at(QUOTES):
            return self.string(_AFTER_VALUE)
        if self.at(OPEN_BRACKETS):
            return self.list()
        return self.nested() if self.at(OPEN_BRACES) else self.bare()

    def string(self, after: re.Pattern[str]) -> str:
        """Read a string, and those that a `+` joins to it."""
        parts: list[str] = []
        while not parts or self.go_to_joined():
            start = self.pos + 1
            quoted = self.quoted(limit=len(self.text), ends=lambda at: self.match(after, at) is not None)
            if self.search(_SWALLOWED, start, quoted.end if quoted else len(self.text)):
                raise _Unreadable
            if quoted is None:
                brace = self.search(_LAST_BRACE, start, len(self.text))
                raise _CutOff(self.unescaped(start, brace.start()).rstrip() if brace else None)
            parts.append(self.unescaped(start, quoted.end))
        return "".join(parts)

    def list(self) -> list[Any]:
        self.pos += 1
        items: list[Any] = []
        while True:
            self.skip_blanks()
            if not self.peek():
                raise _CutOff
            if self.at(CLOSE_BRACKETS):
                self.pos += 1
                return items
            if self.at(COMMAS):
                self.pos += 1
            elif self.at(QUOTES):
                items.append(self.string(_AFTER_ITEM))
            else:
                items.append(self.nested() if self.at("{[") else self.bare())

    def nested(self) -> dict[str, Any]:
        """Step over an object or list within: no field of ours is one."""
        end = end_of_nested(self.text, self.pos, looked=self.looked)
        if end is None:
            raise _CutOff
        self.pos = end
        return {}

    def bare(self) -> Any:
        word = self.match(_BARE, self.pos)
        if word is None:
            raise _Unreadable
        if word.end() == len(self.text):
            raise _CutOff
        self.pos = word.end()
        lowered = word[0].casefold()
        if lowered in _LITERALS:
            return _LITERALS[lowered]
        if not lowered[0].isdigit() and lowered[0] not in "+-.":
            raise _Unreadable
        return 1
