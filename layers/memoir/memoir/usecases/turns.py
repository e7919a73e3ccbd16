"""Keep the turns of a conversation, in order and once each, and ring the background for them."""

import secrets
from dataclasses import replace

from memoir.domain.clock import utc_text
from memoir.domain.diary.record.agent_ref import canonical_agent_ref
from memoir.domain.page import PageRoom
from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.scope import Scope
from memoir.domain.turns import (
    Governed,
    KnownTurn,
    Lookup,
    NewTurn,
    Placement,
    Position,
    Recorded,
    RungTurn,
    Turn,
    TurnHead,
    TurnPage,
    place_turn,
)
from memoir.domain.write_token import WriteToken
from memoir.errors import DoorbellFailed, NotFound, RecordCorrupt, RoundClosed, StoreUnavailable
from memoir.ports.doorbell import Doorbell
from memoir.ports.records import Found, RecordKey, Refused
from memoir.records.register import register_write
from memoir.records.turns import (
    head_write,
    newest_first,
    read_known,
    read_turn,
    turn_id_key,
    turn_writes,
)
from memoir.usecases.engine import Engine, answer_keys
from memoir.usecases.scenarios import governing, governing_keys

# Hosts of one conversation rarely race; each try is one read and one conditional write.
_TRIES = 5


def record_turn(
    engine: Engine,
    *,
    doorbell: Doorbell,
    scope: Scope,
    new: NewTurn,
    token: WriteToken,
    default: Scenario = DEFAULT,
) -> Recorded:
    """Store *new* as the next round, or find that it is stored already, then ring its background.

    *default*: the built-in scenario. What the turn's scenario asks is kept with the turn.

    Raises TurnConflict, RoundClosed, NotFound (scenario, replaced turn), IdempotencyKeyReused,
    StoreUnavailable: nothing was written; WriteOutcomeUnknown; DoorbellFailed: the turn is stored. After the
    last two, send the turn again.
    """
    known, head, duplicate = _store(engine, scope=scope, new=new, token=token, default=default)
    if duplicate and new.accepted and head.accepted_through < known.position.round and not known.superseded:
        head = _accept(engine, scope, new.turn_id, _look_up(engine, scope, (new.turn_id,), None))
    return _ring(doorbell, scope, new.turn_id, known, head=head, duplicate=duplicate)


def accept_turn(
    engine: Engine, *, doorbell: Doorbell, scope: Scope, turn_id: str, token: WriteToken
) -> Recorded:
    """Note that the user accepted a turn's text, and with it all that led to it, then ring its background.

    Raises NotFound, RoundClosed (a regenerated reply took its round), IdempotencyKeyReused, StoreUnavailable,
    WriteOutcomeUnknown, DoorbellFailed. Accepting again is safe.
    """
    seen = head, found = _look_up(engine, scope, (turn_id,), token)
    answered = engine.answered(scope, token, found)
    known = _known(found, scope, turn_id)
    duplicate = not known.superseded and head.accepted_through >= known.position.round
    if not duplicate:
        head = _accept(engine, scope, turn_id, seen, token=token)
    elif answered is None:
        engine.keep(scope, token)
    return _ring(doorbell, scope, turn_id, known, head=head, duplicate=duplicate)


def list_turns(engine: Engine, *, scope: Scope, before: int | None, limit: int) -> TurnPage:
    """Return at most *limit* turns below the round *before*, newest first, each in its newest version."""
    head, _ = engine.read_together(scope)
    first = head.last.round + 1
    turns: list[Turn] = []
    unreadable: list[int] = []
    room, oldest, more = PageRoom(), first, False
    for name, record in newest_first(
        engine.records, scope, before_round=min(before or first, first), limit=limit
    ):
        try:
            turn: Turn | None = read_turn(name, record)
        except RecordCorrupt:
            turn = None
        texts = (turn.user_text, turn.assistant_text) if turn else ()
        if len(turns) + len(unreadable) == limit or not room.takes(*texts):
            more = True
            break
        oldest = int(name[0])
        if turn:
            turns.append(turn)
        else:
            unreadable.append(oldest)
    return TurnPage(
        turns=tuple(turns),
        head=head,
        next_before=oldest if more else None,
        unreadable=tuple(unreadable),
    )


def _store(
    engine: Engine, *, scope: Scope, new: NewTurn, token: WriteToken, default: Scenario
) -> tuple[KnownTurn, TurnHead, bool]:
    turn_ids = tuple({turn_id for turn_id in (new.turn_id, new.replaces) if turn_id})
    table = RecordKey(owner=scope, kind="table")
    wanted = [turn_id_key(scope, turn_id) for turn_id in turn_ids]
    wanted += (*answer_keys(scope, token), table, *governing_keys(scope, new.scenario_id))
    for _ in range(_TRIES):
        head, found = engine.read_together(scope, *wanted)
        governed = _governed(governing(found, scope, new.scenario_id, default=default))
        answered = engine.answered(scope, token, found)
        known = {
            turn_id: read_known(found[turn_id_key(scope, turn_id)])
            for turn_id in turn_ids
            if turn_id_key(scope, turn_id) in found
        }
        shown = found[table].number("revision") if table in found else 0
        lookup = Lookup(head=head, known=known, table_revision=shown, scenario_revision=governed.revision)
        place = place_turn(new, lookup, life=secrets.token_urlsafe(9))
        if isinstance(place, KnownTurn):
            if answered is None:
                engine.keep(scope, token)
            return place, head, True
        turn = _turn(new, place, lookup, governed, recorded_at=utc_text(engine.clock()))
        first = (register_write(scope, now=engine.clock()),) if not head.begun else ()
        writes = turn_writes(scope, turn, place, replaces=new.replaces, governed=governed)
        try:
            engine.records.write(*writes, *first, *engine.kept(scope, token))
        except Refused:  # another turn took the place: look again
            continue
        return _as_known(new, place.position, governed), place.after, False
    raise StoreUnavailable(detail="other turns of this conversation kept coming first; try again")


def _accept(
    engine: Engine,
    scope: Scope,
    turn_id: str,
    seen: tuple[TurnHead, Found],
    *,
    token: WriteToken | None = None,
) -> TurnHead:
    """Move the accepted round up to the turn's, if its text is still the one that its user saw."""
    for _ in range(_TRIES):
        head, found = seen
        known = _known(found, scope, turn_id)
        if known.superseded or known.position > head.last:
            raise RoundClosed(
                turn_id=turn_id,
                round=known.position.round,
                last_round=head.last.round,
                detail=f"a regenerated reply took round {known.position.round}, or it was taken back",
            )
        if head.accepted_through >= known.position.round:
            return head
        after = replace(head, accepted_through=known.position.round, accepted_turn_id=turn_id)
        kept = engine.kept(scope, token) if token else ()
        try:
            engine.records.write(head_write(scope, head, after), *kept)
            return after
        except Refused:  # a turn came, or another acceptance: look again
            seen = _look_up(engine, scope, (turn_id,), token)
    raise StoreUnavailable(detail="other turns of this conversation kept coming first; try again")


def _look_up(
    engine: Engine, scope: Scope, turn_ids: tuple[str, ...], token: WriteToken | None
) -> tuple[TurnHead, Found]:
    """Read what is known of turns, and whether a request was answered before."""
    ids = (turn_id_key(scope, turn_id) for turn_id in turn_ids)
    answers = answer_keys(scope, token) if token else ()
    return engine.read_together(scope, *ids, *answers)


def _known(found: Found, scope: Scope, turn_id: str) -> KnownTurn:
    record = found.get(turn_id_key(scope, turn_id))
    if record is None:
        raise NotFound(path="turnId", detail=f"there is no turn {turn_id!r}")
    return read_known(record)


def _as_known(new: NewTurn, position: Position, governed: Governed) -> KnownTurn:
    return KnownTurn(
        position=position,
        text_hash=new.text_hash,
        scenario_id=new.scenario_id,
        subscription_category=new.subscription_category,
        governed=governed,
    )


def _governed(scenario: Scenario) -> Governed:
    source = scenario.source("compassMemory")
    return Governed(
        workers=scenario.workers(),
        write_on=scenario.write_on,
        revision=scenario.revision,
        agent=canonical_agent_ref(source.agent_ref) if source else "",
    )


def _turn(new: NewTurn, place: Placement, lookup: Lookup, governed: Governed, *, recorded_at: str) -> Turn:
    shown = lookup.table_revision if new.table_revision is None else new.table_revision
    return Turn(
        position=place.position,
        turn_id=new.turn_id,
        user_text=new.user_text,
        assistant_text=new.assistant_text,
        scenario_id=new.scenario_id,
        subscription_category=new.subscription_category,
        table_revision=shown,
        recorded_at=recorded_at,
        follows=place.before.last,
        generation=place.before.generation,
        scenario_revision=governed.revision,
    )


def _ring(
    doorbell: Doorbell,
    scope: Scope,
    turn_id: str,
    known: KnownTurn,
    *,
    head: TurnHead,
    duplicate: bool,
) -> Recorded:
    """Ring the workers that may write by now, and return what became of the turn."""
    turn_round = known.position.round
    may_write = known.governed.write_on == "completed" or turn_round <= head.accepted_through
    workers = known.governed.workers if may_write else ()
    if workers:
        rung = RungTurn(
            position=known.position,
            turn_id=turn_id,
            scenario_id=known.scenario_id,
            subscription_category=known.subscription_category,
            life=head.life,
            scenario_revision=known.governed.revision,
            agent=known.governed.agent,
        )
        try:
            doorbell.ring(scope, workers=workers, turn=rung)
        except StoreUnavailable as failure:
            raise DoorbellFailed(
                turn_id=turn_id,
                round=turn_round,
                detail="the turn is stored, its background was not rung; send the same turn again",
            ) from failure
    return Recorded(turn_id=turn_id, round=turn_round, scheduled=workers, duplicate=duplicate)
