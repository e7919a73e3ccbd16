"""The scenario's `compact`: how much is kept, how far it is cut down, how long a summary may be."""

from dataclasses import dataclass

BACK_OFF_TURNS = 5
"""After a failed try, this many turns pass before the model is asked again."""

MIN_SUMMARY_TOKENS = 50
"""With less room than this no summary is worth its call."""


@dataclass(frozen=True, kw_only=True)
class CompactSettings:
    """*keep_turns* newest turns are never summarised. A compaction cuts down to *target_share* of the budget,
    so that the next turns need none. *checkpoint_every_turns*: summarise ahead of need, None: only then.
    """

    keep_turns: int = 2
    target_share: float = 0.6
    max_summary_tokens: int = 300
    checkpoint_every_turns: int | None = None
