"""Recall, list, edit and delete diary entries. An entry that cannot be read hides no other one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from memoir.domain.diary.due.plan import next_round_at
from memoir.domain.diary.due.tiers import tier_of
from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.agent_ref import AgentRef, canonical_agent_ref
from memoir.domain.diary.record.entry import (
    DiaryEntry,
    DiaryHead,
    DiaryPage,
    entry_as_plain,
    entry_from_plain,
    written_by_user,
)
from memoir.domain.diary.record.head import head_after_deletion, head_after_edit, progress_of
from memoir.domain.diary.record.recall import DiaryRecall, recall_diary, recalled_count
from memoir.domain.diary.record.staleness import edited_entry
from memoir.domain.page import PageRoom
from memoir.domain.revision import Revision
from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken, random_token
from memoir.errors import NotFound, RecordCorrupt, RevisionConflict
from memoir.ports.records import Record, Records, Refused, Remove, Write
from memoir.records.diary import (
    diary_head_key,
    entry_key,
    entry_write,
    head_document,
    read_diary_head,
    read_entry,
)
from memoir.records.documents import Change, read_document, revision_conflict
from memoir.records.positions import round_name
from memoir.usecases.engine import Engine, answer_keys

# A job may save between our look and our save; each try looks anew.
_TRIES = 3

# Entries are read a few at a time: a recall wants five at most, and some may be stale.
_PAGE_ENTRIES = 8


@dataclass(frozen=True, kw_only=True)
class UnreadableEntry:
    """An entry whose record breaks its own rules."""

    last_round: int


Found = DiaryEntry | UnreadableEntry


def diary_agent(scenario: Scenario) -> AgentRef:
    """Return whose diary a scenario keeps. Raises NotFound where it keeps none."""
    source = scenario.source("compassMemory")
    if source is None:
        raise NotFound(path="/scenarioId", detail=f"/scenarioId: {scenario.id!r} keeps no diary")
    return canonical_agent_ref(source.agent_ref)


def recall(
    engine: Engine, *, scope: Scope, subscription_category: str | None, scenario: Scenario = DEFAULT
) -> DiaryRecall:
    """Return what the next turn gets back of the diary. One read, whatever the length of the conversation."""
    agent, policy = diary_agent(scenario), scenario.diary.policy
    wanted = recalled_count(subscription_category, counts=policy.recalled_summaries)
    head = DiaryHead()
    entries: list[DiaryEntry] = []
    unreadable: list[int] = []
    for name, record in _walk(engine.records, scope, agent, last="~"):
        if name[-1] == "~":
            head = read_diary_head(read_document(record))
            continue
        if _is_void(head, name, record):
            continue
        found = _entry(name, record)
        if isinstance(found, UnreadableEntry):
            unreadable.append(found.last_round)
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
        unreadable=tuple(unreadable),
    )


def list_diary(
    engine: Engine, *, scope: Scope, before: int | None, limit: int, scenario: Scenario = DEFAULT
) -> DiaryPage:
    """Return at most *limit* entries that end below the round *before*, newest first."""
    agent = diary_agent(scenario)
    entries: list[DiaryEntry] = []
    unreadable: list[int] = []
    room = PageRoom()
    head, _, _ = _look(engine, scope, agent, random_token())
    for found in newest_entries(engine.records, scope, agent, head=head, before_round=before):
        texts = (found.summary, found.diary) if isinstance(found, DiaryEntry) else ()
        if len(entries) + len(unreadable) == limit or not room.takes(*texts):
            return DiaryPage(entries=tuple(entries), unreadable=tuple(unreadable), more=True)
        if isinstance(found, DiaryEntry):
            entries.append(found)
        else:
            unreadable.append(found.last_round)
    return DiaryPage(entries=tuple(entries), unreadable=tuple(unreadable), more=False)


def edit_entry(
    engine: Engine,
    *,
    scope: Scope,
    end_round: int,
    summary: str,
    diary: str,
    expected_version: int | None,
    token: WriteToken,
    scenario: Scenario = DEFAULT,
) -> DiaryEntry:
    """Put the user's own texts into the entry that ends at *end_round*; no job overwrites it from then on.

    The same idempotency key gets the same entry again, and nothing is written.
    Raises NotFound, RevisionConflict (the entry is not at *expected_version*, or a job kept saving),
    IdempotencyKeyReused, StoreUnavailable, WriteOutcomeUnknown.
    """
    agent = diary_agent(scenario)

    def edit(found: Found, before: DiaryHead) -> tuple[DiaryHead, DiaryEntry]:
        if isinstance(found, UnreadableEntry):
            covers = _implied_range(engine.records, scope, agent, before, end_round=end_round)
            found = written_by_user(covers, created_at_ms=int(engine.clock() * 1000))
        elif expected_version not in (None, found.version):
            raise revision_conflict(expected=expected_version or 0, current=found.version)
        entry = edited_entry(found, summary=summary, diary=diary)
        return head_after_edit(before, entry=entry), entry

    for left in reversed(range(_TRIES)):
        head, revision, answered = _look(engine, scope, agent, token)
        if answered is not None:
            return entry_from_plain(json.loads(answered))
        after, entry = edit(_find(engine.records, scope, agent, head, end_round=end_round), head)
        kept = engine.kept(scope, token, json.dumps(entry_as_plain(entry), ensure_ascii=False))
        writes = (entry_write(scope, agent, entry), *kept)
        if _saved(engine, scope, agent, revision, after, writes, last_try=not left):
            break
    return entry


def delete_entry(
    engine: Engine, *, scope: Scope, end_round: int, token: WriteToken, scenario: Scenario = DEFAULT
) -> int:
    """Delete the entry that ends at *end_round*, which is returned; its rounds are never written about again.

    Deleting again is safe. Raises NotFound, RevisionConflict, IdempotencyKeyReused, StoreUnavailable,
    WriteOutcomeUnknown.
    """
    agent = diary_agent(scenario)
    for left in reversed(range(_TRIES)):
        head, revision, answered = _look(engine, scope, agent, token)
        if answered is not None:
            return end_round
        if any(tombstone.last == end_round for tombstone in head.tombstones):
            engine.keep(scope, token, "deleted")
            return end_round
        found = _find(engine.records, scope, agent, head, end_round=end_round)
        covers = (
            found.range
            if isinstance(found, DiaryEntry)
            else _implied_range(engine.records, scope, agent, head, end_round=end_round)
        )
        after = head_after_deletion(head, covers=covers)
        gone = Remove(key=entry_key(scope, agent, end_round), name="entry")
        writes = (gone, *engine.kept(scope, token, "deleted"))
        if _saved(engine, scope, agent, revision, after, writes, last_try=not left):
            break
    return end_round


def newest_entries(
    records: Records,
    scope: Scope,
    agent: AgentRef,
    *,
    head: DiaryHead,
    before_round: int | None = None,
) -> Iterator[Found]:
    """Yield the entries that end below *before_round*, newest first, none that *head* says was taken back."""
    last = "~" if before_round is None else round_name(max(before_round, 1) - 1)
    for name, record in _walk(records, scope, agent, last=last):
        if name[-1] != "~" and not _is_void(head, name, record):
            yield _entry(name, record)


def _is_void(head: DiaryHead, name: tuple[str, ...], record: Record) -> bool:
    return head.voids(int(name[-1]), generation=record.number("generation"))


def _walk(
    records: Records, scope: Scope, agent: AgentRef, *, last: str
) -> Iterator[tuple[tuple[str, ...], Record]]:
    return records.walk(
        scope, "diary", first=(agent, round_name(0)), last=(agent, last), backwards=True, page=_PAGE_ENTRIES
    )


def _entry(name: tuple[str, ...], record: Record) -> Found:
    last_round = int(name[-1])
    try:
        entry = read_entry(record)
    except RecordCorrupt:
        return UnreadableEntry(last_round=last_round)
    return entry if entry.last_round == last_round else UnreadableEntry(last_round=last_round)


def _find(records: Records, scope: Scope, agent: AgentRef, head: DiaryHead, *, end_round: int) -> Found:
    key = entry_key(scope, agent, end_round)
    record = records.read(key).get(key)
    if record is None or _is_void(head, key.name, record):
        raise NotFound(path="endRound", detail=f"no diary entry ends at round {end_round}")
    return _entry(key.name, record)


def _implied_range(
    records: Records, scope: Scope, agent: AgentRef, head: DiaryHead, *, end_round: int
) -> RoundRange:
    """Return the rounds of an entry that cannot be read: those behind the entry before it."""
    before = next(newest_entries(records, scope, agent, head=head, before_round=end_round), None)
    return RoundRange(first=before.last_round + 1 if before else 1, last=end_round)


def _look(
    engine: Engine, scope: Scope, agent: AgentRef, token: WriteToken
) -> tuple[DiaryHead, Revision, str | None]:
    key = diary_head_key(scope, agent)
    found = engine.records.read(key, *answer_keys(scope, token))
    stored = read_document(found.get(key))
    revision = stored.revision if stored else Revision(0)
    return read_diary_head(stored), revision, engine.answered(scope, token, found)


def _saved(
    engine: Engine,
    scope: Scope,
    agent: AgentRef,
    revision: Revision,
    after: DiaryHead,
    writes: tuple[Write, ...],
    *,
    last_try: bool,
) -> bool:
    change = Change(
        key=diary_head_key(scope, agent),
        expected=revision,
        document=head_document(after),
        token=random_token(),
        beside=writes,
    )
    try:
        engine.change(change)
    except RevisionConflict:
        if last_try:
            raise
        return False
    except Refused:  # the same key came twice at once: the other has its answer by now
        return False
    return True
