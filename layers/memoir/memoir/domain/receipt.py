"""Receipts: what a background worker did for a turn, or why it did nothing."""

from dataclasses import dataclass, field
from typing import Any, Literal

from memoir.domain.turns import Position

Outcome = Literal["ok", "skipped", "rejected", "failed"]
"""ok: something was saved. skipped: there was nothing to do. rejected: nothing in the turn was usable."""


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What *worker* did for one version of a round, and the revision of its document before and after.

    `reason` is the worker's own word for it (`saved`, `no_edits` …). `details` is plain JSON, no texts.
    """

    worker: str
    position: Position
    turn_id: str
    outcome: Outcome
    reason: str
    revision_before: int
    revision_after: int
    created_at: str
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as the API answers it."""
        return {
            "worker": self.worker,
            "turnId": self.turn_id,
            "round": self.position.round,
            "outcome": self.outcome,
            "reason": self.reason,
            "revisionBefore": self.revision_before,
            "revisionAfter": self.revision_after,
            "createdAt": self.created_at,
            **self.details,
        }
