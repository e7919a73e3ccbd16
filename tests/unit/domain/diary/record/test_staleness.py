"""Rerolls, edits, deletions: what stays true of a diary, and what is written anew."""

from memoir.domain.diary.due.plan import PlanReason
from memoir.domain.diary.due.policy import DiaryQuota, node_policy
from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.entry import DiaryHead
from memoir.domain.diary.record.head import (
    head_after_deletion,
    head_after_edit,
    head_after_range,
    head_with_stale,
    progress_of,
)
from memoir.domain.diary.record.staleness import (
    edited_entry,
    newly_stale,
    summary_base,
    superseded,
)
from tests.unit.domain.diary.builders import entry, planned

THREE = (entry(1, 20), entry(21, 30, base=20), entry(31, 40, base=30))
HEAD = DiaryHead(watermark=40)


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


def test_sillytavern_205_a_rerolled_covered_round_is_replanned_once() -> None:
    """Stale range planned; once it is stored the state plans nothing any more."""
    stale = newly_stale(THREE[:1], changed={20})
    head = head_with_stale(DiaryHead(watermark=20), stale=stale)
    assert head_with_stale(head, stale=stale) == head
    quota = DiaryQuota()
    progress = progress_of(head, accepted_rounds=range(1, 22))
    made = planned(policy=node_policy(), progress=progress, tier="default", quota=quota)
    assert (made.reason, made.covers) == (PlanReason.STALE_RANGE, RoundRange(first=1, last=20))
    assert superseded(stale, by=made.covers) == stale
    after = progress_of(head_after_range(head, covers=made.covers), accepted_rounds=range(1, 22))
    assert not planned(policy=node_policy(), progress=after, tier="default", quota=quota).generate


def test_lobehub_15576_a_deleted_entry_is_never_made_again() -> None:
    head = head_after_deletion(HEAD, covers=RoundRange(first=21, last=30))
    assert head.tombstones == (RoundRange(first=21, last=30),)
    behind = DiaryHead(watermark=30, tombstones=head.tombstones)
    progress = progress_of(behind, accepted_rounds=range(1, 41))
    made = planned(policy=node_policy(), progress=progress, tier="default", quota=DiaryQuota())
    assert made.covers == RoundRange(first=31, last=40)


def test_an_edit_makes_an_entry_the_users_own() -> None:
    stale = entry(1, 20, stale_reason="round_changed")
    edited = edited_entry(stale, summary="我的要点", diary="我的日记")
    assert (edited.summary, edited.diary, edited.edited, edited.version) == ("我的要点", "我的日记", True, 2)
    assert not edited.stale
    head = DiaryHead(watermark=20, stale_ranges=(stale.range,))
    assert head_after_edit(head, entry=edited).stale_ranges == ()
    assert edited.usable and not stale.usable


def test_a_stale_range_that_is_stored_leaves_the_next_one_waiting() -> None:
    head = DiaryHead(watermark=40, stale_ranges=(THREE[0].range, THREE[1].range))
    after = head_after_range(head, covers=THREE[0].range)
    assert (after.watermark, after.stale_ranges) == (40, (THREE[1].range,))


def test_an_entry_names_the_one_that_its_summary_was_written_from() -> None:
    base = summary_base(THREE[0])
    assert base is not None and (base.last_round, base.version) == (20, 1)
    assert summary_base(None) is None
