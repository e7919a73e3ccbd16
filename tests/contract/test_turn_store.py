"""The TurnStore port: one suite against the fake and the DynamoDB adapter."""

from collections.abc import Callable

import pytest

from memoir.adapters.turn_store import DynamoDbTurnStore
from memoir.domain.scope import Scope
from memoir.domain.turns import START, KnownTurn, NewTurn, Placement, Position, Turn, place_turn
from memoir.ports import TurnRace, TurnStore
from tests.fakes.turns import InMemoryTurnStore
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c")


@pytest.fixture(params=["fake", "moto", "dynamodb_local"])
def store(request: pytest.FixtureRequest) -> TurnStore:
    if request.param == "fake":
        return InMemoryTurnStore()
    fixture = "moto_client" if request.param == "moto" else "dynamodb_local_client"
    return DynamoDbTurnStore(client=request.getfixturevalue(fixture), table_name=TABLE_NAME)


def place(store: TurnStore, turn_id: str, **members: object) -> tuple[Turn, Placement]:
    new = NewTurn(turn_id=turn_id, user_text=f"用户 {turn_id}", assistant_text=f"回答 {turn_id}", **members)
    wanted = tuple(name for name in (turn_id, new.replaces) if name)
    found = place_turn(new, store.look_up(SCOPE, turn_ids=wanted))
    assert isinstance(found, Placement)
    turn = Turn(
        position=found.position,
        turn_id=turn_id,
        user_text=new.user_text,
        assistant_text=new.assistant_text,
        scenario_id="default",
        subscription_category="plus",
        table_revision=3,
        recorded_at="2026-01-02T03:04:05Z",
    )
    return turn, found


@pytest.fixture
def add(store: TurnStore) -> Callable[..., Turn]:
    def run(turn_id: str, **members: object) -> Turn:
        turn, placement = place(store, turn_id, **members)
        store.add(SCOPE, turn, placement=placement)
        return turn

    return run


def test_a_conversation_without_turns_stands_at_the_start(store: TurnStore) -> None:
    assert store.head(SCOPE).last == START
    lookup = store.look_up(SCOPE, turn_ids=("a",))
    assert (lookup.head.last, lookup.known, lookup.table_revision) == (START, {}, 0)


def test_what_was_added_comes_back_whole(store: TurnStore, add: Callable[..., Turn]) -> None:
    turn = add("a")
    assert store.page(SCOPE, before_round=2, limit=10) == (turn,)
    assert store.since(SCOPE, after=START, limit=10) == (turn,)
    assert store.look_up(SCOPE, turn_ids=("a", "b")).known == {
        "a": KnownTurn(
            position=Position(round=1, version=1),
            text_hash=turn.text_hash,
            scenario_id="default",
            subscription_category="plus",
        )
    }


def test_a_turn_placed_by_an_old_head_is_refused_and_nothing_is_written(
    store: TurnStore, add: Callable[..., Turn]
) -> None:
    turn, placement = place(store, "late")
    add("first")
    with pytest.raises(TurnRace):
        store.add(SCOPE, turn, placement=placement)
    assert store.look_up(SCOPE, turn_ids=("late",)).known == {}
    assert [kept.turn_id for kept in store.since(SCOPE, after=START, limit=10)] == ["first"]


def test_a_regenerated_reply_marks_the_one_it_replaces(store: TurnStore, add: Callable[..., Turn]) -> None:
    add("a")
    add("a2", replaces="a")
    known = store.look_up(SCOPE, turn_ids=("a", "a2")).known
    assert [known[name].superseded for name in ("a", "a2")] == [True, False]
    assert [turn.turn_id for turn in store.page(SCOPE, before_round=9, limit=10)] == ["a2"]
    assert [turn.turn_id for turn in store.since(SCOPE, after=START, limit=10)] == ["a", "a2"]


def test_since_begins_behind_the_given_place(store: TurnStore, add: Callable[..., Turn]) -> None:
    add("a")
    add("b")
    add("b2", replaces="b")
    first, second = Position(round=1, version=1), Position(round=2, version=1)
    assert [turn.turn_id for turn in store.since(SCOPE, after=first, limit=10)] == ["b", "b2"]
    assert [turn.turn_id for turn in store.since(SCOPE, after=second, limit=10)] == ["b2"]
    assert [turn.turn_id for turn in store.since(SCOPE, after=first, limit=1)] == ["b"]


def test_round_ten_comes_after_round_nine(store: TurnStore, add: Callable[..., Turn]) -> None:
    for number in range(1, 12):
        add(f"t{number}")
    assert [turn.position.round for turn in store.page(SCOPE, before_round=11, limit=3)] == [10, 9, 8]


def test_accepting_moves_up_and_never_back(store: TurnStore, add: Callable[..., Turn]) -> None:
    for turn_id in "abc":
        add(turn_id)
    store.accept(SCOPE, turn_id="b", turn_round=2)
    store.accept(SCOPE, turn_id="a", turn_round=1)
    assert store.head(SCOPE).accepted_through == 2


def test_an_acceptance_between_look_and_add_is_not_lost(store: TurnStore, add: Callable[..., Turn]) -> None:
    add("a")
    turn, placement = place(store, "b")
    store.accept(SCOPE, turn_id="a", turn_round=1)
    with pytest.raises(TurnRace):
        store.add(SCOPE, turn, placement=placement)


def test_conversations_do_not_see_each_other(store: TurnStore, add: Callable[..., Turn]) -> None:
    add("a")
    other = Scope(product="p", user="u", conversation="d")
    assert store.page(other, before_round=9, limit=10) == ()
    assert store.look_up(other, turn_ids=("a",)).known == {}


def test_ids_with_separators_do_not_meet(store: TurnStore, add: Callable[..., Turn]) -> None:
    add("a#b")
    assert store.look_up(SCOPE, turn_ids=("a", "a%23b")).known == {}
    assert set(store.look_up(SCOPE, turn_ids=("a#b",)).known) == {"a#b"}
