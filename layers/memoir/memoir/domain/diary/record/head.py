"""How the head of a diary moves: only by something that was saved, failed, cut or taken back."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from memoir.domain.diary.due.plan import DiaryProgress
from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.entry import DiaryCut, DiaryEntry, DiaryHead
from memoir.domain.diary.record.recent import RecentSummaries

MAX_EMPTIES = 64


def progress_of(head: DiaryHead, *, accepted_rounds: Collection[int]) -> DiaryProgress:
    """Return what `plan_diary` has to know of *head* and the accepted rounds."""
    return DiaryProgress(
        accepted_rounds=accepted_rounds,
        watermark=head.watermark,
        failed_at_round=head.failed_at_round,
        stale_ranges=head.stale_ranges,
        tombstones=head.tombstones,
    )


def head_after_range(head: DiaryHead, *, covers: RoundRange, entry: DiaryEntry | None = None) -> DiaryHead:
    """Return the head once *covers* is stored as *entry*, or was found to hold nothing new.

    The watermark moves to the range's end, never back and never further: rounds that arrived meanwhile still
    count.
    """
    return replace(
        head if entry is None else _recalling(head, entry),
        watermark=max(head.watermark, covers.last),
        failed_at_round=None,
        failure_code="",
        stale_ranges=tuple(item for item in head.stale_ranges if not item.overlaps(covers)),
        empties=head.empties if entry else (*head.empties, covers)[-MAX_EMPTIES:],
    )


def head_after_cut(
    head: DiaryHead, *, to_round: int, generation: int, newest_end: int, cuts_entries: bool
) -> DiaryHead:
    """Return the head after a rewind to *to_round*. *newest_end*: of the newest entry that stays, 0 for none.

    *cuts_entries*: some entry ends behind it. What the user deleted up to there stays deleted.
    """
    if head.watermark <= to_round and not cuts_entries:
        return head
    tombstones = tuple(item for item in head.tombstones if item.last <= to_round)
    empties = tuple(item for item in head.empties if item.last <= to_round)
    ends = (newest_end, *(item.last for item in (*tombstones, *empties)))
    cut = DiaryCut(to_round=to_round, generation=generation)
    failed = head.failed_at_round if (head.failed_at_round or 0) <= to_round else None
    return replace(
        head,
        watermark=min(head.watermark, max(ends)),
        failed_at_round=failed,
        failure_code=head.failure_code if failed is not None else "",
        stale_ranges=tuple(item for item in head.stale_ranges if item.last <= to_round),
        tombstones=tombstones,
        empties=empties,
        recent=head.recent and head.recent.up_to(to_round),
        cuts=(*(known for known in head.cuts if known.to_round < to_round), cut)
        if cuts_entries
        else head.cuts,
    )


def head_after_failure(head: DiaryHead, *, newest_round: int, code: str) -> DiaryHead:
    """Return the head after a job failed: the watermark stays, the next plan waits for further rounds."""
    return replace(head, failed_at_round=newest_round, failure_code=code)


def head_with_stale(head: DiaryHead, *, stale: Iterable[DiaryEntry]) -> DiaryHead:
    """Return the head that also knows the ranges of *stale*, each once. Unchanged where it knows them all."""
    stale = tuple(stale)
    ranges = tuple(sorted({*head.stale_ranges, *(entry.range for entry in stale)}))
    ends = {entry.last_round for entry in stale}
    return replace(head, stale_ranges=ranges, recent=head.recent and head.recent.without_ends(ends))


def head_after_deletion(head: DiaryHead, *, covers: RoundRange) -> DiaryHead:
    """Return the head after the user deleted the entry of *covers*: the range is never generated again."""
    return replace(
        head,
        watermark=max(head.watermark, covers.last),
        stale_ranges=tuple(item for item in head.stale_ranges if item != covers),
        tombstones=tuple(sorted({*head.tombstones, covers})),
        recent=head.recent and head.recent.without_range(covers),
    )


def head_after_edit(head: DiaryHead, *, entry: DiaryEntry) -> DiaryHead:
    """Return the head after the user wrote *entry* anew: it is no job's business any more."""
    return replace(
        _recalling(head, entry),
        stale_ranges=tuple(item for item in head.stale_ranges if item != entry.range),
    )


def _recalling(head: DiaryHead, entry: DiaryEntry) -> DiaryHead:
    """Return the head with the summary of *entry* among the newest ones.

    A head that kept none begins with the first entry behind all others.
    """
    recent = head.recent
    if recent is None and entry.last_round >= head.watermark:
        recent = RecentSummaries(since=entry.last_round)
    return replace(head, recent=recent and recent.having(entry.recalled))
