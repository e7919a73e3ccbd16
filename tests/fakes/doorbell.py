"""A doorbell and a bus that note what they were told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memoir.domain.scope import Scope
from memoir.domain.turns import Position, RungTurn
from memoir.errors import StoreUnavailable


@dataclass
class RecordingDoorbell:
    """A doorbell that notes who was rung. `broken`: it cannot be rung."""

    broken: bool = False
    rings: list[tuple[Scope, tuple[str, ...], Position]] = field(default_factory=list)

    def ring(self, scope: Scope, *, workers: tuple[str, ...], turn: RungTurn) -> None:
        """See the port."""
        if self.broken:
            raise StoreUnavailable(detail="broken")
        self.rings.append((scope, workers, turn.position))


@dataclass
class RecordingBus:
    """A bus that notes its events. `broken`: it takes none."""

    broken: bool = False
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def publish(self, kind: str, detail: Mapping[str, Any]) -> None:
        """See the port."""
        if self.broken:
            raise StoreUnavailable(detail="no bus")
        self.told.append((kind, dict(detail)))
