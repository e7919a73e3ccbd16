"""Recall, list, edit and delete diary entries."""

from dataclasses import dataclass

from memoir.diary_ports import DiaryChange, DiaryStore
from memoir.domain.diary.due.plan import next_round_at
from memoir.domain.diary.due.policy import DiaryPolicy
from memoir.domain.diary.due.tiers import tier_of
from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.diary.record.entry import DiaryEntry, DiaryHead
from memoir.domain.diary.record.head import head_after_deletion, head_after_edit, progress_of
from memoir.domain.diary.record.recall import DiaryRecall, recall_diary, recalled_count
from memoir.domain.diary.record.staleness import edited_entry
from memoir.domain.scope import Scope
from memoir.errors import NotFound, RevisionConflict

# A job may save between our look and our save; each try looks anew.
_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class DiaryPage:
    """Entries, newest first, and whether there are more before the last of them."""

    entries: tuple[DiaryEntry, ...]
    more: bool


def recall(
    *,
    diaries: DiaryStore,
    scope: Scope,
    agent: AgentRef,
    policy: DiaryPolicy,
    subscription_category: str | None,
) -> DiaryRecall:
    """Return what the next turn gets back of the diary. One read, whatever the length of the conversation."""
    wanted = recalled_count(subscription_category, counts=policy.recalled_summaries)
    head = DiaryHead()
    entries: list[DiaryEntry] = []
    for found in diaries.newest(scope, agent=agent):
        if isinstance(found, DiaryHead):
            head = found
            continue
        entries.append(found)
        wanted -= not found.stale and bool(found.summary)
        if wanted <= 0:
            break
    tier = tier_of(subscription_category)
    return recall_diary(
        entries,
        subscription_category=subscription_category,
        next_at=next_round_at(policy=policy, progress=progress_of(head, accepted_rounds=()), tier=tier),
        tombstones=head.tombstones,
        counts=policy.recalled_summaries,
    )


def list_diary(
    *, diaries: DiaryStore, scope: Scope, agent: AgentRef, before: int | None, limit: int
) -> DiaryPage:
    """Return at most *limit* entries that end below the round *before*, newest first."""
    entries: list[DiaryEntry] = []
    for found in diaries.newest(scope, agent=agent, before_round=before):
        if isinstance(found, DiaryEntry):
            if len(entries) == limit:
                return DiaryPage(entries=tuple(entries), more=True)
            entries.append(found)
    return DiaryPage(entries=tuple(entries), more=False)


def edit_entry(
    *, diaries: DiaryStore, scope: Scope, agent: AgentRef, end_round: int, summary: str, diary: str
) -> DiaryEntry:
    """Put the user's own texts into the entry that ends at *end_round*; no job overwrites it from then on.

    Raises NotFound, RevisionConflict (a job kept saving), StoreUnavailable, WriteOutcomeUnknown.
    """
    for left in reversed(range(_TRIES)):
        head = diaries.look(scope, agent=agent).head
        entry = edited_entry(
            _entry(diaries, scope, agent=agent, end_round=end_round), summary=summary, diary=diary
        )
        change = DiaryChange(before=head, after=head_after_edit(head, covers=entry.range), put=(entry,))
        if _saved(diaries, scope, agent=agent, change=change, last_try=not left):
            return entry
    raise AssertionError("the last try saves or raises")


def delete_entry(*, diaries: DiaryStore, scope: Scope, agent: AgentRef, end_round: int) -> None:
    """Delete the entry that ends at *end_round*; its rounds are never written about again.

    Deleting again is safe. Raises NotFound, RevisionConflict, StoreUnavailable, WriteOutcomeUnknown.
    """
    for left in reversed(range(_TRIES)):
        head = diaries.look(scope, agent=agent).head
        if any(tombstone.last == end_round for tombstone in head.tombstones):
            return
        entry = _entry(diaries, scope, agent=agent, end_round=end_round)
        after = head_after_deletion(head, covers=entry.range)
        change = DiaryChange(before=head, after=after, removed=(entry,))
        if _saved(diaries, scope, agent=agent, change=change, last_try=not left):
            return


def _saved(
    diaries: DiaryStore, scope: Scope, *, agent: AgentRef, change: DiaryChange, last_try: bool
) -> bool:
    try:
        diaries.save(scope, agent=agent, change=change)
    except RevisionConflict:
        if last_try:
            raise
        return False
    return True


def _entry(diaries: DiaryStore, scope: Scope, *, agent: AgentRef, end_round: int) -> DiaryEntry:
    newest = diaries.newest(scope, agent=agent, before_round=end_round + 1)
    entry = next((found for found in newest if isinstance(found, DiaryEntry)), None)
    if entry is None or entry.last_round != end_round:
        raise NotFound(path="endRound", detail=f"no diary entry ends at round {end_round}")
    return entry
