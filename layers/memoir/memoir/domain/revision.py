"""Revisions: the number a compare-and-set write is based on."""

from typing import NewType

from memoir.errors import RequestInvalid

Revision = NewType("Revision", int)

NONE_YET = Revision(0)
"""The revision of a document that does not exist."""

MAX_SAFE_INTEGER = 2**53 - 1
"""JavaScript's Number.MAX_SAFE_INTEGER: callers in that language must be able to hold every revision."""


def check_expected_revision(value: object, *, path: str = "/expectedRevision") -> Revision:
    """Return *value* as a revision that a write may be based on: 0 ≤ n < 2^53−1; 7.0 is 7.

    Raises RequestInvalid for booleans, text, fractions, and numbers out of range.
    """
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise RequestInvalid(
            code="revision_invalid", path=path, detail=f"{path}: the revision must be an integer"
        )
    if not 0 <= number < MAX_SAFE_INTEGER:
        raise RequestInvalid(
            code="revision_invalid",
            path=path,
            detail=f"{path}: the revision must be at least 0 and below {MAX_SAFE_INTEGER}",
        )
    return Revision(number)
