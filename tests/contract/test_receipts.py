"""Receipts: with their effect, newest first, for some days; on each of the three stores."""

from typing import Any

from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.domain.turns import Position
from memoir.ports.records import Amend, RecordKey
from memoir.usecases.receipts import list_receipts
from tests.contract.conftest import Store

SCOPE = Scope(product="p", user="u", conversation="c")


def put(store: Store, value: Receipt) -> None:
    store.records.write(store.engine.receipt(SCOPE, value))


def listed(store: Store, *, before: str | None = None, limit: int = 20) -> list[Receipt]:
    receipts, _ = list_receipts(store.engine, scope=SCOPE, before=before, limit=limit)
    return list(receipts)


def receipt(turn_round: int, *, outcome: Any = "ok", reason: str = "saved", worker: str = "table") -> Receipt:
    return Receipt(
        worker=worker,
        position=Position(round=turn_round, version=1),
        turn_id=f"t{turn_round}",
        outcome=outcome,
        reason=reason,
        revision_before=turn_round,
        revision_after=turn_round + 1,
        created_at="2026-01-02T03:04:05Z",
        details={"counts": {"applied": 1}, "flags": ["截断"]},
    )


def test_a_receipt_comes_back_as_it_was_stored(store: Store) -> None:
    put(store, receipt(3))
    assert listed(store) == [receipt(3)]


def test_receipts_are_listed_newest_first_in_pages(store: Store) -> None:
    for turn_round in (9, 10, 11):
        put(store, receipt(turn_round))
    first, place = list_receipts(store.engine, scope=SCOPE, before=None, limit=2)
    assert [found.position.round for found in first] == [11, 10]
    assert [found.position.round for found in listed(store, before=place)] == [9]


def test_a_page_that_is_exactly_full_has_no_next(store: Store) -> None:
    for turn_round in (1, 2, 3):
        put(store, receipt(turn_round))
    page, place = list_receipts(store.engine, scope=SCOPE, before=None, limit=3)
    assert (len(page), place) == (3, None)
    _, place = list_receipts(store.engine, scope=SCOPE, before=None, limit=2)
    last, place = list_receipts(store.engine, scope=SCOPE, before=place, limit=1)
    assert ([found.position.round for found in last], place) == ([1], None)


def test_receipts_of_one_round_are_paged_one_by_one(store: Store) -> None:
    for worker in ("diary", "notification", "table"):
        put(store, receipt(1, worker=worker))
    found, place = [], None
    for _ in range(3):
        (page,), place = list_receipts(store.engine, scope=SCOPE, before=place, limit=1)
        found.append(page.worker)
    assert (found, place) == (["table", "notification", "diary"], None)


def test_a_receipt_that_cannot_be_read_hides_no_other(store: Store) -> None:
    for turn_round in (1, 2, 3):
        put(store, receipt(turn_round))
    key = RecordKey(owner=SCOPE, kind="receipt", name=("0000000002", "000001", "table"))
    store.records.write(Amend(key=key, facts={"outcome": "odd"}))
    assert [found.position.round for found in listed(store)] == [3, 1]
    first, place = list_receipts(store.engine, scope=SCOPE, before=None, limit=1)
    assert [found.position.round for found in (*first, *listed(store, before=place))] == [3, 1]


def test_an_expired_receipt_is_not_listed_although_it_is_still_stored(store: Store) -> None:
    put(store, receipt(1))
    store.now += 30 * 86_400 - 1
    assert len(listed(store)) == 1
    store.now += 1
    assert listed(store) == []


def test_a_failure_noted_later_does_not_hide_that_the_effect_happened(store: Store) -> None:
    put(store, receipt(1))
    store.engine.note(SCOPE, receipt(1, outcome="failed", reason="conflict"))
    assert [found.outcome for found in listed(store)] == ["ok"]


def test_an_effect_after_a_failure_replaces_the_failures_receipt(store: Store) -> None:
    store.engine.note(SCOPE, receipt(1, outcome="failed", reason="conflict"))
    store.engine.note(SCOPE, receipt(1, outcome="failed", reason="record_corrupt"))
    assert [found.reason for found in listed(store)] == ["record_corrupt"]
    put(store, receipt(1))
    assert [found.outcome for found in listed(store)] == ["ok"]
