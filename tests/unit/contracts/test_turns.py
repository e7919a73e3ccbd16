import json
from typing import Any

import pytest

from memoir.contracts.turns import read_post_turn
from memoir.errors import MemoirError, RequestInvalid, TooLarge

TURN: dict[str, Any] = {"turnId": "t1", "user": {"text": "你好"}, "assistant": {"text": "嗯。"}}


def read(**members: Any) -> Any:
    return read_post_turn(json.dumps(TURN | members).encode())


def test_a_turn_needs_an_id_and_two_texts_only() -> None:
    turn = read()
    assert (turn.turn_id, turn.user_text, turn.assistant_text) == ("t1", "你好", "嗯。")
    assert (turn.scenario_id, turn.accepted, turn.replaces, turn.table_revision) == (
        "default",
        False,
        None,
        None,
    )


def test_the_revision_that_the_model_saw_is_read() -> None:
    assert read(recalled={"memoryTable": 7.0}).table_revision == 7


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"turnId": 7}, "/turnId"),
        ({"turnId": ""}, "/turnId"),
        ({"turnId": "x" * 129}, "/turnId"),
        ({"user": "text"}, "/user"),
        ({"user": {"text": None}}, "/user/text"),
        ({"assistant": {"text": "a", "tokens": 3}}, "/assistant/tokens"),
        ({"accepted": "yes"}, "/accepted"),
        ({"accepted": 1}, "/accepted"),
        ({"replaces": "*"}, "/replaces"),
        ({"recalled": {"memoryTable": "7"}}, "/recalled/memoryTable"),
        ({"recalled": {"memoryTable": -1}}, "/recalled/memoryTable"),
        ({"recalled": {"diary": 1}}, "/recalled/diary"),
        ({"round": 3}, "/round"),
    ],
)
def test_what_is_not_as_agreed_is_refused_by_its_place(members: dict[str, Any], path: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read(**members)
    assert refusal.value.path == path


@pytest.mark.parametrize("missing", ["turnId", "user", "assistant"])
def test_a_missing_member_is_named(missing: str) -> None:
    body = {name: value for name, value in TURN.items() if name != missing}
    with pytest.raises(RequestInvalid) as refusal:
        read_post_turn(json.dumps(body).encode())
    assert (refusal.value.code, refusal.value.path) == ("member_missing", f"/{missing}")


def test_a_text_may_have_131_072_bytes_and_not_one_more() -> None:
    assert len(read(user={"text": "中" * 43_690 + "ab"}).user_text.encode()) == 131_072
    with pytest.raises(TooLarge) as refusal:
        read(assistant={"text": "中" * 43_690 + "abc"})
    assert refusal.value.facts() == {
        "size_bytes": 131_073,
        "limit_bytes": 131_072,
        "path": "/assistant/text",
    }


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b'{"turnId":"a","turnId":"b"}', b'{"a":NaN}', b'"\\ud800"']
)
def test_what_is_no_strict_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(MemoirError):
        read_post_turn(body)
