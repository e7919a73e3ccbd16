"""JSON in a model's answer, found and parsed as it stands: whole, in fences, or among prose. No repair."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_OBJECT_STARTS = 8
"""How many braces that never close are stepped over. Each costs one pass: the bound keeps the search linear.
"""

_FENCE = re.compile(r"`{3,}|~{3,}")
_LABEL = re.compile(r"[ \t]*[\w+.-]{0,20}\s*")
_OBJECT_MARK = re.compile(r'["\\{}]')


@dataclass(frozen=True, kw_only=True)
class StrictJson:
    """A parsed value, and whether an object in it had the same member twice (the last one counts)."""

    value: Any
    duplicate_keys: bool


def parse_strict(text: str) -> StrictJson | None:
    """Return the JSON that *text* is, or None. A list of one is unwrapped, JSON within a JSON text parsed.

    NaN and Infinity, and nesting too deep for the parser, are no JSON. Numbers are only known to be numbers.
    """
    parsed = _loads(text)
    if parsed is not None and isinstance(parsed.value, str):
        parsed = _loads(parsed.value) or parsed
    if parsed is not None and isinstance(parsed.value, list) and len(parsed.value) == 1:
        return StrictJson(value=parsed.value[0], duplicate_keys=parsed.duplicate_keys)
    return parsed


def fenced_json(text: str) -> Iterator[StrictJson]:
    """Yield what parses between code fences, with or without a label, closed or not, the last first."""
    marks = list(_FENCE.finditer(text))
    end = len(text)
    for mark in reversed(marks):
        body, end = text[mark.end() : end], mark.start()
        label = _LABEL.match(body)
        parsed = parse_strict(body) or (parse_strict(body[label.end() :]) if label else None)
        if parsed is not None:
            yield parsed


def objects_among_prose(text: str) -> Iterator[StrictJson]:
    """Yield the top-level objects of *text* that parse, the last first. Braces in strings do not count."""
    spans = _object_spans(text)
    for start, end in reversed(spans):
        parsed = parse_strict(text[start:end])
        if parsed is not None:
            yield parsed


def _object_spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    position, unclosed = 0, 0
    while unclosed < MAX_OBJECT_STARTS:
        start = text.find("{", position)
        if start < 0:
            break
        end = _end_of_object(text, start)
        if end is None:
            unclosed += 1
            position = start + 1
        else:
            spans.append((start, end))
            position = end
    return spans


def _end_of_object(text: str, start: int) -> int | None:
    """Return the index behind the brace that closes the one at *start*; None where none does."""
    depth, in_string, escaped_at = 0, False, -1
    for mark in _OBJECT_MARK.finditer(text, start):
        if mark.start() == escaped_at:
            continue
        if mark[0] == "\\":
            escaped_at = mark.end() if in_string else -1
        elif mark[0] == '"':
            in_string = not in_string
        elif not in_string:
            depth += 1 if mark[0] == "{" else -1
            if depth == 0:
                return mark.end()
    return None


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
