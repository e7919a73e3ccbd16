"""`Idempotency-Key` on the writes that are safe to repeat as they are, by the real handlers on moto."""

import importlib
import json
from typing import Any

import pytest

from tests.tables import TABLE_NAME

TURN = {"turnId": "t1", "user": {"text": "问"}, "assistant": {"text": "答"}}


def call(
    function: str, route: str, body: Any = None, *, user: str = "u", key: str = "k1", **path: str
) -> tuple[int, Any]:
    event = {
        "routeKey": route,
        "headers": {"content-type": "application/json", "x-user-id": user, "idempotency-key": key},
        "pathParameters": {"id": "c1", **path},
        "requestContext": {
            "requestId": "r",
            "authorizer": {"jwt": {"claims": {"client_id": "p", "sub": "p", "scope": "memory/act-as-user"}}},
        },
        "body": None if body is None else json.dumps(body),
    }
    answer = importlib.import_module(f"functions.{function}.app").handler(event, None)
    return answer["statusCode"], json.loads(answer["body"])


def post_turn(turn: Any, **options: str) -> tuple[int, Any]:
    return call("turns", "POST /v1/conversations/{id}/turns", turn, **options)


def rounds(client: Any) -> int:
    found = client.scan(TableName=TABLE_NAME)["Items"]
    return sum(item["sk"]["S"].startswith("T#") for item in found)


def test_a_key_stands_for_the_first_turn_that_carried_it(wired: Any) -> None:
    assert post_turn(TURN)[0] == 202
    status, again = post_turn(TURN)
    assert (status, again["round"], again["duplicate"]) == (202, 1, True)
    status, refused = post_turn({**TURN, "turnId": "t2"})
    assert (status, refused["code"]) == (422, "idempotency_key_reused")
    assert rounds(wired) == 1


def test_a_refused_turn_uses_up_no_key(wired: Any) -> None:
    assert post_turn({**TURN, "round": 1})[0] == 400
    assert post_turn(TURN)[0] == 202


def test_keys_of_another_user_route_or_value_are_others(wired: Any) -> None:
    other = {**TURN, "turnId": "t2"}
    assert post_turn(TURN)[0] == 202
    assert post_turn(other, user="v")[0] == 202
    assert post_turn(other, key="k2")[0] == 202
    accept = "POST /v1/conversations/{id}/turns/{turnId}/accept"
    assert call("turns", accept, turnId="t1")[0] == 202
    assert call("turns", accept, turnId="t1")[0] == 202
    assert call("turns", accept, turnId="t2")[1]["code"] == "idempotency_key_reused"


@pytest.mark.parametrize(("method", "body"), [("PUT", {"summary": "摘要"}), ("DELETE", None)])
def test_a_key_of_a_diary_edit_stands_for_its_round(wired: Any, method: str, body: Any) -> None:
    route = f"{method} /v1/conversations/{{id}}/diary/{{endRound}}"
    assert call("diary", route, body, endRound="20")[1]["code"] == "not_found"
    assert call("diary", route, body, endRound="20")[1]["code"] == "not_found"
    assert call("diary", route, body, endRound="30")[1]["code"] == "idempotency_key_reused"


def test_a_key_is_forgotten_after_a_day(wired: Any) -> None:
    assert post_turn(TURN)[0] == 202
    kept = next(i for i in wired.scan(TableName=TABLE_NAME)["Items"] if i["sk"]["S"].startswith("K#"))
    wired.put_item(TableName=TABLE_NAME, Item={**kept, "expires_at": {"N": "1"}})
    assert post_turn({**TURN, "turnId": "t2"})[0] == 202
