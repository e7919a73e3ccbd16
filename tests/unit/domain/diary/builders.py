"""Plain values for the diary's tests."""

from dataclasses import dataclass
from typing import Any

from memoir.domain.diary.due.plan import PlanReason, plan_diary
from memoir.domain.diary.due.policy import Store
from memoir.domain.diary.due.tiers import PerTier
from memoir.domain.diary.prompt.prompt import DiaryPrompt, build_prompt
from memoir.domain.diary.prompt.rounds import DialogueRound, RoundRange
from memoir.domain.diary.record.entry import CoveredRound, DiaryEntry, SummaryBase


def chat_round(
    number: int, *, user: str = "我把铜钥匙交给你。", assistant: str = "她把钥匙收进怀里。"
) -> DialogueRound:
    """Return round *number* of a dialogue."""
    return DialogueRound(round=number, turn_id=f"t{number}", user_text=user, assistant_text=assistant)


def chinese_prompt(*, store: Store = Store.SUMMARY_AND_DIARY, character: str = "艾莉") -> DiaryPrompt:
    """Return the prompt of a Chinese dialogue of 20 rounds."""
    rounds = [chat_round(number) for number in range(1, 21)]
    return build_prompt(rounds=rounds, previous_summary="", character=character, store=store)


def entry(
    first: int,
    last: int,
    *,
    summary: str = "",
    base: int | None = None,
    edited: bool = False,
    stale_reason: str = "",
) -> DiaryEntry:
    """Return a stored entry of rounds *first* to *last*, written from the summary that ends at *base*."""
    return DiaryEntry(
        first_round=first,
        last_round=last,
        covered=tuple(covered(number) for number in range(first, last + 1)),
        summary=summary or f"到第{last}轮为止的要点。",
        generator="extractive",
        prompt_version="diary-1",
        finish_reason="stop",
        parse_path="strict",
        created_at_ms=1_700_000_000_000,
        base=None if base is None else SummaryBase(last_round=base, version=1),
        edited=edited,
        stale_reason=stale_reason,
    )


def covered(number: int, *, text_hash: str = "h") -> CoveredRound:
    """Return round *number* as an entry keeps it."""
    return CoveredRound(round=number, turn_id=f"t{number}", text_hash=text_hash)


def same_for_all(value: Any) -> PerTier[Any]:
    """Return *value* for every tier."""
    return PerTier(default=value, plus=value, ultra=value, max=value)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A plan, flat: what is due, or nothing of it."""

    generate: bool
    reason: PlanReason
    next_at: int
    store: Store | None
    covers: RoundRange | None
    rounds: tuple[int, ...]


def planned(**arguments: Any) -> Planned:
    """Return what `plan_diary` says."""
    plan = plan_diary(**arguments)
    due = plan.due
    return Planned(
        generate=due is not None,
        reason=plan.reason,
        next_at=plan.next_at,
        store=due.store if due else None,
        covers=due.covers if due else None,
        rounds=due.rounds if due else (),
    )
