"""The numbers a scenario may set for its diaries."""

from dataclasses import dataclass
from enum import StrEnum

from memoir.domain.diary.due.tiers import PerTier, Tier, free_and_paid
from memoir.errors import RequestInvalid

MAX_READ_BEHIND_ROUNDS = 2


class Store(StrEnum):
    """What of a diary is asked for and stored."""

    SUMMARY = "summary"
    SUMMARY_AND_DIARY = "summary_and_diary"


FREE_STORES_SUMMARY_ONLY = free_and_paid(free=Store.SUMMARY, paid=Store.SUMMARY_AND_DIARY)
RECALLED_SUMMARIES = PerTier(default=1, plus=2, ultra=3, max=5)


@dataclass(frozen=True, kw_only=True)
class DiaryQuota:
    """How many diaries the user has had in this period and may have; no limit where that is None."""

    used: int = 0
    limit: int | None = None

    @property
    def exhausted(self) -> bool:
        """No further diary is allowed in this period."""
        return self.limit is not None and self.used >= self.limit


@dataclass(frozen=True, kw_only=True)
class DiaryPolicy:
    """When a diary is due and what is stored. All numbers count accepted rounds.

    The first is due after *first_after_rounds*, each further one *every_rounds* after the watermark. The last
    *read_behind_rounds* (0–2) are left out because users reroll them. After a failed job the next plan comes
    *retry_after_rounds* later. A backlog is written in ranges of at most *max_rounds_per_entry*, for a model
    reads only so much at once; a threshold above it is the limit then. Raises RequestInvalid: a number out of
    range.
    """

    first_after_rounds: int
    every_rounds: PerTier[int]
    read_behind_rounds: int = 0
    retry_after_rounds: int = 5
    max_rounds_per_entry: int = 50
    stores: PerTier[Store] = FREE_STORES_SUMMARY_ONLY
    recalled_summaries: PerTier[int] = RECALLED_SUMMARIES

    def __post_init__(self) -> None:
        _check("firstAfterRounds", self.first_after_rounds, at_least=1)
        for tier in Tier:
            _check("everyRounds", self.every_rounds.of(tier), at_least=1)
            _check("recalledSummaries", self.recalled_summaries.of(tier), at_least=0)
        _check("readBehindRounds", self.read_behind_rounds, at_least=0, at_most=MAX_READ_BEHIND_ROUNDS)
        _check("retryAfterRounds", self.retry_after_rounds, at_least=1)
        _check("maxRoundsPerEntry", self.max_rounds_per_entry, at_least=1)

    def longest_range(self, tier: Tier) -> int:
        """Return how many rounds one entry of *tier* may cover."""
        return max(self.max_rounds_per_entry, self.first_after_rounds, self.every_rounds.of(tier))


def node_policy(
    *,
    min_rounds: int = 20,
    free_rounds_per_diary: int = 10,
    paid_rounds_per_diary: int | None = None,
    read_behind_rounds: int = 0,
    stores: PerTier[Store] = FREE_STORES_SUMMARY_ONLY,
) -> DiaryPolicy:
    """Return the diary node's policy: none below *min_rounds*, then one a cycle, paid tiers as free ones."""
    paid = free_rounds_per_diary if paid_rounds_per_diary is None else paid_rounds_per_diary
    return DiaryPolicy(
        first_after_rounds=min_rounds,
        every_rounds=free_and_paid(free=free_rounds_per_diary, paid=paid),
        read_behind_rounds=read_behind_rounds,
        stores=stores,
    )


def memory_v2_policy(
    *,
    first_rounds: int = 20,
    later_rounds: int = 10,
    read_behind_rounds: int = 0,
    stores: PerTier[Store] = FREE_STORES_SUMMARY_ONLY,
) -> DiaryPolicy:
    """Return the memory_v2 policy: the first after *first_rounds*, then every *later_rounds*, all tiers."""
    return DiaryPolicy(
        first_after_rounds=first_rounds,
        every_rounds=free_and_paid(free=later_rounds, paid=later_rounds),
        read_behind_rounds=read_behind_rounds,
        stores=stores,
    )


def _check(name: str, value: int, *, at_least: int, at_most: int | None = None) -> None:
    if value < at_least or (at_most is not None and value > at_most):
        bounds = f"at least {at_least}" if at_most is None else f"{at_least} to {at_most}"
        raise RequestInvalid(
            code="diary_policy_invalid", path=f"/{name}", detail=f"/{name}: must be {bounds}, is {value}"
        )
