import json
from typing import Any

import pytest

from memoir.contracts.compact import read_compact
from memoir.errors import LimitExceeded, MemoirError, RequestInvalid, TooLarge

USER: dict[str, Any] = {"turnId": "t1", "role": "user", "content": "你好"}


def read(**members: Any) -> Any:
    return read_compact(json.dumps({"messages": [USER], "tokenBudget": 100, **members}).encode())


def test_a_history_is_read() -> None:
    system = {"role": "system", "content": "规则", "turnId": None, "coversTurns": 3, "tokens": 7}
    found = read(messages=[system, USER], scenarioId="s")
    assert [(m.turn_id, m.role, m.tokens, m.covers_turns) for m in found.messages] == [
        (None, "system", 7, 3),
        ("t1", "user", None, None),
    ]
    assert (found.token_budget, found.scenario_id) == (100, "s")
    assert found.messages[0].is_summary


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"tokenBudget": 0}, "/tokenBudget"),
        ({"tokenBudget": 1.5}, "/tokenBudget"),
        ({"tokenBudget": 10_000_001}, "/tokenBudget"),
        ({"messages": [{**USER, "turnId": None}]}, "/messages/0/turnId"),
        ({"messages": [{**USER, "turnId": ""}]}, "/messages/0/turnId"),
        ({"messages": [{**USER, "role": "narrator"}]}, "/messages/0/role"),
        ({"messages": [{**USER, "content": None}]}, "/messages/0/content"),
        ({"messages": [{**USER, "tokens": -1}]}, "/messages/0/tokens"),
        ({"messages": [{**USER, "tokens": True}]}, "/messages/0/tokens"),
        ({"messages": [{**USER, "name": "x"}]}, "/messages/0/name"),
        ({"scenarioId": ""}, "/scenarioId"),
    ],
)
def test_what_is_not_as_agreed_is_refused_by_its_place(members: dict[str, Any], path: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read(**members)
    assert refusal.value.path == path


def test_limits_are_named_with_their_place() -> None:
    assert len(read(messages=[USER] * 5_000).messages) == 5_000
    with pytest.raises(LimitExceeded) as count:
        read(messages=[USER] * 5_001)
    assert (count.value.value, count.value.path) == (5_001, "/messages")
    read(messages=[{**USER, "content": "x" * 262_144}])
    with pytest.raises(TooLarge) as size:
        read(messages=[{**USER, "content": "x" * 262_145}])
    assert (size.value.size_bytes, size.value.path) == (262_145, "/messages/0/content")


@pytest.mark.parametrize("body", [b"", b"[]", b'{"messages":[],"messages":[]}'])
def test_what_is_no_strict_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(MemoirError):
        read_compact(body)
