import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoir.errors import JsonMalformed, LimitExceeded
from memoir.strict_json import compact, compact_json, member_text, read_json

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(names, values, max_size=5)


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@given(documents)
def test_what_is_read_is_what_was_written(document: dict[str, Any]) -> None:
    assert read_json(dumped(document).encode()) == document


@given(documents, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_compact_text_is_the_same_however_it_was_spaced_and_escaped(
    document: dict[str, Any], escaped: bool, indent: Any
) -> None:
    loose = json.dumps(document, ensure_ascii=escaped, indent=indent)
    assert compact(loose) == dumped(document)
    assert compact_json(loose.encode(), document) == dumped(document)


@given(documents, st.integers(0, 99), st.booleans())
def test_a_member_is_cut_out_of_a_request_in_either_order(
    document: dict[str, Any], revision: int, first: bool
) -> None:
    document = {**document, "memory": ',"expectedRevision":', ',"memory":': 1}
    members = {"memory": document, "expectedRevision": revision}
    request = members if first else dict(reversed(members.items()))
    text = compact(json.dumps(request, ensure_ascii=True))
    assert member_text(text, member="memory", beside="expectedRevision") == dumped(document)


@pytest.mark.parametrize(
    "number", ["1.0", "1", "1e-7", "1E5", "-0", "-0.0", "9007199254740993", "30.40", "0.1000000000000000055"]
)
def test_a_number_keeps_its_spelling(number: str) -> None:
    raw = f'{{ "n" : {number} }}'
    assert compact(raw) == compact_json(raw.encode(), read_json(raw.encode())) == f'{{"n":{number}}}'


def test_escapes_that_are_not_needed_vanish_and_others_stay() -> None:
    raw = r'{"\u006d":"\u4e2d\ud83d\ude00\/\"\\\n\u0000\u2028"}'
    assert compact(raw) == '{"m":"中😀/\\"\\\\\\n\\u0000\u2028"}'


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b"{} x",
        b"{}{}",
        b"{'a':1}",
        b'{"a":1,}',
        b'{"a":01}',
        b'{"a":+1}',
        b'{"a":.5}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":1e999}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":1,"a":2}',
        b'{"a":1,"\\u0061":2}',
        b'{"b":{"a":1,"a":1}}',
        b'{"a":"\\ud800"}',
        b'{"a":"\\udc00\\ud800"}',
        b'{"\\ud800":1}',
        b'{"a":"\xff"}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"a":"\x00"}',
        b'{"a":"x\ny"}',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b'{"a":\xa01}',
        b"// no\n{}",
    ],
)
def test_what_is_not_strict_json_is_refused(raw: bytes) -> None:
    with pytest.raises(JsonMalformed):
        read_json(raw)


def test_a_number_that_is_not_finite_is_named_by_its_place() -> None:
    with pytest.raises(JsonMalformed) as refusal:
        read_json(b'{"memory":{"a~b/c":[0,1e999]}}')
    assert (refusal.value.code, refusal.value.path) == ("not_finite", "/memory/a~0b~1c/1")


@pytest.mark.parametrize("levels", [34, 200, 201, 3_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_deep_nesting_is_refused_without_recursing(levels: int, opening: bytes, closing: bytes) -> None:
    with pytest.raises(LimitExceeded) as refusal:
        read_json(opening * (levels - 1) + b"{}" + closing * (levels - 1))
    assert (refusal.value.code, refusal.value.limit) == ("json_too_deep", 32)


def test_a_document_of_32_levels_inside_a_request_is_read() -> None:
    assert read_json(b"[" * 33 + b"]" * 33)


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        value = read_json(raw)
    except (JsonMalformed, LimitExceeded):
        return
    assert json.loads(compact(raw.decode())) == value
