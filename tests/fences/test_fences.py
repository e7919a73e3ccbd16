"""Five rules keep a rewind apart from what is under way: with all of them every schedule ends right.

Each is then left out, and the exploration has to notice: a rule that is not missed is not tested.
"""

import pytest

from tests.fences.doubles import PassesRewinds, ReadsOnce, SeesNoRewind, WalksOn
from tests.fences.explorer import Explored, Explorer
from tests.fences.replay import Violation
from tests.fences.rewind import Rewind
from tests.fences.world import Promises, World, said

TO_NEW = ("worker", "rewind", "turn")


def explorer_of(world: World, *operations: str) -> Explorer:
    return Explorer(world.store(), world.operations(*operations), Promises(world))


def explored(world: World, *operations: str) -> Explored:
    explorer = explorer_of(world, *operations)
    result = explorer.explore()
    print(f"{operations} on {world.turns}: {explorer.states:,} states. {result}")
    return result


@pytest.mark.parametrize(
    ("world", "operations"),
    [
        (World(turns=("A", "B"), judged=1, rung_round=1), TO_NEW),
        (World(turns=("A", "B", "C"), judged=1), TO_NEW),
        (World(turns=("A", "B", "C"), rung_round=1, rewind=Rewind(to_round=2)), TO_NEW[:2]),
        (World(turns=("A", "B"), judged=1, rewind=Rewind(to_round=0)), TO_NEW),
        (World(turns=("A", "b", "c"), judged=1, rung_round=1), TO_NEW),
        (World(turns=("A", "b", "C"), judged=1, new=said("new", edits=False)), TO_NEW),
        (World(turns=("A", "B"), taken_back=("X", "y")), TO_NEW),
        (World(turns=("A", "B"), new=said("new", replaces="B")), TO_NEW),
        (World(turns=("a", "b"), table=False), TO_NEW),
        (World(turns=("A", "b"), judged=1), ("worker", "rewind", "host")),
        (World(turns=("a", "b"), table=False), ("worker", "rewind", "host")),
        (World(turns=("A", "B"), judged=1), ("worker", "second", "rewind")),
        (World(turns=("A", "B")), ("accept", "rewind", "turn")),
    ],
    ids=lambda value: "-".join(value.turns if isinstance(value, World) else value),
)
def test_no_schedule_breaks_a_promise(world: World, operations: tuple[str, ...]) -> None:
    result = explored(world, *operations)
    assert result.wrong == 0, str(result)
    assert result.schedules > 1_000


@pytest.mark.parametrize(
    ("world", "operations", "violation"),
    [
        pytest.param(
            World(turns=("A", "B"), judged=1, rewind=Rewind(to_round=1, always_new=False)),
            TO_NEW,
            "a discarded turn was folded",
            id="1-a-new-revision-of-every-kind",
        ),
        pytest.param(
            World(turns=("A", "B"), judged=1, engine=ReadsOnce),
            TO_NEW,
            "a discarded turn was folded",
            id="2-stamps-are-compared",
        ),
        pytest.param(
            World(turns=("A", "B"), judged=1, worker_engine=SeesNoRewind),
            TO_NEW,
            "a discarded turn was folded",
            id="3-no-turn-in-hand-survives-a-conflict",
        ),
        pytest.param(
            World(turns=("A", "B", "C"), rung_round=1, rewind=Rewind(to_round=2), worker_records=WalksOn),
            ("worker", "rewind"),
            "a discarded turn was folded",
            id="4-turns-end-at-the-head",
        ),
        pytest.param(
            World(turns=("A", "b", "c"), judged=1, worker_records=PassesRewinds),
            TO_NEW,
            "not all turns were judged",
            id="5-a-cursor-is-of-a-generation",
        ),
    ],
)
def test_a_fence_that_is_left_out_is_missed(
    world: World, operations: tuple[str, ...], violation: str
) -> None:
    result = explored(world, *operations)
    assert 0 < result.wrong < result.schedules
    assert result.example is not None
    assert result.example.violation == violation


def test_a_rewind_that_makes_no_cursor_is_passed_by_a_worker_that_makes_it() -> None:
    world = World(turns=("a", "b"), rewind=Rewind(to_round=1, all_cursors=False))
    assert explored(world, "worker", "rewind").wrong > 0


def test_a_rewind_that_looks_at_place_and_generation_alone_loses_an_acceptance() -> None:
    result = explored(
        World(turns=("A", "B"), rewind=Rewind(to_round=1, sees_accepts=False)), "accept", "rewind"
    )
    assert result.example is not None
    assert result.example.violation == "an acceptance was lost"


def test_a_schedule_that_was_found_can_be_replayed() -> None:
    world = World(turns=("A", "B"), judged=1, worker_engine=SeesNoRewind)
    found = explored(world, "worker", "rewind").example
    assert found is not None
    with pytest.raises(Violation, match=found.violation):
        explorer_of(world, "worker", "rewind").replay(found)
