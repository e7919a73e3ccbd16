"""Any value that a model wrote, as the text of a cell."""

import json
import re
from typing import Any

from memoir.domain.model_text.cleaning import encodable
from memoir.domain.table.values import Bare, Pairs

_PLACEHOLDER = re.compile(r"\.{2,}|…+|。{2,}|[<＜⟨〈][^<>＜＞⟨⟩〈〉]{1,64}[>＞⟩〉]")


def cell_text(value: Any) -> str:
    """Return *value* as the text of a cell: numbers as typed, null as nothing, objects and lists as JSON."""
    if isinstance(value, Bare):
        return "" if value.lower() in ("null", "none", "undefined") else str(value)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return encodable(_json(value))


def is_placeholder(text: str) -> bool:
    """Tell whether *text* only holds the place of a cell: dots, or a note in angle brackets."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def _json(value: Any) -> str:
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{_json(str(name))}:{_json(inner)}" for name, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    if isinstance(value, Bare) and _is_json_word(value):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _is_json_word(word: str) -> bool:
    return word in ("true", "false", "null") or bool(re.fullmatch(r"-?\d{1,40}(?:\.\d{1,40})?", word))
