"""What a scenario says of its workers, by what was read with the turns."""

from collections.abc import Callable
from typing import Literal

from memoir.domain.scenario import Scenario
from memoir.domain.scope import Scope
from memoir.domain.turns import RungTurn
from memoir.usecases.scenarios import governing
from memoir.usecases.worker import Rules, View, WorkerPorts


def governed_by(ports: WorkerPorts, scope: Scope, rung: RungTurn) -> Callable[[View], Scenario]:
    """Return how the scenario of a ring is found: the current one, else the revision that its turn named."""
    return lambda view: governing(
        view.found, scope, rung.scenario_id, revision=rung.scenario_revision, default=ports.default
    )


def rules_of(scenario: Scenario, variable: str) -> Rules:
    """Return which turns count for the worker of *variable*: none where the scenario lacks its source."""
    return _rules(scenario, asked=scenario.source(variable) is not None)


def state_rules(scenario: Scenario) -> Rules:
    """Return which turns count for the state's worker: none where the scenario has no instruction for it."""
    return _rules(scenario, asked="state" in scenario.workers())


def _rules(scenario: Scenario, *, asked: bool) -> Rules:
    if not asked:
        return Rules(counts="none")
    counts: Literal["all", "accepted"] = "accepted" if scenario.write_on == "accepted" else "all"
    return Rules(counts=counts, receipt_days=scenario.receipt_days)
