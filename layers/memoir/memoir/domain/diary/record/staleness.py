"""Rerolls, edits, deletions and branches: which entries still tell what happened."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.entry import CoveredRound, DiaryEntry, DiaryHead, SummaryBase

ROUND_CHANGED = "round_changed"
BASE_STALE = "base_stale"
ROUNDS_CUT = "rounds_cut"


@dataclass(frozen=True, kw_only=True)
class RoundsCut:
    """What a cut leaves: the new head, and the entries that have become stale and must be written so."""

    head: DiaryHead
    newly_stale: tuple[DiaryEntry, ...]


def changed_rounds(entry: DiaryEntry, *, current: Mapping[int, CoveredRound]) -> frozenset[int]:
    """Return the numbers of the rounds of *entry* that now have another text, another turn or none."""
    return frozenset(item.round for item in entry.covered if current.get(item.round) != item)


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


def cut_after(head: DiaryHead, *, entries: Iterable[DiaryEntry], last_round: int) -> RoundsCut:
    """Take back every round after *last_round*, and what was written of them.

    Entries that reach beyond are stale, edited or not, and the rounds of theirs that are left are counted
    anew: the watermark is the end of the newest entry or tombstone that is left, or where it was if that is
    before the cut.
    """
    known = tuple(entries)
    beyond = tuple(entry for entry in known if entry.last_round > last_round)
    tombstones = tuple(
        RoundRange(first=item.first, last=min(item.last, last_round))
        for item in head.tombstones
        if item.first <= last_round
    )
    ends = [entry.last_round for entry in known if entry.last_round <= last_round]
    watermark = max([0, *ends, *(item.last for item in tombstones)])
    failed_at = head.failed_at_round
    keeps_failure = failed_at is not None and failed_at <= last_round
    return RoundsCut(
        head=replace(
            head,
            version=head.version + 1,
            watermark=watermark if head.watermark > last_round else head.watermark,
            failed_at_round=failed_at if keeps_failure else None,
            failure_code=head.failure_code if keeps_failure else "",
            stale_ranges=tuple(item for item in head.stale_ranges if item.last <= last_round),
            tombstones=tombstones,
        ),
        newly_stale=tuple(replace(entry, stale_reason=ROUNDS_CUT) for entry in beyond if not entry.stale),
    )


def superseded(entries: Iterable[DiaryEntry], *, by: RoundRange) -> tuple[DiaryEntry, ...]:
    """Return the stale entries whose place the entry of range *by* takes: they go in the same write."""
    return tuple(entry for entry in entries if entry.stale and entry.range.overlaps(by))


def base_entry(entries: Iterable[DiaryEntry], *, before_round: int) -> DiaryEntry | None:
    """Return the newest valid entry with a summary that ends before *before_round*, or None.

    A new summary is written from it; the new entry keeps its range and version: `summary_base`.
    """
    valid = (
        entry for entry in entries if not entry.stale and entry.summary and entry.last_round < before_round
    )
    return max(valid, key=_by_end, default=None)


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


def may_replace(entry: DiaryEntry | None) -> bool:
    """Tell whether a job may store its entry where *entry* is: nothing is there, or something stale."""
    return entry is None or entry.stale


def branch(
    head: DiaryHead, *, entries: Iterable[DiaryEntry], at_round: int
) -> tuple[DiaryHead, tuple[DiaryEntry, ...]]:
    """Return head and entries of a conversation that begins as a copy of this one up to *at_round*.

    Only valid entries that end by then are copied; the copy has its own watermark, version and generation.
    """
    kept = tuple(entry for entry in sorted(entries, key=_by_end) if entry.last_round <= at_round)
    cut = cut_after(head, entries=kept, last_round=at_round).head
    return replace(cut, version=0, generation=0), tuple(entry for entry in kept if not entry.stale)


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
