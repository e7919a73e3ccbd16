"""`PUT /v1/conversations/{id}/diary/{endRound}`: the user's own texts for an entry."""

from dataclasses import dataclass
from typing import Any

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.revision import check_expected_revision
from memoir.errors import LimitExceeded, RequestInvalid
from memoir.strict_json import read_json

MAX_ENTRY_CHARACTERS = 8_000


class _PutEntry(Contract):
    summary: str
    diary: str = ""
    expected_version: Any = None


@dataclass(frozen=True, kw_only=True)
class PutEntry:
    """The texts of an entry: a summary that is not blank, and a diary that may be empty.

    `expected_version`: of the entry, where the caller wants no other one overwritten.
    """

    summary: str
    diary: str
    expected_version: int | None


def read_put_entry(body: bytes) -> PutEntry:
    """Return the texts. Raises JsonMalformed, RequestInvalid, LimitExceeded (8,000 characters each)."""
    request = read_contract(_PutEntry, read_json(body))
    if not request.summary.strip():
        raise RequestInvalid(path="/summary", detail="/summary: must not be blank; DELETE removes an entry")
    for name, text in (("summary", request.summary), ("diary", request.diary)):
        if len(text) > MAX_ENTRY_CHARACTERS:
            raise LimitExceeded(
                code=f"{name}_too_long",
                value=len(text),
                limit=MAX_ENTRY_CHARACTERS,
                path=f"/{name}",
                detail=f"/{name}: {len(text)} characters, the limit is {MAX_ENTRY_CHARACTERS}",
            )
    expected = request.expected_version
    return PutEntry(
        summary=request.summary,
        diary=request.diary,
        expected_version=None
        if expected is None
        else check_expected_revision(expected, path="/expectedVersion"),
    )
