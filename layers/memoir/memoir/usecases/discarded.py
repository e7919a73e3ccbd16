"""Tell whether a known turn was taken back by a rewind."""

from memoir.domain.scope import Scope
from memoir.domain.turns import KnownTurn, TurnHead
from memoir.errors import TurnDiscarded
from memoir.records.history import read_logged
from memoir.usecases.engine import Engine


def check_live(engine: Engine, scope: Scope, turn_id: str, known: KnownTurn, head: TurnHead) -> None:
    """Check that no rewind after it took a turn back. A Query only where there was one.

    Raises TurnDiscarded, StoreUnavailable, RecordCorrupt.
    """
    if known.generation >= head.generation:
        return
    first = (f"{known.generation + 1:08}",)
    for name, record in engine.records.walk(scope, "rewind", first=first):
        logged = read_logged(name, record)
        if logged.discards and logged.to_round < known.position.round:
            raise TurnDiscarded(
                turn_id=turn_id,
                round=known.position.round,
                detail=f"rewind {logged.generation} took round {known.position.round} back",
            )
