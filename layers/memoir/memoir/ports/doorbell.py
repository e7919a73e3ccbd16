"""Rings: how workers hear that a conversation has something new."""

from typing import Protocol

from memoir.domain.scope import Scope
from memoir.domain.turns import RungTurn


class Doorbell(Protocol):
    """Tells workers that a conversation has something new. Messages may double, swap or vanish."""

    def ring(self, scope: Scope, *, workers: tuple[str, ...], turn: RungTurn) -> None:
        """Ring *workers* for *scope*; the turn is a hint. Raises StoreUnavailable: not rung for sure."""
