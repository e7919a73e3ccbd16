"""JSON in a model's answer, found and parsed as it stands: whole, in fences, or among prose. No repair."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memoir.domain.model_text.cursor import Looked, end_of_nested

MAX_OBJECT_STARTS = 8
"""How many braces that never close are stepped over. Each costs one pass: the bound keeps the search linear.
"""

_FENCE = re.compile(r"`{3,}|~{3,}")
_LABEL = re.compile(r"[ \t]*[\w+.-]{0,20}\s*")


@dataclass(frozen=True, kw_only=True)
class StrictJson:
    """A parsed value, and whether an object in it had the same member twice (the last one counts)."""

    value: Any
    duplicate_keys: bool


def parse_strict(text: str, *, looked: Looked) -> StrictJson | None:
    """Return the JSON that *text* is, or None. A list of one is unwrapped, JSON within a JSON text parsed.

    NaN and Infinity, and nesting too deep for the parser, are no JSON. Numbers are only known to be numbers.
    """
    looked.characters += 2 * len(text)
    parsed = _loads(text)
    if parsed is not None and isinstance(parsed.value, str):
        parsed = _loads(parsed.value) or parsed
    if parsed is not None and isinstance(parsed.value, list) and len(parsed.value) == 1:
        return StrictJson(value=parsed.value[0], duplicate_keys=parsed.duplicate_keys)
    return parsed


def fenced_json(text: str, *, looked: Looked) -> Iterator[StrictJson]:
    """Yield what parses between code fences, with or without a label, closed or not, the last first."""
    end = len(text)
    for mark in reversed(list(_FENCE.finditer(text))):
        body, end = text[mark.end() : end], mark.start()
        label = _LABEL.match(body)
        parsed = parse_strict(body, looked=looked)
        if parsed is None and label:
            parsed = parse_strict(body[label.end() :], looked=looked)
        if parsed is not None:
            yield parsed


def objects_among_prose(text: str, *, looked: Looked) -> list[tuple[StrictJson, tuple[int, int]]]:
    """Return the top-level objects of *text* that parse, and from where to where they stand.

    Braces in strings do not count.
    """
    found: list[tuple[StrictJson, tuple[int, int]]] = []
    position, unclosed = 0, 0
    while unclosed < MAX_OBJECT_STARTS and (start := text.find("{", position)) >= 0:
        end = end_of_nested(text, start, looked=looked)
        if end is None:
            unclosed += 1
            position = start + 1
            continue
        position = end
        if parsed := parse_strict(text[start:end], looked=looked):
            found.append((parsed, (start, end)))
    return found


def _loads(text: str) -> StrictJson | None:
    duplicates: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            duplicates.append("")
        return found

    try:
        value = json.loads(
            text,
            object_pairs_hook=members,
            parse_constant=_no_constant,
            parse_int=_number,
            parse_float=_number,
        )
    except (ValueError, RecursionError):
        return None
    return StrictJson(value=value, duplicate_keys=bool(duplicates))


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _number(_: str) -> int:
    """Stand for a number. No diary field is one, and a long one is costly to read."""
    return 1
