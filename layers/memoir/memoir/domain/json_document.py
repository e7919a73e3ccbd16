"""A JSON object that is stored whole: its rules, its limits, and its exact text.

The text is kept beside the value because a number's spelling (`1.0`, `1e-7`, 2^53+1, 30 digits) does not
survive every JSON library; what was accepted is what comes back.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from memoir.errors import JsonMalformed, LimitExceeded, RequestInvalid, TooLarge

Json = dict[str, Any]

MAX_LEVELS = 32
MAX_DOCUMENT_BYTES = 65_536

_SCALARS = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, kw_only=True)
class JsonDocument:
    """A checked JSON object. `text` is its compact JSON, `value` the parsed object (do not change it)."""

    text: str
    value: Json
    size_bytes: int

    def fresh_value(self) -> Json:
        """Return the object anew, for a caller that may change it."""
        fresh: Json = json.loads(self.text)
        return fresh


def json_document(
    value: object,
    *,
    name: str,
    text: str | None = None,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    max_levels: int = MAX_LEVELS,
) -> JsonDocument:
    """Return *value* as a document that may be stored, or raise what is wrong with it, naming the place.

    *name* is what errors call the document (`memory` gives code `memory_too_large` and path `/memory`).
    *text*: its compact JSON text where the caller has read and checked it; else it is checked and made here.
    Limits: *max_bytes* of UTF-8, *max_levels* of nesting, the root object being level 1.
    Raises RequestInvalid (not a plain JSON object), LimitExceeded (levels), TooLarge (bytes),
    JsonMalformed (a number that is not finite, a lone surrogate).
    """
    root = f"/{name}"
    if not isinstance(value, dict):
        raise RequestInvalid(code="not_an_object", path=root, detail=f"{root}: must be a JSON object")
    if text is None:
        check_plain_json(value, path=root, max_levels=max_levels, max_values=max_bytes)
        text = compact_text(value, path=root)
    size_bytes = len(text.encode())
    if size_bytes > max_bytes:
        raise TooLarge(
            code=f"{name}_too_large",
            path=root,
            size_bytes=size_bytes,
            limit_bytes=max_bytes,
            detail=f"{root}: {size_bytes} bytes of JSON, the limit is {max_bytes}",
        )
    return JsonDocument(text=text, value=value, size_bytes=size_bytes)


def check_plain_json(
    value: object, *, path: str, max_values: int, max_levels: int = MAX_LEVELS, around_levels: int = 0
) -> None:
    """Check that *value* holds finite plain JSON only, at most *max_levels* deep, without recursion.

    *around_levels*: how many levels of *value* are a request around the document that is limited.
    *max_values* bounds the walk: a JSON text has fewer values than bytes, and a value that contains itself
    has no end.
    """
    level: list[Any] = [value]
    depth = seen = 0
    while level:
        depth += 1
        seen += len(level)
        if seen > max_values:
            raise LimitExceeded(
                code="json_too_many_values",
                value=seen,
                limit=max_values,
                path=path,
                detail=f"{path}: more than {max_values} values",
            )
        inner: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str or kind is int:
                continue
            if kind is dict:
                inner += item.values()
            elif kind is list:
                inner += item
            elif (kind is float and not isfinite(item)) or kind not in _SCALARS:
                raise _not_plain(value, path=path)
        if depth > max_levels + around_levels and (inner or _has_container(level)):
            raise _too_deep(value, path=path, max_levels=max_levels, walked_levels=depth)
        level = inner


def _has_container(items: list[Any]) -> bool:
    return any(type(item) in (dict, list) for item in items)


def compact_text(value: object, *, path: str) -> str:
    """Return checked plain JSON as compact text, not ASCII-escaped. Raises where it cannot be JSON."""
    for place, _, item in _places(value, path):
        if type(item) is dict and not all(type(key) is str for key in item):
            raise RequestInvalid(
                code="not_json", path=place, detail=f"{place}: a member name that is no text"
            )
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode()
    except UnicodeEncodeError:
        raise JsonMalformed(path=path, detail=f"{path}: a text holds a lone surrogate") from None
    except ValueError as error:  # an integer of more digits than Python prints
        raise JsonMalformed(path=path, detail=f"{path}: {error}") from None
    return text


def _places(value: object, path: str) -> Iterator[tuple[str, int, Any]]:
    """Yield (JSON pointer, level, item) for *value* and all in it, breadth first. Only for naming a place."""
    waiting: deque[tuple[str, int, Any]] = deque([(path, 1, value)])
    while waiting:
        place, depth, item = waiting.popleft()
        yield place, depth, item
        if type(item) is dict:
            waiting.extend((f"{place}/{_escaped(key)}", depth + 1, inner) for key, inner in item.items())
        elif type(item) is list:
            waiting.extend((f"{place}/{index}", depth + 1, inner) for index, inner in enumerate(item))


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")  # RFC 6901


def _too_deep(value: object, *, path: str, max_levels: int, walked_levels: int) -> LimitExceeded:
    place = next(
        place
        for place, depth, item in _places(value, path)
        if depth == walked_levels and type(item) in (dict, list)
    )
    return LimitExceeded(
        code="json_too_deep",
        value=max_levels + 1,
        limit=max_levels,
        path=place,
        detail=f"{place}: nested deeper than {max_levels} levels",
    )


def _not_plain(value: object, *, path: str) -> JsonMalformed | RequestInvalid:
    for place, _, item in _places(value, path):
        if type(item) is float and not isfinite(item):
            return JsonMalformed(
                code="not_finite", path=place, detail=f"{place}: a number that is not finite"
            )
        if type(item) not in _SCALARS and type(item) not in (dict, list):
            return RequestInvalid(
                code="not_json", path=place, detail=f"{place}: {type(item).__name__} is not JSON"
            )
    raise AssertionError("called for a value that is plain JSON")
