"""The newest summaries, kept beside a diary's head: a recall is read with everything else, in one request.

The entries stay the truth. What is kept here moves in the same write as they do; where it does not reach as
far back as a recall wants, the entries are read.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.model_text.cleaning import is_blank

MAX_RECENT = 5
MAX_RECENT_BYTES = 24_576
"""As much as a recall gives back at most."""


@dataclass(frozen=True, kw_only=True)
class RecentSummary:
    """The summary of the entry of rounds *first_round* to *last_round*, as of its *version*."""

    first_round: int
    last_round: int
    summary: str
    version: int

    @property
    def range(self) -> RoundRange:
        """The rounds from first to last."""
        return RoundRange(first=self.first_round, last=self.last_round)


@dataclass(frozen=True, kw_only=True)
class RecentSummaries:
    """At most five summaries, oldest first: all that a recall may give of rounds from *since* on."""

    summaries: tuple[RecentSummary, ...] = ()
    since: int = 0

    def newest(self, count: int) -> tuple[RecentSummary, ...] | None:
        """Return the newest *count*, fewer where there are no more; None where only the entries can tell."""
        if len(self.summaries) < count and self.since > 0:
            return None
        return self.summaries[len(self.summaries) - min(count, len(self.summaries)) :]

    def having(self, summary: RecentSummary) -> "RecentSummaries":
        """Return these with *summary* in place of all that it overlaps. A blank one is not recalled."""
        kept = self.without_range(summary.range)
        if is_blank(summary.summary) or summary.last_round < self.since:
            return kept
        return _bounded(replace(kept, summaries=_by_end((*kept.summaries, summary))))

    def without_range(self, covers: RoundRange) -> "RecentSummaries":
        """Return these without any that overlaps *covers*."""
        return replace(self, summaries=tuple(s for s in self.summaries if not s.range.overlaps(covers)))

    def up_to(self, last_round: int) -> "RecentSummaries":
        """Return these without any that ends behind *last_round*."""
        kept = tuple(s for s in self.summaries if s.last_round <= last_round)
        return RecentSummaries(summaries=kept, since=min(self.since, last_round + 1))

    def without_ends(self, last_rounds: Collection[int]) -> "RecentSummaries":
        """Return these without those of the entries that end at *last_rounds*."""
        return replace(self, summaries=tuple(s for s in self.summaries if s.last_round not in last_rounds))


def recent_from_plain(value: Mapping[str, Any]) -> RecentSummaries:
    """Return what *value* holds. Raises TypeError, KeyError."""
    summaries = tuple(RecentSummary(**item) for item in value["summaries"])
    return RecentSummaries(summaries=summaries, since=value["since"])


def _bounded(recent: RecentSummaries) -> RecentSummaries:
    kept = recent.summaries
    while len(kept) > MAX_RECENT or (sum(len(s.summary.encode()) for s in kept) > MAX_RECENT_BYTES and kept):
        since, kept = kept[0].last_round + 1, kept[1:]
        recent = RecentSummaries(summaries=kept, since=since)
    return recent


def _by_end(summaries: tuple[RecentSummary, ...]) -> tuple[RecentSummary, ...]:
    return tuple(sorted(summaries, key=lambda summary: (summary.last_round, summary.first_round)))
