import pytest

from memoir.adapters.packing import pack, unpack
from memoir.errors import RecordCorrupt


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
def test_what_was_not_packed_here_is_corrupt(value: object) -> None:
    with pytest.raises(RecordCorrupt):
        unpack(value)


def test_a_packed_text_that_is_too_long_is_not_unpacked() -> None:
    import zlib

    with pytest.raises(RecordCorrupt):
        unpack({"B": zlib.compress(b"x" * (512 * 1024 + 1))})
