from dataclasses import replace

import pytest

from memoir.domain.turns import Position, Turn
from memoir.errors import DoorbellFailed, NotFound, RoundClosed, StoreUnavailable, TurnConflict
from memoir.ports.records import Amend, Put, Record, RecordKey, Refused
from memoir.records.turns import rounds_between, turn_key
from memoir.usecases.conversations import list_conversations
from memoir.usecases.list_turns import list_turns
from tests.conversation import NOVEMBER, SCOPE, Conversation
from tests.fakes.records import once


@pytest.fixture
def conversation() -> Conversation:
    return Conversation()


def stored(conversation: Conversation) -> list[Turn]:
    """Return the newest version of each round."""
    return list(list_turns(conversation.engine, scope=SCOPE, before=None, limit=100).turns[::-1])


def lose_races(conversation: Conversation, times: int) -> None:
    """Let so many of the next writes find that another came first."""
    left = list(range(times))

    def refuse(*_: object) -> None:
        if left:
            left.pop()
            raise Refused({"head": None})

    conversation.records.before_write = refuse


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
    assert len(stored(conversation)) == 1


def test_another_text_under_a_known_turn_id_is_refused_and_stores_nothing(conversation: Conversation) -> None:
    conversation.record("a", "one")
    with pytest.raises(TurnConflict) as refusal:
        conversation.record("a", "two")
    assert refusal.value.facts() == {"turn_id": "a", "round": 1}
    assert [turn.assistant_text for turn in stored(conversation)] == ["one"]


def test_a_regenerated_reply_takes_the_round_as_its_next_version(conversation: Conversation) -> None:
    conversation.record("a")
    assert conversation.record("a2", "other", replaces="a").round == 1
    assert conversation.head().last == Position(round=1, version=2)
    assert conversation.listed() == [("a2", 1)]


def test_a_reply_regenerated_again_may_name_either_version(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.record("a2", "2", replaces="a")
    conversation.record("a3", "3", replaces="a")
    conversation.record("a4", "4", replaces="a3")
    assert conversation.listed() == [("a4", 1)]
    assert conversation.head().last == Position(round=1, version=4)


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
    lose_races(conversation, 4)
    assert conversation.record("a").round == 1


def test_a_turn_that_loses_every_race_says_so_and_rings_nobody(conversation: Conversation) -> None:
    lose_races(conversation, 5)
    with pytest.raises(StoreUnavailable):
        conversation.record("a")
    assert conversation.doorbell.rings == []


def test_accepting_a_turn_accepts_what_led_to_it_and_rings(conversation: Conversation) -> None:
    for turn_id in "abc":
        conversation.record(turn_id)
    conversation.doorbell.rings.clear()
    accepted = conversation.accept("b")
    assert (accepted.round, accepted.duplicate) == (2, False)
    head = conversation.head()
    assert [head.status_of(turn_round) for turn_round in (1, 2, 3)] == ["accepted", "accepted", "completed"]
    assert len(conversation.doorbell.rings) == 1


def test_accepting_again_changes_nothing_and_rings_again(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.accept("a")
    assert conversation.accept("a").duplicate
    assert conversation.head().accepted_through == 1


def test_a_replaced_turn_cannot_be_accepted(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.record("a2", "other", replaces="a")
    with pytest.raises(RoundClosed):
        conversation.accept("a")
    assert conversation.head().accepted_through == 0


def test_an_unknown_turn_cannot_be_accepted(conversation: Conversation) -> None:
    with pytest.raises(NotFound):
        conversation.accept("nothing")


def test_a_regenerated_reply_is_not_accepted_because_the_old_one_was(conversation: Conversation) -> None:
    conversation.record("a", accepted=True)
    conversation.record("b", accepted=True)
    conversation.record("b2", "other", replaces="b")
    assert conversation.head().accepted_through == 1


def test_the_table_revision_current_at_storing_counts_unless_the_host_names_one(
    conversation: Conversation,
) -> None:
    table = RecordKey(owner=SCOPE, kind="table")
    conversation.records.write(Put(key=table, record=Record(facts={"revision": 7})))
    conversation.record("a")
    conversation.record("b", table_revision=5)
    assert [turn.table_revision for turn in stored(conversation)] == [7, 5]


def test_pages_go_backwards_and_end(conversation: Conversation) -> None:
    for number in range(5):
        conversation.record(f"t{number + 1}")
    page = list_turns(conversation.engine, scope=SCOPE, before=None, limit=2)
    assert [turn.turn_id for turn in page.turns] == ["t5", "t4"]
    assert page.next_before == 4
    assert conversation.listed(before=4, limit=3) == [("t3", 3), ("t2", 2), ("t1", 1)]
    last = list_turns(conversation.engine, scope=SCOPE, before=4, limit=3)
    assert last.next_before is None


def test_a_page_that_is_exactly_full_has_no_next(conversation: Conversation) -> None:
    for number in range(4):
        conversation.record(f"t{number + 1}")
    assert list_turns(conversation.engine, scope=SCOPE, before=None, limit=4).next_before is None
    page = list_turns(conversation.engine, scope=SCOPE, before=None, limit=2)
    assert page.next_before == 3
    last = list_turns(conversation.engine, scope=SCOPE, before=page.next_before, limit=2)
    assert ([turn.turn_id for turn in last.turns], last.next_before) == (["t2", "t1"], None)


def test_a_page_counts_rounds_and_not_their_versions(conversation: Conversation) -> None:
    conversation.record("a")
    for number in range(5):
        conversation.record(f"b{number}", str(number), replaces=f"b{number - 1}" if number else None)
    conversation.record("c")
    page = list_turns(conversation.engine, scope=SCOPE, before=None, limit=2)
    assert ([turn.turn_id for turn in page.turns], page.next_before) == (["c", "b4"], 2)
    assert conversation.listed(before=2) == [("a", 1)]


def test_large_texts_end_a_page_before_its_limit_and_nothing_is_left_out(conversation: Conversation) -> None:
    for number in range(20):
        conversation.record(f"t{number + 1}", "长" * 43_000, user_text="长" * 43_000)
    found: list[int] = []
    before, pages = None, 0
    while pages == 0 or before is not None:
        page = list_turns(conversation.engine, scope=SCOPE, before=before, limit=100)
        found += [turn.position.round for turn in page.turns]
        before, pages = page.next_before, pages + 1
    assert found == list(range(20, 0, -1))
    assert pages > 1


def unreadable(conversation: Conversation, turn_round: int) -> None:
    key = turn_key(SCOPE, Position(round=turn_round, version=1))
    conversation.records.write(Amend(key=key, body="broken"))


def test_a_turn_that_cannot_be_read_hides_no_other_and_is_named(conversation: Conversation) -> None:
    for turn_id in "abc":
        conversation.record(turn_id)
    unreadable(conversation, 2)
    page = list_turns(conversation.engine, scope=SCOPE, before=None, limit=20)
    assert ([turn.turn_id for turn in page.turns], page.unreadable) == (["c", "a"], (2,))
    first = list_turns(conversation.engine, scope=SCOPE, before=None, limit=2)
    assert (first.unreadable, first.next_before) == ((2,), 2)
    assert conversation.listed(before=2) == [("a", 1)]


def test_a_turn_after_one_that_cannot_be_read_is_taken(conversation: Conversation) -> None:
    conversation.record("a")
    unreadable(conversation, 1)
    assert conversation.record("b").round == 2
    assert conversation.record("a").duplicate


def test_a_text_that_its_user_never_saw_is_not_accepted(conversation: Conversation) -> None:
    conversation.record("a")
    replaced = once(lambda: conversation.record("a2", "other", replaces="a"))
    conversation.records.after_read = replaced
    with pytest.raises(RoundClosed):
        conversation.accept("a")
    assert conversation.head().accepted_through == 0


def test_a_turn_that_comes_while_one_is_accepted_is_no_matter(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.records.after_read = once(lambda: conversation.record("b"))
    assert conversation.accept("a").round == 1
    assert (conversation.head().accepted_through, conversation.head().last.round) == (1, 2)


def test_two_acceptances_at_once_leave_the_further_one(conversation: Conversation) -> None:
    for turn_id in "abc":
        conversation.record(turn_id)
    conversation.records.after_read = once(lambda: conversation.accept("c"))
    conversation.accept("a")
    assert conversation.head().accepted_through == 3


def test_a_turn_sent_again_as_accepted_is_accepted(conversation: Conversation) -> None:
    conversation.record("a")
    assert conversation.record("a", accepted=True).duplicate
    assert conversation.head().accepted_through == 1
    conversation.record("b")
    assert conversation.record("b").duplicate
    assert conversation.head().accepted_through == 1


def test_a_replaced_turn_sent_again_as_accepted_stays_as_it_is(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.record("a2", "other", replaces="a")
    assert conversation.record("a", accepted=True).duplicate
    assert conversation.head().accepted_through == 0


def test_a_known_turn_that_says_to_replace_another_one_is_refused(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.record("a2", "other", replaces="a")
    for replaces in (None, "a2"):
        with pytest.raises(TurnConflict) as refusal:
            conversation.record("a2", "other", replaces=replaces)
        assert "replaced turn" in refusal.value.detail
    assert conversation.record("a2", "other", replaces="a").duplicate


def test_a_new_version_keeps_the_old_one(conversation: Conversation) -> None:
    conversation.record("a", "old")
    conversation.record("a2", "new", replaces="a")
    found = rounds_between(conversation.records, SCOPE, first=1, last=1)
    assert [record.text("turn_id") for _, record in found.values()] == ["a2"]
    assert conversation.records.read(turn_key(SCOPE, Position(round=1, version=1))) != {}


def test_a_turn_tells_what_it_follows_and_when_it_came(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.record("a2", "other", replaces="a")
    conversation.record("b")
    first, second = stored(conversation)
    assert first.follows == Position(round=1, version=1)
    assert second.follows == Position(round=1, version=2)
    assert second.recorded_at == "2026-11-01T02:26:40Z"


def test_the_first_turn_registers_its_conversation_once(conversation: Conversation) -> None:
    conversation.record("a")
    conversation.now += 60
    conversation.record("b")
    listed, _ = list_conversations(conversation.engine, owner=SCOPE.owner, before=None, limit=9)
    assert listed == (("c", int(NOVEMBER * 1000), 2),)
