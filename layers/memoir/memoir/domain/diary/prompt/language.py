"""Which language a text is in, as far as its letters tell: enough to ask in it and notice another."""

import re

UNKNOWN = "unknown"
CHINESE = "zh"
JAPANESE = "ja"
LATIN = "latin"

# One Han character says about as much as four letters; weights make mixed text comparable.
_SCRIPTS = {
    CHINESE: (re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]"), 4),
    JAPANESE: (re.compile("[\u3041-\u30ff]"), 4),
    "ko": (re.compile("[\uac00-\ud7a3]"), 4),
    LATIN: (re.compile("[A-Za-z\u00c0-\u024f]"), 1),
    "cyrillic": (re.compile("[\u0400-\u04ff]"), 1),
    "arabic": (re.compile("[\u0600-\u06ff]"), 1),
    "th": (re.compile("[\u0e01-\u0e5b]"), 2),
}
_LEAST_WEIGHT = 12
"""Below three Han characters or twelve letters no language is claimed."""

_KANA_SHARE = 0.15
"""Japanese mixes kana with Han; less than this is a Chinese text with a Japanese word in it."""

_FOREIGN_SHARE = 0.2
"""Less than this of the expected language in a text is another language; names and quotations are that much.
"""


def language_of(text: str) -> str:
    """Return `zh`, `ja`, `ko`, `th`, or the script `latin`, `cyrillic`, `arabic`; else `unknown`."""
    weights = _weights(text)
    if sum(weights.values()) < _LEAST_WEIGHT:
        return UNKNOWN
    east_asian = weights[CHINESE] + weights[JAPANESE]
    if weights[JAPANESE] >= _KANA_SHARE * east_asian > 0:
        weights = {**weights, JAPANESE: east_asian, CHINESE: 0}
    return max(weights, key=lambda name: weights[name])


def is_other_language(text: str, *, expected: str) -> bool:
    """Tell whether *text* is clearly not in the *expected* language. A text too short to tell is not."""
    found = language_of(text)
    if UNKNOWN in (found, expected) or found == expected:
        return False
    if {found, expected} == {CHINESE, JAPANESE}:
        return True
    weights = _weights(text)
    share = weights[expected] + (weights[CHINESE] if expected == JAPANESE else 0)
    return share < _FOREIGN_SHARE * sum(weights.values())


def _weights(text: str) -> dict[str, int]:
    return {name: weight * len(letters.findall(text)) for name, (letters, weight) in _SCRIPTS.items()}
