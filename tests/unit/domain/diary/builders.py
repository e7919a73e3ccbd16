"""Plain values for the diary's tests."""

from memoir.domain.diary.due.policy import Store
from memoir.domain.diary.prompt.prompt import DiaryPrompt, build_prompt
from memoir.domain.diary.prompt.rounds import DialogueRound
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
