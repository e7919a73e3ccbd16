"""The answer of a write is lost: the caller sees success or an unknown outcome, never a false conflict."""

from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from memoir.adapters.aws import make_client
from memoir.adapters.document_store import DynamoDbDocumentStore
from memoir.domain.json_document import JsonDocument, json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken, idempotent_token, random_token
from memoir.errors import RevisionConflict, StoreUnavailable, WriteOutcomeUnknown
from memoir.ports import DocumentKey
from tests.concurrency.faults import (
    Fault,
    answer_lost,
    answer_replaced_by_500,
    inject,
    sent_as_usual,
    throttled,
)
from tests.tables import TABLE_NAME

KEY = DocumentKey(scope=Scope(product="p", user="u", conversation="c"), kind="memory")
LOST = [answer_lost, answer_replaced_by_500]


def document(text: str) -> JsonDocument:
    return json_document({"text": text}, name="memory")


class Faulty:
    """A store whose next writes meet the faults that are lined up."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.store = DynamoDbDocumentStore(client=client, table_name=TABLE_NAME)
        self.faults: list[Fault] = []
        self.sends = 0
        inject(client, self._next)

    def _next(self, operation: str) -> Fault:
        if operation not in ("PutItem", "UpdateItem"):
            return sent_as_usual
        self.sends += 1
        return self.faults.pop(0) if self.faults else sent_as_usual

    def write(self, expected: int, text: str, *faults: Fault, token: WriteToken | None = None) -> Revision:
        self.faults = list(faults)
        return self.store.replace(
            KEY, expected=Revision(expected), document=document(text), token=token or random_token()
        )

    def state(self) -> tuple[int, str]:
        stored = self.store.read(KEY)
        assert stored is not None
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
    assert faulty.store.read(KEY) is None


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
    second = DynamoDbDocumentStore(client=faulty.client, table_name=TABLE_NAME)

    def lost_then_others(client: Any, request: Any) -> None:
        client._endpoint.http_session.send(request)
        for number in range(others):
            second.replace(KEY, expected=Revision(2 + number), document=document("o"), token=random_token())
        raise ConnectionClosedError(endpoint_url=request.url)

    if outcome == "ok":
        assert faulty.write(1, "mine", lost_then_others) == 2
    else:
        with pytest.raises(WriteOutcomeUnknown):
            faulty.write(1, "mine", lost_then_others)
    assert faulty.state()[0] == 2 + others


@pytest.mark.usefixtures("aws_environment")
def test_a_store_that_cannot_be_reached_was_not_written() -> None:
    nowhere = make_client("dynamodb", endpoint_url="http://127.0.0.1:1")
    store = DynamoDbDocumentStore(client=nowhere, table_name=TABLE_NAME)
    with pytest.raises(StoreUnavailable):
        store.read(KEY)
    with pytest.raises(StoreUnavailable):
        store.replace(KEY, expected=Revision(0), document=document("x"), token=random_token())
