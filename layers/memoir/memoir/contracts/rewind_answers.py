"""What the routes of rewinds answer."""

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from memoir.contracts.answers import Answer

if TYPE_CHECKING:
    from memoir.domain.rewind import LoggedRewind


class RestoredAnswer(TypedDict):
    """A document before and after; `asOf` is the revision that was brought back, 0 for none."""

    before: int
    after: int
    asOf: int
    exact: bool
    pendingRounds: NotRequired[int]


class RewindAnswer(TypedDict):
    """What became of a rewind."""

    generation: int
    lastRound: int
    lastTurnId: str | None
    discarded: dict[str, int] | None
    kinds: dict[str, Any]
    notRewound: list[str]
    scheduled: list[str]


class RewindsAnswer(TypedDict):
    """A page of rewinds, newest first."""

    rewinds: list[dict[str, Any]]
    next: NotRequired[str]


def rewind_answer(told: dict[str, Any]) -> Answer:
    """Return what became of a rewind."""
    return Answer(body=told, facts={"generation": told["generation"], "round": told["lastRound"]})


def rewinds_answer(page: "tuple[list[LoggedRewind], int | None]") -> Answer:
    """Return a page of rewinds."""
    listed, following = page
    body: RewindsAnswer = {"rewinds": [rewind.to_json() for rewind in listed]}
    return Answer(body=body, next_place=str(following) if following else None)
