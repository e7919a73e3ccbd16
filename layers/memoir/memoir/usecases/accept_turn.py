"""Note that a user accepted a turn's text: what waits for that may write from then on."""

from dataclasses import replace

from memoir.domain.scope import Scope
from memoir.domain.turns import KnownTurn, Recorded, TurnHead
from memoir.domain.write_token import WriteToken
from memoir.errors import NotFound, RoundClosed, StoreUnavailable
from memoir.ports.doorbell import Doorbell
from memoir.ports.records import Found, Refused
from memoir.records.turns import head_write, read_known, turn_id_key
from memoir.usecases.discarded import check_live
from memoir.usecases.engine import Engine, answer_keys
from memoir.usecases.ring_turn import ring_turn

# Hosts of one conversation rarely race; each try is one read and one conditional write.
_TRIES = 5


def accept_turn(
    engine: Engine, *, doorbell: Doorbell, scope: Scope, turn_id: str, token: WriteToken
) -> Recorded:
    """Note that the user accepted a turn's text, and with it all that led to it, then ring its background.

    Raises NotFound, RoundClosed (a regenerated reply took its round), IdempotencyKeyReused, StoreUnavailable,
    WriteOutcomeUnknown, DoorbellFailed. Accepting again is safe.
    """
    seen = head, found = look_up(engine, scope, (turn_id,), token)
    answered = engine.answered(scope, token, found)
    known = known_turn(found, scope, turn_id)
    check_live(engine, scope, turn_id, known, head)
    duplicate = not known.superseded and head.accepted_through >= known.position.round
    if not duplicate:
        head = move_acceptance(engine, scope, turn_id, seen, token=token)
    elif answered is None:
        engine.keep(scope, token)
    return ring_turn(doorbell, scope, turn_id, known, head=head, duplicate=duplicate)


def move_acceptance(
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
        known = known_turn(found, scope, turn_id)
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
            seen = look_up(engine, scope, (turn_id,), token)
    raise StoreUnavailable(detail="other turns of this conversation kept coming first; try again")


def look_up(
    engine: Engine, scope: Scope, turn_ids: tuple[str, ...], token: WriteToken | None
) -> tuple[TurnHead, Found]:
    """Read what is known of turns, and whether a request was answered before."""
    ids = (turn_id_key(scope, turn_id) for turn_id in turn_ids)
    answers = answer_keys(scope, token) if token else ()
    return engine.read_together(scope, *ids, *answers)


def known_turn(found: Found, scope: Scope, turn_id: str) -> KnownTurn:
    """Return what was read of a turn. Raises NotFound, RecordCorrupt."""
    record = found.get(turn_id_key(scope, turn_id))
    if record is None:
        raise NotFound(path="turnId", detail=f"there is no turn {turn_id!r}")
    return read_known(record)
