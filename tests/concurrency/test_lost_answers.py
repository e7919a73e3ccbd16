"""The answer of a write is lost: the caller sees success or an unknown outcome, never a false conflict."""

import time
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from memoir.adapters.aws import make_client
from memoir.adapters.record_store import DynamoDbRecords
from memoir.domain.json_document import JsonDocument, json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken, idempotent_token, random_token
from memoir.errors import RevisionConflict, StoreUnavailable, WriteOutcomeUnknown
from memoir.ports.records import ABSENT, Amend, Put, Record, RecordKey, Refused, Remove, stands
from memoir.records.documents import Change, read_document
from memoir.usecases.engine import Engine
from tests.concurrency.faults import (
    Fault,
    answer_lost,
    answer_replaced_by_500,
    inject,
    sent_as_usual,
    throttled,
)
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c")
KEY = RecordKey(owner=SCOPE, kind="memory")
OTHER = RecordKey(owner=SCOPE, kind="state")
LOST = [answer_lost, answer_replaced_by_500]


def engine_on(client: Any) -> Engine:
    records = DynamoDbRecords(client=client, table_name=TABLE_NAME)
    return Engine(records=records, clock=time.time, receipt_days=30)


def change(expected: int, text: str, token: WriteToken | None = None) -> Change:
    return Change(
        key=KEY, expected=Revision(expected), document=document(text), token=token or random_token()
    )


def document(text: str) -> JsonDocument:
    return json_document({"text": text}, name="memory")


class Faulty:
    """A store whose next writes meet the faults that are lined up."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.engine = engine_on(client)
        self.records = self.engine.records
        self.faults: list[Fault] = []
        self.sends = 0
        inject(client, self._next)

    def _next(self, operation: str) -> Fault:
        if operation not in ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"):
            return sent_as_usual
        self.sends += 1
        return self.faults.pop(0) if self.faults else sent_as_usual

    def write(self, expected: int, text: str, *faults: Fault, token: WriteToken | None = None) -> Revision:
        self.faults = list(faults)
        return self.engine.change(change(expected, text, token))

    def state(self) -> tuple[int, str]:
        stored = read_document(self.records.read(KEY).get(KEY))
        assert stored is not None and stored.document is not None
        return stored.revision, stored.document.value["text"]


@pytest.fixture(params=["moto_server", "dynamodb_local"])
def faulty(request: pytest.FixtureRequest) -> Faulty:
    """On both, over real sockets: where Java is missing, moto's server is left to judge."""
    return Faulty(request.getfixturevalue(f"{request.param}_client"))


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("expected", [0, 1])
def test_a_write_whose_answer_was_lost_is_found_by_the_clients_own_retry(
    faulty: Faulty, lost: Fault, expected: int
) -> None:
    for before in range(expected):
        faulty.write(before, "old")
    faulty.sends = 0
    assert faulty.write(expected, "mine", lost) == expected + 1
    assert faulty.sends == 2
    assert faulty.state() == (expected + 1, "mine")


@pytest.mark.parametrize("lost", LOST)
def test_a_write_none_of_whose_answers_came_has_an_unknown_outcome_and_one_effect(
    faulty: Faulty, lost: Fault
) -> None:
    token = idempotent_token(idempotency_key="k", body="b")
    with pytest.raises(WriteOutcomeUnknown):
        faulty.write(0, "mine", *[lost] * 3, token=token)
    assert faulty.state() == (1, "mine")
    assert faulty.write(0, "mine", token=token) == 1
    assert faulty.state() == (1, "mine")


def test_a_lost_answer_before_a_refusal_is_no_refusal(faulty: Faulty) -> None:
    with pytest.raises(WriteOutcomeUnknown):
        faulty.write(0, "mine", answer_lost, throttled, throttled)
    assert faulty.state() == (1, "mine")


def test_a_write_that_was_only_refused_was_not_written(faulty: Faulty) -> None:
    with pytest.raises(StoreUnavailable):
        faulty.write(0, "mine", throttled, throttled, throttled)
    assert faulty.records.read(KEY) == {}


def test_a_true_conflict_after_a_lost_answer_is_a_conflict(faulty: Faulty) -> None:
    faulty.write(0, "a")
    faulty.write(1, "b")
    with pytest.raises(RevisionConflict) as conflict:
        faulty.write(1, "stale", answer_lost)
    assert conflict.value.current_revision == 2
    assert faulty.state() == (2, "b")


@pytest.mark.parametrize(("others", "outcome"), [(15, "ok"), (16, "unknown")])
def test_a_write_that_sixteen_others_followed_cannot_be_told_from_none(
    faulty: Faulty, others: int, outcome: str
) -> None:
    faulty.write(0, "old")
    second = engine_on(faulty.client)

    def lost_then_others(client: Any, request: Any) -> None:
        client._endpoint.http_session.send(request)
        for number in range(others):
            second.change(change(2 + number, "o"))
        raise ConnectionClosedError(endpoint_url=request.url)

    if outcome == "ok":
        assert faulty.write(1, "mine", lost_then_others) == 2
    else:
        with pytest.raises(WriteOutcomeUnknown):
            faulty.write(1, "mine", lost_then_others)
    assert faulty.state()[0] == 2 + others


ONES = {
    "put": Put(key=KEY, record=Record(facts={"n": 2}), when=ABSENT),
    "put over another": Put(key=KEY, record=Record(facts={"n": 2}), when=stands(n=1)),
    "amend": Amend(key=KEY, facts={"n": 2}, when=stands(n=1)),
}


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("kind", ONES)
def test_a_single_write_recognises_itself_where_its_answer_was_lost(
    faulty: Faulty, lost: Fault, kind: str
) -> None:
    if kind != "put":
        faulty.records.write(Put(key=KEY, record=Record(facts={"n": 1})))
    faulty.sends, faulty.faults = 0, [lost]
    faulty.records.write(ONES[kind])
    assert faulty.sends == 2
    assert faulty.records.read(KEY)[KEY].facts == {"n": 2}


@pytest.mark.parametrize("lost", LOST)
def test_a_single_write_does_not_take_another_ones_for_its_own(faulty: Faulty, lost: Fault) -> None:
    faulty.records.write(Put(key=KEY, record=Record(facts={"n": 1})))

    def lost_then_another(client: Any, request: Any) -> Any:
        client._endpoint.http_session.send(request)
        DynamoDbRecords(client=client, table_name=TABLE_NAME).write(Amend(key=KEY, facts={"n": 7}))
        return lost(client, request)

    faulty.faults = [lost_then_another]
    with pytest.raises(Refused) as refused:
        faulty.records.write(Amend(key=KEY, facts={"n": 2}, when=stands(n=1)))
    assert refused.value.maybe_executed
    assert faulty.records.read(KEY)[KEY].facts == {"n": 7}


@pytest.mark.parametrize("lost", LOST)
def test_a_removal_whose_answer_was_lost_may_have_been_executed(faulty: Faulty, lost: Fault) -> None:
    faulty.records.write(Put(key=KEY, record=Record(facts={"n": 1})))
    faulty.faults = [lost]
    with pytest.raises(Refused) as refused:
        faulty.records.write(Remove(key=KEY, when=stands(n=1)))
    assert (refused.value.held, refused.value.maybe_executed) == ({"memory": None}, True)
    faulty.faults = [lost]
    faulty.records.write(Remove(key=KEY))
    assert faulty.records.read(KEY) == {}


@pytest.mark.parametrize("lost", LOST)
def test_a_transaction_whose_answer_was_lost_happens_once(dynamodb_local_client: Any, lost: Fault) -> None:
    faulty = Faulty(dynamodb_local_client)  # moto knows no request tokens
    faulty.records.write(Put(key=OTHER, record=Record()))
    faulty.sends, faulty.faults = 0, [lost]
    faulty.records.write(
        Put(key=KEY, record=Record(facts={"n": 1}), when=ABSENT), Amend(key=OTHER, add={"used": 1})
    )
    assert faulty.sends == 2
    assert faulty.records.read(OTHER)[OTHER].facts == {"used": 1}


@pytest.mark.usefixtures("aws_environment")
def test_a_store_that_cannot_be_reached_was_not_written() -> None:
    nowhere = make_client("dynamodb", endpoint_url="http://127.0.0.1:1")
    engine = engine_on(nowhere)
    with pytest.raises(StoreUnavailable):
        engine.records.read(KEY)
    with pytest.raises(StoreUnavailable):
        engine.change(change(0, "x"))
    with pytest.raises(StoreUnavailable):
        engine.records.write(Put(key=KEY, record=Record()))
