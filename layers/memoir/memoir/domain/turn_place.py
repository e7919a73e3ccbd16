"""Where a turn goes: the next round, a next version of the last one, or nowhere, for it is there already."""

from dataclasses import dataclass, field, replace

from memoir.domain.turns import KnownTurn, NewTurn, Position, TurnHead
from memoir.errors import NotFound, RoundClosed, TurnConflict


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
