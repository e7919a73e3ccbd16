"""How a record's body lies in an item: plain, or compressed where that saves capacity units.

DynamoDB bills a write for each started 1,024 bytes of the item. zlib at level 6 against the alternatives is
measured by `make bench`.
"""

import zlib

from memoir.errors import TooLarge

WRITE_UNIT_BYTES = 1024
_LEVEL = 6

MAX_BODY_BYTES = 384 * 1024
"""What a body may have, written or read: below the 400 KB of an item, with room for its facts."""


def pack(text: str, *, beside_bytes: int) -> dict[str, str | bytes]:
    """Return *text* as an attribute value in DynamoDB's notation: `S` plain or `B` compressed.

    *beside_bytes*: what the rest of the item takes. Raises TooLarge for what `unpack` would not read.
    """
    plain = text.encode()
    if len(plain) > MAX_BODY_BYTES:
        raise TooLarge(
            code="record_too_large",
            size_bytes=len(plain),
            limit_bytes=MAX_BODY_BYTES,
            detail=f"what is to be stored has {len(plain)} bytes, the limit is {MAX_BODY_BYTES}",
        )
    if _units(len(plain) + beside_bytes) > 1:
        packed = zlib.compress(plain, _LEVEL)
        if _units(len(packed) + beside_bytes) < _units(len(plain) + beside_bytes):
            return {"B": packed}
    return {"S": text}


def unpack(value: object) -> str | None:
    """Return the text that `pack` stored, None for anything else."""
    if isinstance(value, dict):
        if isinstance(value.get("S"), str):
            return str(value["S"])
        if isinstance(value.get("B"), bytes):
            return _inflated(value["B"])
    return None


def _inflated(packed: bytes) -> str | None:
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(packed, MAX_BODY_BYTES)
        return plain.decode() if inflater.eof else None
    except (zlib.error, UnicodeDecodeError):
        return None


def _units(size_bytes: int) -> int:
    return -(-size_bytes // WRITE_UNIT_BYTES)
