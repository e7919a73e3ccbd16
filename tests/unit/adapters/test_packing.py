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
def test_what_was_not_packed_here_is_no_text(value: object) -> None:
    assert unpack(value) is None


@pytest.mark.parametrize("fill", ["x", "长", "\u0001", "\n", '"'])
def test_what_may_be_packed_can_be_unpacked_up_to_the_last_byte(fill: str) -> None:
    largest = fill * (MAX_BODY_BYTES // len(fill.encode()))
    assert unpack(pack(largest, beside_bytes=0)) == largest
    with pytest.raises(TooLarge) as refusal:
        pack(largest + fill, beside_bytes=0)
    assert refusal.value.limit_bytes == MAX_BODY_BYTES


def test_a_packed_text_that_is_too_long_is_not_unpacked() -> None:
    assert unpack({"B": zlib.compress(b"x" * (MAX_BODY_BYTES + 1))}) is None
