from dataclasses import replace

import pytest

from memoir.domain.scope import Scope
from memoir.domain.turns import NewTurn, Position
from memoir.errors import DoorbellFailed, NotFound, RoundClosed, StoreUnavailable, TurnConflict
from memoir.usecases.turns import Recorded, accept_turn, list_turns, record_turn
from tests.fakes.turns import InMemoryTurnStore, RecordingDoorbell

SCOPE = Scope(product="p", user="u", conversation="c")


class Conversation:
    """One conversation over fakes."""

    def __init__(self) -> None:
        self.turns = InMemoryTurnStore()
        self.doorbell = RecordingDoorbell()

    def record(self, turn_id: str, text: str = "text", **members: object) -> Recorded:
        new = NewTurn(turn_id=turn_id, user_text="hello", assistant_text=text, **members)
        return record_turn(turns=self.turns, doorbell=self.doorbell, clock=lambda: 0.0, scope=SCOPE, new=new)

    def accept(self, turn_id: str) -> Recorded:
        return accept_turn(turns=self.turns, doorbell=self.doorbell, scope=SCOPE, turn_id=turn_id)

    def listed(self, *, before: int | None = None, limit: int = 20) -> list[tuple[str, int]]:
        page = list_turns(turns=self.turns, scope=SCOPE, before=before, limit=limit)
        return [(turn.turn_id, turn.position.round) for turn in page.turns]


@pytest.fixture
def conversation() -> Conversation:
    return Conversation()


def test_turns_are_numbered_from_one_in_the_order_they_come(conversation: Conversation) -> None:
    assert [conversation.record(turn_id).round for turn_id in "abc"] == [1, 2, 3]


def test_a_new_turn_rings_each_worker_of_its_scenario_once(conversation: Conversation) -> None:
    recorded = conversation.record("a")
    assert recorded.scheduled == ("table", "diary")
    assert conversation.doorbell.rings == [(SCOPE, ("table", "diary"), Position(round=1, version=1))]


def test_the_same_turn_again_has_the_same_round_and_rings_again(conversation: Conversation) -> None:
    first, second = conversation.record("a"), conversation.record("a")
    assert second == replace(first, duplicate=True)
    assert len(conversation.doorbell.rings) == 2
    assert len(conversation.turns.turns[SCOPE]) == 1


def test_another_text_under_a_known_turn_id_is_refused_and_stores_nothing(conversation: Conversation) -> None:
    conversation.record("a", "one")
    with pytest.raises(TurnConflict) as refusal:
        conversation.record("a", "two")
    assert refusal.value.facts() == {"turn_id": "a", "round": 1}
    assert [turn.assistant_text for turn in conversation.turns.turns[SCOPE]] == ["one"]


def test_a_regenerated_reply_takes_the_round_as_its_next_version(conversation: Conversation) -> None:
    conversation.record("a")
    assert conversation.record("a2", "other", replaces="a").round == 1
    assert conversation.turns.head(SCOPE).last == Position(round=1, version=2)
    assert conversation.listed() == [("a2", 1)]


def test_a_reply_regenerated_again_may_name_either_version(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.record("a2", "2", replaces="a")
    conversation.record("a3", "3", replaces="a")
    conversation.record("a4", "4", replaces="a3")
    assert conversation.listed() == [("a4", 1)]
    assert conversation.turns.head(SCOPE).last == Position(round=1, version=4)


def test_a_reply_that_a_later_round_follows_cannot_be_regenerated(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.record("b")
    with pytest.raises(RoundClosed) as refusal:
        conversation.record("a2", "other", replaces="a")
    assert refusal.value.last_round == 2
    assert conversation.listed() == [("b", 2), ("a", 1)]


def test_replacing_an_unknown_turn_is_refused(conversation: Conversation) -> None:
    with pytest.raises(NotFound):
        conversation.record("a", replaces="nothing")
    assert conversation.listed() == []


def test_an_unknown_scenario_is_refused_before_anything_is_stored(conversation: Conversation) -> None:
    with pytest.raises(NotFound):
        conversation.record("a", scenario_id="nothing")
    assert conversation.listed() == []
    assert conversation.doorbell.rings == []


def test_a_turn_whose_ring_failed_is_stored_and_rings_when_it_is_sent_again(
    conversation: Conversation,
) -> None:
    conversation.doorbell.broken = True
    with pytest.raises(DoorbellFailed) as failure:
        conversation.record("a")
    assert failure.value.round == 1
    assert conversation.listed() == [("a", 1)]
    conversation.doorbell.broken = False
    assert conversation.record("a").duplicate
    assert len(conversation.doorbell.rings) == 1


def test_a_turn_that_loses_a_race_looks_again(conversation: Conversation) -> None:
    conversation.turns.races = 4
    assert conversation.record("a").round == 1


def test_a_turn_that_loses_every_race_says_so_and_rings_nobody(conversation: Conversation) -> None:
    conversation.turns.races = 5
    with pytest.raises(StoreUnavailable):
        conversation.record("a")
    assert conversation.doorbell.rings == []


def test_accepting_a_turn_accepts_what_led_to_it_and_rings(conversation: Conversation) -> None:
    for turn_id in "abc":
        conversation.record(turn_id)
    conversation.doorbell.rings.clear()
    accepted = conversation.accept("b")
    assert (accepted.round, accepted.duplicate) == (2, False)
    head = conversation.turns.head(SCOPE)
    assert [head.status_of(turn_round) for turn_round in (1, 2, 3)] == ["accepted", "accepted", "completed"]
    assert len(conversation.doorbell.rings) == 1


def test_accepting_again_changes_nothing_and_rings_again(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.accept("a")
    assert conversation.accept("a").duplicate
    assert conversation.turns.head(SCOPE).accepted_through == 1


def test_a_replaced_turn_cannot_be_accepted(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.record("a2", "other", replaces="a")
    with pytest.raises(RoundClosed):
        conversation.accept("a")
    assert conversation.turns.head(SCOPE).accepted_through == 0


def test_an_unknown_turn_cannot_be_accepted(conversation: Conversation) -> None:
    with pytest.raises(NotFound):
        conversation.accept("nothing")


def test_a_regenerated_reply_is_not_accepted_because_the_old_one_was(conversation: Conversation) -> None:
    conversation.record("a", accepted=True)
    conversation.record("b", accepted=True)
    conversation.record("b2", "other", replaces="b")
    assert conversation.turns.head(SCOPE).accepted_through == 1


def test_the_table_revision_current_at_storing_counts_unless_the_host_names_one(
    conversation: Conversation,
) -> None:
    conversation.turns.table_revision = 7
    conversation.record("a")
    conversation.record("b", table_revision=5)
    assert [turn.table_revision for turn in conversation.turns.turns[SCOPE]] == [7, 5]


def test_pages_go_backwards_and_end(conversation: Conversation) -> None:
    for number in range(5):
        conversation.record(f"t{number + 1}")
    page = list_turns(turns=conversation.turns, scope=SCOPE, before=None, limit=2)
    assert [turn.turn_id for turn in page.turns] == ["t5", "t4"]
    assert page.next_before == 4
    assert conversation.listed(before=4, limit=3) == [("t3", 3), ("t2", 2), ("t1", 1)]
    last = list_turns(turns=conversation.turns, scope=SCOPE, before=4, limit=3)
    assert last.next_before is None
