"""The table's worker on real stores: shuffled, double, lost messages, crashes, two at once, broken tables.

After each fault the table is that of a run without faults, and each turn has counted once.
"""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memoir.adapters.document_store import DynamoDbDocumentStore
from memoir.adapters.event_bus import NoEvents
from memoir.adapters.receipt_store import DynamoDbReceiptStore
from memoir.adapters.table_store import DynamoDbTableStore
from memoir.adapters.turn_store import DynamoDbTurnStore
from memoir.domain.receipt import Receipt
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.turns import NewTurn, Position, RungTurn
from memoir.domain.write_token import random_token
from memoir.errors import MemoirError, RecordCorrupt, RevisionConflict, StoreUnavailable, WorkLeft
from memoir.usecases.edit_table import TablePorts, edit_table
from memoir.usecases.table import read_table, replace_table
from memoir.usecases.turns import record_turn
from tests.fakes.turns import RecordingDoorbell
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c")
SHEETS = {"sheets": [{"name": "事", "columns": ["日", "地"], "rows": []}]}


class Conversation:
    """One conversation with its stores, worker and what these ask of DynamoDB."""

    def __init__(self, client: Any) -> None:
        self.client = client
        receipts = DynamoDbReceiptStore(client=client, table_name=TABLE_NAME, kept_days=30)
        documents = DynamoDbDocumentStore(client=client, table_name=TABLE_NAME)
        self.turns = DynamoDbTurnStore(client=client, table_name=TABLE_NAME)
        self.tables = DynamoDbTableStore(
            client=client, table_name=TABLE_NAME, documents=documents, receipts=receipts
        )
        self.events: Any = NoEvents()
        self.receipts = receipts
        self.time_left = True
        self.requests: list[str] = []
        client.meta.events.register(
            "before-call.dynamodb", lambda model, **_: self.requests.append(model.name)
        )

    def set_sheets(self, expected: int = 0, sheets: Any = SHEETS) -> None:
        replace_table(
            tables=self.tables,
            scope=SCOPE,
            expected=Revision(expected),
            table=sheets,
            token=random_token(),
        )

    def say(self, number: int, text: str | None = None, **members: Any) -> RungTurn:
        """Record a turn that inserts one row, unless it says something else."""
        insert = f'<tableEdit>insertRow(0, {{"0":"d{number}","1":"p"}})</tableEdit>'
        turn_id = members.pop("turn_id", f"t{number}")
        new = NewTurn(
            turn_id=turn_id,
            user_text="",
            assistant_text=insert if text is None else text,
            **members,
        )
        record_turn(turns=self.turns, doorbell=RecordingDoorbell(), clock=lambda: 0.0, scope=SCOPE, new=new)
        version = self.turns.look_up(SCOPE, turn_ids=(turn_id,)).known[turn_id].position.version
        return RungTurn(
            position=Position(round=number, version=version),
            turn_id=turn_id,
            scenario_id="default",
            subscription_category=None,
        )

    def work(self, rung: RungTurn) -> list[Receipt]:
        ports = TablePorts(
            tables=self.tables,
            turns=self.turns,
            receipts=self.receipts,
            events=self.events,
            clock=lambda: 0.0,
            has_time=lambda: self.time_left,
        )
        return edit_table(ports, scope=SCOPE, rung=rung)

    def days(self) -> list[str]:
        document = read_table(tables=self.tables, scope=SCOPE).document
        assert document is not None
        return [row.cells[0] for row in document.sheets[0].rows]

    def at(self) -> tuple[int, int]:
        record = read_table(tables=self.tables, scope=SCOPE)
        return record.revision, record.through_round

    def told(self) -> list[tuple[int, str, str]]:
        page = self.receipts.page(SCOPE, before=None, limit=100)
        return [(receipt.position.round, receipt.outcome, receipt.reason) for receipt, _ in page]


@pytest.fixture(params=["moto", "dynamodb_local"])
def conversation(request: pytest.FixtureRequest) -> Conversation:
    fixture = "moto_client" if request.param == "moto" else "dynamodb_local_client"
    found = Conversation(request.getfixturevalue(fixture))
    found.set_sheets()
    return found


def test_a_turn_with_edits_is_one_read_and_one_write(conversation: Conversation) -> None:
    rung = conversation.say(1)
    conversation.requests.clear()
    conversation.work(rung)
    assert conversation.requests == ["BatchGetItem", "TransactWriteItems"]
    assert (conversation.days(), conversation.at()) == (["d1"], (2, 1))


def test_a_turn_without_edits_moves_the_cursor_and_does_not_write_the_document(
    conversation: Conversation,
) -> None:
    rung = conversation.say(1, "她点头。")
    key = {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "D#table"}}
    before = conversation.client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
    conversation.requests.clear()
    conversation.work(rung)
    assert conversation.requests == ["BatchGetItem", "TransactWriteItems"]
    assert conversation.at() == (1, 1)
    assert conversation.client.get_item(TableName=TABLE_NAME, Key=key)["Item"] == before
    assert conversation.told() == [(1, "skipped", "no_block")]


def test_a_long_conversation_costs_a_turn_no_more_than_a_short_one(conversation: Conversation) -> None:
    for number in range(1, 60):
        conversation.work(conversation.say(number, "她点头。"))
    rung = conversation.say(60)
    conversation.requests.clear()
    conversation.work(rung)
    assert conversation.requests == ["BatchGetItem", "TransactWriteItems"]


def test_messages_thrice_shuffled_and_some_never_count_each_turn_once(conversation: Conversation) -> None:
    rungs = [conversation.say(number) for number in range(1, 9)]
    delivered = [rung for rung in rungs if rung.position.round not in (3, 6)] * 3
    random.Random(7).shuffle(delivered)
    for rung in delivered:
        conversation.work(rung)
    assert conversation.days() == [f"d{number}" for number in range(1, 9)]
    assert conversation.at() == (9, 8)
    assert conversation.told() == [(number, "ok", "saved") for number in range(8, 0, -1)]


def test_a_worker_killed_after_its_write_and_before_its_answer_changes_nothing(
    conversation: Conversation,
) -> None:
    rung = conversation.say(1)
    conversation.work(rung)  # killed here: the message was not deleted, and comes again
    conversation.work(rung)
    assert (conversation.days(), conversation.at()) == (["d1"], (2, 1))
    assert len(conversation.told()) == 1


def test_a_turn_whose_message_was_lost_is_applied_with_the_next(conversation: Conversation) -> None:
    conversation.say(1)
    conversation.work(conversation.say(2))
    assert conversation.days() == ["d1", "d2"]


def test_a_hosts_edit_between_read_and_write_is_kept_and_the_turn_applied_again(
    conversation: Conversation,
) -> None:
    rung = conversation.say(1)
    read = conversation.tables.read
    moved: list[int] = []

    def read_then_move(*arguments: Any, **options: Any) -> Any:
        view = read(*arguments, **options)
        if not moved:
            moved.append(1)
            conversation.set_sheets(1, {"sheets": [{**SHEETS["sheets"][0], "rows": [["host", "x"]]}]})
        return view

    conversation.tables.read = read_then_move  # type: ignore[method-assign]
    conversation.work(rung)
    conversation.tables.read = read  # type: ignore[method-assign]
    assert conversation.days() == ["host", "d1"]
    assert conversation.at() == (3, 1)


def test_a_worker_that_was_overtaken_applies_nothing_again(conversation: Conversation) -> None:
    rungs = [conversation.say(number) for number in range(1, 4)]
    read = conversation.tables.read
    overtaken: list[int] = []

    def read_then_be_overtaken(*arguments: Any, **options: Any) -> Any:
        view = read(*arguments, **options)
        if not overtaken:
            overtaken.append(1)
            conversation.work(rungs[-1])
        return view

    conversation.tables.read = read_then_be_overtaken  # type: ignore[method-assign]
    conversation.work(rungs[0])
    assert conversation.days() == ["d1", "d2", "d3"]
    assert conversation.at() == (4, 3)


def test_a_second_conflict_is_told_as_failed_and_comes_again(conversation: Conversation) -> None:
    rung = conversation.say(1)
    replace = conversation.tables.replace

    def always_moved(*_: Any, **__: Any) -> Any:
        raise RevisionConflict(expected_revision=1, current_revision=9, detail="moved")

    conversation.tables.replace = always_moved  # type: ignore[method-assign]
    with pytest.raises(RevisionConflict):
        conversation.work(rung)
    assert conversation.told() == [(1, "failed", "revision_conflict")]
    conversation.tables.replace = replace  # type: ignore[method-assign]
    conversation.work(rung)
    assert conversation.told() == [(1, "ok", "saved")]


def test_a_corrupt_table_is_an_error_told_in_a_receipt_and_kept(conversation: Conversation) -> None:
    rung = conversation.say(1)
    key = {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "D#table"}}
    item = conversation.client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
    broken = {**item, "body": {"S": '{"table":{"sheets":7}}'}}
    conversation.client.put_item(TableName=TABLE_NAME, Item=broken)
    with pytest.raises(RecordCorrupt):
        conversation.work(rung)
    assert conversation.told() == [(1, "failed", "record_corrupt")]
    assert conversation.client.get_item(TableName=TABLE_NAME, Key=key)["Item"] == broken
    conversation.client.put_item(TableName=TABLE_NAME, Item=item)
    conversation.work(rung)
    assert conversation.days() == ["d1"]


def test_a_regenerated_reply_takes_the_place_of_the_old_ones_effect(conversation: Conversation) -> None:
    conversation.work(conversation.say(1))
    again = conversation.say(1, _insert("new"), turn_id="t1b", replaces="t1")
    conversation.work(again)
    assert (conversation.days(), conversation.at()) == (["new"], (3, 1))


def test_a_reply_that_was_regenerated_before_it_was_applied_never_is(conversation: Conversation) -> None:
    first = conversation.say(1)
    again = conversation.say(1, _insert("new"), turn_id="t1b", replaces="t1")
    for rung in (first, again, first):
        conversation.work(rung)
    assert conversation.days() == ["new"]
    assert conversation.told() == [(1, "ok", "saved")]


def test_a_reply_regenerated_to_nothing_and_back_leaves_what_the_last_one_says(
    conversation: Conversation,
) -> None:
    conversation.work(conversation.say(1))
    conversation.work(conversation.say(1, "没有。", turn_id="t1b", replaces="t1"))
    assert conversation.days() == []
    conversation.work(conversation.say(1, _insert("c"), turn_id="t1c", replaces="t1b"))
    assert conversation.days() == ["c"]


def test_what_time_does_not_allow_is_left_and_done_later(conversation: Conversation) -> None:
    rung = conversation.say(1)
    conversation.time_left = False
    with pytest.raises(WorkLeft):
        conversation.work(rung)
    assert conversation.at() == (1, 0)
    conversation.time_left = True
    conversation.work(rung)
    assert conversation.days() == ["d1"]


def test_a_failed_refinement_says_nothing_of_the_table(conversation: Conversation) -> None:
    class Broken:
        def publish(self, kind: str, detail: Any) -> None:
            assert kind == "TableChanged"
            raise StoreUnavailable(detail="no bus")

    conversation.events = Broken()
    conversation.work(conversation.say(1))
    assert conversation.days() == ["d1"]
    page = conversation.receipts.page(SCOPE, before=None, limit=10)
    assert {(receipt.worker, receipt.outcome) for receipt, _ in page} == {
        ("table", "ok"),
        ("refinement", "failed"),
    }


def test_a_turn_without_edits_tells_nobody_of_a_change(conversation: Conversation) -> None:
    told: list[str] = []

    class Bus:
        def publish(self, kind: str, detail: Any) -> None:
            told.append(json.dumps(detail))

    conversation.events = Bus()
    conversation.work(conversation.say(1, "没有。"))
    assert told == []


def test_an_index_of_a_revision_that_is_no_longer_known_is_refused(conversation: Conversation) -> None:
    conversation.set_sheets(1, {"sheets": [{**SHEETS["sheets"][0], "rows": [["a", "1"], ["b", "2"]]}]})
    for expected in range(2, 23):
        rows = [["a", str(expected)], ["b", "2"]]
        conversation.set_sheets(expected, {"sheets": [{**SHEETS["sheets"][0], "rows": rows}]})
    delete = "<tableEdit>deleteRow(0, 1)</tableEdit>"
    conversation.work(conversation.say(1, delete, table_revision=2))
    assert conversation.days() == ["a", "b"]
    conversation.work(conversation.say(2, delete, table_revision=10))
    assert conversation.days() == ["a"]


def test_two_workers_on_one_conversation_at_once_count_each_turn_once(
    dynamodb_local_client: Any,
) -> None:
    conversation = Conversation(dynamodb_local_client)
    conversation.set_sheets()
    rungs = [conversation.say(number) for number in range(1, 16)]

    def work(rung: RungTurn) -> None:
        try:
            conversation.work(rung)
        except MemoirError:  # it stays in the queue and comes again
            return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, rungs * 3))
    conversation.work(rungs[-1])
    assert conversation.days() == [f"d{number}" for number in range(1, 16)]
    assert conversation.at() == (16, 15)
    assert conversation.told() == [(number, "ok", "saved") for number in range(15, 0, -1)]


def _insert(day: str) -> str:
    return f'<tableEdit>insertRow(0, {{"0":"{day}","1":"p"}})</tableEdit>'
