"""Ring the background of a stored turn."""

from memoir.domain.scope import Scope
from memoir.domain.turns import KnownTurn, Recorded, RungTurn, TurnHead
from memoir.errors import DoorbellFailed, StoreUnavailable
from memoir.ports.doorbell import Doorbell


def ring_turn(
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
    return Recorded(
        turn_id=turn_id,
        round=turn_round,
        scheduled=workers,
        duplicate=duplicate,
        generation=head.generation,
    )
