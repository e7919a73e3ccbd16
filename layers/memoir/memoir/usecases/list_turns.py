"""List the turns of a conversation. One that cannot be read hides no other one."""

from memoir.domain.page import PageRoom
from memoir.domain.scope import Scope
from memoir.domain.turns import Turn, TurnPage
from memoir.errors import RecordCorrupt
from memoir.records.turns import newest_first, read_turn
from memoir.usecases.engine import Engine


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
