"""Values as a model wrote them, before they become the text of cells."""

import json
from typing import Any

from memoir.domain.model_text.cleaning import encodable


class Bare(str):
    """A word that stood without quotes: a number, a name, `null`."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """The members of an object, in order, repeated names included."""


class Unreadable(Exception):
    """A value that cannot be read for certain. `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def _pairs(members: list[tuple[str, Any]]) -> Pairs:
    """Return the members of an object. An escape may be half of a surrogate pair."""
    return Pairs(
        (encodable(name), encodable(value) if type(value) is str else value) for name, value in members
    )


DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_float=Bare, parse_int=Bare, parse_constant=Bare, strict=False
)


def nesting(value: Any) -> int:
    """Return how many objects and lists stand in each other, that of *value* included."""
    if isinstance(value, Pairs) and not any(isinstance(member, list) for _, member in value):
        return 1
    depth, level = 0, [value]
    while level:
        inner: list[Any] = []
        for item in level:
            if isinstance(item, Pairs):
                inner += [member for _, member in item]
            elif isinstance(item, list):
                inner += item
        depth += any(isinstance(item, list) for item in level)
        level = inner
    return depth
