"""Pages over HTTP: `limit` and an opaque `before`, which is what an earlier answer called `next`."""

import base64
import binascii
from collections.abc import Mapping

from memoir.errors import RequestInvalid

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


def read_limit(query: Mapping[str, str]) -> int:
    """Return `limit`: 1–100, 20 where it is not given. Raises RequestInvalid."""
    text = query.get("limit", str(DEFAULT_LIMIT))
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MAX_LIMIT):
        raise RequestInvalid(
            code="limit_invalid", path="limit", detail=f"limit: must be a whole number from 1 to {MAX_LIMIT}"
        )
    return int(text)


def read_before(query: Mapping[str, str]) -> str | None:
    """Return the place that `before` stands for, None where it is not given. Raises RequestInvalid."""
    text = query.get("before")
    if text is None:
        return None
    try:
        return base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (UnicodeError, binascii.Error):
        raise _before_invalid() from None


def read_before_round(query: Mapping[str, str]) -> int | None:
    """Return the round that `before` stands for, None where it is not given. Raises RequestInvalid."""
    text = read_before(query)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise _before_invalid()
    return int(text)


def _before_invalid() -> RequestInvalid:
    return RequestInvalid(
        code="before_invalid", path="before", detail="before: use the `next` of an earlier answer"
    )


def next_page(place: str) -> str:
    """Return *place* as `next`."""
    return base64.urlsafe_b64encode(place.encode()).decode()
