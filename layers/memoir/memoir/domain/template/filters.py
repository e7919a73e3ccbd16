"""The filters of the template language. Each keeps apart what a value gives and what the filter adds to it.

So it is known of every printed piece whether anything of its variable is in it.
"""

import re
from collections.abc import Callable
from typing import Any

from memoir.domain.template.limits import MAX_CHARACTERS
from memoir.domain.template.values import ABSENT, Piece, is_true, items_of, json_text, plain_text
from memoir.errors import LimitExceeded

_LINE_BREAK = re.compile(r"\n")
_BREAK_BEFORE_TEXT = re.compile(r"\n(?=[^\n])")


def apply_filter(name: str, value: Any, arguments: list[Any]) -> Any:
    """Return *value* through the filter *name*. What is absent stays so, but for `default`.

    Raises LimitExceeded `template_too_large`, before it is built: the result is too long.
    """
    if value is ABSENT and name != "default":
        return ABSENT
    return _FILTERS[name](value, *arguments)


def check_characters(count: int) -> None:
    """Check that a text of *count* characters may be built. Raises LimitExceeded."""
    if count > MAX_CHARACTERS:
        raise LimitExceeded(
            code="template_too_large",
            value=count,
            limit=MAX_CHARACTERS,
            path="/template",
            detail=f"the template makes {count} characters of text, the limit is {MAX_CHARACTERS}",
        )


def piece_of(value: Any) -> Piece:
    """Return *value* as a text all of which is its own."""
    return value if isinstance(value, Piece) else Piece(own=plain_text(value))


def _mapped(value: Any, change: Callable[[str], str]) -> Piece:
    piece = piece_of(value)
    return Piece(before=change(piece.before), own=change(piece.own), after=change(piece.after))


def _upper(value: Any) -> Piece:
    return _mapped(value, str.upper)


def _lower(value: Any) -> Piece:
    return _mapped(value, str.lower)


def _trim(value: Any) -> Piece:
    piece = piece_of(value)
    before, own, after = piece.before.lstrip(), piece.own, piece.after.rstrip()
    own = own if before else own.lstrip()
    own = own if after else own.rstrip()
    if not own:
        return Piece(before=f"{before}{after}".strip())
    return Piece(before=before, own=own, after=after)


def _truncate(value: Any, length: int, kill_words: bool, end: str) -> Piece:
    piece = piece_of(value)
    text = piece.text
    if len(text) <= length:
        return piece
    kept = text[: max(0, length - len(end))]
    if not kill_words:
        kept = kept.rsplit(" ", 1)[0]
    own_ends = len(piece.before) + len(piece.own)
    return Piece(
        before=kept[: len(piece.before)],
        own=kept[len(piece.before) : own_ends],
        after=kept[own_ends:] + end,
    )


def _default(value: Any, instead: Any, also_where_false: bool) -> Any:
    if value is ABSENT or value is None or (also_where_false and not is_true(value)):
        return Piece(before=plain_text(instead))
    return value


def _indent(value: Any, width: int, first: bool, blank: bool) -> Piece:
    piece, pad = piece_of(value), " " * width
    check_characters(len(piece.text) + width * (piece.text.count("\n") + 1))
    line = _LINE_BREAK if blank else _BREAK_BEFORE_TEXT
    padded = _mapped(piece, lambda text: line.sub("\n" + pad, text))
    return Piece(before=(pad if first else "") + padded.before, own=padded.own, after=padded.after)


def _join(value: Any, between: str) -> Any:
    items = items_of(value)
    if items is None:
        return value
    texts = [plain_text(item) for item in items]
    check_characters(sum(map(len, texts)) + len(between) * len(texts))
    filled = [index for index, text in enumerate(texts) if text]
    if not filled:
        return Piece(before=between * max(0, len(texts) - 1))
    first, last = filled[0], filled[-1]
    return Piece(
        before=between * first,
        own=between.join(texts[first : last + 1]),
        after=between * (len(texts) - 1 - last),
    )


def _to_json(value: Any) -> Piece:
    return Piece(own=json_text(value))


def _first(value: Any) -> Any:
    items = items_of(value)
    if items is not None:
        return items[0] if items else ABSENT
    piece = piece_of(value)
    if piece.before:
        return Piece(before=piece.before[0])
    return Piece(own=piece.own[:1]) if piece.own else Piece(after=piece.after[:1])


def _last(value: Any) -> Any:
    items = items_of(value)
    if items is not None:
        return items[-1] if items else ABSENT
    piece = piece_of(value)
    if piece.after:
        return Piece(after=piece.after[-1])
    return Piece(own=piece.own[-1:]) if piece.own else Piece(before=piece.before[-1:])


_FILTERS: dict[str, Callable[..., Any]] = {
    "upper": _upper,
    "lower": _lower,
    "trim": _trim,
    "truncate": _truncate,
    "default": _default,
    "indent": _indent,
    "join": _join,
    "tojson": _to_json,
    "first": _first,
    "last": _last,
}
