"""The summary message, and what makes a model's text no summary."""

import re
from collections.abc import Sequence
from enum import StrEnum

from memoir.domain.compact.checkpoint import Checkpoint
from memoir.domain.compact.history import SUMMARY_MARK, CountTokens, HistoryTurn, Message, tokens_of
from memoir.domain.compact.prompt import is_own_instruction
from memoir.domain.diary.answer.fields import diary_fields
from memoir.domain.diary.answer.flaws import content_weight, is_placeholder, is_refusal
from memoir.domain.diary.answer.strict_answer import fenced_json, parse_strict
from memoir.domain.language_model import FinishReason, ModelAnswer
from memoir.domain.model_text.cleaning import clean_model_text
from memoir.domain.model_text.cursor import Looked
from memoir.domain.model_text.reasoning import mask_reasoning


class SummaryFlaw(StrEnum):
    """Why a text is no summary. Stable: receipts and metrics carry it."""

    EMPTY = "summary_empty"
    REFUSAL = "summary_refusal"
    SKELETON = "summary_skeleton"
    CUT = "summary_cut"
    FILTERED = "summary_filtered"
    ECHO = "summary_echo"
    NOT_SHORTER = "summary_not_shorter"
    TOO_LONG = "summary_too_long"


MIN_CONTENT = 10
ECHO_SHARE = 0.7
_ECHOED_CHARACTERS = 12
_ERROR_CHARACTERS = 300

_TAG = re.compile(r"<(?=/?summary)", re.IGNORECASE)
_ERROR = re.compile(
    r"(?:[a-z]{1,40})?(?:error|exception)\b(?: code)?\s?[:：-]|http(?:/\d\S{0,3})? ?[45]\d\d\b"
    r"|(?:rate limit|quota|timed? ?out|service unavailable|internal server error|bad gateway"
    r"|too many requests)\b|\{\s?\"error\"|traceback \(",
    re.IGNORECASE,
)
_NOTHING = (
    r"(?:none|nothing|n/?a|empty|null"
    r"|no (?:prior|previous|new|relevant|conversation|open|further)? ?"
    r"(?:history|content|messages|conversation|summary|items|todos?|information|decisions))"
    r"(?: (?:yet|available|provided|to summari[sz]e|so far|recorded))?"
    r"|(?:暂无|没有|无)(?:任何|可|新的|更多)?(?:内容|历史|记录|信息|对话|总结的内容|摘要)?|空"
)
_NOTHING_LINE = re.compile(rf"[\s(（\[*#-]{{0,8}}(?:{_NOTHING})[\s)）\].。*]{{0,8}}", re.IGNORECASE)


def summary_text(answer: str) -> str:
    """Return what *answer* says as a summary: without reasoning, a fence, or a JSON object around it."""
    clean, _ = mask_reasoning(clean_model_text(answer))
    text = clean.strip()
    looked = Looked()
    for parsed in (parse_strict(text, looked=looked), *fenced_json(text, looked=looked)):
        if parsed and (found := diary_fields(parsed.value)) and found.summary is not None:
            return found.summary.strip()
    if text.startswith("```") and text.endswith("```") and text.count("```") == 2 and "\n" in text:
        return text[text.index("\n") : -3].strip()
    return text


def summary_flaw(
    answer: ModelAnswer, *, turns: Sequence[HistoryTurn], may_quote: bool = False
) -> SummaryFlaw | None:
    """Return what makes *answer* no summary of *turns*, whatever its size; None for a good one.

    *may_quote*: it is made of sentences of theirs.

    The finish reason decides alone here, unlike in JSON: nothing in plain text shows that it is whole.
    """
    if answer.finish is FinishReason.CONTENT_FILTER:
        return SummaryFlaw.FILTERED
    text = summary_text(answer.text)
    if not text:
        return SummaryFlaw.EMPTY
    if is_refusal(text) or (len(text) < _ERROR_CHARACTERS and _ERROR.match(text)):
        return SummaryFlaw.REFUSAL
    if answer.finish is FinishReason.LENGTH:
        return SummaryFlaw.CUT
    lines = [line for line in text.split("\n") if not _NOTHING_LINE.fullmatch(line)]
    if content_weight("\n".join(lines)) < MIN_CONTENT or is_placeholder(text):
        return SummaryFlaw.SKELETON
    return SummaryFlaw.ECHO if not may_quote and _is_echo(text, turns=turns) else None


def size_flaw(
    text: str,
    message_tokens: int,
    *,
    turns: Sequence[HistoryTurn],
    previous: Checkpoint | None,
    max_tokens: int,
) -> SummaryFlaw | None:
    """Return whether a summary is no shorter than what it replaces, or longer than was asked for."""
    replaced_tokens = tokens_of(turns) + (previous.tokens if previous else 0)
    replaced_length = _length(turns) + len(previous.summary if previous else "")
    if message_tokens >= replaced_tokens or len(text) >= replaced_length:
        return SummaryFlaw.NOT_SHORTER
    return SummaryFlaw.TOO_LONG if message_tokens > max_tokens else None


def summary_message(checkpoint: Checkpoint, *, count_tokens: CountTokens) -> Message:
    """Return the one system message that stands for the covered turns and says which they are."""
    names = (_attribute(checkpoint.first_turn_id), _attribute(checkpoint.through_turn_id))
    content = (
        f'{SUMMARY_MARK}"{checkpoint.count}" first="{names[0]}" last="{names[1]}">\n'
        f"{_TAG.sub('‹', checkpoint.summary)}\n</summary>"
    )
    return Message(
        turn_id=None,
        role="system",
        content=content,
        tokens=count_tokens(content),
        covers_turns=checkpoint.count,
    )


def _is_echo(text: str, *, turns: Sequence[HistoryTurn]) -> bool:
    """Find our instructions in *text*, or the messages for its most part. `size_flaw` finds all of them."""
    if is_own_instruction(text):
        return True
    if len(text) >= _length(turns):
        return False
    sources = {message.content.strip() for turn in turns for message in turn.messages}
    left = text
    for source in sorted(sources, key=len, reverse=True):
        if len(source) < _ECHOED_CHARACTERS:
            break
        left = left.replace(source, "")
    return len(left) < (1 - ECHO_SHARE) * len(text)


def _length(turns: Sequence[HistoryTurn]) -> int:
    return sum(len(message.content) for turn in turns for message in turn.messages)


def _attribute(turn_id: str) -> str:
    return turn_id.translate({ord('"'): "”", ord("<"): "‹", ord(">"): "›"})
