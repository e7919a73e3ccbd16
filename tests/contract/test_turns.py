"""The turns of a conversation as they are stored, on each of the three stores."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memoir.domain.scope import Scope
from memoir.domain.turn_place import Lookup, Placement, place_turn
from memoir.domain.turns import (
    START,
    KnownTurn,
    NewTurn,
    Position,
    Turn,
    TurnHead,
)
from memoir.errors import RecordCorrupt
from memoir.ports.records import Amend, Refused
from memoir.records.turns import (
    cursor_key,
    head_key,
    head_write,
    newest_first,
    pass_write,
    read_cursor,
    read_head,
    read_known,
    read_turn,
    rounds_between,
    turn_id_key,
    turn_key,
    turn_writes,
    turns_since,
)
from tests.contract.conftest import Store

SCOPE = Scope(product="p", user="u", conversation="c")

Add = Callable[..., Turn]


def head(store: Store) -> TurnHead:
    key = head_key(SCOPE)
    return read_head(store.records.read(key).get(key))


def known(store: Store, *turn_ids: str) -> dict[str, KnownTurn]:
    keys = {turn_id: turn_id_key(SCOPE, turn_id) for turn_id in turn_ids}
    found = store.records.read(*keys.values())
    return {turn_id: read_known(found[key]) for turn_id, key in keys.items() if key in found}


def page(store: Store, *, before_round: int, limit: int) -> list[Turn]:
    steps = newest_first(store.records, SCOPE, before_round=before_round, limit=limit)
    return [read_turn(*named) for named, _ in zip(steps, range(limit), strict=False)]


def since(store: Store, *, after: Position) -> list[str]:
    steps = turns_since(store.records, SCOPE, after=after, head=head(store), page=2)
    return [read_turn(*named).turn_id for named in steps]


def place(store: Store, turn_id: str, **members: object) -> tuple[Turn, Placement]:
    new = NewTurn(turn_id=turn_id, user_text=f"用户 {turn_id}", assistant_text=f"回答 {turn_id}", **members)  # type: ignore[arg-type]
    wanted = tuple({name for name in (turn_id, new.replaces) if name})
    found = place_turn(new, Lookup(head=head(store), known=known(store, *wanted)), life="life")
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
        follows=found.before.last,
    )
    return turn, found


def keep(store: Store, turn: Turn, placement: Placement, replaces: str | None = None) -> None:
    store.records.write(*turn_writes(SCOPE, turn, placement, replaces=replaces))


def accept(store: Store, turn_round: int) -> None:
    before = head(store)
    store.records.write(head_write(SCOPE, before, replace(before, accepted_through=turn_round)))


@pytest.fixture
def add(store: Store) -> Add:
    def run(turn_id: str, **members: str) -> Turn:
        turn, placement = place(store, turn_id, **members)
        keep(store, turn, placement, members.get("replaces"))
        return turn

    return run


def test_a_conversation_without_turns_stands_at_the_start(store: Store) -> None:
    assert head(store) == TurnHead()
    assert known(store, "a") == {}
    assert page(store, before_round=9, limit=10) == []


def test_what_was_added_comes_back_whole(store: Store, add: Add) -> None:
    turn = add("a")
    assert page(store, before_round=2, limit=10) == [turn]
    assert since(store, after=START) == ["a"]
    assert known(store, "a", "b") == {
        "a": KnownTurn(
            position=Position(round=1, version=1),
            text_hash=turn.text_hash,
            scenario_id="default",
            subscription_category="plus",
        )
    }
    assert head(store) == TurnHead(
        last=turn.position, last_turn_id="a", life="life", top=1, scenario_id="default"
    )


@pytest.mark.parametrize(
    ("user", "assistant"),
    [("", ""), ("1:2", "3:"), ("\u0000\n", '"}'), ("中😀", ""), ("", "x" * 131_072), ("长" * 43_690,) * 2],
)
def test_texts_come_back_as_they_came(store: Store, user: str, assistant: str) -> None:
    turn, placement = place(store, "a")
    turn = replace(turn, user_text=user, assistant_text=assistant)
    keep(store, turn, placement)
    assert page(store, before_round=2, limit=1) == [turn]


def test_a_turn_placed_by_an_old_head_is_refused_and_nothing_is_written(store: Store, add: Add) -> None:
    late = place(store, "late")
    add("first")
    with pytest.raises(Refused):
        keep(store, *late)
    assert known(store, "late") == {}
    assert since(store, after=START) == ["first"]


def test_a_turn_whose_id_another_has_taken_is_refused(store: Store, add: Add) -> None:
    add("a")
    turn, placement = place(store, "b")
    with pytest.raises(Refused) as refused:
        keep(store, replace(turn, turn_id="a"), placement)
    assert set(refused.value.held) == {"turn_id"}
    assert since(store, after=START) == ["a"]


def test_a_regenerated_reply_marks_the_one_it_replaces(store: Store, add: Add) -> None:
    add("a")
    add("a2", replaces="a")
    found = known(store, "a", "a2")
    assert [found[name].superseded for name in ("a", "a2")] == [True, False]
    assert [found[name].replaces for name in ("a", "a2")] == [None, "a"]
    assert [turn.turn_id for turn in page(store, before_round=9, limit=10)] == ["a2"]
    assert since(store, after=START) == ["a", "a2"]


def test_since_begins_behind_the_given_place(store: Store, add: Add) -> None:
    add("a")
    add("b")
    add("b2", replaces="b")
    add("c")
    assert since(store, after=Position(round=1, version=1)) == ["b", "b2", "c"]
    assert since(store, after=Position(round=2, version=1)) == ["b2", "c"]
    assert since(store, after=Position(round=2, version=2)) == ["c"]


def test_rounds_between_are_the_newest_versions(store: Store, add: Add) -> None:
    for number in range(1, 12):
        add(f"t{number}")
    add("t11b", replaces="t11")
    found = rounds_between(store.records, SCOPE, first=9, last=11)
    assert [read_turn(*named).turn_id for named in found.values()] == ["t9", "t10", "t11b"]


def test_round_ten_comes_after_round_nine(store: Store, add: Add) -> None:
    for number in range(1, 12):
        add(f"t{number}")
    assert [turn.position.round for turn in page(store, before_round=11, limit=3)] == [10, 9, 8]


def test_an_acceptance_between_look_and_add_is_not_lost(store: Store, add: Add) -> None:
    add("a")
    late = place(store, "b")
    accept(store, 1)
    with pytest.raises(Refused):
        keep(store, *late)
    assert head(store).accepted_through == 1


def test_an_acceptance_that_saw_another_head_is_refused(store: Store, add: Add) -> None:
    add("a")
    before = head(store)
    add("a2", replaces="a")
    with pytest.raises(Refused):
        store.records.write(head_write(SCOPE, before, replace(before, accepted_through=1)))
    assert head(store).accepted_through == 0


def test_conversations_do_not_see_each_other(store: Store, add: Add) -> None:
    add("a")
    other = Scope(product="p", user="u", conversation="d")
    assert list(newest_first(store.records, other, before_round=9, limit=10)) == []
    assert store.records.read(turn_id_key(other, "a"), head_key(other)) == {}


def test_ids_with_separators_do_not_meet(store: Store, add: Add) -> None:
    add("a#b")
    assert known(store, "a", "a%23b") == {}
    assert set(known(store, "a#b")) == {"a#b"}


def test_a_cursor_moves_on_and_never_back(store: Store) -> None:
    key = cursor_key(SCOPE, "table")
    second, third = Position(round=2, version=1), Position(round=3, version=1)
    store.records.write(pass_write(key, third, generation=0))
    for place_of in (second, third):
        with pytest.raises(Refused):
            store.records.write(pass_write(key, place_of, generation=0))
    assert read_cursor(store.records.read(key).get(key)) == third
    store.records.write(pass_write(key, Position(round=3, version=2), generation=0))
    assert read_cursor(store.records.read(key).get(key)) == Position(round=3, version=2)


def test_a_cursor_of_another_generation_does_not_move(store: Store) -> None:
    key = cursor_key(SCOPE, "table")
    store.records.write(Amend(key=key, facts={"place": "0000000001#000001", "generation": 1}))
    with pytest.raises(Refused):
        store.records.write(pass_write(key, Position(round=9, version=1), generation=0))
    store.records.write(pass_write(key, Position(round=9, version=1), generation=1))
    assert read_cursor(store.records.read(key).get(key)) == Position(round=9, version=1)


def test_what_is_stored_of_turns_and_broken_is_corrupt(store: Store, add: Add) -> None:
    turn = add("a")
    for key, facts in (
        (head_key(SCOPE), {"last_position": "x"}),
        (head_key(SCOPE), {"last_position": ""}),
        (head_key(SCOPE), {"accepted_through": "1"}),
    ):
        store.records.write(Amend(key=key, facts=facts))
        with pytest.raises(RecordCorrupt):
            head(store)
    store.records.write(Amend(key=turn_id_key(SCOPE, "a"), facts={"place": "1"}))
    with pytest.raises(RecordCorrupt):
        known(store, "a")
    key = turn_key(SCOPE, turn.position)
    for body in ("", "x", "9:short", ":"):
        store.records.write(Amend(key=key, body=body))
        with pytest.raises(RecordCorrupt):
            page(store, before_round=2, limit=1)
    cursor = cursor_key(SCOPE, "table")
    store.records.write(Amend(key=cursor, facts={"place": "soon"}))
    with pytest.raises(RecordCorrupt):
        read_cursor(store.records.read(cursor).get(cursor))
