"""After a rewind a conversation is as if what was taken back never was; twice is once; it can be undone."""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memoir.errors import GenerationConflict, NotFound, TurnDiscarded
from tests.history.world import World, fresh

HISTORIES = int(os.environ.get("MEMOIR_REWOUND_HISTORIES", "250"))

_ACTS = ("say", "say", "say", "swipe", "memory", "memory", "rows", "state", "story")
_STEPS = st.one_of(
    st.sampled_from(_ACTS),
    st.sampled_from(_ACTS),
    st.tuples(st.just("rewind"), st.integers(0, 12)),
    st.sampled_from(("undo", "lag", "again")),
)


def play(world: World, steps: list[object]) -> None:
    for number, step in enumerate(steps, start=1):
        if isinstance(step, tuple):
            world.rewind(min(step[1], world.last_round))
        elif step == "undo":
            world.undo()
        elif step == "lag":
            world.lagging = not world.lagging
        elif step == "again":
            told = world.rewind(world.last_round)
            again = world.rewind(world.last_round)
            assert (again["discarded"], again["generation"]) == (None, told["generation"])
        else:
            world.do(str(step), number)


@settings(
    max_examples=HISTORIES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(steps=st.lists(_STEPS, min_size=4, max_size=40))
def test_what_was_taken_back_never_was(steps: list[object]) -> None:
    world = World()
    world.do("say", 0)
    play(world, steps)
    assert world.seen() == fresh(world.log)


def rounds(count: int) -> World:
    world = World()
    for number in range(1, count + 1):
        world.do("say", number)
    return world


def test_a_rewind_brings_every_kind_back() -> None:
    world = World()
    for number in range(1, 8):
        world.do("memory", 10 * number)
        world.do("say", number)
        for name in ("rows", "state", "story"):
            world.do(name, 100 * number)
    wanted = fresh(world.log)
    told = world.rewind(4)
    assert told["discarded"] == {"firstRound": 5, "lastRound": 7}
    assert (told["generation"], told["lastRound"], told["lastTurnId"]) == (1, 4, "t4")
    seen = world.seen()
    assert seen == fresh(world.log)
    assert (seen["memory"], seen["state"]) == ({"n": 40}, {"text": "s400", "records": {}})
    world.undo()
    assert world.seen() == wanted


def test_all_of_it_can_be_taken_back_where_it_began_with_nothing() -> None:
    world = rounds(5)
    assert world.rewind(0)["lastTurnId"] is None
    assert world.seen()["turns"] == []
    world.do("say", 99)
    assert world.seen() == fresh(world.log)


def test_rounds_that_are_not_there_are_told() -> None:
    world = rounds(2)
    with pytest.raises(NotFound, match="round 2"):
        world.rewind(3)


def test_a_turn_that_was_taken_back_is_not_known_any_more_as_if_it_were_there() -> None:
    world = rounds(4)
    world.rewind(2)
    with pytest.raises(TurnDiscarded):
        world.chat.record("t4", world_text(4), user_text="问")
    with pytest.raises(TurnDiscarded):
        world.chat.accept("t3")
    assert world.chat.accept("t2").round == 2


def world_text(number: int) -> str:
    from tests.conversation import insert

    return f"第{number}句。{insert(f'd{number}')}"


def test_only_the_newest_rewind_is_undone_and_none_that_a_turn_followed() -> None:
    world = rounds(5)
    world.rewind(3)
    undoable = world.undoable
    world.do("say", 9)
    world.undoable = undoable
    with pytest.raises(GenerationConflict):
        world.undo()
