"""Scenarios: which memory a conversation is given, and which background work its turns ask for.

Until scenarios are stored there is one, `default`.
"""

from dataclasses import dataclass
from typing import Literal

from memoir.errors import NotFound

WORKER_OF_VARIABLE = {"memoryTable": "table", "compassMemory": "diary"}
"""Which worker keeps the source that a template names by this variable."""


@dataclass(frozen=True, kw_only=True)
class MemorySource:
    """One recalled text that a template can name as `variable`."""

    id: str
    agent_ref: str
    variable: str
    priority: int = 0


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A product's choice of memory runtime and sources.

    `write_on`: background writes start when a reply is `completed`, or only once its user `accepted` it.
    """

    id: str
    memory_runtime: str
    memory_sources: tuple[MemorySource, ...]
    write_on: Literal["completed", "accepted"] = "completed"

    def source(self, variable: str) -> MemorySource | None:
        """Return the source of that variable, None where the scenario has none."""
        return next((source for source in self.memory_sources if source.variable == variable), None)

    def workers(self) -> tuple[str, ...]:
        """Return the workers that its sources need, in the order of the sources. No source, no worker."""
        return tuple(
            WORKER_OF_VARIABLE[source.variable]
            for source in self.memory_sources
            if source.variable in WORKER_OF_VARIABLE
        )


DEFAULT = Scenario(
    id="default",
    memory_runtime="axon_go",
    memory_sources=(
        MemorySource(id="table", agent_ref="memory-table", variable="memoryTable"),
        MemorySource(id="diary", agent_ref="diary", variable="compassMemory"),
    ),
)


def find_scenario(scenario_id: str | None) -> Scenario:
    """Return the scenario of that id, `default` for none. Raises NotFound."""
    if scenario_id in (None, DEFAULT.id):
        return DEFAULT
    raise NotFound(path="/scenarioId", detail=f"/scenarioId: there is no scenario {scenario_id!r}")
