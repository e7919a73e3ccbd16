"""Chat turns: the order they are kept in, and what a turn that arrives again or anew means.

A round is a turn's number, from 1. A regenerated reply takes the round of the one it replaces as the next
version of it, as long as no later round exists. What is stored of a version never changes.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memoir.errors import TooLarge

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

    `table_revision`, `memory_revision`: the ones that the model was shown, where the host says so. `context`:
    what the context call said of its answer. `replaces`: the turn whose reply was regenerated.
    """

    turn_id: str
    user_text: str
    assistant_text: str
    scenario_id: str = "default"
    subscription_category: str | None = None
    accepted: bool = False
    replaces: str | None = None
    table_revision: int | None = None
    memory_revision: int | None = None
    context: str = ""

    @property
    def text_hash(self) -> str:
        """A hash of both texts: the same turn again has the same."""
        return _hashed(self.user_text, self.assistant_text)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A stored turn: one version of one round.

    `follows`: where the conversation stood before, so that a worker knows whether it has seen all between.
    `generation`: how many rewinds came before it. `context`: what its model was given, as the context call
    said it; empty where the host did not tell. `before`: the revision of each document that its round began
    from, as far as they are known.
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
    context: str = ""
    before: Mapping[str, int] = field(default_factory=dict)

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
    `marks`: the revisions of documents as the newest turn was stored; the memory's has a copy since
    `marks_at` (s since 1970). `before`: what the newest turn's round began from. `agents`: whose diaries were
    ever rung.
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
    marks: Mapping[str, int] = field(default_factory=dict)
    marks_at: int = 0
    before: Mapping[str, int] = field(default_factory=dict)
    agents: tuple[str, ...] = ()

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


def _hashed(user_text: str, assistant_text: str) -> str:
    return hashlib.sha256(json.dumps([user_text, assistant_text]).encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What became of a reported turn: its round, the workers rung for it, and whether it was known.

    `generation`: how many rewinds the conversation has seen. `not_undone`: of a regenerated reply, what
    documents have moved since its round began, as (since, now).
    """

    turn_id: str
    round: int
    scheduled: tuple[str, ...]
    duplicate: bool
    generation: int = 0
    not_undone: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TurnPage:
    """Turns, newest first, and the round before which the next page begins, if there is one.

    `unreadable`: rounds of the page whose stored text breaks its own rules; they are kept as they are.
    """

    turns: tuple[Turn, ...]
    head: TurnHead
    next_before: int | None
    unreadable: tuple[int, ...] = ()
