"""What is wrong with a request is said in the request's words."""

import json
from typing import Any

import pytest

from memoir.contracts.table import read_post_edits
from memoir.contracts.turns import read_post_turn
from memoir.errors import RequestInvalid

TURN = {"turnId": "t1", "user": {"text": "你好"}, "assistant": {"text": "嗯。"}}


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"user": "你好"}, "/user: must be a JSON object"),
        ({"user": {"text": 1}}, "/user/text: must be text"),
        ({"user": {}}, "/user/text: is missing"),
        ({"user": {"text": "你好", "x": 1}}, "/user/x: no such member"),
    ],
)
def test_a_turn_of_another_shape_is_refused_without_the_name_of_a_class(
    change: dict[str, Any], detail: str
) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_post_turn(json.dumps(TURN | change).encode())
    assert refusal.value.detail == detail


def test_edits_that_are_no_list_are_refused_in_plain_words() -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_post_edits(b'{"expectedRevision": 0, "edits": {"op": "delete"}}')
    assert refusal.value.detail == "/edits: must be a list"
