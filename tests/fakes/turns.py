"""Turns and doorbells in memory, faithful to their ports."""

from dataclasses import dataclass, field, replace

from memoir.domain.scenario import Worker
from memoir.domain.scope import Scope
from memoir.domain.turns import KnownTurn, Lookup, Placement, Position, RungTurn, Turn, TurnHead
from memoir.errors import StoreUnavailable
from memoir.ports import TurnRace


@dataclass
class InMemoryTurnStore:
    """The TurnStore port without a store. `races`: so many of the next `add` find that another came first."""

    table_revision: int = 0
    races: int = 0
    heads: dict[Scope, TurnHead] = field(default_factory=dict)
    known: dict[Scope, dict[str, KnownTurn]] = field(default_factory=dict)
    turns: dict[Scope, list[Turn]] = field(default_factory=dict)

    def head(self, scope: Scope) -> TurnHead:
        """See the port."""
        return self.heads.get(scope, TurnHead())

    def look_up(self, scope: Scope, *, turn_ids: tuple[str, ...]) -> Lookup:
        """See the port."""
        known = self.known.get(scope, {})
        return Lookup(
            head=self.head(scope),
            known={turn_id: known[turn_id] for turn_id in turn_ids if turn_id in known},
            table_revision=self.table_revision,
        )

    def add(self, scope: Scope, turn: Turn, *, placement: Placement) -> None:
        """See the port."""
        if self.races:
            self.races -= 1
            raise TurnRace
        if self.head(scope) != placement.before:
            raise TurnRace
        known = self.known.setdefault(scope, {})
        if placement.supersedes:
            known[placement.supersedes] = replace(known[placement.supersedes], superseded=True)
        known[turn.turn_id] = KnownTurn(
            position=turn.position,
            text_hash=turn.text_hash,
            scenario_id=turn.scenario_id,
            subscription_category=turn.subscription_category,
        )
        self.turns.setdefault(scope, []).append(turn)
        self.heads[scope] = placement.after

    def accept(self, scope: Scope, *, turn_id: str, turn_round: int) -> None:
        """See the port."""
        head = self.head(scope)
        self.heads[scope] = replace(head, accepted_through=max(head.accepted_through, turn_round))

    def page(self, scope: Scope, *, before_round: int, limit: int) -> tuple[Turn, ...]:
        """See the port."""
        newest = {turn.position.round: turn for turn in self._sorted(scope)}
        rounds = sorted((number for number in newest if number < before_round), reverse=True)
        return tuple(newest[number] for number in rounds[:limit])

    def between(self, scope: Scope, *, first_round: int, last_round: int) -> tuple[Turn, ...]:
        """See the port."""
        newest = {turn.position.round: turn for turn in self._sorted(scope)}
        return tuple(newest[number] for number in sorted(newest) if first_round <= number <= last_round)

    def since(self, scope: Scope, *, after: Position, limit: int) -> tuple[Turn, ...]:
        """See the port."""
        return tuple(turn for turn in self._sorted(scope) if turn.position > after)[:limit]

    def _sorted(self, scope: Scope) -> list[Turn]:
        return sorted(self.turns.get(scope, []), key=lambda turn: turn.position)


@dataclass
class RecordingDoorbell:
    """A doorbell that notes who was rung. `broken`: it cannot be rung."""

    broken: bool = False
    rings: list[tuple[Scope, tuple[Worker, ...], Position]] = field(default_factory=list)

    def ring(self, scope: Scope, *, workers: tuple[Worker, ...], turn: RungTurn) -> None:
        """See the port."""
        if self.broken:
            raise StoreUnavailable(detail="broken")
        self.rings.append((scope, workers, turn.position))
