"""Items as DynamoDB counts and refuses them: keys, sizes, limits."""

from typing import NamedTuple

from tests.simulation.expressions import ExpressionInvalid, Item

MAX_ITEM_BYTES = 400 * 1024
MAX_PK_BYTES, MAX_SK_BYTES = 2048, 1024

Place = tuple[str, str]
"""An item's place: its pk and sk."""


class SizedItem(NamedTuple):
    """An item to store, and what DynamoDB counts for it."""

    item: Item
    size_bytes: int


def place_of(key: Item, *, whole: bool) -> Place:
    """Return the place that a key names. *whole*: nothing else may stand beside it."""
    if (whole and set(key) != {"pk", "sk"}) or not {"pk", "sk"} <= set(key):
        raise ExpressionInvalid("The provided key element does not match the schema")
    for name, limit in (("pk", MAX_PK_BYTES), ("sk", MAX_SK_BYTES)):
        text = key[name].get("S")
        if text is None:
            raise ExpressionInvalid("The provided key element does not match the schema")
        if not text:
            raise ExpressionInvalid("One or more parameter values are not valid: empty string value for key")
        if len(text) * 4 > limit and len(text.encode()) > limit:
            raise ExpressionInvalid(f"Size of {name} has exceeded the maximum size limit of {limit} bytes")
    return key["pk"]["S"], key["sk"]["S"]


def checked_item(item: Item, touched: set[str]) -> SizedItem:
    """Return *item* with its size; *touched*: the names that an update set. Raises ExpressionInvalid."""
    if touched & {"pk", "sk"}:
        raise ExpressionInvalid("Cannot update attribute pk or sk. This attribute is part of the key")
    size_bytes = item_bytes(item)
    if size_bytes > MAX_ITEM_BYTES:
        raise ExpressionInvalid("Item size has exceeded the maximum allowed size")
    return SizedItem(item, size_bytes)


def item_bytes(item: Item) -> int:
    """Return what DynamoDB counts for *item*: names, and values by their type."""
    return sum(_text_bytes(name) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Item) -> int:
    kind, raw = next(iter(value.items()))
    if kind == "S":
        return _text_bytes(raw)
    if kind == "N":
        return (len(raw.strip("-").strip("0")) + 1) // 2 + 1
    if kind == "B":
        return len(raw)
    if kind == "M":
        return 3 + sum(_text_bytes(name) + _value_bytes(inner) + 1 for name, inner in raw.items())
    if kind == "L":
        return 3 + sum(_value_bytes(inner) + 1 for inner in raw)
    if kind in ("SS", "NS", "BS"):
        return sum(len(member if kind == "BS" else member.encode()) for member in raw)
    return 1


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
