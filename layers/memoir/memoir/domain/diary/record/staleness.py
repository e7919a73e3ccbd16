"""Rerolls, edits, deletions and branches: which entries still tell what happened."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.entry import DiaryEntry, SummaryBase

ROUND_CHANGED = "round_changed"
BASE_STALE = "base_stale"


def newly_stale(entries: Iterable[DiaryEntry], *, changed: Collection[int]) -> tuple[DiaryEntry, ...]:
    """Return, marked and by end round, the entries that a change of the *changed* rounds makes stale.

    An entry is stale when a round of its range changed or was removed, or when the summary it was written
    from is stale. What the user edited is the user's own text: it stays, and so does what was written from
    it.
    """
    stale_ends: set[int] = set()
    marked: list[DiaryEntry] = []
    for entry in sorted(entries, key=_by_end):
        if entry.stale:
            stale_ends.add(entry.last_round)
        elif reason := _why_stale(entry, changed=changed, stale_ends=stale_ends):
            stale_ends.add(entry.last_round)
            marked.append(replace(entry, stale_reason=reason))
    return tuple(marked)


def superseded(entries: Iterable[DiaryEntry], *, by: RoundRange) -> tuple[DiaryEntry, ...]:
    """Return the stale entries whose place the entry of range *by* takes: they go in the same write."""
    return tuple(entry for entry in entries if entry.stale and entry.range.overlaps(by))


def summary_base(entry: DiaryEntry | None) -> SummaryBase | None:
    """Return how an entry names the one that its summary was written from."""
    return None if entry is None else SummaryBase(last_round=entry.last_round, version=entry.version)


def edited_entry(entry: DiaryEntry, *, summary: str, diary: str) -> DiaryEntry:
    """Return *entry* with the user's own texts: valid, and never overwritten by a job."""
    return replace(
        entry,
        summary=summary,
        diary=diary,
        version=entry.version + 1,
        edited=True,
        partial=False,
        stale_reason="",
    )


def _why_stale(entry: DiaryEntry, *, changed: Collection[int], stale_ends: Collection[int]) -> str:
    if entry.edited:
        return ""
    if any(number in entry.range for number in changed):
        return ROUND_CHANGED
    if entry.base is not None and entry.base.last_round in stale_ends:
        return BASE_STALE
    return ""


def _by_end(entry: DiaryEntry) -> tuple[int, int]:
    return entry.last_round, entry.first_round
