"""The summaries beside a diary's head: they give what its entries would, whatever became of those."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.entry import (
    FIRST_HEAD,
    DiaryEntry,
    DiaryHead,
    head_as_plain,
    head_from_plain,
    written_by_user,
)
from memoir.domain.diary.record.head import (
    head_after_deletion,
    head_after_edit,
    head_after_range,
    head_with_stale,
)
from memoir.domain.diary.record.recall import MAX_RECALL_BYTES, compass_memory, recall_diary
from memoir.domain.diary.record.recent import MAX_RECENT, MAX_RECENT_BYTES, RecentSummaries
from memoir.domain.diary.record.staleness import edited_entry, newly_stale, summary_base, superseded

TIERS = {"default": 1, "plus": 2, "ultra": 3, "max": 5}


def entry(first: int, last: int, summary: str = "要点", **members: Any) -> DiaryEntry:
    covers = RoundRange(first=first, last=last)
    return replace(written_by_user(covers, created_at_ms=0), summary=summary, **members)


class Diary(RuleBasedStateMachine):
    """A diary whose head and entries move together, as its jobs and its user move them."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[int, DiaryEntry] = {}
        self.head = FIRST_HEAD

    def newest(self) -> DiaryEntry | None:
        usable = [one for one in self.entries.values() if one.usable]
        return max(usable, key=lambda one: one.last_round, default=None)

    @rule(summary=st.sampled_from(["他们去了港口。", "", " ", "x" * 9_000]), rounds=st.integers(1, 12))
    def write_the_next(self, summary: str, rounds: int) -> None:
        first = self.head.watermark + 1
        made = entry(first, first + rounds - 1, summary, base=summary_base(self.newest()))
        self.save(made)

    @rule(index=st.integers(0, 20))
    def regenerate_a_round(self, index: int) -> None:
        if not self.entries:
            return
        told = sorted(self.entries.values(), key=lambda one: one.last_round)[index % len(self.entries)]
        stale = newly_stale(self.entries.values(), changed={told.first_round})
        self.head = head_with_stale(self.head, stale=stale)
        self.entries |= {one.last_round: one for one in stale}

    @rule()
    def write_a_stale_range_anew(self) -> None:
        if self.head.stale_ranges:
            covers = self.head.stale_ranges[0]
            self.save(entry(covers.first, covers.last, "重写的。", version=2))

    @rule(index=st.integers(0, 20), summary=st.sampled_from(["我自己的。", ""]))
    def edit(self, index: int, summary: str) -> None:
        if self.entries:
            told = sorted(self.entries.values(), key=lambda one: one.last_round)[index % len(self.entries)]
            edited = edited_entry(told, summary=summary, diary="")
            self.head = head_after_edit(self.head, entry=edited)
            self.entries[edited.last_round] = edited

    @rule(index=st.integers(0, 20))
    def delete(self, index: int) -> None:
        if self.entries:
            last = sorted(self.entries)[index % len(self.entries)]
            self.head = head_after_deletion(self.head, covers=self.entries.pop(last).range)

    @rule()
    def forget_as_a_head_of_before(self) -> None:
        self.head = replace(self.head, recent=None)

    def save(self, made: DiaryEntry) -> None:
        for old in superseded(tuple(self.entries.values()), by=made.range):
            del self.entries[old.last_round]
        self.entries[made.last_round] = made
        self.head = head_after_range(self.head, covers=made.range, entry=made)

    @invariant()
    def what_is_beside_the_head_is_what_the_entries_give(self) -> None:
        self.head = head_from_plain(head_as_plain_json(self.head))
        if self.head.recent is None:
            return
        for tier, count in TIERS.items():
            told = self.head.recent.newest(count)
            if told is None:
                continue
            recalled = recall_diary(
                self.entries.values(),
                subscription_category=tier,
                next_at=0,
                tombstones=self.head.tombstones,
            )
            assert told == tuple(one.recalled for one in recalled.entries)
            assert compass_memory(told, max_bytes=MAX_RECALL_BYTES)[0] == recalled.compass_memory


def head_as_plain_json(head: DiaryHead) -> Any:
    import json

    return json.loads(json.dumps(head_as_plain(head)))


TestDiary = Diary.TestCase
TestDiary.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)


def test_five_are_kept_and_the_sixth_pushes_the_oldest_out() -> None:
    recent = RecentSummaries()
    for number in range(1, MAX_RECENT + 1):
        recent = recent.having(entry(number, number).recalled)
    assert recent.newest(MAX_RECENT) == recent.summaries and recent.since == 0
    recent = recent.having(entry(6, 6).recalled)
    assert [one.last_round for one in recent.summaries] == [2, 3, 4, 5, 6]
    assert recent.since == 2


def test_what_is_gone_from_a_full_list_has_to_be_read() -> None:
    recent = RecentSummaries()
    for number in range(1, 8):
        recent = recent.having(entry(number, number).recalled)
    gone = recent.without_range(RoundRange(first=5, last=5))
    assert gone.newest(5) is None
    assert [one.last_round for one in gone.newest(4) or ()] == [3, 4, 6, 7]


@pytest.mark.parametrize(("characters", "kept"), [(MAX_RECENT_BYTES // 2, 2), (MAX_RECENT_BYTES // 2 + 1, 1)])
def test_all_of_them_have_no_more_bytes_than_a_recall_gives(characters: int, kept: int) -> None:
    recent = RecentSummaries()
    for number in (1, 2):
        recent = recent.having(entry(number, number, "x" * characters).recalled)
    assert len(recent.summaries) == kept


def test_an_entry_older_than_what_is_known_is_not_taken_for_the_newest() -> None:
    recent = RecentSummaries(since=30)
    assert recent.having(entry(11, 20).recalled) == recent
