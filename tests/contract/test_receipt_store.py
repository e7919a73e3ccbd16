"""Receipts in DynamoDB: with their effect, newest first, for some days."""

from typing import Any

import pytest

from memoir.adapters.dynamodb import transact
from memoir.adapters.receipt_store import DynamoDbReceiptStore
from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.domain.turns import Position
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c")


class Store:
    """A receipt store, its client, and the time it believes in."""

    def __init__(self, client: Any) -> None:
        self.now = 1_000_000.0
        self.client = client
        self.receipts = DynamoDbReceiptStore(
            client=client, table_name=TABLE_NAME, kept_days=30, clock=lambda: self.now
        )

    def put(self, value: Receipt) -> None:
        transact(self.client, [self.receipts.put_write(SCOPE, value)])

    def listed(self, *, before: str | None = None, limit: int = 20) -> list[Receipt]:
        return [found for found, _ in self.receipts.page(SCOPE, before=before, limit=limit)]


@pytest.fixture(params=["moto", "dynamodb_local"])
def store(request: pytest.FixtureRequest) -> Store:
    fixture = "moto_client" if request.param == "moto" else "dynamodb_local_client"
    return Store(request.getfixturevalue(fixture))


def receipt(turn_round: int, *, outcome: str = "ok", reason: str = "saved") -> Receipt:
    return Receipt(
        worker="table",
        position=Position(round=turn_round, version=1),
        turn_id=f"t{turn_round}",
        outcome=outcome,  # type: ignore[arg-type]
        reason=reason,
        revision_before=turn_round,
        revision_after=turn_round + 1,
        created_at="2026-01-02T03:04:05Z",
        details={"counts": {"applied": 1}, "flags": ["截断"]},
    )


def test_a_receipt_comes_back_as_it_was_stored(store: Store) -> None:
    store.put(receipt(3))
    assert store.listed() == [receipt(3)]


def test_receipts_are_listed_newest_first_in_pages(store: Store) -> None:
    for turn_round in (9, 10, 11):
        store.put(receipt(turn_round))
    first = store.receipts.page(SCOPE, before=None, limit=2)
    assert [found.position.round for found, _ in first] == [11, 10]
    assert [found.position.round for found in store.listed(before=first[-1][1])] == [9]


def test_an_expired_receipt_is_not_listed_although_it_is_still_stored(store: Store) -> None:
    store.put(receipt(1))
    store.now += 30 * 86_400 - 1
    assert len(store.listed()) == 1
    store.now += 1
    assert store.listed() == []


def test_a_failure_noted_later_does_not_hide_that_the_effect_happened(store: Store) -> None:
    store.put(receipt(1))
    store.receipts.note(SCOPE, receipt(1, outcome="failed", reason="conflict"))
    assert [found.outcome for found in store.listed()] == ["ok"]


def test_an_effect_after_a_failure_replaces_the_failures_receipt(store: Store) -> None:
    store.receipts.note(SCOPE, receipt(1, outcome="failed", reason="conflict"))
    store.receipts.note(SCOPE, receipt(1, outcome="failed", reason="record_corrupt"))
    assert [found.reason for found in store.listed()] == ["record_corrupt"]
    store.put(receipt(1))
    assert [found.outcome for found in store.listed()] == ["ok"]
