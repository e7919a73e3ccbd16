"""How two recalls differ: what `axon_shadow` reports, and nothing that could fail a turn."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

MAX_COMPARED_BYTES = 16 * 1024
_GRAM_CHARACTERS = 3


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How what was answered (here) differs from what was only compared (there). No texts are in it.

    `similarity`: 0 to 1, of the first 16 KiB of either side. Names are variables that have a text.
    """

    equal: bool
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]
    in_both: tuple[str, ...]
    similarity: float
    bytes_here: int
    bytes_there: int


def compare_recalls(here: Mapping[str, str], there: Mapping[str, str]) -> Comparison:
    """Return how the texts of two recalls differ, each given by variable. Blank texts count as none."""
    ours, theirs = _filled(here), _filled(there)
    our_text, their_text = "\n".join(ours.values()), "\n".join(theirs.values())
    return Comparison(
        equal=our_text == their_text,
        only_here=tuple(name for name in ours if name not in theirs),
        only_there=tuple(name for name in theirs if name not in ours),
        in_both=tuple(name for name in ours if name in theirs),
        similarity=similarity(our_text, their_text),
        bytes_here=len(our_text.encode("utf-8", "replace")),
        bytes_there=len(their_text.encode("utf-8", "replace")),
    )


def similarity(one: str, other: str) -> float:
    """Return the share of character 3-grams that two texts have in common (Dice), of 16 KiB of each."""
    grams, others = _grams(_bounded(one)), _grams(_bounded(other))
    total = grams.total() + others.total()
    return round(2 * (grams & others).total() / total, 4) if total else 1.0


def _filled(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text.strip()}


def _bounded(text: str) -> str:
    return text.encode("utf-8", "replace")[:MAX_COMPARED_BYTES].decode(errors="ignore")


def _grams(text: str) -> Counter[str]:
    if len(text) < _GRAM_CHARACTERS:
        return Counter([text] if text else [])
    return Counter(text[at : at + _GRAM_CHARACTERS] for at in range(len(text) - _GRAM_CHARACTERS + 1))
