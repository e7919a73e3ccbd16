"""When a diary is due, for which rounds, and what of it is stored."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from memoir.domain.diary.due.policy import DiaryPolicy, DiaryQuota, Store
from memoir.domain.diary.due.tiers import Tier, tier_of
from memoir.domain.diary.prompt.rounds import RoundRange


class PlanReason(StrEnum):
    """Why a diary is generated or not. Stable: receipts and dashboards compare it."""

    FIRST_DUE = "first_due"
    NEXT_DUE = "next_due"
    STALE_RANGE = "stale_range"
    TOO_FEW_ROUNDS = "too_few_rounds"
    WAITING_AFTER_FAILURE = "waiting_after_failure"
    QUOTA_DENIED = "quota_denied"
    EMPTY_RANGE = "empty_range"
    TOMBSTONED = "tombstoned"


@dataclass(frozen=True, kw_only=True)
class DiaryProgress:
    """How far a conversation is.

    *accepted_rounds*: numbers of the accepted rounds beyond the watermark and within stale ranges, in any
    order; one that comes twice counts once. *watermark*: the last round that an entry (or a "nothing new")
    covers. *failed_at_round*: the newest accepted round when the last job failed, None after a success.
    """

    accepted_rounds: Collection[int]
    watermark: int = 0
    failed_at_round: int | None = None
    stale_ranges: tuple[RoundRange, ...] = ()
    tombstones: tuple[RoundRange, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Due:
    """A diary to generate: the accepted *rounds* to read, the range they make, and what of it is stored."""

    store: Store
    covers: RoundRange
    rounds: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class DiaryPlan:
    """What is due, None for nothing, and why. *next_at*: see `next_round_at`."""

    reason: PlanReason
    next_at: int
    due: Due | None = None


def plan_diary(*, policy: DiaryPolicy, progress: DiaryProgress, tier: object, quota: DiaryQuota) -> DiaryPlan:
    """Decide whether a diary is generated now, from which rounds, and what of it is stored.

    The earliest stale range comes first and alone; then the rounds beyond the watermark, once enough are
    accepted. The answer depends on its arguments alone: asked again without a change, it is the same, so that
    loading a session, a deleted message or a repeated event starts nothing. *tier*: a subscription category,
    unknown is default.
    """
    known_tier = tier_of(tier)
    next_at = next_round_at(policy=policy, progress=progress, tier=known_tier)
    reason, rounds = _work(policy, progress, known_tier)
    if rounds and _waits_after_failure(policy, progress):
        reason, rounds = PlanReason.WAITING_AFTER_FAILURE, ()
    if rounds and quota.exhausted:
        reason, rounds = PlanReason.QUOTA_DENIED, ()
    if not rounds:
        return DiaryPlan(reason=reason, next_at=next_at)
    covers = RoundRange(first=rounds[0], last=rounds[-1])
    due = Due(store=policy.stores.of(known_tier), covers=covers, rounds=rounds)
    return DiaryPlan(reason=reason, next_at=next_at, due=due)


def next_round_at(*, policy: DiaryPolicy, progress: DiaryProgress, tier: Tier) -> int:
    """Return the round number at which the next diary is due, if every round until then is accepted.

    A number that is reached already means: due, and kept back by a failure, the quota or a job that runs.
    """
    waiting = _rounds_to_cover(progress)
    needed = _threshold(policy, progress, tier) + policy.read_behind_rounds
    if len(waiting) >= needed:
        due = waiting[needed - 1]
    else:
        due = max([progress.watermark, *waiting[-1:]]) + needed - len(waiting)
    if progress.failed_at_round is None:
        return due
    return max(due, progress.failed_at_round + policy.retry_after_rounds)


def _work(policy: DiaryPolicy, progress: DiaryProgress, tier: Tier) -> tuple[PlanReason, tuple[int, ...]]:
    """Return the rounds that are due, or none, and the reason. Failures and quota are not looked at."""
    stale, why_none = _stale_rounds(progress)
    if stale:
        return PlanReason.STALE_RANGE, stale
    waiting = _rounds_to_cover(progress)
    eligible = waiting[: max(0, len(waiting) - policy.read_behind_rounds)]
    if len(eligible) < _threshold(policy, progress, tier):
        return why_none or PlanReason.TOO_FEW_ROUNDS, ()
    reason = PlanReason.NEXT_DUE if progress.watermark else PlanReason.FIRST_DUE
    return reason, _first_run(eligible, progress.tombstones)[: policy.longest_range(tier)]


def _stale_rounds(progress: DiaryProgress) -> tuple[tuple[int, ...], PlanReason | None]:
    """Return the rounds of the earliest stale range that can be written anew, or why there is none.

    A range that reaches beyond the watermark was cut: its rounds are counted anew instead.
    """
    why: PlanReason | None = None
    for stale in sorted(progress.stale_ranges):
        if stale.last > progress.watermark:
            continue
        if any(stale.overlaps(tombstone) for tombstone in progress.tombstones):
            why = PlanReason.TOMBSTONED
            continue
        rounds = tuple(sorted({number for number in progress.accepted_rounds if number in stale}))
        if rounds:
            return rounds, None
        why = PlanReason.EMPTY_RANGE
    return (), why


def _rounds_to_cover(progress: DiaryProgress) -> tuple[int, ...]:
    """Return the accepted rounds beyond the watermark that no tombstone covers, in order."""
    beyond = {number for number in progress.accepted_rounds if number > progress.watermark}
    for tombstone in progress.tombstones:
        beyond = {number for number in beyond if number not in tombstone}
    return tuple(sorted(beyond))


def _first_run(rounds: tuple[int, ...], tombstones: tuple[RoundRange, ...]) -> tuple[int, ...]:
    """Return *rounds* up to the first tombstone that lies among them: no planned range overlaps one."""
    beginnings = [tombstone.first for tombstone in tombstones if tombstone.first > rounds[0]]
    return tuple(number for number in rounds if not beginnings or number < min(beginnings))


def _threshold(policy: DiaryPolicy, progress: DiaryProgress, tier: Tier) -> int:
    return policy.every_rounds.of(tier) if progress.watermark else policy.first_after_rounds


def _waits_after_failure(policy: DiaryPolicy, progress: DiaryProgress) -> bool:
    failed_at = progress.failed_at_round
    if failed_at is None:
        return False
    since = {number for number in progress.accepted_rounds if number > failed_at}
    return len(since) < policy.retry_after_rounds
