"""A rewind: what a host asks for, what became of it, and what has to be known to take it back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memoir.domain.history import NOT_REWOUND
from memoir.domain.turns import Position, TurnHead


@dataclass(frozen=True, kw_only=True)
class RewindRequest:
    """What a host asks for: the end of *to_round*, or that the rewind *undo* is taken back.

    *revisions*: of documents, where the host knows better which one to bring back. *expected_generation*: how
    many rewinds it knows of.
    """

    to_round: int | None = None
    undo: int | None = None
    revisions: Mapping[str, int] = field(default_factory=dict)
    expected_generation: int | None = None


@dataclass(frozen=True, kw_only=True)
class Restored:
    """A document before and after: *as_of* is the revision that was brought back, 0 for none.

    *exact* False: the host never said which memory its models were given. *pending*: rounds whose replies are
    not in it yet.
    """

    before: int
    after: int
    as_of: int
    exact: bool = True
    pending: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as the API answers it."""
        told = {"before": self.before, "after": self.after, "asOf": self.as_of, "exact": self.exact}
        return told | ({"pendingRounds": self.pending} if self.pending else {})


@dataclass(frozen=True, kw_only=True)
class Rewound:
    """What became of a rewind. *changed* False: the conversation stood there already.

    *diaries*: the heads of diaries as they were, as plain JSON by agent. *cut_entries*: 100 at most.
    """

    to_round: int
    before: TurnHead
    after: TurnHead
    kinds: Mapping[str, Restored]
    created_at: str
    cut_entries: int = 0
    undoes: int = 0
    diaries: Mapping[str, Any] = field(default_factory=dict)
    changed: bool = True

    def to_json(self, scheduled: tuple[str, ...]) -> dict[str, Any]:
        """Return it as the API answers it."""
        first, last = self.after.last.round + 1, self.before.last.round
        return {
            "generation": self.after.generation,
            "lastRound": self.after.last.round,
            "lastTurnId": self.after.last_turn_id,
            "discarded": {"firstRound": first, "lastRound": last} if first <= last else None,
            "kinds": {
                **{kind: restored.to_json() for kind, restored in self.kinds.items()},
                "diary": {"cutEntries": self.cut_entries},
            },
            "notRewound": list(NOT_REWOUND),
            "scheduled": list(scheduled),
        }


@dataclass(frozen=True, kw_only=True)
class LoggedRewind:
    """A rewind in the log. *left_at*: where it left the conversation. *undoes*: the one that it took back."""

    generation: int
    to_round: int
    left_at: Position
    undone: bool
    undoes: int
    created_at: str
    body: Mapping[str, Any]

    @property
    def discards(self) -> bool:
        """Rounds behind `to_round` were taken back by it and still are."""
        return not self.undone and not self.undoes

    def to_json(self) -> dict[str, Any]:
        """Return it as the API lists it."""
        return {
            "generation": self.generation,
            "toRound": self.to_round,
            "fromRound": self.body["head"]["round"],
            "kinds": self.body["kinds"],
            "undone": self.undone,
            "undoes": self.undoes or None,
            "createdAt": self.created_at,
        }


def rewound_as_plain(rewound: Rewound) -> dict[str, Any]:
    """Return what is logged of a rewind, so that it can be taken back."""
    head = rewound.before
    return {
        "head": {
            "round": head.last.round,
            "version": head.last.version,
            "turnId": head.last_turn_id,
            "acceptedThrough": head.accepted_through,
            "acceptedTurnId": head.accepted_turn_id,
            "scenarioId": head.scenario_id,
            "scenarioRevision": head.scenario_revision,
            "marks": dict(head.marks),
            "before": dict(head.before),
        },
        "kinds": {kind: restored.to_json() for kind, restored in rewound.kinds.items()},
        "diaries": dict(rewound.diaries),
    }
