"""Check a new memory by the `memorySchema` of a scenario, before it is written."""

from collections.abc import Callable
from typing import Any, Protocol

from memoir.domain.memory import BeforeUpdate
from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.scope import Scope
from memoir.usecases.engine import Engine
from memoir.usecases.scenarios import governing, governing_keys

KEPT_SECONDS = 5
_KEPT_SCENARIOS = 1_000


class MakesChecks(Protocol):
    """Makes the check of a schema, which raises UpdateRefused with the `problems` of a memory."""

    def check_for(
        self, *, product: str, scenario_id: str, revision: int, schema: dict[str, Any]
    ) -> BeforeUpdate:
        """Return the check of *schema*, which is that scenario's in that revision."""


class MemorySchemas:
    """Finds the check of a scenario, and keeps a scenario for 5 s: a write is then one request still.

    A new `memorySchema` counts everywhere 5 s after it was saved.
    """

    def __init__(
        self, engine: Engine, *, makes: Callable[[], MakesChecks], default: Scenario = DEFAULT
    ) -> None:
        """Take the *engine*, the built-in scenario, and what *makes* checks, asked only for a schema."""
        self._engine = engine
        self._makes = makes
        self._default = default
        self._kept: dict[tuple[str, str], tuple[float, Scenario]] = {}

    def check_of(self, scope: Scope, scenario_id: str | None) -> BeforeUpdate | None:
        """Return the check of that scenario, `default` for none; None where it has no schema.

        Raises ScenarioUnknown, StoreUnavailable, RecordCorrupt.
        """
        scenario = self._scenario(scope, scenario_id or self._default.id)
        if scenario.memory_schema is None:
            return None
        return self._makes().check_for(
            product=scope.product,
            scenario_id=scenario.id,
            revision=scenario.revision,
            schema=scenario.memory_schema,
        )

    def _scenario(self, scope: Scope, scenario_id: str) -> Scenario:
        place, now = (scope.product, scenario_id), self._engine.clock()
        read_at, scenario = self._kept.get(place, (0.0, self._default))
        if now - KEPT_SECONDS < read_at <= now:
            return scenario
        found = self._engine.records.read(*governing_keys(scope, scenario_id))
        scenario = governing(found, scope, scenario_id, default=self._default)
        if len(self._kept) >= _KEPT_SCENARIOS:
            self._kept.clear()
        self._kept[place] = (now, scenario)
        return scenario
