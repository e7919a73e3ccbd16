"""Pages over HTTP: `limit` and an opaque `before`, which is what an earlier answer called `next`."""

import base64
import binascii
import re
from collections.abc import Mapping

from memoir.errors import RequestInvalid

DEFAULT_LIMIT = 20
MAX_LIMIT = 100

_MAX_BEFORE_CHARACTERS = 512

ROUND = re.compile(r"[1-9][0-9]{0,9}")
RECEIPT = re.compile(r"[0-9]{10}#[0-9]{6}#[a-z_]{1,40}")
SCENARIO = re.compile(r"[^/%?#\\\x00-\x1f]{1,128}")
CONVERSATION = re.compile(r"[0-9]{1,16}#[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}")


def read_limit(query: Mapping[str, str]) -> int:
    """Return `limit`: 1–100, 20 where it is not given. Raises RequestInvalid."""
    text = query.get("limit", str(DEFAULT_LIMIT))
    if not (re.fullmatch(r"[0-9]{1,3}", text) and 1 <= int(text) <= MAX_LIMIT):
        raise RequestInvalid(
            code="limit_invalid", path="limit", detail=f"limit: must be a whole number from 1 to {MAX_LIMIT}"
        )
    return int(text)


def read_before(query: Mapping[str, str], form: re.Pattern[str]) -> str | None:
    """Return the place that `before` stands for, None where it is not given.

    Raises RequestInvalid for any text that is not a `next` of this route.
    """
    text = query.get("before")
    if text is None:
        return None
    try:
        place = base64.b64decode(text[:_MAX_BEFORE_CHARACTERS].encode("ascii"), altchars=b"-_", validate=True)
        if form.fullmatch(place.decode()) and next_page(place.decode()) == text:
            return place.decode()
    except (UnicodeError, binascii.Error):
        pass
    raise RequestInvalid(
        code="before_invalid", path="before", detail="before: use the `next` of an earlier answer"
    )


def read_before_round(query: Mapping[str, str]) -> int | None:
    """Return the round that `before` stands for, None where it is not given. Raises RequestInvalid."""
    text = read_before(query, ROUND)
    return None if text is None else int(text)


def next_page(place: str) -> str:
    """Return *place* as `next`."""
    return base64.urlsafe_b64encode(place.encode()).decode()


def read_revision(query: Mapping[str, str]) -> int | None:
    """Return `revision`, None where it is not given. Raises RequestInvalid."""
    text = query.get("revision")
    if text is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,15}", text):
        raise RequestInvalid(
            code="revision_invalid", path="revision", detail="revision: must be a whole number, at least 1"
        )
    return int(text)
