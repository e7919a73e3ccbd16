"""GET /v1/conversations by the real handlers on moto: whose, in which order, and what makes one."""

from typing import Any

import pytest

from memoir import wiring
from memoir.domain.scope import Scope
from memoir.records.register import register_write
from tests.handlers import call

TURN = {"turnId": "t1", "user": {"text": "问"}, "assistant": {"text": "答"}}
SHEETS = {"sheets": [{"name": "s", "columns": ["a"], "rows": []}]}
FIRST: dict[str, tuple[str, Any]] = {
    "memory": ("PUT …/memory", {"expectedRevision": 0, "memory": {}}),
    "table": ("PUT …/table", {"expectedRevision": 0, "table": SHEETS}),
    "turn": ("POST …/turns", TURN),
}


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


def listed(*, user: str = "u", **query: str) -> Any:
    answer = call("GET /v1/conversations", user=user, query=query)
    assert answer.status == 200
    return answer.json


def ids(page: Any) -> list[str]:
    return [found["id"] for found in page["conversations"]]


def register(name: str, *, at: float, user: str = "u") -> None:
    scope = Scope(product="p", user=user, conversation=name)
    wiring.engine().records.write(register_write(scope, now=at))


def test_nobody_has_a_conversation_at_first() -> None:
    call("GET …/memory")
    assert listed() == {"conversations": []}


@pytest.mark.parametrize("first", FIRST)
def test_whatever_comes_first_registers_a_conversation_once(first: str) -> None:
    order = [FIRST[first], *FIRST.values()]
    assert call(*order[0]).status < 300
    (found,) = listed()["conversations"]
    for route, body in order:
        call(route, body)
    (again,) = listed()["conversations"]
    assert found["id"] == again["id"] == "c1"
    assert found["createdAt"] == again["createdAt"]
    assert again["lastRound"] == 1


def test_what_was_refused_registers_none() -> None:
    assert call("PUT …/memory", {"expectedRevision": 3, "memory": {}}).status == 409
    assert call("POST …/turns", {**TURN, "replaces": "nothing"}).status == 404
    assert listed() == {"conversations": []}


def test_conversations_are_told_newest_first_with_their_last_round() -> None:
    for number, name in enumerate(["b", "a", "c"]):
        register(name, at=1_793_500_000 + number)
    call("POST …/turns", TURN, path={"id": "a"})
    page = listed()
    assert [(found["id"], found["lastRound"]) for found in page["conversations"]] == [
        ("c", 0),
        ("a", 1),
        ("b", 0),
    ]
    assert page["conversations"][0]["createdAt"] == "2026-11-01T02:26:42Z"
    assert "next" not in page


def test_pages_go_on_behind_the_last_one_and_end() -> None:
    for number in range(5):
        register(f"c{number}", at=1_793_500_000 + number // 2)  # two at a time
    found, before = [], {}
    for _ in range(3):
        page = listed(limit="2", **before)
        found += ids(page)
        before = {"before": page["next"]} if "next" in page else {}
    assert (found, before) == (["c4", "c3", "c2", "c1", "c0"], {})
    assert "next" not in listed(limit="5")


def test_a_conversation_that_came_between_two_pages_moves_none() -> None:
    for number in range(3):
        register(f"c{number}", at=1_793_500_000 + number)
    page = listed(limit="2")
    register("new", at=1_793_600_000)
    assert ids(listed(limit="2", before=page["next"])) == ["c0"]


def test_a_user_is_told_of_no_other_ones_conversations() -> None:
    register("mine", at=1_793_500_000)
    register("theirs", at=1_793_500_000, user="v")
    assert (ids(listed()), ids(listed(user="v")), ids(listed(user="w"))) == (["mine"], ["theirs"], [])
    other = {"client_id": "other", "sub": "other", "scope": "memory/act-as-user"}
    assert call("GET /v1/conversations", claims=other).json == {"conversations": []}


def test_a_broken_record_hides_no_other_conversation(client: Any) -> None:
    for name in ("a", "b"):
        register(name, at=1_793_500_000)
    broken = next(
        item for item in client.scan(TableName="memoir-test")["Items"] if item["sk"]["S"].endswith("#a")
    )
    client.put_item(TableName="memoir-test", Item={**broken, "created_ms": {"S": "soon"}})
    assert ids(listed()) == ["b"]
