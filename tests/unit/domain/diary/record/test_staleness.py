"""Rerolls, edits, cuts, deletions, branches: what stays true of a diary, and what is written anew."""

from memoir.domain.diary.due.plan import PlanReason, plan_diary
from memoir.domain.diary.due.policy import DiaryQuota, node_policy
from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.entry import DiaryHead
from memoir.domain.diary.record.head import (
    head_after_deletion,
    head_after_edit,
    head_after_range,
    head_with_stale,
    progress_of,
    rebuilt_head,
)
from memoir.domain.diary.record.staleness import (
    base_entry,
    branch,
    changed_rounds,
    cut_after,
    edited_entry,
    may_replace,
    newly_stale,
    summary_base,
    superseded,
)
from tests.unit.domain.diary.builders import covered, entry

THREE = (entry(1, 20), entry(21, 30, base=20), entry(31, 40, base=30))
HEAD = DiaryHead(watermark=40, version=7)


def reasons(entries: object, changed: set[int]) -> dict[int, str]:
    return {item.last_round: item.stale_reason for item in newly_stale(entries, changed=changed)}  # type: ignore[arg-type]


def test_a_changed_round_makes_its_entry_and_all_built_on_it_stale() -> None:
    assert reasons(THREE, {25}) == {30: "round_changed", 40: "base_stale"}
    assert reasons(THREE, {1}) == {20: "round_changed", 30: "base_stale", 40: "base_stale"}


def test_the_borders_of_a_range_belong_to_it() -> None:
    assert reasons(THREE, {40}) == {40: "round_changed"}
    assert reasons(THREE, {31}) == {40: "round_changed"}
    assert reasons(THREE, {41}) == {}


def test_an_entry_that_is_stale_already_is_not_marked_again() -> None:
    stale = entry(1, 20, stale_reason="round_changed")
    assert reasons((stale, *THREE[1:]), {1}) == {30: "base_stale", 40: "base_stale"}


def test_an_entry_without_a_stale_base_stays() -> None:
    assert reasons((THREE[0], entry(21, 30)), {5}) == {20: "round_changed"}


def test_what_the_user_edited_stays_and_carries_what_was_built_on_it() -> None:
    edited = entry(21, 30, base=20, edited=True)
    assert reasons((THREE[0], edited, THREE[2]), {5, 25}) == {20: "round_changed"}


def test_changes_are_noticed_by_turn_and_text() -> None:
    current = {number: covered(number) for number in range(1, 21)}
    assert changed_rounds(THREE[0], current=current) == frozenset()
    assert changed_rounds(THREE[0], current={**current, 3: covered(3, text_hash="x")}) == {3}
    del current[20]
    assert changed_rounds(THREE[0], current=current) == {20}


def test_sillytavern_205_a_rerolled_covered_round_is_replanned_once() -> None:
    """Stale range planned; once it is stored the state plans nothing any more."""
    stale = newly_stale(THREE[:1], changed={20})
    head = head_with_stale(DiaryHead(watermark=20), stale=stale)
    assert head_with_stale(head, stale=stale) == head
    quota = DiaryQuota()
    progress = progress_of(head, accepted_rounds=range(1, 22))
    made = plan_diary(policy=node_policy(), progress=progress, tier="default", quota=quota)
    assert (made.reason, made.covers) == (PlanReason.STALE_RANGE, RoundRange(first=1, last=20))
    assert superseded(stale, by=made.covers) == stale
    after = progress_of(head_after_range(head, covers=made.covers), accepted_rounds=range(1, 22))
    assert not plan_diary(policy=node_policy(), progress=after, tier="default", quota=quota).generate


def test_eveross_14_a_cut_marks_what_reaches_beyond_and_counts_the_rest_anew() -> None:
    cut = cut_after(DiaryHead(watermark=20, version=1), entries=THREE[:1], last_round=3)
    assert [item.stale_reason for item in cut.newly_stale] == ["rounds_cut"]
    assert (cut.head.watermark, cut.head.version) == (0, 2)
    progress = progress_of(cut.head, accepted_rounds=range(1, 4))
    made = plan_diary(policy=node_policy(), progress=progress, tier="default", quota=DiaryQuota())
    assert (made.reason, made.next_at) == (PlanReason.TOO_FEW_ROUNDS, 20)


def test_a_cut_at_the_end_of_an_entry_keeps_it() -> None:
    kept = cut_after(HEAD, entries=THREE, last_round=30)
    assert (kept.head.watermark, [item.last_round for item in kept.newly_stale]) == (30, [40])
    cut = cut_after(HEAD, entries=THREE, last_round=29)
    assert (cut.head.watermark, [item.last_round for item in cut.newly_stale]) == (20, [30, 40])


def test_a_cut_beyond_the_watermark_moves_nothing() -> None:
    cut = cut_after(HEAD, entries=THREE, last_round=45)
    assert (cut.head.watermark, cut.newly_stale) == (40, ())


def test_a_cut_takes_edited_entries_failures_stale_ranges_and_tombstones_with_it() -> None:
    head = DiaryHead(
        watermark=40,
        failed_at_round=45,
        failure_code="refusal",
        stale_ranges=(RoundRange(first=1, last=20), RoundRange(first=31, last=40)),
        tombstones=(RoundRange(first=21, last=30), RoundRange(first=36, last=40)),
    )
    cut = cut_after(head, entries=(THREE[0], entry(31, 40, edited=True)), last_round=25)
    assert [item.last_round for item in cut.newly_stale] == [40]
    assert (cut.head.failed_at_round, cut.head.failure_code) == (None, "")
    assert cut.head.stale_ranges == (RoundRange(first=1, last=20),)
    assert cut.head.tombstones == (RoundRange(first=21, last=25),)
    assert cut.head.watermark == 25


def test_a_failure_before_a_cut_is_kept() -> None:
    head = DiaryHead(watermark=20, failed_at_round=30, failure_code="refusal")
    assert cut_after(head, entries=(), last_round=30).head.failed_at_round == 30


def test_lobehub_15576_a_deleted_entry_is_never_made_again() -> None:
    head = head_after_deletion(HEAD, covers=RoundRange(first=21, last=30))
    assert head.tombstones == (RoundRange(first=21, last=30),)
    rebuilt = rebuilt_head((THREE[0],), tombstones=head.tombstones)
    progress = progress_of(rebuilt, accepted_rounds=range(1, 41))
    made = plan_diary(policy=node_policy(), progress=progress, tier="default", quota=DiaryQuota())
    assert made.covers == RoundRange(first=31, last=40)


def test_character_memory_17_a_lost_head_is_rebuilt_from_the_entries() -> None:
    rebuilt = rebuilt_head((THREE[1], entry(1, 20, stale_reason="round_changed")))
    assert (rebuilt.watermark, rebuilt.stale_ranges) == (30, (RoundRange(first=1, last=20),))
    assert rebuilt_head(()) == DiaryHead()


def test_an_edit_makes_an_entry_the_users_own() -> None:
    stale = entry(1, 20, stale_reason="round_changed")
    edited = edited_entry(stale, summary="我的要点", diary="我的日记")
    assert (edited.summary, edited.diary, edited.edited, edited.version) == ("我的要点", "我的日记", True, 2)
    assert not edited.stale
    head = DiaryHead(watermark=20, stale_ranges=(stale.range,))
    assert head_after_edit(head, covers=stale.range).stale_ranges == ()
    assert not may_replace(edited)
    assert may_replace(stale) and may_replace(None)
    assert not may_replace(THREE[0])


def test_a_summary_is_written_from_the_newest_valid_one_before_it() -> None:
    entries = (THREE[0], entry(21, 30, stale_reason="round_changed"), THREE[2])
    assert base_entry(entries, before_round=21) == THREE[0]
    assert base_entry(entries, before_round=31) == THREE[0]
    assert base_entry(entries, before_round=41) == THREE[2]
    assert base_entry(entries, before_round=20) is None
    base = summary_base(THREE[0])
    assert base is not None and (base.last_round, base.version) == (20, 1)
    assert summary_base(None) is None


def test_a_stale_range_that_is_stored_leaves_the_next_one_waiting() -> None:
    head = DiaryHead(watermark=40, stale_ranges=(THREE[0].range, THREE[1].range))
    after = head_after_range(head, covers=THREE[0].range)
    assert (after.watermark, after.stale_ranges) == (40, (THREE[1].range,))


def test_a_branch_copies_valid_entries_up_to_its_round() -> None:
    entries = (THREE[0], entry(21, 30, stale_reason="round_changed"), THREE[2])
    head = DiaryHead(watermark=40, version=9, generation=3, stale_ranges=(RoundRange(first=21, last=30),))
    copied_head, copied = branch(head, entries=entries, at_round=35)
    assert [item.last_round for item in copied] == [20]
    assert (copied_head.watermark, copied_head.version, copied_head.generation) == (30, 0, 0)
    assert copied_head.stale_ranges == (RoundRange(first=21, last=30),)
