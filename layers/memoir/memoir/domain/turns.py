"""Chat turns: the order they are kept in, and what a turn that arrives again or anew means.

A round is a turn's number, from 1. A regenerated reply takes the round of the one it replaces as the next
version of it, as long as no later round exists. What is stored of a version never changes.
"""

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Literal

from memoir.errors import NotFound, RoundClosed, TooLarge, TurnConflict

MAX_TEXT_BYTES = 128 * 1024


@dataclass(frozen=True, kw_only=True, order=True)
class Position:
    """A place in a conversation: version *version* of round *round*. (0, 0) is before the first."""

    round: int = 0
    version: int = 0


START = Position()


@dataclass(frozen=True, kw_only=True)
class NewTurn:
    """A completed reply as the host reports it. Texts have at most 131,072 bytes of UTF-8 each.

    `table_revision`: the revision of the memory table that the model was shown, where the host says so.
    `replaces`: the turn whose reply was regenerated.
    """

    turn_id: str
    user_text: str
    assistant_text: str
    scenario_id: str = "default"
    subscription_category: str | None = None
    accepted: bool = False
    replaces: str | None = None
    table_revision: int | None = None

    @property
    def text_hash(self) -> str:
        """A hash of both texts: the same turn again has the same."""
        return _hashed(self.user_text, self.assistant_text)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A stored turn: one version of one round.

    `follows`: where the conversation stood before, so that a worker knows whether it has seen all between.
    `generation`: how many rewinds came before it.
    """

    position: Position
    turn_id: str
    user_text: str
    assistant_text: str
    scenario_id: str
    subscription_category: str | None
    table_revision: int
    recorded_at: str
    follows: Position = START
    generation: int = 0
    scenario_revision: int = 0

    @property
    def text_hash(self) -> str:
        """A hash of both texts."""
        return _hashed(self.user_text, self.assistant_text)


@dataclass(frozen=True, kw_only=True)
class Governed:
    """What a turn's scenario asks of it: which workers, once its reply is completed or accepted.

    `revision`: the scenario's. `agent`: whose diary the turn goes into, empty for none.
    """

    workers: tuple[str, ...] = ()
    write_on: Literal["completed", "accepted"] = "completed"
    revision: int = 0
    agent: str = ""


@dataclass(frozen=True, kw_only=True)
class KnownTurn:
    """What is kept under a turn's id. `superseded`: a regenerated reply took its round.

    `governed`: what its scenario said when it was stored.
    """

    position: Position
    text_hash: str
    scenario_id: str
    subscription_category: str | None = None
    superseded: bool = False
    replaces: str | None = None
    generation: int = 0
    governed: Governed = Governed()


@dataclass(frozen=True, kw_only=True)
class RungTurn:
    """The turn that workers are rung for: a hint, for what they do is decided by what is stored.

    `life`: of the conversation that it belongs to, empty where it is not known. `scenario_revision`: the one
    that the turn named. `agent`: whose diary it goes into.
    """

    position: Position
    turn_id: str
    scenario_id: str
    subscription_category: str | None
    life: str = ""
    scenario_revision: int = 0
    agent: str = ""


@dataclass(frozen=True, kw_only=True)
class TurnHead:
    """Where a conversation stands: its newest turn, and the round up to which its user accepted it.

    `life`: random, given with the first turn, so that a conversation made anew is told from the old one.
    `generation`: rewinds so far. `floor`, `top`: versions at or below `floor` were given before the newest
    rewind, `top` is the highest one ever given. `stamped`: the kinds that the newest rewind wrote.
    `scenario_id`, `scenario_revision`: the newest turn's scenario, which governs what names none.
    `accepted_turn_id`: the turn of the accepted round; empty where that round's acceptance was lost to a
    regenerated reply, and the one before counts again.
    """

    last: Position = START
    last_turn_id: str | None = None
    accepted_through: int = 0
    life: str = ""
    generation: int = 0
    floor: int = 0
    top: int = 0
    stamped: tuple[str, ...] = ()
    scenario_id: str = ""
    scenario_revision: int = 0
    accepted_turn_id: str = ""

    @property
    def begun(self) -> bool:
        """Whether there has ever been a turn; a rewind may have taken all of them back."""
        return self.last != START or self.generation > 0

    def knows(self, rung: RungTurn) -> bool:
        """Tell whether a ring is of this conversation and of a place that it has reached."""
        same_life = not rung.life or rung.life == self.life
        return self.last != START and same_life and rung.position <= self.last

    def status_of(self, turn_round: int) -> Literal["accepted", "completed"]:
        """Return what became of the turn of that round."""
        return "accepted" if turn_round <= self.accepted_through else "completed"


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where a turn goes: the head before and after, and the turn whose round it takes, if any."""

    before: TurnHead
    after: TurnHead
    supersedes: str | None = None

    @property
    def position(self) -> Position:
        """The place of the turn."""
        return self.after.last


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """What is stored that bears on a turn.

    `table_revision`: of the memory table, 0 for none. `scenario_revision`: of the turn's scenario.
    """

    head: TurnHead = field(default_factory=TurnHead)
    known: dict[str, KnownTurn] = field(default_factory=dict)
    table_revision: int = 0
    scenario_revision: int = 0


def check_text(text: str, *, path: str) -> str:
    """Return *text* if it fits into a turn. Raises TooLarge."""
    size_bytes = len(text.encode())
    if size_bytes > MAX_TEXT_BYTES:
        raise TooLarge(
            code="text_too_large",
            path=path,
            size_bytes=size_bytes,
            limit_bytes=MAX_TEXT_BYTES,
            detail=f"{path}: {size_bytes} bytes of text, the limit is {MAX_TEXT_BYTES}",
        )
    return text


def place_turn(new: NewTurn, lookup: Lookup, *, life: str = "") -> Placement | KnownTurn:
    """Return where *new* goes, or the turn that it already is. *life*: of a conversation that begins now.

    Raises TurnConflict (another text, scenario or replaced turn under its id), NotFound (it replaces no known
    turn), RoundClosed (it replaces a turn that a later round follows).
    """
    known = lookup.known.get(new.turn_id)
    if known is not None:
        return _same(new, known)
    head = lookup.head
    position = _next_position(new, lookup)
    accepted_through = min(head.accepted_through, position.round - 1)
    accepted_turn_id = head.accepted_turn_id if accepted_through == head.accepted_through else ""
    if new.accepted:
        accepted_through, accepted_turn_id = position.round, new.turn_id
    after = replace(
        head,
        last=position,
        last_turn_id=new.turn_id,
        accepted_through=accepted_through,
        life=head.life if head.begun else life,
        top=max(head.top, position.version),
        scenario_id=new.scenario_id,
        scenario_revision=lookup.scenario_revision,
        accepted_turn_id=accepted_turn_id,
    )
    return Placement(
        before=head,
        after=after,
        supersedes=head.last_turn_id if position.round == head.last.round else None,
    )


def _same(new: NewTurn, known: KnownTurn) -> KnownTurn:
    for what, differs in (
        ("text", known.text_hash != new.text_hash),
        ("scenario", known.scenario_id != new.scenario_id),
        ("replaced turn", known.replaces != new.replaces),
    ):
        if differs:
            raise TurnConflict(
                turn_id=new.turn_id,
                round=known.position.round,
                detail=f"this turn id stands for a turn with another {what}",
            )
    return known


def _next_position(new: NewTurn, lookup: Lookup) -> Position:
    """Return the next place. Rounds are given again after a rewind, (round, version) never."""
    last, floor = lookup.head.last, lookup.head.floor
    if new.replaces is None:
        return Position(round=last.round + 1, version=floor + 1)
    replaced = lookup.known.get(new.replaces)
    if replaced is None:
        raise NotFound(path="/replaces", detail=f"/replaces: there is no turn {new.replaces!r}")
    # Of what was told before a rewind, only the turn that it left as the last one is known to be live.
    live = new.replaces == lookup.head.last_turn_id or replaced.position.version > floor
    if replaced.position.round != last.round or not live:
        raise RoundClosed(
            turn_id=new.replaces,
            round=replaced.position.round,
            last_round=last.round,
            detail=f"round {replaced.position.round} is followed by round {last.round}, or was taken back",
        )
    return Position(round=last.round, version=max(last.version, floor) + 1)


def _hashed(user_text: str, assistant_text: str) -> str:
    return hashlib.sha256(json.dumps([user_text, assistant_text]).encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What became of a reported turn: its round, the workers rung for it, and whether it was known."""

    turn_id: str
    round: int
    scheduled: tuple[str, ...]
    duplicate: bool


@dataclass(frozen=True, kw_only=True)
class TurnPage:
    """Turns, newest first, and the round before which the next page begins, if there is one.

    `unreadable`: rounds of the page whose stored text breaks its own rules; they are kept as they are.
    """

    turns: tuple[Turn, ...]
    head: TurnHead
    next_before: int | None
    unreadable: tuple[int, ...] = ()
