"""How a document's text lies in an item: plain, or compressed where that saves capacity units.

DynamoDB bills a write for each started 1,024 bytes of the item. zlib at level 6 against the alternatives is
measured by `make bench`.
"""

import zlib

from memoir.errors import RecordCorrupt

WRITE_UNIT_BYTES = 1024
_LEVEL = 6

# A stored text is at most 256 KiB by the rules above this layer; more is not ours.
_MAX_TEXT_BYTES = 512 * 1024


def pack(text: str, *, beside_bytes: int) -> dict[str, str | bytes]:
    """Return *text* as an attribute value in DynamoDB's notation: `S` plain or `B` compressed.

    *beside_bytes*: what the rest of the item takes.
    """
    plain = text.encode()
    packed = zlib.compress(plain, _LEVEL)
    if _units(len(packed) + beside_bytes) < _units(len(plain) + beside_bytes):
        return {"B": packed}
    return {"S": text}


def unpack(value: object) -> str:
    """Return the text that `pack` stored. Raises RecordCorrupt."""
    if isinstance(value, dict):
        if isinstance(value.get("S"), str):
            return str(value["S"])
        if isinstance(value.get("B"), bytes):
            return _inflate(value["B"])
    raise RecordCorrupt(detail="a stored document has no body; it is kept as it is")


def _inflate(packed: bytes) -> str:
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(packed, _MAX_TEXT_BYTES)
        if not inflater.eof:
            raise RecordCorrupt(detail="a stored document is cut or too long; it is kept as it is")
        return plain.decode()
    except (zlib.error, UnicodeDecodeError):
        raise RecordCorrupt(detail="a stored document cannot be unpacked; it is kept as it is") from None


def _units(size_bytes: int) -> int:
    return -(-size_bytes // WRITE_UNIT_BYTES)
