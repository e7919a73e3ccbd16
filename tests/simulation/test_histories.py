"""Random histories with faults at every request: nothing acknowledged is lost, and faults change nothing.

| variable                   | means                                                             |
|----------------------------|-------------------------------------------------------------------|
| MEMOIR_SIMULATED_HISTORIES | how many, all tests together                                      |
| MEMOIR_SIMULATED_AT_RANDOM | set: other ones at each run, else always the same                 |
| MEMOIR_SIMULATED_RANGES    | `any`: a late diary may cover more rounds at once, else as in time |
"""

import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.simulation.lambdas import Lambdas
from tests.simulation.programs import ALL, HOSTS, KEYS, QUEUES, SAYING, Step, histories
from tests.simulation.runner import Runner, without_faults
from tests.simulation.truth import check_ranges, outcome

pytestmark = pytest.mark.filterwarnings("ignore:HINOS_MEMORY_URL")

HISTORIES = int(os.environ.get("MEMOIR_SIMULATED_HISTORIES", "300"))
AT_RANDOM = bool(os.environ.get("MEMOIR_SIMULATED_AT_RANDOM"))
ANY_RANGES = os.environ.get("MEMOIR_SIMULATED_RANGES") == "any"
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)


def simulated(share: float, *acts: str) -> Callable[[Any], Any]:
    """Run a test on that share of all histories, made of *acts*."""

    def decorate(test: Any) -> Any:
        limits = settings(
            max_examples=max(1, int(HISTORIES * share)),
            deadline=None,
            derandomize=not AT_RANDOM,
            database=None,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        )
        return limits(given(steps=histories(*acts))(test))

    return decorate


class Counted:
    """Counts histories, steps and seconds, and tells them at the end."""

    histories = 0
    steps = 0
    began = time.perf_counter()


@pytest.fixture(scope="module", autouse=True)
def told(world: Lambdas, pytestconfig: pytest.Config) -> Any:
    """Print how much was run."""
    Counted.began = time.perf_counter()
    yield
    seconds = time.perf_counter() - Counted.began
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\n{Counted.histories} histories of {Counted.steps} steps in {seconds:.1f} s")


def run(world: Lambdas, steps: list[Step], *, rounds: int = 0) -> None:
    """Run a history that begins with *rounds*, then what was acknowledged of it without faults, and compare what came of both."""
    Counted.histories += 1
    Counted.steps += len(steps)
    runner = Runner(world, rounds=rounds)
    runner.run(steps)
    if ANY_RANGES:
        check_ranges(runner.host)
    came_out, wanted = outcome(runner.host), without_faults(world, runner.host.truth)
    if ANY_RANGES:
        wanted["diary"] = came_out["diary"]
    assert came_out == wanted


@simulated(0.35, *ALL)
def test_whatever_happens_nothing_is_lost_and_faults_change_nothing(
    world: Lambdas, steps: list[Step]
) -> None:
    run(world, steps)


@simulated(0.25, *SAYING[:3], *QUEUES, "edit", "put_table")
def test_the_table_is_that_of_a_run_without_faults(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps)


@simulated(0.2, *SAYING[1:], *QUEUES, "put_diary", "delete_diary", "repeat")
def test_the_diary_is_that_of_a_run_without_faults(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps, rounds=18)


@simulated(0.1, *HOSTS[:5], *KEYS, "say")
def test_documents_and_keys_are_neither_lost_nor_doubled(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps)


@simulated(0.1, "commit")
def test_claims_are_committed_once_and_told_truly(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps)
