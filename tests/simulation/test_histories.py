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
from tests.simulation.programs import ALL, HOSTS, INNER, KEYS, QUEUES, SAYING, SCENE, Step, histories
from tests.simulation.runner import Runner, without_faults
from tests.simulation.truth import check_ranges, outcome

pytestmark = pytest.mark.filterwarnings("ignore:HINOS_MEMORY_URL")

HISTORIES = int(os.environ.get("MEMOIR_SIMULATED_HISTORIES", "2000"))
AT_RANDOM = bool(os.environ.get("MEMOIR_SIMULATED_AT_RANDOM"))
ANY_RANGES = os.environ.get("MEMOIR_SIMULATED_RANGES") == "any"


def simulated(
    share: float, *acts: str, inner: tuple[str, ...] = INNER, shrinks: bool = True
) -> Callable[[Any], Any]:
    """Run a test on that share of all histories, made of *acts*, with *inner* between requests.

    *shrinks*: a failing history is made smaller, which takes long where one history does.
    """

    def decorate(test: Any) -> Any:
        limits = settings(
            max_examples=max(5, int(HISTORIES * share)),
            deadline=None,
            derandomize=not AT_RANDOM,
            database=None,
            phases=(Phase.generate, Phase.shrink) if shrinks else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        return limits(given(steps=histories(*acts, inner=inner))(test))

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


def run(world: Lambdas, steps: list[Step], *, rounds: int = 0, large: bool = False) -> None:
    """Run a history that begins so, then what was acknowledged of it without faults, and compare both."""
    Counted.histories += 1
    Counted.steps += len(steps)
    runner = Runner(world, rounds=rounds, large=large)
    runner.run(steps)
    if ANY_RANGES:
        check_ranges(runner.host)
    came_out, wanted = outcome(runner.host), without_faults(world, runner.host.truth, large=large)
    if ANY_RANGES:
        wanted["diary"] = came_out["diary"]
    assert came_out == wanted


@simulated(0.3, *ALL)
def test_whatever_happens_nothing_is_lost_and_faults_change_nothing(
    world: Lambdas, steps: list[Step]
) -> None:
    run(world, steps)


@simulated(0.003, "edits", "edits", "put_table", "say", "deliver", inner=("say", "deliver"), shrinks=False)
def test_a_table_that_is_large_stays_readable(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps, large=True)


@simulated(0.3, *SAYING[:3], *QUEUES, "edit", "put_table")
def test_the_table_is_that_of_a_run_without_faults(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps)


@simulated(0.08, *SAYING[1:], *QUEUES, "put_diary", "delete_diary", "repeat")
def test_the_diary_is_that_of_a_run_without_faults(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps, rounds=18)


@simulated(0.15, *HOSTS[:5], *KEYS, "say")
def test_documents_and_keys_are_neither_lost_nor_doubled(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps)


@simulated(0.04, "write", "say", "regenerate", inner=("regenerate", "say"))
def test_a_diary_that_is_written_slowly_tells_no_discarded_reply(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps, rounds=20)


@simulated(0.13, "commit")
def test_claims_are_committed_once_and_told_truly(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps)


@simulated(0.1, *SCENE, "say", "accept", "regenerate", inner=(*SCENE[:4], "say", "accept", "regenerate"))
def test_states_and_stories_are_neither_lost_nor_doubled(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps, rounds=4)


@simulated(0.05, "compact", "compact", "say", "regenerate", "burst", inner=("compact", "say", "regenerate"))
def test_a_compacted_history_is_whole_and_tells_no_discarded_reply(world: Lambdas, steps: list[Step]) -> None:
    run(world, steps, rounds=6)
