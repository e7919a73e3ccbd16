"""When a diary is due: by accepted rounds beyond the watermark, with a reason for every answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.diary.due.plan import DiaryProgress, PlanReason, next_round_at
from memoir.domain.diary.due.policy import DiaryPolicy, DiaryQuota, Store, memory_v2_policy, node_policy
from memoir.domain.diary.due.tiers import Tier, tier_of
from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.entry import DiaryHead
from memoir.domain.diary.record.head import head_after_failure, head_after_range, progress_of
from memoir.errors import RequestInvalid
from tests.unit.domain.diary.builders import Planned, planned, same_for_all

NO_LIMIT = DiaryQuota()
EXHAUSTED = DiaryQuota(used=3, limit=3)


def plan(
    newest: int,
    *,
    watermark: int = 0,
    policy: DiaryPolicy | None = None,
    tier: object = "default",
    quota: DiaryQuota = NO_LIMIT,
    failed_at: int | None = None,
    stale: tuple[RoundRange, ...] = (),
    tombstones: tuple[RoundRange, ...] = (),
    missing: frozenset[int] = frozenset(),
) -> Planned:
    """Plan with all rounds up to *newest* accepted but for the *missing* ones."""
    progress = DiaryProgress(
        accepted_rounds=[number for number in range(1, newest + 1) if number not in missing],
        watermark=watermark,
        failed_at_round=failed_at,
        stale_ranges=stale,
        tombstones=tombstones,
    )
    return planned(policy=policy or node_policy(), progress=progress, tier=tier, quota=quota)


@pytest.mark.parametrize("policy", [node_policy(), memory_v2_policy()])
def test_over_45_rounds_the_model_is_called_at_20_30_and_40(policy: DiaryPolicy) -> None:
    head, calls = DiaryHead(), []
    for newest in range(1, 46):
        progress = progress_of(head, accepted_rounds=range(1, newest + 1))
        made = planned(policy=policy, progress=progress, tier="default", quota=NO_LIMIT)
        if made.covers is not None:
            calls.append((newest, made.covers.first, made.covers.last))
            head = head_after_range(head, covers=made.covers)
    assert calls == [(20, 1, 20), (30, 21, 30), (40, 31, 40)]


@pytest.mark.parametrize(
    ("newest", "watermark", "generate", "reason"),
    [
        (0, 0, False, PlanReason.TOO_FEW_ROUNDS),
        (19, 0, False, PlanReason.TOO_FEW_ROUNDS),
        (20, 0, True, PlanReason.FIRST_DUE),
        (29, 20, False, PlanReason.TOO_FEW_ROUNDS),
        (30, 20, True, PlanReason.NEXT_DUE),
    ],
)
def test_the_threshold_is_exact(newest: int, watermark: int, generate: bool, reason: PlanReason) -> None:
    made = plan(newest, watermark=watermark)
    assert (made.generate, made.reason) == (generate, reason)


@pytest.mark.parametrize(("read_behind", "due_at"), [(0, 20), (1, 21), (2, 22)])
def test_read_behind_leaves_the_last_rounds_out(read_behind: int, due_at: int) -> None:
    policy = node_policy(read_behind_rounds=read_behind)
    assert not plan(due_at - 1, policy=policy).generate
    made = plan(due_at, policy=policy)
    assert made.covers == RoundRange(first=1, last=20)
    assert plan(5, policy=policy).next_at == due_at


def test_read_behind_with_fewer_rounds_than_it_leaves_out_plans_nothing() -> None:
    policy = DiaryPolicy(first_after_rounds=1, every_rounds=same_for_all(1), read_behind_rounds=2)
    assert [plan(newest, policy=policy).generate for newest in (0, 1, 2, 3)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("tier", "store"),
    [
        ("default", Store.SUMMARY),
        ("plus", Store.SUMMARY_AND_DIARY),
        ("ultra", Store.SUMMARY_AND_DIARY),
        ("max", Store.SUMMARY_AND_DIARY),
        ("gold", Store.SUMMARY),
        (None, Store.SUMMARY),
        (["max"], Store.SUMMARY),
    ],
)
def test_free_and_unknown_tiers_store_the_summary_alone(tier: object, store: Store) -> None:
    assert plan(20, tier=tier).store is store


def test_a_scenario_may_give_free_tiers_the_diary_too() -> None:
    policy = node_policy(stores=same_for_all(Store.SUMMARY_AND_DIARY))
    assert plan(20, policy=policy).store is Store.SUMMARY_AND_DIARY


def test_paid_tiers_of_the_node_may_have_a_cycle_of_their_own() -> None:
    policy = node_policy(paid_rounds_per_diary=5)
    assert plan(25, watermark=20, policy=policy, tier="plus").generate
    assert not plan(25, watermark=20, policy=policy, tier="default").generate


def test_every_number_of_a_policy_is_a_setting() -> None:
    policy = memory_v2_policy(first_rounds=3, later_rounds=2)
    assert [plan(newest, policy=policy).generate for newest in (2, 3)] == [False, True]
    assert [plan(newest, watermark=3, policy=policy).generate for newest in (4, 5)] == [False, True]


@pytest.mark.parametrize("number", [-1, 3])
def test_read_behind_outside_0_to_2_is_refused(number: int) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        node_policy(read_behind_rounds=number)
    assert refusal.value.path == "/readBehindRounds"


def test_sillybunny_530_quota_denied_at_20_does_not_use_up_the_rounds() -> None:
    denied = plan(20, quota=EXHAUSTED)
    assert (denied.generate, denied.reason) == (False, PlanReason.QUOTA_DENIED)
    assert plan(21, quota=DiaryQuota(used=2, limit=3)).covers == RoundRange(first=1, last=21)


def test_too_few_rounds_is_said_even_where_the_quota_is_exhausted() -> None:
    assert plan(19, quota=EXHAUSTED).reason is PlanReason.TOO_FEW_ROUNDS


@pytest.mark.parametrize(("newest", "generate"), [(20, False), (24, False), (25, True)])
def test_a_failed_job_is_planned_again_5_rounds_later(newest: int, generate: bool) -> None:
    made = plan(newest, failed_at=20)
    assert made.generate is generate
    assert made.reason is (PlanReason.FIRST_DUE if generate else PlanReason.WAITING_AFTER_FAILURE)
    assert made.next_at == 25


def test_a_failure_leaves_the_watermark_and_a_success_forgets_it() -> None:
    failed = head_after_failure(DiaryHead(watermark=20), newest_round=30, code="refusal")
    assert (failed.watermark, failed.failure_code) == (20, "refusal")
    saved = head_after_range(failed, covers=RoundRange(first=21, last=35))
    assert (saved.watermark, saved.failed_at_round, saved.failure_code) == (35, None, "")


def test_odysseus_1940_rounds_that_arrive_during_the_run_still_count() -> None:
    made = plan(20)
    assert made.covers == RoundRange(first=1, last=20)
    head = head_after_range(DiaryHead(), covers=made.covers)
    assert head.watermark == 20
    assert plan(23, watermark=head.watermark).next_at == 30


def test_eveross_274_and_marinara_6260_the_same_state_plans_the_same_range() -> None:
    assert plan(20) == plan(20)
    assert plan(20).covers == RoundRange(first=1, last=20)


def test_tracker_2_replayed_and_deleted_rounds_start_nothing() -> None:
    """Covered rounds that are delivered again, twice over, and a removed one add no round beyond the
    watermark.
    """
    progress = DiaryProgress(accepted_rounds=[*range(1, 21), *range(1, 25), 24, 24], watermark=20)
    made = planned(policy=node_policy(), progress=progress, tier="default", quota=NO_LIMIT)
    assert made.reason is PlanReason.TOO_FEW_ROUNDS


def test_rounds_are_counted_by_their_numbers_not_by_the_newest() -> None:
    assert not plan(22, missing=frozenset({5, 6, 7})).generate
    made = plan(23, missing=frozenset({5, 6, 7}))
    assert made.covers == RoundRange(first=1, last=23)
    assert 6 not in made.rounds
    assert len(made.rounds) == 20


def test_a_backlog_is_written_in_ranges_of_50_rounds() -> None:
    assert plan(500).covers == RoundRange(first=1, last=50)
    assert plan(500, watermark=50).covers == RoundRange(first=51, last=100)


def test_a_threshold_above_the_longest_range_still_covers_its_rounds() -> None:
    assert plan(60, policy=node_policy(min_rounds=60)).covers == RoundRange(first=1, last=60)


def test_the_earliest_stale_range_comes_first_and_alone() -> None:
    stale = (RoundRange(first=21, last=30), RoundRange(first=1, last=20))
    made = plan(41, watermark=30, stale=stale)
    assert (made.reason, made.covers) == (PlanReason.STALE_RANGE, RoundRange(first=1, last=20))


def test_a_stale_range_waits_for_quota_and_after_a_failure() -> None:
    stale = (RoundRange(first=1, last=20),)
    assert plan(21, watermark=20, stale=stale, quota=EXHAUSTED).reason is PlanReason.QUOTA_DENIED
    assert plan(24, watermark=20, stale=stale, failed_at=20).reason is PlanReason.WAITING_AFTER_FAILURE
    assert plan(25, watermark=20, stale=stale, failed_at=20).reason is PlanReason.STALE_RANGE


def test_a_stale_range_beyond_the_watermark_is_counted_anew_instead() -> None:
    assert plan(3, stale=(RoundRange(first=1, last=20),)).reason is PlanReason.TOO_FEW_ROUNDS


def test_openclaw_133408_a_stale_range_whose_rounds_are_all_gone_is_empty() -> None:
    made = plan(25, watermark=20, stale=(RoundRange(first=1, last=20),), missing=frozenset(range(1, 21)))
    assert (made.generate, made.reason) == (False, PlanReason.EMPTY_RANGE)


def test_lobehub_15576_a_tombstoned_range_is_never_planned() -> None:
    gone = (RoundRange(first=21, last=30),)
    assert plan(35, watermark=30, tombstones=gone, stale=gone).reason is PlanReason.TOMBSTONED
    assert plan(39, watermark=20, tombstones=gone).reason is PlanReason.TOO_FEW_ROUNDS
    assert plan(40, watermark=20, tombstones=gone).covers == RoundRange(first=31, last=40)


def test_a_planned_range_ends_before_a_tombstone() -> None:
    made = plan(40, watermark=20, tombstones=(RoundRange(first=25, last=27),))
    assert made.covers == RoundRange(first=21, last=24)


def test_the_next_round_is_known_without_any_round() -> None:
    policy = node_policy()
    for watermark, expected in ((0, 20), (20, 30)):
        progress = DiaryProgress(accepted_rounds=(), watermark=watermark)
        assert next_round_at(policy=policy, progress=progress, tier=Tier.DEFAULT) == expected


@pytest.mark.parametrize("category", ["Plus", "", "vip", 3, None, {}])
def test_an_unknown_category_is_default(category: object) -> None:
    assert tier_of(category) is Tier.DEFAULT


@given(
    rounds=st.lists(st.integers(1, 60), max_size=60),
    watermark=st.integers(0, 60),
    failed=st.none() | st.integers(0, 60),
    gone=st.lists(st.tuples(st.integers(1, 60), st.integers(0, 9)), max_size=3),
)
def test_a_plan_covers_accepted_rounds_only_and_no_tombstone(
    rounds: list[int], watermark: int, failed: int | None, gone: list[tuple[int, int]]
) -> None:
    tombstones = tuple(RoundRange(first=first, last=first + length) for first, length in gone)
    progress = DiaryProgress(
        accepted_rounds=rounds, watermark=watermark, failed_at_round=failed, tombstones=tombstones
    )
    made = planned(policy=node_policy(), progress=progress, tier="max", quota=NO_LIMIT)
    assert made.generate == bool(made.rounds) == (made.covers is not None)
    if made.covers is not None:
        assert set(made.rounds) <= set(rounds)
        assert made.covers.first > watermark
        assert not any(made.covers.overlaps(tombstone) for tombstone in tombstones)
