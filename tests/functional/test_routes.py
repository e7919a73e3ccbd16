"""What every route does with its headers and its pages, by the real handlers on moto."""

from collections.abc import Iterator
from typing import Any

import pytest

from memoir import wiring
from memoir.domain.scope import Scope
from memoir.domain.turns import Position
from memoir.records.turns import cursor_key, pass_write
from tests.handlers import Answered, call

MEMORY, TABLE, TURNS = "…/memory", "…/table", "…/turns"
SHEETS = {"sheets": [{"name": "s", "columns": ["a"], "rows": [["1"]]}]}
SCOPE = Scope(product="p", user="u", conversation="c1")


@pytest.fixture(autouse=True)
def client(wired: Any) -> Iterator[Any]:
    yield wired


def put_memory(expected: int = 0, memory: Any = None, **headers: str) -> Answered:
    return call(f"PUT {MEMORY}", {"expectedRevision": expected, "memory": memory or {"a": 1}}, **headers)


def put_table(expected: int = 0, **headers: str) -> Answered:
    return call(f"PUT {TABLE}", {"expectedRevision": expected, "table": SHEETS}, **headers)


def post_turn(turn_id: str = "t1", text: str = "答", **members: Any) -> Answered:
    turn = {"turnId": turn_id, "user": {"text": "问"}, "assistant": {"text": text}, **members}
    return call(f"POST {TURNS}", turn)


def pass_round(turn_round: int) -> None:
    """Let the table's worker have passed a turn that changed nothing."""
    place = Position(round=turn_round, version=1)
    wiring.engine().records.write(pass_write(cursor_key(SCOPE, "table"), place, generation=0))


@pytest.mark.parametrize("known", ['"1"', 'W/"1"', '"0", "1"', '"0","1", "7"', "*", 'W/"0", W/"1"'])
def test_storage_1424_a_body_that_the_caller_has_is_not_sent_again(known: str) -> None:
    put_memory()
    put_table()
    for route in (MEMORY, TABLE):
        answer = call(f"GET {route}", if_none_match=known)
        assert (answer.status, answer.text, answer.headers["etag"]) == (304, "", '"1"')


@pytest.mark.parametrize("known", ['"0"', "1", '"11"', 'W/"2"', "", '"*"'])
def test_storage_1424_another_body_is_sent(known: str) -> None:
    put_memory()
    assert call(f"GET {MEMORY}", if_none_match=known).json == {"revision": 1, "memory": {"a": 1}}


def test_storage_1424_a_tables_tag_tells_also_how_far_replies_are_in_it() -> None:
    put_table()
    first = call(f"GET {TABLE}")
    pass_round(3)
    second = call(f"GET {TABLE}", if_none_match=first.headers["etag"])
    assert (second.status, second.json["throughRound"], second.json["revision"]) == (200, 3, 1)
    assert call(f"GET {TABLE}", if_none_match=second.headers["etag"]).status == 304


@pytest.mark.parametrize(("expected", "wanted"), [(0, '"0"'), (1, '"1"'), (1, "*"), (1, '"7", "1"')])
def test_if_match_that_names_the_bodys_revision_is_as_none(expected: int, wanted: str) -> None:
    for before in range(expected):
        put_memory(before)
    assert put_memory(expected, if_match=wanted).json == {"revision": expected + 1}


@pytest.mark.parametrize(
    ("expected", "wanted"), [(0, '"1"'), (0, "*"), (1, '"0"'), (1, '"2"'), (1, "1"), (1, "")]
)
def test_if_match_that_names_another_revision_than_the_body_writes_nothing(
    expected: int, wanted: str
) -> None:
    for before in range(expected):
        put_memory(before)
    answer = put_memory(expected, {"b": 2}, if_match=wanted)
    assert (answer.status, answer.code) == (412, "precondition_failed")
    assert call(f"GET {MEMORY}").json["revision"] == expected


def test_a_tables_own_tag_may_be_sent_back_in_if_match() -> None:
    put_table()
    pass_round(3)
    tag = call(f"GET {TABLE}").headers["etag"]
    assert put_table(1, if_match=tag).json == {"revision": 2}
    assert put_table(2, if_match=tag).code == "precondition_failed"


@pytest.mark.parametrize(
    ("route", "body", "path"),
    [
        (f"POST {TURNS}", {"turnId": "t9", "user": {"text": ""}, "assistant": {"text": ""}}, {}),
        (f"POST {TURNS}/{{turnId}}/accept", None, {"turnId": "t1"}),
        ("PUT …/diary/{endRound}", {"summary": "x"}, {"endRound": "20"}),
        ("DELETE …/diary/{endRound}", None, {"endRound": "20"}),
    ],
)
def test_if_match_on_a_route_that_is_based_on_no_revision_is_refused(
    route: str, body: Any, path: dict[str, str]
) -> None:
    post_turn()
    answer = call(route, body, path=path, if_match='"1"')
    assert (answer.status, answer.code) == (400, "header_not_supported")
    assert [turn["status"] for turn in call(f"GET {TURNS}").json["turns"]] == ["completed"]


BEFORE = {
    "abc": "YWJj",
    "zzzz": "enp6eg==",
    "~": "fg==",
    "another kind's key": "VCMwMDAwMDAwMDAzIzAwMDAwMQ==",
    "0": "MA==",
    "a document's key": "RCNtZW1vcnk=",
    "NUL": "AA==",
    "9 KB": "eHh4" * 3072,
    "no base64": "%%%",
    "empty": "",
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_saleor_9521_a_before_that_no_answer_gave_is_refused(before: str) -> None:
    post_turn()
    routes = ("GET …/receipts", f"GET {TURNS}", "GET …/diary", "GET /v1/conversations")
    for route in routes:
        answer = call(route, query={"before": before})
        assert (answer.status, answer.code) == (400, "before_invalid"), route


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "x", ""])
def test_a_limit_out_of_range_is_refused(limit: str) -> None:
    for route in ("GET …/receipts", f"GET {TURNS}", "GET …/diary", "GET /v1/conversations"):
        assert call(route, query={"limit": limit}).code == "limit_invalid", route


@pytest.mark.parametrize("space", ["\u3000", "\u00a0", "\u0085", "\x1c", "\u2028", "\ufeff"])
def test_a_user_id_is_not_trimmed_to_another_one(space: str) -> None:
    put_memory()
    for odd in (f"u{space}", f"{space}u"):
        answer = call(f"GET {MEMORY}", user=odd)
        assert (answer.status, answer.code) == (400, "id_invalid")
    assert call(f"GET {MEMORY}", user=" u\t").json["revision"] == 1


@pytest.mark.parametrize("named", ["u, v", "u,v", "u, u"])
def test_a_user_id_that_was_sent_twice_is_refused(named: str) -> None:
    answer = call(f"GET {MEMORY}", user=named)
    assert (answer.status, answer.code) == (400, "id_invalid")


@pytest.mark.parametrize(
    "declared",
    [
        "application/json",
        "application/json; charset=utf-8;",
        'Application/JSON;charset="UTF-8"',
        "application/json; version=1; charset=utf-8",
        "application/json ; profile=x",
        "application/json;",
    ],
)
def test_json_with_any_parameters_is_json(declared: str) -> None:
    assert put_memory(content_type=declared).status == 200


@pytest.mark.parametrize(
    "declared",
    ["application/json; charset=utf-16", "application/jsonp", "application/json, text/plain", "json"],
)
def test_what_is_not_declared_as_utf_8_json_is_refused(declared: str) -> None:
    assert put_memory(content_type=declared).code == "media_type_unsupported"


@pytest.mark.parametrize("turn_id", ["a/b", "100%", "a%2Fb", "a b", "第1轮", "?x=1#y"])
def test_sam_cli_3524_what_may_be_posted_can_be_accepted(turn_id: str) -> None:
    posted = post_turn(turn_id)
    if posted.status == 202:
        accepted = call(f"POST {TURNS}/{{turnId}}/accept", path={"turnId": turn_id})
        assert (accepted.status, accepted.json["turnId"], accepted.json["round"]) == (202, turn_id, 1)
    else:
        assert (posted.status, posted.code, posted.json["path"]) == (400, "id_invalid", "/turnId")
        assert call(f"GET {TURNS}").json == {"turns": []}


def test_turns_are_paged_to_the_end_and_a_full_page_has_no_next() -> None:
    for number in range(1, 5):
        post_turn(f"t{number}")
    page = call(f"GET {TURNS}", query={"limit": "2"}).json
    last = call(f"GET {TURNS}", query={"limit": "2", "before": page["next"]}).json
    assert [turn["round"] for turn in (*page["turns"], *last["turns"])] == [4, 3, 2, 1]
    assert "next" not in last


def test_a_turn_that_cannot_be_read_is_named_and_the_others_are_answered(client: Any) -> None:
    for number in range(1, 4):
        post_turn(f"t{number}")
    key = {"pk": {"S": "P#p#U#u#C#c1"}, "sk": {"S": "T#0000000002#000001"}}
    item = client.get_item(TableName="memoir-test", Key=key)["Item"]
    client.put_item(TableName="memoir-test", Item={**item, "body": {"S": "broken"}})
    answer = call(f"GET {TURNS}").json
    assert ([turn["round"] for turn in answer["turns"]], answer["unreadable"]) == ([3, 1], [2])


def test_a_turn_again_as_accepted_is_accepted() -> None:
    post_turn()
    assert post_turn(accepted=True).json["duplicate"]
    assert call(f"GET {TURNS}").json["turns"][0]["status"] == "accepted"


def test_a_turn_again_that_replaces_another_one_is_a_conflict() -> None:
    post_turn()
    post_turn("t2", "别的", replaces="t1")
    for members in ({}, {"replaces": "t2"}):
        answer = post_turn("t2", "别的", **members)
        assert (answer.status, answer.code) == (409, "turn_conflict")
    assert post_turn("t2", "别的", replaces="t1").json["duplicate"]
