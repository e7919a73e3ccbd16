"""Read records of a conversation together with the scenario that governs them, though no one names it.

The scenario is the one that the request names, else the newest turn's, else `default`. The head tells which
that is, and is read in the same request: so the scenario is guessed, the one that this conversation, or its
product, had last. A wrong guess costs a second read.
"""

from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.scope import Scope
from memoir.domain.turns import TurnHead
from memoir.ports.records import Found, RecordKey
from memoir.usecases.engine import Engine
from memoir.usecases.scenarios import governing, governing_keys

_REMEMBERED = 1_000
_Named = tuple[str, int]
"""A scenario's id, and the revision that a turn named, 0 for none."""


class GovernedReads:
    """Reads what a scenario governs, and remembers which one it was."""

    def __init__(self, engine: Engine, *, default: Scenario = DEFAULT) -> None:
        """Take the *engine*, and the built-in scenario."""
        self.engine = engine
        self._default = default
        self._met: dict[Scope | str, _Named] = {}

    def read(
        self, scope: Scope, *keys: RecordKey, scenario_id: str | None = None
    ) -> tuple[Scenario, TurnHead, Found]:
        """Return the scenario, the head, and the records of *keys*, all of one moment.

        One request; a second where the scenario is not named and was guessed wrong.
        Raises ScenarioUnknown, StoreUnavailable, RecordCorrupt (the head, the scenario).
        """
        named = (scenario_id, 0) if scenario_id else self._guess(scope)
        while True:
            wanted = governing_keys(scope, named[0], revision=named[1])
            head, found = self.engine.read_together(scope, *wanted, *keys)
            governs = named if scenario_id else (head.scenario_id or self._default.id, head.scenario_revision)
            if governs == named:
                break
            named = governs
        if not scenario_id:
            self._remember(scope, named)
        scenario = governing(found, scope, named[0], revision=named[1], default=self._default)
        return scenario, head, found

    def _guess(self, scope: Scope) -> _Named:
        return self._met.get(scope) or self._met.get(scope.product) or (self._default.id, 0)

    def _remember(self, scope: Scope, named: _Named) -> None:
        if len(self._met) >= _REMEMBERED:
            self._met.clear()
        self._met[scope] = self._met[scope.product] = named
