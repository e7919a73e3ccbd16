"""`Idempotency-Key` on the writes that are safe to repeat as they are, by the real handlers on moto."""

from typing import Any

import pytest

from tests.handlers import Answered
from tests.handlers import call as plain_call
from tests.tables import TABLE_NAME

TURN = {"turnId": "t1", "user": {"text": "问"}, "assistant": {"text": "答"}}
MEMORY = "PUT …/memory"
EDITS = "POST …/table/edits"
SHEETS = {"sheets": [{"name": "s", "columns": ["a"], "rows": [["1"]]}]}


def call(route: str, body: Any = None, *, user: str = "u", key: str = "k1", **path: str) -> Answered:
    return plain_call(route, body, user=user, path=path, idempotency_key=key)


def post_turn(turn: Any, **options: str) -> Answered:
    return call("POST …/turns", turn, **options)


def rounds(client: Any) -> int:
    found = client.scan(TableName=TABLE_NAME)["Items"]
    return sum(item["sk"]["S"].startswith("T#") for item in found)


def test_a_key_stands_for_the_first_turn_that_carried_it(wired: Any) -> None:
    assert post_turn(TURN).status == 202
    again = post_turn(TURN)
    assert (again.status, again.json["round"], again.json["duplicate"]) == (202, 1, True)
    refused = post_turn({**TURN, "turnId": "t2"})
    assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    assert rounds(wired) == 1


def test_a_refused_turn_uses_up_no_key(wired: Any) -> None:
    assert post_turn({**TURN, "round": 1}).status == 400
    assert post_turn(TURN).status == 202


def test_keys_of_another_user_route_or_value_are_others(wired: Any) -> None:
    other = {**TURN, "turnId": "t2"}
    assert post_turn(TURN).status == 202
    assert post_turn(other, user="v").status == 202
    assert post_turn(other, key="k2").status == 202
    accept = "POST …/turns/{turnId}/accept"
    assert call(accept, turnId="t1").status == 202
    assert call(accept, turnId="t1").status == 202
    assert call(accept, turnId="t2").code == "idempotency_key_reused"


@pytest.mark.parametrize(("method", "body"), [("PUT", {"summary": "摘要"}), ("DELETE", None)])
def test_a_key_of_a_diary_edit_stands_for_its_round(wired: Any, method: str, body: Any) -> None:
    route = f"{method} …/diary/{{endRound}}"
    assert call(route, body, endRound="20").code == "not_found"
    assert call(route, body, endRound="20").code == "not_found"
    assert call(route, body, endRound="30").code == "idempotency_key_reused"


def test_a_key_is_forgotten_after_a_day(wired: Any) -> None:
    assert post_turn(TURN).status == 202
    kept = next(i for i in wired.scan(TableName=TABLE_NAME)["Items"] if i["sk"]["S"].startswith("K#"))
    wired.put_item(TableName=TABLE_NAME, Item={**kept, "expires_at": {"N": "1"}})
    assert post_turn({**TURN, "turnId": "t2"}).status == 202


SPELLED = [
    '{"expectedRevision":0,"memory":{"a":1,"b":[2]}}',
    '{"memory":{"a":1,"b":[2]},"expectedRevision":0}',
    ' {"expectedRevision": 0,\n"memory": {"\\u0061": 1, "b": [ 2 ]}} ',
]


@pytest.mark.parametrize("again", SPELLED)
def test_powertools_638_the_same_json_spelled_otherwise_is_the_same_request(wired: Any, again: str) -> None:
    assert call(MEMORY, SPELLED[0]).json == {"revision": 1}
    assert call(MEMORY, again).json == {"revision": 1}


@pytest.mark.parametrize(
    "other",
    [
        '{"expectedRevision":0,"memory":{"a":1,"b":[3]}}',
        '{"expectedRevision":1,"memory":{"a":1,"b":[2]}}',
        '{"expectedRevision":0,"memory":{"a":"1","b":[2]}}',
        '{"expectedRevision":0,"memory":{"a":1,"b":[2],"c":null}}',
    ],
)
def test_powertools_638_other_json_under_the_key_is_another_request(wired: Any, other: str) -> None:
    assert call(MEMORY, SPELLED[0]).json == {"revision": 1}
    assert call(MEMORY, other).code == "idempotency_key_reused"
    assert plain_call("GET …/memory").json == {"revision": 1, "memory": {"a": 1, "b": [2]}}


def edit(cell: str, *, expected: int = 1, key: str = "k1") -> Answered:
    edits = [{"op": "updateRow", "table": 0, "row": 0, "cells": {"0": cell}}]
    return call(EDITS, {"expectedRevision": expected, "edits": edits}, key=key)


@pytest.fixture
def table(wired: Any) -> Any:
    assert plain_call("PUT …/table", {"expectedRevision": 0, "table": SHEETS}).json == {"revision": 1}
    return wired


@pytest.mark.parametrize(("cell", "changed"), [("1", False), ("2", True)])
def test_idempotency4j_12_edits_again_get_the_first_report_also_after_another_writer(
    table: Any, cell: str, changed: bool
) -> None:
    first = edit(cell)
    assert (first.status, first.json["changed"], first.json["revision"]) == (200, changed, 1 + changed)
    assert plain_call("PUT …/table", {"expectedRevision": 1 + changed, "table": SHEETS}).status == 200
    again = edit(cell)
    assert (again.status, again.json) == (200, first.json)
    assert plain_call("GET …/table").json["revision"] == 2 + changed


@pytest.mark.parametrize("cell", ["1", "2"])
def test_idempotency4j_12_other_edits_under_the_key_are_refused(table: Any, cell: str) -> None:
    first = edit(cell)
    for other in (edit("other"), edit(cell, expected=7)):
        assert (other.status, other.code) == (422, "idempotency_key_reused")
    assert plain_call("GET …/table").json["revision"] == first.json["revision"]


def test_idempotency4j_12_edits_that_are_all_rejected_keep_their_key_too(table: Any) -> None:
    body = {"expectedRevision": 1, "edits": [{"op": "deleteRow", "table": 9, "row": 0}]}
    first = call(EDITS, body)
    assert (first.status, first.json["changed"], first.json["commands"][0]["status"]) == (
        200,
        False,
        "rejected",
    )
    assert call(EDITS, body).json == first.json
    assert edit("2").code == "idempotency_key_reused"


def test_a_conflict_uses_up_no_key(table: Any) -> None:
    assert edit("2", expected=7).code == "revision_conflict"
    assert edit("2").json["revision"] == 2
