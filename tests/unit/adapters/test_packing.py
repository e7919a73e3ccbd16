import zlib

import pytest

from memoir.adapters.packing import MAX_BODY_BYTES, pack, unpack
from memoir.errors import TooLarge


def test_a_text_that_one_unit_holds_anyway_stays_plain() -> None:
    assert pack("城门" * 10, beside_bytes=300) == {"S": "城门" * 10}


def test_a_text_is_packed_where_that_saves_a_unit() -> None:
    packed = pack("城门" * 500, beside_bytes=300)
    assert isinstance(packed["B"], bytes)
    assert len(packed["B"]) < 724


@pytest.mark.parametrize("text", ["", "{}", "长" * 20_000, "\u0000\u2028😀" * 2000])
def test_what_was_packed_is_unpacked(text: str) -> None:
    assert unpack(pack(text, beside_bytes=0)) == text


@pytest.mark.parametrize("value", [None, {}, {"N": "1"}, {"B": b"x"}, {"B": b""}, {"S": 1}, "text"])
def test_what_was_not_packed_here_is_none(value: object) -> None:
    assert unpack(value) is None


def test_a_packed_text_that_is_too_long_is_not_unpacked() -> None:
    longest = b"x" * MAX_BODY_BYTES
    assert unpack({"B": zlib.compress(longest)}) == longest.decode()
    assert unpack({"B": zlib.compress(longest + b"x")}) is None


def test_packed_bytes_that_are_no_utf_8_are_none() -> None:
    assert unpack({"B": zlib.compress(b"\xff")}) is None


def test_a_text_that_could_not_be_unpacked_is_not_packed() -> None:
    with pytest.raises(TooLarge) as refusal:
        pack("x" * (MAX_BODY_BYTES + 1), beside_bytes=0)
    assert refusal.value.code == "record_too_large"
