"""What the next turn gets back of the diary: the newest summaries, and the text of `compassMemory`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memoir.domain.diary.due.policy import RECALLED_SUMMARIES
from memoir.domain.diary.due.tiers import PerTier, tier_of
from memoir.domain.diary.prompt.instructions import neutralised
from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.entry import DiaryEntry
from memoir.domain.diary.record.recent import RecentSummary
from memoir.domain.model_text.cleaning import is_blank
from memoir.domain.model_text.marks import without_live_marks

MAX_RECALL_BYTES = 24_576

_SECTIONS = (
    "compassMemory|memoryTable|hinosMemory|personalization|"
    "summary|diary|entry|摘要|日记|system|user|assistant"
)
_SECTION_TAG = re.compile(rf"<(?=[\s/]*+(?:{_SECTIONS}))", re.IGNORECASE)
_BRACE = re.compile(r"\{(?=[{%#])|[}%#](?=\})")


@dataclass(frozen=True, kw_only=True)
class DiaryRecall:
    """The recalled diary. *entries* oldest first. *compass_memory*: the text for the model, if any.

    *next_at*: the round when the next one is due. *stale_count*: entries left out because they no longer tell
    what happened. *truncated*: the text lacks something of *entries*, and says so. *unreadable*: end rounds
    of entries that were met and could not be read.
    """

    compass_memory: str
    entries: tuple[DiaryEntry, ...]
    next_at: int
    stale_count: int
    truncated: bool
    unreadable: tuple[int, ...] = ()


def recall_diary(
    entries: Iterable[DiaryEntry],
    *,
    subscription_category: object,
    next_at: int,
    tombstones: Sequence[RoundRange] = (),
    counts: PerTier[int] = RECALLED_SUMMARIES,
    max_bytes: int = MAX_RECALL_BYTES,
    unreadable: tuple[int, ...] = (),
) -> DiaryRecall:
    """Return the newest summaries of *entries*, as many as *subscription_category* recalls, oldest first.

    Newest by number of the end round. Stale and tombstoned entries are left out. *next_at*: see
    `next_round_at`.
    """
    present = [entry for entry in entries if not any(entry.range.overlaps(gone) for gone in tombstones)]
    valid = sorted(
        (entry for entry in present if not entry.stale and not is_blank(entry.summary)), key=_by_end
    )
    count = counts.of(tier_of(subscription_category))
    chosen = tuple(valid[len(valid) - min(count, len(valid)) :])
    text, truncated = compass_memory(chosen, max_bytes=max_bytes)
    return DiaryRecall(
        compass_memory=text,
        entries=chosen,
        next_at=next_at,
        stale_count=sum(entry.stale for entry in present),
        truncated=truncated,
        unreadable=unreadable,
    )


def recalled_count(subscription_category: object, *, counts: PerTier[int] = RECALLED_SUMMARIES) -> int:
    """Return how many summaries *subscription_category* recalls: default 1, plus 2, ultra 3, max 5."""
    return counts.of(tier_of(subscription_category))


def compass_memory(entries: Sequence[DiaryEntry | RecentSummary], *, max_bytes: int) -> tuple[str, bool]:
    """Return the text of *entries*, oldest first, and whether it was cut to *max_bytes* of UTF-8.

    Equal entries give equal bytes. Whole entries are left out, the oldest first, under a line that counts
    them; the newest alone, where even that is too long, is cut at a sentence or line end and marked.
    """
    blocks = [rendered_entry(entry) for entry in entries]
    for left_out in range(len(blocks)):
        text = "\n".join([*_mark_of(left_out), *blocks[left_out:]])
        if len(text.encode()) <= max_bytes:
            return text, left_out > 0
    if not blocks:
        return "", False
    return _cut_block(blocks[-1], marks=_mark_of(len(blocks) - 1), max_bytes=max_bytes), True


def rendered_entry(entry: DiaryEntry | RecentSummary) -> str:
    """Return one entry as the model sees it: its rounds and its summary, with no working markup in it."""
    return f"〔{entry.first_round}–{entry.last_round}〕\n{without_markup(entry.summary)}"


def without_markup(text: str) -> str:
    """Return stored *text* for use in a prompt: tags, marks of chat templates and braces are broken up.

    Only this text changes, never what is stored. Template filling is one pass, so `\\1` or `$1` need no care.
    """
    text = _SECTION_TAG.sub("＜", without_live_marks(neutralised(text)))
    return _BRACE.sub(lambda brace: brace[0] + " ", text)


def _mark_of(left_out: int) -> list[str]:
    return [f"[… {left_out} earlier not shown …]"] if left_out else []


def _cut_block(block: str, *, marks: list[str], max_bytes: int) -> str:
    """Return as much of *block* as fits between the marks, up to a sentence or line end if it can be."""
    end_mark = " [… cut …]"
    head = "\n".join([*marks, ""])
    room = max_bytes - len(head.encode()) - len(end_mark.encode())
    if room <= 0:
        return ""
    fitting = block.encode()[:room].decode(errors="ignore")
    ends = [
        fitting.rfind(mark) + len(mark)
        for mark in ("。", "！", "？", "\n", ". ", "! ", "? ")
        if mark in fitting
    ]
    usable = max([end for end in ends if end > len(fitting) // 2], default=len(fitting))
    return f"{head}{fitting[:usable].rstrip()}{end_mark}"


def _by_end(entry: DiaryEntry) -> tuple[int, int]:
    return entry.last_round, entry.first_round
