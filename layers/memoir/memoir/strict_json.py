"""Strict JSON in: one reader for every text that reaches the service.

Refuses duplicate member names, NaN and Infinity, lone surrogates, bad UTF-8, a byte order mark, trailing text
and deep nesting, none of which `json.loads` refuses by itself. jiter stops at 200 levels without recursing.
"""

import json
import re
from typing import Any

import jiter
import orjson

from memoir.domain.json_document import MAX_LEVELS, check_plain_json
from memoir.errors import JsonMalformed, LimitExceeded

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"]+')
_WHITE_SPACE = b" \t\n\r"
_JITER_LEVELS = 200


def read_json(raw: bytes) -> Any:
    """Return the value of the strict JSON text *raw*. Linear in its length, which is the caller's to limit.

    Raises LimitExceeded (a document of more than 32 levels inside a request), JsonMalformed (all else).
    """
    try:
        value = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise _malformed(error) from None
    check_plain_json(value, path="", max_values=len(raw) + 1, around_levels=1)
    return value


def compact_json(raw: bytes, value: Any) -> str:
    """Return strict JSON *raw* as `compact` does; *value* is what `read_json` made of it.

    Most bodies are spelled as a serialiser would spell them, which is ten times faster to write than to copy.
    They are the same exactly where they are equal but for white space.
    """
    try:
        written = orjson.dumps(value)
    except TypeError:  # an integer of more than 64 bits
        return compact(raw.decode())
    if written.translate(None, _WHITE_SPACE) == raw.translate(None, _WHITE_SPACE):
        return written.decode()
    return compact(raw.decode())


def compact(text: str) -> str:
    """Return strict JSON *text* without white space between tokens and with no escape that is not needed.

    Numbers keep their spelling, members their order. *text* has been read by `read_json` before.
    """
    tokens = _TOKEN.findall(text)
    if "\\" in text:
        tokens = [_least_escaped(token) if "\\" in token else token for token in tokens]
    return "".join(tokens)


def member_text(compacted: str, *, member: str, beside: str) -> str:
    """Return the text of *member* in a compact object of exactly two members, *beside* being a number."""
    first = f'{{"{member}":'
    if compacted.startswith(first):
        return compacted[len(first) : compacted.rindex(f',"{beside}":')]
    second = f',"{member}":'
    return compacted[compacted.index(second) + len(second) : -1]


def _least_escaped(token: str) -> str:
    return json.dumps(json.loads(token), ensure_ascii=False)


def _malformed(error: ValueError) -> JsonMalformed | LimitExceeded:
    reason = str(error)
    if reason.startswith("recursion limit exceeded"):
        return LimitExceeded(
            code="json_too_deep",
            value=_JITER_LEVELS + 1,
            limit=MAX_LEVELS,
            detail=f"the body is nested deeper than {MAX_LEVELS} levels",
        )
    return JsonMalformed(detail=f"the body is not strict JSON: {reason}")
