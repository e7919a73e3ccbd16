"""The table's worker on real stores: shuffled, double, lost messages, crashes, two at once, broken tables.

After each fault the table is that of a run without faults, and each turn has counted once.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from memoir.domain.turns import Position, RungTurn
from memoir.errors import MemoirError, RecordCorrupt, RevisionConflict, StoreUnavailable
from memoir.ports.records import Amend, Write
from memoir.records.turns import turn_key
from tests.conversation import SCOPE, Conversation, insert
from tests.fakes.doorbell import RecordingBus
from tests.fakes.records import nothing, once
from tests.tables import TABLE_NAME

TABLE = {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "D#table"}}


def told(conversation: Conversation) -> list[tuple[int, str, str]]:
    return [(receipt.position.round, receipt.outcome, receipt.reason) for receipt in conversation.told()]


def item(conversation: Conversation) -> dict[str, Any]:
    found: dict[str, Any] = conversation.client.get_item(TableName=TABLE_NAME, Key=TABLE)["Item"]
    return found


@pytest.fixture(params=["moto", "dynamodb_local"])
def conversation(request: pytest.FixtureRequest) -> Conversation:
    fixture = "moto_client" if request.param == "moto" else "dynamodb_local_client"
    found = Conversation(request.getfixturevalue(fixture))
    found.set_sheets()
    return found


def test_a_turn_with_edits_is_one_read_and_one_write(conversation: Conversation) -> None:
    rung = conversation.say_day(1)
    conversation.requests.clear()
    conversation.edit(rung)
    assert conversation.requests == ["BatchGetItem", "TransactWriteItems"]
    assert (conversation.days(), conversation.table_at()) == (["d1"], (2, 1))


def test_a_turn_without_edits_moves_the_cursor_and_does_not_write_the_document(
    conversation: Conversation,
) -> None:
    rung = conversation.say(1, "她点头。")
    before = item(conversation)
    conversation.requests.clear()
    conversation.edit(rung)
    assert conversation.requests == ["BatchGetItem", "TransactWriteItems"]
    assert conversation.table_at() == (1, 1)
    assert item(conversation) == before
    assert told(conversation) == [(1, "skipped", "no_block")]


def test_a_long_conversation_costs_a_turn_no_more_than_a_short_one(conversation: Conversation) -> None:
    for number in range(1, 60):
        conversation.edit(conversation.say(number, "她点头。"))
    rung = conversation.say_day(60)
    conversation.requests.clear()
    conversation.edit(rung)
    assert conversation.requests == ["BatchGetItem", "TransactWriteItems"]


def test_messages_thrice_shuffled_and_some_never_count_each_turn_once(conversation: Conversation) -> None:
    rungs = [conversation.say_day(number) for number in range(1, 9)]
    delivered = [rung for rung in rungs if rung.position.round not in (3, 6)] * 3
    random.Random(7).shuffle(delivered)
    for rung in delivered:
        conversation.edit(rung)
    assert conversation.days() == [f"d{number}" for number in range(1, 9)]
    assert conversation.table_at() == (9, 8)
    assert told(conversation) == [(number, "ok", "saved") for number in range(8, 0, -1)]


def test_a_worker_killed_after_its_write_and_before_its_answer_changes_nothing(
    conversation: Conversation,
) -> None:
    rung = conversation.say_day(1)
    conversation.edit(rung)  # killed here: the message was not deleted, and comes again
    conversation.edit(rung)
    assert (conversation.days(), conversation.table_at()) == (["d1"], (2, 1))
    assert len(told(conversation)) == 1


def test_a_turn_whose_message_was_lost_is_applied_with_the_next(conversation: Conversation) -> None:
    conversation.say_day(1)
    conversation.edit(conversation.say_day(2))
    assert conversation.days() == ["d1", "d2"]


def test_a_hosts_edit_between_read_and_write_is_kept_and_the_turn_applied_again(
    conversation: Conversation,
) -> None:
    rung = conversation.say_day(1)
    conversation.records.after_read = once(lambda: conversation.set_rows(1, [["host", "x"]]))
    conversation.edit(rung)
    assert conversation.days() == ["host", "d1"]
    assert conversation.table_at() == (3, 1)


def test_a_worker_that_was_overtaken_applies_nothing_again(conversation: Conversation) -> None:
    rungs = [conversation.say_day(number) for number in range(1, 4)]
    conversation.records.after_read = once(lambda: conversation.edit(rungs[-1]))
    conversation.edit(rungs[0])
    assert conversation.days() == ["d1", "d2", "d3"]
    assert conversation.table_at() == (4, 3)


def test_a_second_conflict_is_told_as_failed_and_comes_again(conversation: Conversation) -> None:
    rung = conversation.say_day(1)
    rows: list[list[str]] = []

    def move_first(*_: Write) -> None:
        if len(rows) < 2:
            rows.append([f"host{len(rows) + 1}", "x"])
            conversation.set_rows(len(rows), rows)

    conversation.records.before_write = move_first
    with pytest.raises(RevisionConflict):
        conversation.edit(rung)
    assert told(conversation) == [(1, "failed", "revision_conflict")]
    assert conversation.days() == ["host1", "host2"]
    conversation.records.before_write = nothing
    conversation.edit(rung)
    assert told(conversation) == [(1, "ok", "saved")]
    assert conversation.days() == ["host1", "host2", "d1"]


def test_a_corrupt_table_is_an_error_told_in_a_receipt_and_kept(conversation: Conversation) -> None:
    rung = conversation.say_day(1)
    whole = item(conversation)
    broken = {**whole, "body": {"S": '{"table":{"sheets":7}}'}}
    conversation.client.put_item(TableName=TABLE_NAME, Item=broken)
    with pytest.raises(RecordCorrupt):
        conversation.edit(rung)
    assert told(conversation) == [(1, "failed", "record_corrupt")]
    assert item(conversation) == broken
    conversation.client.put_item(TableName=TABLE_NAME, Item=whole)
    conversation.edit(rung)
    assert conversation.days() == ["d1"]


def test_a_regenerated_reply_takes_the_place_of_the_old_ones_effect(conversation: Conversation) -> None:
    conversation.edit(conversation.say_day(1))
    again = conversation.say(1, insert("new"), turn_id="t1b", replaces="t1")
    conversation.edit(again)
    assert (conversation.days(), conversation.table_at()) == (["new"], (3, 1))


def test_a_reply_that_was_regenerated_before_it_was_applied_never_is(conversation: Conversation) -> None:
    first = conversation.say_day(1)
    again = conversation.say(1, insert("new"), turn_id="t1b", replaces="t1")
    for rung in (first, again, first):
        conversation.edit(rung)
    assert conversation.days() == ["new"]
    assert told(conversation) == [(1, "ok", "saved")]


def test_a_reply_regenerated_to_nothing_and_back_leaves_what_the_last_one_says(
    conversation: Conversation,
) -> None:
    conversation.edit(conversation.say_day(1))
    conversation.edit(conversation.say(1, "没有。", turn_id="t1b", replaces="t1"))
    assert conversation.days() == []
    conversation.edit(conversation.say(1, insert("c"), turn_id="t1c", replaces="t1b"))
    assert conversation.days() == ["c"]


def test_what_time_does_not_allow_is_rung_for_and_done_later(conversation: Conversation) -> None:
    rung = conversation.say_day(1)
    conversation.doorbell.rings.clear()
    conversation.time_left = False
    assert conversation.edit(rung) == []
    assert conversation.table_at() == (1, 0)
    assert conversation.doorbell.rings == [(SCOPE, ("table",), rung.position)]
    conversation.time_left = True
    conversation.edit(rung)
    assert conversation.days() == ["d1"]
    assert len(conversation.doorbell.rings) == 1


def test_a_worker_that_cannot_ring_itself_leaves_the_message_in_the_queue(conversation: Conversation) -> None:
    rung = conversation.say_day(1)
    conversation.time_left, conversation.doorbell.broken = False, True
    with pytest.raises(StoreUnavailable):
        conversation.edit(rung)
    assert conversation.table_at() == (1, 0)


def test_a_failed_refinement_says_nothing_of_the_table(conversation: Conversation) -> None:
    conversation.events = RecordingBus(broken=True)
    conversation.edit(conversation.say_day(1))
    assert conversation.days() == ["d1"]
    assert {(receipt.worker, receipt.outcome) for receipt in conversation.told()} == {
        ("table", "ok"),
        ("refinement", "failed"),
    }


def test_others_are_told_of_a_change_by_whose_it_is_and_which_turn(conversation: Conversation) -> None:
    conversation.edit(conversation.say_day(1))
    whose = {"product": "p", "user": "u", "conversationId": "c"}
    assert conversation.events.told == [
        ("TableChanged", {**whose, "turnId": "t1", "round": 1, "revision": 2})
    ]


def test_a_turn_without_edits_tells_nobody_of_a_change(conversation: Conversation) -> None:
    conversation.edit(conversation.say(1, "没有。"))
    assert conversation.events.told == []


def test_a_turn_that_cannot_be_read_is_told_and_passed(conversation: Conversation) -> None:
    rungs = [conversation.say_day(number) for number in (1, 2, 3)]
    key = turn_key(SCOPE, Position(round=2, version=1))
    conversation.records.write(Amend(key=key, body="broken"))
    conversation.edit(rungs[-1])
    assert conversation.days() == ["d1", "d3"]
    assert conversation.table_at() == (3, 3)
    assert told(conversation) == [(3, "ok", "saved"), (2, "failed", "record_corrupt"), (1, "ok", "saved")]
    conversation.edit(rungs[1])
    assert conversation.days() == ["d1", "d3"]


def test_a_ring_of_a_place_that_is_not_reached_or_of_another_life_is_dropped(
    conversation: Conversation,
) -> None:
    rung = conversation.say_day(1)
    conversation.requests.clear()
    for odd in (
        replace(rung, position=Position(round=2, version=1)),
        replace(rung, life="of a conversation that is gone"),
    ):
        assert conversation.edit(odd) == []
    assert conversation.requests == ["BatchGetItem"] * 2
    assert (conversation.days(), conversation.told()) == ([], [])
    conversation.edit(replace(rung, life=""))
    assert conversation.days() == ["d1"]


def test_a_ring_of_an_old_turn_takes_the_new_ones_too(conversation: Conversation) -> None:
    rungs = [conversation.say_day(number) for number in (1, 2)]
    assert [receipt.turn_id for receipt in conversation.edit(rungs[0])] == ["t1", "t2"]
    assert conversation.edit(rungs[1]) == []


def test_an_index_of_a_revision_that_is_no_longer_known_is_refused(conversation: Conversation) -> None:
    conversation.set_rows(1, [["a", "1"], ["b", "2"]])
    for expected in range(2, 23):
        conversation.set_rows(expected, [["a", str(expected)], ["b", "2"]])
    delete = "<tableEdit>deleteRow(0, 1)</tableEdit>"
    conversation.edit(conversation.say(1, delete, table_revision=2))
    assert conversation.days() == ["a", "b"]
    conversation.edit(conversation.say(2, delete, table_revision=10))
    assert conversation.days() == ["a"]


def test_two_workers_on_one_conversation_at_once_count_each_turn_once(
    dynamodb_local_client: Any,
) -> None:
    conversation = Conversation(dynamodb_local_client)
    conversation.set_sheets()
    rungs = [conversation.say_day(number) for number in range(1, 16)]

    def work(rung: RungTurn) -> None:
        try:
            conversation.edit(rung)
        except MemoirError:  # it stays in the queue and comes again
            return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, rungs * 3))
    conversation.edit(rungs[-1])
    assert conversation.days() == [f"d{number}" for number in range(1, 16)]
    assert conversation.table_at() == (16, 15)
    assert told(conversation) == [(number, "ok", "saved") for number in range(15, 0, -1)]
