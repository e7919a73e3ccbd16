from typing import Any

import pytest

from memoir.domain.json_document import json_document
from memoir.domain.memory import memory_document
from memoir.errors import JsonMalformed, LimitExceeded, MemoirError, RequestInvalid, TooLarge


def nested(levels: int) -> dict[str, Any]:
    value: Any = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value  # type: ignore[no-any-return]


def test_a_document_has_compact_text_that_is_not_escaped() -> None:
    document = memory_document({"scene": "城门", "n": [1, 1.0, None, True]})
    assert document.text == '{"scene":"城门","n":[1,1.0,null,true]}'
    assert document.size_bytes == len(document.text.encode())


def test_an_empty_object_is_a_document() -> None:
    assert memory_document({}).text == "{}"


def test_the_fresh_value_may_be_changed_without_changing_the_document() -> None:
    document = memory_document({"a": [1]})
    document.fresh_value()["a"].append(2)
    assert document.value == {"a": [1]}
    assert document.text == '{"a":[1]}'


@pytest.mark.parametrize("value", [None, [], "{}", 1, True, 1.5])
def test_what_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        memory_document(value)
    assert (refusal.value.code, refusal.value.path) == ("not_an_object", "/memory")


@pytest.mark.parametrize("filler", ["x", "长", "😀"])
def test_65_536_bytes_are_accepted_and_one_more_is_not(filler: str) -> None:
    room = 65_536 - len('{"a":""}')
    count, rest = divmod(room, len(filler.encode()))
    fits = {"a": filler * count + "x" * rest}
    assert memory_document(fits).size_bytes == 65_536
    with pytest.raises(TooLarge) as refusal:
        memory_document({"a": fits["a"] + "x"})
    assert refusal.value.code == "memory_too_large"
    assert refusal.value.facts() == {"size_bytes": 65_537, "limit_bytes": 65_536, "path": "/memory"}


def test_32_levels_are_accepted_and_33_are_not() -> None:
    assert memory_document(nested(32))
    with pytest.raises(LimitExceeded) as refusal:
        memory_document(nested(33))
    assert refusal.value.facts() == {"value": 33, "limit": 32, "path": "/memory" + "/a" * 32}


def test_an_object_that_holds_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["a"] = loop
    with pytest.raises(LimitExceeded):
        memory_document(loop)
    twice: dict[str, Any] = {}
    twice["a"] = [twice] * 10
    with pytest.raises(LimitExceeded):
        memory_document(twice)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": {1, 2}}, "/memory/a"),
        ({"a": [0, (1, 2)]}, "/memory/a/1"),
        ({"a": b"x"}, "/memory/a"),
        ({"a": {"b": object}}, "/memory/a/b"),
        ({1: "a"}, "/memory"),
        ({"a": {None: 1}}, "/memory/a"),
    ],
)
def test_what_json_cannot_say_is_refused_by_its_place(value: Any, path: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        memory_document(value)
    assert (refusal.value.code, refusal.value.path) == ("not_json", path)


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": float("inf")}, {"a": "\ud800"}, {"\ud800": 1}])
def test_what_json_must_not_say_is_refused(value: Any) -> None:
    with pytest.raises(JsonMalformed):
        memory_document(value)


def test_an_integer_too_long_to_print_is_refused_and_no_crash() -> None:
    with pytest.raises(MemoirError):
        memory_document({"a": 10**5000})


def test_errors_name_the_kind_of_document() -> None:
    with pytest.raises(TooLarge) as refusal:
        json_document({"a": "xxxx"}, name="profile", max_bytes=8)
    assert (refusal.value.code, refusal.value.path) == ("profile_too_large", "/profile")
