"""Check a new memory by the `memorySchema` of a scenario, before it is written."""

from collections.abc import Callable
from typing import Any, Protocol

from memoir.domain.memory import BeforeUpdate
from memoir.domain.scope import Scope
from memoir.usecases.scenarios import KeptScenarios


class MakesChecks(Protocol):
    """Makes the check of a schema, which raises UpdateRefused with the `problems` of a memory."""

    def check_for(
        self, *, product: str, scenario_id: str, revision: int, schema: dict[str, Any]
    ) -> BeforeUpdate:
        """Return the check of *schema*, which is that scenario's in that revision."""


class MemorySchemas:
    """Finds the check of a scenario, which is kept for 5 s: a write is then one request still."""

    def __init__(self, scenarios: KeptScenarios, *, makes: Callable[[], MakesChecks]) -> None:
        """Take the *scenarios*, and what *makes* checks, asked only for a schema."""
        self._scenarios = scenarios
        self._makes = makes

    def check_of(self, scope: Scope, scenario_id: str | None) -> BeforeUpdate | None:
        """Return the check of that scenario, `default` for none; None where it has no schema.

        Raises ScenarioUnknown, StoreUnavailable, RecordCorrupt.
        """
        scenario = self._scenarios.find(scope, scenario_id)
        if scenario.memory_schema is None:
            return None
        return self._makes().check_for(
            product=scope.product,
            scenario_id=scenario.id,
            revision=scenario.revision,
            schema=scenario.memory_schema,
        )
