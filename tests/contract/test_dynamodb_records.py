"""What the DynamoDB adapter asks of the store, how its records lie there, and what broken ones are."""

from typing import Any

import pytest

from memoir.adapters.record_store import DynamoDbRecords
from memoir.domain.scope import Scope
from memoir.errors import StoreMisused, StoreUnavailable
from memoir.ports.records import ABSENT, Amend, Put, Record, RecordKey, Refused, Remove, stands
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c")
KEY = RecordKey(owner=SCOPE, kind="memory")
OTHER = RecordKey(owner=SCOPE, kind="state")


class Adapter:
    """The adapter on moto, what it asks of the store, and the pauses it makes."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.pauses: list[float] = []
        self.requests: list[str] = []
        self.records = DynamoDbRecords(client=client, table_name=TABLE_NAME, sleep=self.pauses.append)
        client.meta.events.register(
            "before-call.dynamodb", lambda model, **_: self.requests.append(model.name)
        )

    def item(self) -> dict[str, Any]:
        key = {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "D#memory"}}
        found: dict[str, Any] = self.client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
        return found

    def change(self, **attributes: Any) -> None:
        self.client.put_item(TableName=TABLE_NAME, Item={**self.item(), **attributes})


@pytest.fixture
def adapter(moto_client: Any) -> Adapter:
    return Adapter(moto_client)


def test_each_call_is_one_request(adapter: Adapter) -> None:
    records, put = adapter.records, Put(key=KEY, record=Record())
    records.write(put)
    records.write(Amend(key=KEY, facts={"n": 1}))
    records.write(put, Remove(key=OTHER))
    records.read(KEY)
    records.read(KEY, OTHER)
    with pytest.raises(Refused):
        records.write(Put(key=KEY, record=Record(), when=ABSENT))
    with pytest.raises(Refused):
        records.write(Put(key=KEY, record=Record(), when=ABSENT), Put(key=OTHER, record=Record()))
    records.write(Remove(key=KEY))
    assert adapter.requests == [
        *("PutItem", "UpdateItem", "TransactWriteItems", "GetItem", "BatchGetItem"),
        *("PutItem", "TransactWriteItems", "DeleteItem"),
    ]


def test_a_walk_is_one_request_a_page_and_none_further_than_it_is_followed(adapter: Adapter) -> None:
    for number in range(5):
        key = RecordKey(owner=SCOPE, kind="turn", name=(f"{number:010}",))
        adapter.records.write(Put(key=key, record=Record()))
    adapter.requests.clear()
    steps = adapter.records.walk(SCOPE, "turn", page=2)
    assert adapter.requests == []
    assert [next(steps)[0], next(steps)[0]] == [("0000000000",), ("0000000001",)]
    assert adapter.requests == ["Query"]
    assert len(list(steps)) == 3
    assert adapter.requests == ["Query"] * 3


@pytest.mark.parametrize(
    "body", [{"B": b"not packed"}, {"B": b""}, {"M": {}}, {"N": "1"}, {"NULL": True}, {"L": [{"S": "x"}]}]
)
def test_a_body_that_cannot_be_read_is_none_and_stays_as_it_is(adapter: Adapter, body: Any) -> None:
    adapter.records.write(Put(key=KEY, record=Record(facts={"n": 1}, body="text")))
    adapter.change(body=body)
    before = adapter.item()
    assert adapter.records.read(KEY)[KEY] == Record(facts={"n": 1}, body=None)
    assert adapter.item() == before


def test_a_cut_body_is_none(adapter: Adapter) -> None:
    adapter.records.write(Put(key=KEY, record=Record(body="长" * 5000)))
    adapter.change(body={"B": adapter.item()["body"]["B"][:-3]})
    assert adapter.records.read(KEY)[KEY].body is None


def test_attributes_that_are_no_facts_are_left_out(adapter: Adapter) -> None:
    adapter.records.write(Put(key=KEY, record=Record(facts={"n": 1})))
    adapter.change(fraction={"N": "1.5"}, listed={"L": []}, nothing={"NULL": True}, minus={"N": "-3"})
    assert adapter.records.read(KEY)[KEY].facts == {"n": 1, "minus": -3}


def test_a_writes_own_mark_is_no_fact(adapter: Adapter) -> None:
    adapter.records.write(Put(key=KEY, record=Record(facts={"n": 1})))
    assert "written" in adapter.item()
    assert adapter.records.read(KEY)[KEY].facts == {"n": 1}
    adapter.records.write(Put(key=KEY, record=Record(facts={"n": 2}), remembers=True))
    assert "written" not in adapter.item()


def conflict(adapter: Adapter, times: int, *, reasons: list[dict[str, str]] | None = None) -> None:
    """Let the next transactions meet another one."""
    left = [reasons or [{"Code": "None"}, {"Code": "TransactionConflict"}]] * times

    def answer(params: Any, **_: Any) -> Any:
        if not left:
            return None
        cancelled = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": left.pop()}
        return _Status(400), cancelled

    adapter.client.meta.events.register("before-call.dynamodb.TransactWriteItems", answer)


class _Status:
    """As much of an HTTP response as botocore looks at."""

    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


BOTH = (Put(key=KEY, record=Record(facts={"n": 1})), Put(key=OTHER, record=Record()))


def test_a_transaction_that_meets_another_is_tried_again_after_a_pause(adapter: Adapter) -> None:
    conflict(adapter, 4)
    adapter.records.write(*BOTH)
    assert adapter.records.read(KEY)[KEY].facts == {"n": 1}
    assert len(adapter.pauses) == 4
    assert all(0 < pause < 0.5 for pause in adapter.pauses)


def test_a_transaction_that_never_gets_its_turn_was_not_written(adapter: Adapter) -> None:
    conflict(adapter, 5)
    with pytest.raises(StoreUnavailable):
        adapter.records.write(*BOTH)
    assert adapter.records.read(KEY, OTHER) == {}


def test_a_condition_that_failed_beside_a_conflict_is_a_refusal(adapter: Adapter) -> None:
    reasons = [{"Code": "ConditionalCheckFailed"}, {"Code": "TransactionConflict"}]
    conflict(adapter, 1, reasons=reasons)
    with pytest.raises(Refused) as refused:
        adapter.records.write(Put(key=KEY, record=Record(), when=stands(n=1)), BOTH[1])
    assert (refused.value.held, adapter.pauses) == ({"memory": None}, [])


def test_a_request_that_the_store_never_takes_is_no_outage(adapter: Adapter) -> None:
    with pytest.raises(StoreMisused) as misuse:
        adapter.records.write(Amend(key=KEY, facts={"n": 1}, add={"n": 1}))
    assert misuse.value.store_code == "ValidationException"
