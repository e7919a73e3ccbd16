"""`POST …/rewind`: to the end of a round, or a rewind taken back."""

from typing import Any

from pydantic import Field

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.history import REWOUND
from memoir.domain.revision import check_expected_revision
from memoir.domain.rewind import RewindRequest
from memoir.errors import RequestInvalid
from memoir.strict_json import read_json

MAX_ROUND = 9_999_999_999


class _Rewind(Contract):
    to_round: int | None = None
    undo: int | None = None
    revisions: dict[str, Any] = Field(default_factory=dict)
    expected_generation: int | None = None


def read_rewind(body: bytes) -> RewindRequest:
    """Return the request that *body* is. Raises JsonMalformed, RequestInvalid, naming the place."""
    request = read_contract(_Rewind, read_json(body))
    if (request.to_round is None) == (request.undo is None):
        raise RequestInvalid(path="/toRound", detail="/toRound: give it, or undo, and not both")
    for name, number, least in (
        ("toRound", request.to_round, 0),
        ("undo", request.undo, 1),
        ("expectedGeneration", request.expected_generation, 0),
    ):
        if number is not None and not least <= number <= MAX_ROUND:
            raise RequestInvalid(
                code="number_invalid", path=f"/{name}", detail=f"/{name}: must be {least} to {MAX_ROUND}"
            )
    for kind in request.revisions:
        if kind not in REWOUND:
            path = f"/revisions/{kind}"
            raise RequestInvalid(code="unknown_member", path=path, detail=f"{path}: no such document")
    if request.undo is not None and request.revisions:
        raise RequestInvalid(path="/revisions", detail="/revisions: a rewind is taken back as it was")
    return RewindRequest(
        to_round=request.to_round,
        undo=request.undo,
        revisions={
            kind: check_expected_revision(revision, path=f"/revisions/{kind}")
            for kind, revision in request.revisions.items()
        },
        expected_generation=request.expected_generation,
    )
