"""JSON compared and printed by value: member order does not matter, numbers are exact.

`json.loads` makes 2^53+1 and 2^53 the same float where either has a fraction or an exponent; here a number
keeps its spelling and is compared as a decimal.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number of a JSON text. `1` and `1.0` differ in type, `1.0` and `1e0` in their spelling alone."""

    spelling: str = field(compare=False)
    value: Decimal
    is_integer: bool


def exact_value(text: str) -> Any:
    """Return the value of checked JSON *text*, each number in it as a `Number`."""
    return json.loads(text, parse_int=_integer, parse_float=_fraction)


def same_json(first: str, second: str) -> bool:
    """Tell whether two checked JSON texts hold the same value."""
    return first == second or exact_value(first) == exact_value(second)


def json_text(value: Any, *, sort: bool = False) -> str:
    """Return an exact *value* as compact JSON text, numbers as they were spelled. *sort*: members by name.

    Recursive: for values whose depth has been checked.
    """
    if isinstance(value, Number):
        return value.spelling
    if isinstance(value, Mapping):
        members = sorted(value.items(), key=lambda member: member[0]) if sort else value.items()
        inner = ",".join(f"{_quoted(name)}:{json_text(item, sort=sort)}" for name, item in members)
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{','.join(json_text(item, sort=sort) for item in value)}]"
    return _quoted(value)


def part_text(text: str, member: str) -> str:
    """Return the compact text of one *member* of the object that checked JSON *text* is."""
    return json_text(exact_value(text)[member])


def shown(value: Any) -> str:
    """Return an exact *value* as one line for people and models: texts bare, all else as sorted JSON."""
    text = value if isinstance(value, str) else json_text(value, sort=True)
    return " ".join(text.split())


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _integer(spelling: str) -> Number:
    return Number(spelling=spelling, value=Decimal(spelling), is_integer=True)


def _fraction(spelling: str) -> Number:
    try:
        value = Decimal(spelling)
    except InvalidOperation:  # an exponent beyond what a decimal holds: 0 to every reader
        value = Decimal(0)
    return Number(spelling=spelling, value=value, is_integer=False)
