"""The rounds that a diary is written from: their order, their text, and how a long dialogue is cut to fit."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from memoir.domain.model_text.cleaning import clean_model_text, is_blank
from memoir.domain.model_text.marks import EDIT_TAG
from memoir.domain.model_text.reasoning import mask_reasoning

TEXT_HASH_BYTES = 16


@dataclass(frozen=True, kw_only=True, order=True)
class RoundRange:
    """Rounds *first* to *last*, both included."""

    first: int
    last: int

    def __contains__(self, round_number: int) -> bool:
        return self.first <= round_number <= self.last

    def overlaps(self, other: "RoundRange") -> bool:
        """Tell whether the two have a round in common."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, kw_only=True)
class DialogueRound:
    """One accepted round as it stands now: both texts and who speaks. Empty names get a neutral label."""

    round: int
    turn_id: str
    user_text: str
    assistant_text: str
    user_name: str = ""
    assistant_name: str = ""


@dataclass(frozen=True, kw_only=True)
class FittedDialogue:
    """Rounds by number whose texts fit a limit. *truncated*: something was cut, and its place is marked."""

    rounds: tuple[DialogueRound, ...]
    truncated: bool


def text_hash(dialogue_round: DialogueRound) -> str:
    """Return the hash by which a changed text of a round is noticed."""
    digest = hashlib.sha256()
    for text in (dialogue_round.user_text, dialogue_round.assistant_text):
        raw = text.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.digest()[:TEXT_HASH_BYTES].hex()


def rounds_to_write(rounds: Iterable[DialogueRound], *, accepted: Iterable[int]) -> tuple[DialogueRound, ...]:
    """Return the *accepted* rounds that have text, by round number, each once, as story text.

    A round delivered twice counts with its last text. Only the user's and the character's words are read:
    system notes never are. The answer is empty where nothing is left to write about (`empty_range`): no model
    is called then.
    """
    wanted = set(accepted)
    latest = {item.round: _as_story(item) for item in rounds if item.round in wanted}
    ordered = (latest[number] for number in sorted(latest))
    return tuple(item for item in ordered if not is_blank(item.user_text + item.assistant_text))


def story_text(text: str) -> str:
    """Return what a reader sees of a message: no reasoning, no table edits; an open block runs to the end."""
    text = clean_model_text(text)
    text, _ = mask_reasoning(text, opaque=_blocks(text))
    kept: list[str] = []
    position = 0
    for start, end in _blocks(text, unclosed=True):
        kept.append(text[position:start])
        position = end
    return "".join(kept) + text[position:]


def _blocks(text: str, *, unclosed: bool = False) -> list[tuple[int, int]]:
    """Return from where to where blocks of edits stand: each to its first closing tag, or to the end."""
    blocks: list[tuple[int, int]] = []
    start: int | None = None
    for tag in EDIT_TAG.finditer(text):
        if not tag["edit_shut"]:
            start = tag.start() if start is None else start
        elif start is not None:
            blocks.append((start, tag.end()))
            start = None
    return blocks if start is None or not unclosed else [*blocks, (start, len(text))]


def fit_dialogue(rounds: Sequence[DialogueRound], *, max_chars: int) -> FittedDialogue:
    """Cut *rounds* to *max_chars* characters of text: longest messages first, all to one length.

    So every round stays in view and one huge message costs no other one anything. What is left out is the
    middle of a message, marked with the number of its characters; the marks come on top of *max_chars*.
    """
    lengths = [len(text) for item in rounds for text in (item.user_text, item.assistant_text)]
    longest = _common_limit(lengths, max_total=max_chars)
    if longest is None:
        return FittedDialogue(rounds=tuple(rounds), truncated=False)
    return FittedDialogue(
        rounds=tuple(
            replace(
                item,
                user_text=cut_middle(item.user_text, max_chars=longest),
                assistant_text=cut_middle(item.assistant_text, max_chars=longest),
            )
            for item in rounds
        ),
        truncated=True,
    )


def cut_middle(text: str, *, max_chars: int) -> str:
    """Return *text*, or its first two thirds and last third of *max_chars* around a mark `[… n …]`."""
    if len(text) <= max_chars:
        return text
    tail = max_chars // 3
    head = max_chars - tail
    return f"{text[:head]} [… {len(text) - max_chars} …] {text[len(text) - tail :]}"


def _common_limit(lengths: Sequence[int], *, max_total: int) -> int | None:
    """Return the largest length to which all may be cut for *max_total* in all; None where all fit."""
    ordered = sorted(lengths)
    sums = [0, *accumulate(ordered)]
    if sums[-1] <= max_total:
        return None
    count = len(ordered)

    def total_if_cut_to(length: int) -> int:
        shorter = bisect_right(ordered, length)
        return sums[shorter] + length * (count - shorter)

    low, high = 0, ordered[-1]
    while low < high:
        middle = (low + high + 1) // 2
        if total_if_cut_to(middle) <= max_total:
            low = middle
        else:
            high = middle - 1
    return low


def _as_story(item: DialogueRound) -> DialogueRound:
    return replace(
        item, user_text=clean_model_text(item.user_text), assistant_text=story_text(item.assistant_text)
    )
