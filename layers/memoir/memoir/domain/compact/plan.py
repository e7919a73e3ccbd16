"""What is done with a history: nothing, a stored summary again, or a new one; and why."""

from dataclasses import dataclass, replace
from enum import StrEnum

from memoir.domain.compact.checkpoint import (
    Checkpoint,
    CompactRecord,
    FailedTry,
    Match,
    Standing,
    match_checkpoint,
)
from memoir.domain.compact.history import CountTokens, History, HistoryTurn, Message, tokens_of
from memoir.domain.compact.settings import BACK_OFF_TURNS, MIN_SUMMARY_TOKENS, CompactSettings
from memoir.domain.compact.summary import summary_message
from memoir.errors import ScenarioForbids


class Status(StrEnum):
    """What became of a history."""

    UNCHANGED = "unchanged"
    REUSED = "reused"
    COMPACTED = "compacted"
    CHECKPOINTED = "checkpointed"


class Reason(StrEnum):
    """Why, where the status alone does not say it. Codes of summaries, models and the store stand beside."""

    WITHIN_BUDGET = "within_budget"
    NOTHING_TO_SUMMARISE = "nothing_to_summarise"
    NO_ROOM = "no_room_for_summary"
    BACKING_OFF = "backing_off"
    STALE = "checkpoint_stale"
    GAP = "history_gap"
    NOT_STORED = "checkpoint_not_stored"
    CONFLICT = "checkpoint_conflict"
    CORRUPT = "checkpoint_corrupt"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a host is answered. *checkpoint*: the one that `messages` stand on or that was stored."""

    status: Status
    messages: tuple[Message, ...]
    tokens: int
    limit: int
    estimated: bool
    reason: str = ""
    checkpoint: Checkpoint | None = None

    @property
    def fits(self) -> bool:
        """The messages are within the budget."""
        return self.tokens <= self.limit


@dataclass(frozen=True, kw_only=True)
class Summarise:
    """Ask the model for a summary of *turns*, of at most *max_tokens*, then `finish` with it.

    *after*: the checkpoint that the summary goes on from, None for originals alone. *kept*: the turns behind.
    *ahead*: the history fits as it is; the summary is for later. *otherwise*: the answer if this fails.
    """

    history: History
    turns: tuple[HistoryTurn, ...]
    kept: tuple[HistoryTurn, ...]
    after: Checkpoint | None
    max_tokens: int
    limit: int
    ahead: bool
    otherwise: Outcome
    reason: str = ""


def plan_compaction(
    history: History,
    *,
    record: CompactRecord | None,
    budget: int,
    settings: CompactSettings | None,
    count_tokens: CountTokens,
    known_stale: bool = False,
) -> Outcome | Summarise:
    """Return the answer where no model is needed, else what to ask it. *budget* is in tokens.

    *record* None: what is stored cannot be read. *known_stale*: the caller knows of a covered turn that
    changed outside of *history*. Raises ScenarioForbids `compact_not_configured`.
    """
    if settings is None:
        raise ScenarioForbids(
            code="compact_not_configured",
            path="/scenarioId",
            detail="/scenarioId: the scenario has no compact section",
        )
    if record is None:
        return _unchanged(_raw(history, budget), Reason.CORRUPT)
    match = match_checkpoint(record.checkpoint, history.turns, known_stale=known_stale)
    usable = record.checkpoint if match.standing in (Standing.COVERS, Standing.BEFORE) else None
    answer = _without_model(history, match, usable, budget=budget, count_tokens=count_tokens)
    if answer.reason in (Reason.GAP, Reason.STALE, Reason.NO_ROOM) or not history.turns:
        return answer
    uncovered = history.turns[match.covered :]
    due = _is_due(uncovered, settings)
    if (answer.fits and not due) or _backs_off(record.failed, history.turns):
        return answer if answer.fits else _unchanged(answer, Reason.BACKING_OFF)
    return _summarise(history, match, usable, answer, budget=budget, settings=settings)


def _without_model(
    history: History, match: Match, usable: Checkpoint | None, *, budget: int, count_tokens: CountTokens
) -> Outcome:
    """Return the best answer that needs no model; its `fits` says whether it will do."""
    raw = _raw(history, budget)
    if not history.messages:
        return _unchanged(raw, Reason.NOTHING_TO_SUMMARISE)
    if match.standing is Standing.GAP:
        return _unchanged(raw, Reason.GAP)
    if match.standing is Standing.LOST:
        return _unchanged(raw, Reason.STALE)
    if raw.fits and not match.is_window:
        return _unchanged(raw, Reason.WITHIN_BUDGET)
    if history.fixed_tokens >= budget:
        return _unchanged(raw, Reason.NO_ROOM)
    if usable is None:
        return raw
    reused = compacted(history, usable, history.turns[match.covered :], count_tokens, limit=budget)
    # A window has lost its past without the summary, fitting or not.
    return reused if reused.fits or match.is_window else raw


def compacted(
    history: History,
    checkpoint: Checkpoint,
    kept: tuple[HistoryTurn, ...],
    count_tokens: CountTokens,
    *,
    limit: int,
) -> Outcome:
    """Return the answer that stands on *checkpoint*: system messages, its summary, the *kept* turns."""
    summary = summary_message(checkpoint, count_tokens=count_tokens)
    return Outcome(
        status=Status.REUSED,
        messages=(*history.fixed, summary, *(message for turn in kept for message in turn.messages)),
        tokens=history.fixed_tokens + (summary.tokens or 0) + tokens_of(kept),
        limit=limit,
        estimated=history.estimated,
        checkpoint=checkpoint,
    )


def _summarise(
    history: History,
    match: Match,
    usable: Checkpoint | None,
    answer: Outcome,
    *,
    budget: int,
    settings: CompactSettings,
) -> Outcome | Summarise:
    uncovered = history.turns[match.covered :]
    room = settings.max_summary_tokens
    target = int(budget * settings.target_share) - history.fixed_tokens - room
    cut = _cut(uncovered, keep=settings.keep_turns, target=-1 if answer.fits else target)
    if cut == 0:
        return answer if answer.fits else _unchanged(answer, Reason.NOTHING_TO_SUMMARISE)
    kept = uncovered[cut:]
    left = budget - history.fixed_tokens - tokens_of(kept)
    ahead = history.tokens <= budget and not match.is_window
    max_tokens = room if ahead else min(room, left)
    if max_tokens < min(MIN_SUMMARY_TOKENS, room):
        return answer if answer.fits else _unchanged(answer, Reason.NO_ROOM)
    stale = match.standing is Standing.STALE
    return Summarise(
        history=history,
        turns=uncovered[:cut],
        kept=kept,
        after=usable,
        max_tokens=max_tokens,
        limit=budget,
        ahead=ahead,
        otherwise=answer,
        reason=Reason.STALE if stale else "",
    )


def _cut(turns: tuple[HistoryTurn, ...], *, keep: int, target: int) -> int:
    """Return how many of *turns* are summarised: the fewest that leave *target* tokens, *keep* at least.

    A turn that answers the tool call of the one before it stays with that one.
    """
    borders = [
        at for at in range(1, len(turns) - keep + 1) if at < len(turns) and not turns[at].begins_with_tool
    ]
    tokens, kept = tokens_of(turns), 0
    for at in borders:
        tokens -= tokens_of(turns[kept:at])
        kept = at
        if tokens <= target:
            return at
    return borders[-1] if borders else 0


def _is_due(uncovered: tuple[HistoryTurn, ...], settings: CompactSettings) -> bool:
    every = settings.checkpoint_every_turns
    return every is not None and len(uncovered) - settings.keep_turns >= every


def _backs_off(failed: FailedTry | None, turns: tuple[HistoryTurn, ...]) -> bool:
    newer = [turn.id for turn in turns[-BACK_OFF_TURNS:]]
    return failed is not None and failed.through_turn_id in newer


def _raw(history: History, budget: int) -> Outcome:
    return Outcome(
        status=Status.UNCHANGED,
        messages=history.messages,
        tokens=history.tokens,
        limit=budget,
        estimated=history.estimated,
    )


def _unchanged(answer: Outcome, reason: Reason) -> Outcome:
    return replace(answer, status=Status.UNCHANGED, reason=reason, checkpoint=None)
