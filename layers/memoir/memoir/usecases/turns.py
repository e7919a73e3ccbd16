"""Keep the turns of a conversation, in order and once each, and ring the background for them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memoir.domain.clock import utc_text
from memoir.domain.context.manifest import Manifest, decode_manifest
from memoir.domain.diary.record.agent_ref import canonical_agent_ref
from memoir.domain.history import not_undone
from memoir.domain.receipt import Receipt
from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.scope import Scope
from memoir.domain.turn_place import Lookup, Placement, place_turn
from memoir.domain.turns import (
    Governed,
    KnownTurn,
    NewTurn,
    Position,
    Recorded,
    Turn,
    TurnHead,
)
from memoir.domain.write_token import WriteToken
from memoir.errors import (
    ConversationRewound,
    StoreUnavailable,
)
from memoir.ports.doorbell import Doorbell
from memoir.ports.records import Found, RecordKey, Refused, Write
from memoir.records.register import register_write
from memoir.records.turns import (
    read_known,
    turn_id_key,
    turn_writes,
)
from memoir.usecases.accept_turn import look_up, move_acceptance
from memoir.usecases.discarded import check_live
from memoir.usecases.engine import Engine, answer_keys
from memoir.usecases.mark_round import RoundFrom
from memoir.usecases.ring_turn import ring_turn
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
    stored = _store(engine, scope=scope, new=new, token=token, default=default)
    known, head = stored.known, stored.head
    is_behind = head.accepted_through < known.position.round and not known.superseded
    if stored.duplicate and new.accepted and is_behind:
        head = move_acceptance(engine, scope, new.turn_id, look_up(engine, scope, (new.turn_id,), None))
    recorded = ring_turn(doorbell, scope, new.turn_id, known, head=head, duplicate=stored.duplicate)
    return replace(recorded, not_undone=stored.not_undone)


@dataclass(frozen=True, kw_only=True)
class _Stored:
    """What became of a turn. `not_undone`: see `Recorded`."""

    known: KnownTurn
    head: TurnHead
    duplicate: bool
    not_undone: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def _store(engine: Engine, *, scope: Scope, new: NewTurn, token: WriteToken, default: Scenario) -> _Stored:
    manifest = decode_manifest(new.context) if new.context else None
    for _ in range(_TRIES):
        head, found = engine.read_together(scope, *_wanted(scope, new, token))
        governed = _governed(governing(found, scope, new.scenario_id, default=default))
        answered = engine.answered(scope, token, found)
        round_from = RoundFrom.read(engine, scope, head, found, recalled=new.memory_revision)
        lookup = Lookup(
            head=head,
            known=_known(found, scope, new),
            table_revision=round_from.current["table"],
            scenario_revision=governed.revision,
        )
        place = place_turn(new, lookup, life=secrets.token_urlsafe(9))
        if isinstance(place, KnownTurn):
            check_live(engine, scope, new.turn_id, place, head)
            if answered is None:
                engine.keep(scope, token)
            return _Stored(known=place, head=head, duplicate=True)
        _check_context(manifest, head)
        place = round_from.marked(place, agent=governed.agent)
        turn = _turn(new, place, lookup, governed, recorded_at=utc_text(engine.clock()))
        first = (register_write(scope, now=engine.clock()),) if not head.begun else ()
        writes = turn_writes(scope, turn, place, replaces=new.replaces, governed=governed)
        compared = _compared(engine, scope, turn, manifest)
        try:
            engine.records.write(*writes, *first, *compared, *engine.kept(scope, token))
        except Refused:  # another turn took the place: look again
            continue
        known = _as_known(new, place.position, governed)
        left = not_undone(place.after.before, round_from.current) if new.replaces else {}
        return _Stored(known=known, head=place.after, duplicate=False, not_undone=left)
    raise StoreUnavailable(detail="other turns of this conversation kept coming first; try again")


def _wanted(scope: Scope, new: NewTurn, token: WriteToken) -> list[RecordKey]:
    wanted = [turn_id_key(scope, turn_id) for turn_id in {new.turn_id, new.replaces or new.turn_id}]
    wanted += (*answer_keys(scope, token), *governing_keys(scope, new.scenario_id))
    return [*wanted, *RoundFrom.keys(scope, recalled=new.memory_revision)]


def _known(found: Found, scope: Scope, new: NewTurn) -> dict[str, KnownTurn]:
    ids = {new.turn_id, new.replaces or new.turn_id}
    records = {turn_id: found.get(turn_id_key(scope, turn_id)) for turn_id in ids}
    return {turn_id: read_known(record) for turn_id, record in records.items() if record}


def _check_context(manifest: Manifest | None, head: TurnHead) -> None:
    """Check that no rewind came between the context and the reply that was made from it."""
    if manifest is not None and manifest.generation < head.generation:
        raise ConversationRewound(
            path="/recalled/context",
            generation=head.generation,
            detail="/recalled/context: the conversation was rewound since; ask for a new context and reply",
        )


def _compared(engine: Engine, scope: Scope, turn: Turn, manifest: Manifest | None) -> tuple[Write, ...]:
    """Return the receipt of what `axon_shadow` found for the turn's context, if it compared."""
    if manifest is None or manifest.comparison is None:
        return ()
    equal, similarity, bytes_here, bytes_there = manifest.comparison
    details = {"similarity": similarity, "bytesHere": bytes_here, "bytesThere": bytes_there}
    receipt = Receipt(
        worker="shadow",
        position=turn.position,
        turn_id=turn.turn_id,
        outcome="ok",
        reason="equal" if equal else "different",
        revision_before=0,
        revision_after=0,
        created_at=turn.recorded_at,
        details=details,
    )
    return (engine.receipt(scope, receipt),)


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
        context=new.context,
        before=place.after.before,
    )
