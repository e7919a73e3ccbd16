"""What a template works on: texts, and JSON whose numbers keep the spelling they were stored with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from memoir.errors import RecordCorrupt

# Longer numbers are equal only where they are spelled alike: as floats, neighbours would be one.
_EXACT_FLOAT_CHARACTERS = 15


class Absent(Enum):
    """What a path leads to where it leads nowhere."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number by its spelling: `1.0`, `1e-7` and 30 digits print as they were stored."""

    text: str


class JsonText:
    """A JSON document by its exact text. It is parsed only where a template goes into it."""

    def __init__(self, text: str) -> None:
        """Take the *text* of a checked document."""
        self.text = text

    @cached_property
    def value(self) -> Any:
        """The parsed document. Raises RecordCorrupt."""
        try:
            return json.loads(self.text, parse_int=Number, parse_float=Number)
        except (ValueError, RecursionError):
            raise RecordCorrupt(detail="a stored document is no JSON") from None


Values = Mapping[str, str | JsonText]
"""What the variables of a template stand for. A variable without a value prints nothing."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A text on its way out: what the variable itself gives, and what filters put around it."""

    before: str = ""
    own: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """The whole text."""
        return self.before + self.own + self.after


def inside(value: Any, key: str | int) -> Any:
    """Return what *value* holds under *key*, ABSENT where it holds nothing there."""
    if isinstance(value, JsonText):
        value = value.value
    if isinstance(key, str):
        return value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    return value[key] if isinstance(value, list) and key < len(value) else ABSENT


def items_of(value: Any) -> list[Any] | None:
    """Return the items of a list, the names of an object's members, None for all else."""
    if isinstance(value, JsonText):
        value = value.value
    if isinstance(value, dict):
        return list(value)
    return value if isinstance(value, list) else None


def plain_text(value: Any) -> str:
    """Return *value* as it is printed: a text as it is, null as nothing, all else as JSON."""
    if isinstance(value, Piece):
        return value.text
    if isinstance(value, str):
        return value
    return "" if value is None or value is ABSENT else json_text(value)


def json_text(value: Any) -> str:
    """Return *value* as compact JSON; a whole document as the very text that is stored."""
    if isinstance(value, JsonText | Number):
        return value.text
    if isinstance(value, Piece):
        value = value.text
    if isinstance(value, dict):
        members = ",".join(f"{_quoted(name)}:{json_text(item)}" for name, item in value.items())
        return "{" + members + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    return _quoted(value)


def is_true(value: Any) -> bool:
    """Return whether *value* counts as true: it is there, and is not empty, zero, false or null."""
    if isinstance(value, JsonText):
        return bool(value.value)
    if isinstance(value, Number):
        return float(value.text) != 0
    if isinstance(value, Piece):
        return bool(value.text)
    return value is not ABSENT and bool(value)


def same(one: Any, other: Any) -> bool:
    """Return whether both are the same text, number, boolean or null. A list or object equals nothing."""
    one, other = (value.text if isinstance(value, Piece) else value for value in (one, other))
    if isinstance(one, Number) and isinstance(other, Number):
        short = max(len(one.text), len(other.text)) <= _EXACT_FLOAT_CHARACTERS
        return one.text == other.text or (short and float(one.text) == float(other.text))
    if type(one) is not type(other) or isinstance(one, list | dict | JsonText):
        return False
    return bool(one == other)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
