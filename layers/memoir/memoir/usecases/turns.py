"""Keep the turns of a conversation, in order and once each, and ring the background for them."""

from dataclasses import dataclass

from memoir.domain.clock import utc_text
from memoir.domain.scenario import Scenario, Worker, find_scenario
from memoir.domain.scope import Scope
from memoir.domain.turns import (
    KnownTurn,
    Lookup,
    NewTurn,
    Placement,
    Position,
    RungTurn,
    Turn,
    TurnHead,
    place_turn,
)
from memoir.errors import DoorbellFailed, NotFound, RoundClosed, StoreUnavailable
from memoir.ports import Clock, Doorbell, TurnRace, TurnStore

# Hosts of one conversation rarely race; each try is one read and one conditional write.
_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What became of a reported turn: its round, the workers rung for it, and whether it was known."""

    turn_id: str
    round: int
    scheduled: tuple[Worker, ...]
    duplicate: bool


@dataclass(frozen=True, kw_only=True)
class TurnPage:
    """Turns, newest first, and the round before which the next page begins, if there is one."""

    turns: tuple[Turn, ...]
    head: TurnHead
    next_before: int | None


def record_turn(
    *, turns: TurnStore, doorbell: Doorbell, clock: Clock, scope: Scope, new: NewTurn
) -> Recorded:
    """Store *new* as the next round, or find that it is stored already, then ring its background.

    Raises TurnConflict, RoundClosed, NotFound (scenario, replaced turn), StoreUnavailable: nothing was
    written; WriteOutcomeUnknown; DoorbellFailed: the turn is stored. After these two, send the turn again.
    """
    scenario = find_scenario(new.scenario_id)
    position, head, duplicate = _store(turns, clock=clock, scope=scope, new=new)
    scheduled = scenario.workers() if _may_write(scenario, head=head, turn_round=position.round) else ()
    rung = RungTurn(
        position=position,
        turn_id=new.turn_id,
        scenario_id=new.scenario_id,
        subscription_category=new.subscription_category,
    )
    _ring(doorbell, scope=scope, workers=scheduled, turn=rung)
    return Recorded(turn_id=new.turn_id, round=position.round, scheduled=scheduled, duplicate=duplicate)


def accept_turn(*, turns: TurnStore, doorbell: Doorbell, scope: Scope, turn_id: str) -> Recorded:
    """Note that the user accepted a turn's text, and with it all that led to it, then ring its background.

    Raises NotFound, RoundClosed (a regenerated reply took its round), StoreUnavailable, WriteOutcomeUnknown,
    DoorbellFailed. Accepting again is safe.
    """
    lookup = turns.look_up(scope, turn_ids=(turn_id,))
    known = lookup.known.get(turn_id)
    if known is None:
        raise NotFound(path="turnId", detail=f"there is no turn {turn_id!r}")
    if known.superseded:
        raise RoundClosed(
            turn_id=turn_id,
            round=known.position.round,
            last_round=lookup.head.last.round,
            detail=f"a regenerated reply took round {known.position.round}",
        )
    duplicate = lookup.head.accepted_through >= known.position.round
    if not duplicate:
        turns.accept(scope, turn_id=turn_id, turn_round=known.position.round)
    scheduled = find_scenario(known.scenario_id).workers()
    rung = RungTurn(
        position=known.position,
        turn_id=turn_id,
        scenario_id=known.scenario_id,
        subscription_category=known.subscription_category,
    )
    _ring(doorbell, scope=scope, workers=scheduled, turn=rung)
    return Recorded(turn_id=turn_id, round=known.position.round, scheduled=scheduled, duplicate=duplicate)


def list_turns(*, turns: TurnStore, scope: Scope, before: int | None, limit: int) -> TurnPage:
    """Return at most *limit* turns below the round *before*, newest first, each in its newest version."""
    head = turns.head(scope)
    page = turns.page(scope, before_round=before or head.last.round + 1, limit=limit)
    more = page and page[-1].position.round > 1
    return TurnPage(turns=page, head=head, next_before=page[-1].position.round if more else None)


def _store(turns: TurnStore, *, clock: Clock, scope: Scope, new: NewTurn) -> tuple[Position, TurnHead, bool]:
    for _ in range(_TRIES):
        lookup = turns.look_up(
            scope, turn_ids=tuple({turn_id for turn_id in (new.turn_id, new.replaces) if turn_id})
        )
        place = place_turn(new, lookup)
        if isinstance(place, KnownTurn):
            return place.position, lookup.head, True
        try:
            turns.add(scope, _stored(new, place, lookup=lookup, clock=clock), placement=place)
            return place.position, place.after, False
        except TurnRace:  # another turn took the place: look again
            continue
    raise StoreUnavailable(detail="other turns of this conversation kept coming first; try again")


def _stored(new: NewTurn, place: Placement, *, lookup: Lookup, clock: Clock) -> Turn:
    shown = lookup.table_revision if new.table_revision is None else new.table_revision
    return Turn(
        position=place.position,
        turn_id=new.turn_id,
        user_text=new.user_text,
        assistant_text=new.assistant_text,
        scenario_id=new.scenario_id,
        subscription_category=new.subscription_category,
        table_revision=shown,
        recorded_at=utc_text(clock()),
    )


def _may_write(scenario: Scenario, *, head: TurnHead, turn_round: int) -> bool:
    return scenario.write_on == "completed" or turn_round <= head.accepted_through


def _ring(doorbell: Doorbell, *, scope: Scope, workers: tuple[Worker, ...], turn: RungTurn) -> None:
    if not workers:
        return
    try:
        doorbell.ring(scope, workers=workers, turn=turn)
    except StoreUnavailable as failure:
        raise DoorbellFailed(
            turn_id=turn.turn_id,
            round=turn.position.round,
            detail="the turn is stored, its background was not rung; send the same turn again",
        ) from failure
