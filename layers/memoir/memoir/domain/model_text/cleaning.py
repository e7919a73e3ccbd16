"""What no text may hold that is stored, logged or parsed."""

import re
import unicodedata

_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DROPPED_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f]")

# Letters that show nothing: Hangul fillers and the empty Braille pattern. All else is told by its category.
_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Mn", "Zl", "Zp", "Zs"})


def encodable(text: str) -> str:
    """Return *text* as UTF-8 can hold it: halves of a surrogate pair joined, lone ones U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return _SURROGATE.sub("\ufffd", _SURROGATE_PAIR.sub(_joined, text))


def clean_model_text(text: str) -> str:
    """Return *text* as it can be stored, logged and parsed.

    It is made encodable; CRLF becomes LF; C0 controls except LF and TAB and a byte order mark at the
    beginning are dropped. All else stays, zero-width joiners included.
    """
    return _DROPPED_CONTROLS.sub("", encodable(text).replace("\r\n", "\n")).lstrip("\ufeff")


def is_blank(text: str) -> bool:
    """Tell whether *text* shows nothing: white space, zero-width characters, combining marks alone."""
    return all(
        unicodedata.category(character) in _INVISIBLE_CATEGORIES or character in _INVISIBLE_LETTERS
        for character in text
    )


def _joined(pair: re.Match[str]) -> str:
    high, low = ord(pair[0][0]), ord(pair[0][1])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
