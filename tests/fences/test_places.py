"""Where turns go after a rewind: rounds are given again, a round and version never; and which rings count."""

import pytest

from memoir.domain.turn_place import Lookup, Placement, place_turn
from memoir.domain.turns import (
    KnownTurn,
    NewTurn,
    Position,
    RungTurn,
    TurnHead,
)
from memoir.errors import RoundClosed


def at(turn_round: int, version: int) -> Position:
    return Position(round=turn_round, version=version)


def known(position: Position, *, generation: int = 0) -> KnownTurn:
    return KnownTurn(position=position, text_hash="", scenario_id="default", generation=generation)


def placed(head: TurnHead, *, replaces: str | None = None, **turns: KnownTurn) -> Placement:
    new = NewTurn(turn_id="new", user_text="", assistant_text="", replaces=replaces)
    place = place_turn(new, Lookup(head=head, known=turns), life="fresh")
    assert isinstance(place, Placement)
    return place


# Rounds 1 to 3 were told, the third twice, and then taken back to the end of round 1.
REWOUND = TurnHead(last=at(1, 1), last_turn_id="a", life="life", generation=1, floor=2, top=2)
TOLD = {"a": known(at(1, 1)), "b": known(at(2, 1)), "c2": known(at(3, 2))}


def test_a_round_is_given_again_with_a_version_above_all_that_were_given() -> None:
    place = placed(REWOUND)
    assert place.position == at(2, 3)
    assert place.supersedes is None


def test_a_turn_leaves_generation_floor_and_life_as_they_are_and_raises_the_top() -> None:
    after = placed(REWOUND).after
    assert (after.generation, after.floor, after.life, after.top) == (1, 2, "life", 3)


def test_the_first_turn_begins_a_life() -> None:
    place = placed(TurnHead())
    assert (place.position, place.after.life, place.after.top) == (at(1, 1), "fresh", 1)


def test_a_conversation_without_a_turn_goes_on_with_its_life_after_a_rewind() -> None:
    place = placed(TurnHead(life="life", generation=1, floor=2, top=2))
    assert (place.position, place.after.life) == (at(1, 3), "life")


def test_the_last_turn_that_a_rewind_left_may_be_replaced() -> None:
    place = placed(REWOUND, replaces="a", **TOLD)
    assert place.position == at(1, 3)
    assert place.supersedes == "a"


def test_a_reply_of_after_the_rewind_may_be_replaced() -> None:
    head = placed(REWOUND).after
    place = placed(head, replaces="other", other=known(at(2, 3), generation=1))
    assert place.position == at(2, 4)
    assert place.after.top == 4


@pytest.mark.parametrize("turn_id", ["b", "c2"])
def test_a_turn_that_was_taken_back_is_not_replaced(turn_id: str) -> None:
    with pytest.raises(RoundClosed):
        placed(REWOUND, replaces=turn_id, **TOLD)


def test_a_turn_that_was_taken_back_is_not_replaced_where_its_round_is_the_last_again() -> None:
    head = placed(REWOUND).after
    assert head.last.round == TOLD["b"].position.round
    with pytest.raises(RoundClosed):
        placed(head, replaces="b", **TOLD)


def test_a_turn_that_was_taken_back_is_not_replaced_after_a_second_rewind_to_its_round() -> None:
    # Round 2 was told, taken back and told anew; then all behind it was taken back.
    head = TurnHead(last=at(2, 2), last_turn_id="anew", life="life", generation=2, floor=2, top=2)
    anew = known(at(2, 2), generation=1)
    assert placed(head, replaces="anew", b=TOLD["b"], anew=anew).position == at(2, 3)
    with pytest.raises(RoundClosed):
        placed(head, replaces="b", b=TOLD["b"], anew=anew)


def test_no_place_is_given_twice_by_any_turns_and_rewinds() -> None:
    given: list[Position] = []
    head = TurnHead()
    for to_round in (1, 0, 2, 1):
        for _ in range(3):
            place = placed(head)
            given.append(place.position)
            last = place.position
            again = placed(place.after, replaces="last", last=known(last, generation=head.generation))
            given.append(again.position)
            head = again.after
        newest = max((p for p in given if p.round == to_round), default=Position())
        head = TurnHead(
            last=newest, life=head.life, generation=head.generation + 1, floor=head.top, top=head.top
        )
    assert len(set(given)) == len(given) == 24


HEAD = TurnHead(last=at(2, 3), life="life", generation=1, floor=2, top=3)


@pytest.mark.parametrize(
    ("position", "life", "knows"),
    [
        pytest.param(at(2, 3), "life", True, id="its last place"),
        pytest.param(at(1, 1), "life", True, id="a place before"),
        pytest.param(at(2, 1), "life", True, id="a place that was taken back, below the last"),
        pytest.param(at(2, 3), "", True, id="a ring from before there were lives"),
        pytest.param(at(2, 4), "life", False, id="a version that it has not reached"),
        pytest.param(at(3, 1), "life", False, id="a round that it has not reached"),
        pytest.param(at(2, 3), "other", False, id="another life"),
    ],
)
def test_a_ring_counts_if_it_is_of_this_life_and_of_a_place_that_was_reached(
    position: Position, life: str, knows: bool
) -> None:
    rung = RungTurn(
        position=position, turn_id="t", scenario_id="default", subscription_category=None, life=life
    )
    assert HEAD.knows(rung) is knows


@pytest.mark.parametrize("life", ["", "life"])
def test_no_ring_counts_before_the_first_turn(life: str) -> None:
    rung = RungTurn(
        position=at(1, 1), turn_id="t", scenario_id="default", subscription_category=None, life=life
    )
    assert not TurnHead().knows(rung)
