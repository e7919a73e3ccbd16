"""Accept a model's diary answer, find nothing new in it, or reject it with a code and retry advice."""

from dataclasses import dataclass, replace
from enum import StrEnum

from memoir.domain.diary.answer.fields import DIARY, SUMMARY
from memoir.domain.diary.answer.flaws import (
    content_weight,
    is_placeholder,
    is_raw_json,
    is_refusal,
    same_text,
    speaks_as_assistant,
)
from memoir.domain.diary.answer.reading import DiaryReading, ParsePath, ReadingCode
from memoir.domain.diary.prompt.instructions import echoes_instructions
from memoir.domain.diary.prompt.language import is_other_language
from memoir.domain.diary.prompt.prompt import DiaryPrompt
from memoir.domain.language_model import FinishReason
from memoir.domain.model_text.cleaning import is_blank


class Outcome(StrEnum):
    """What becomes of an answer."""

    ACCEPT = "accept"
    NOTHING_NEW = "nothing_new"
    REJECT = "reject"


class Retry(StrEnum):
    """Whether the model is asked once more, and how."""

    NO = "no"
    SAME = "same"
    DOUBLED_CAP = "doubled_cap"


class Code(StrEnum):
    """Why an answer was rejected, beside the codes of its reading. Stable: receipts and metrics carry it."""

    TRUNCATED = "truncated"
    FILTERED = "filtered"
    REFUSAL = "refusal"
    WRONG_TYPE = "wrong_type"
    EMPTY = "empty"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    ECHO = "echo"
    NOT_A_SUMMARY = "not_a_summary"
    RAW_JSON = "raw_json"
    WRONG_LANGUAGE = "wrong_language"
    SAME_AS_PREVIOUS = "same_as_previous"


class LanguageRule(StrEnum):
    """What an answer in another language than the dialogue's leads to."""

    REJECT = "reject"
    WARN = "warn"
    ALLOW = "allow"


@dataclass(frozen=True, kw_only=True)
class AcceptanceRules:
    """What is accepted.

    *min_content* is the weight (`content_weight`) below which a summary is too short. A text is too long
    beyond *max_length_factor* times the length asked for. *allow_partial*: a summary may be stored without
    its diary.
    """

    min_content: int = 10
    max_length_factor: int = 4
    language: LanguageRule = LanguageRule.REJECT
    allow_partial: bool = True
    max_attempts: int = 2


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What becomes of an answer.

    *code* is empty for one that is accepted. *summary* and *diary* are what may be stored; an accepted answer
    may lack one, *missing* names it: without a summary the previous one stands. *partial*: the diary was cut
    off or is missing.
    """

    outcome: Outcome
    code: str = ""
    retry: Retry = Retry.NO
    summary: str = ""
    diary: str = ""
    partial: bool = False
    missing: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def judge_diary(
    reading: DiaryReading,
    *,
    prompt: DiaryPrompt,
    finish: FinishReason,
    attempt: int,
    previous_summary: str,
    rules: AcceptanceRules | None = None,
) -> Judgement:
    """Return what becomes of the answer to *prompt*. *attempt* counts from 1.

    Whatever is rejected leaves the previous summary and the watermark alone. Retry advice is given only while
    another attempt is allowed: a cut answer gets twice the room, a filtered one no second try.
    """
    rules = rules or AcceptanceRules()
    judged = _judged(reading, prompt=prompt, finish=finish, previous_summary=previous_summary, rules=rules)
    flags = (*judged.flags, *reading.flags)
    if finish is FinishReason.LENGTH and judged.outcome is Outcome.ACCEPT:
        flags = ("finish_length", *flags)
    judged = replace(judged, flags=tuple(dict.fromkeys(flags)))
    if attempt < rules.max_attempts:
        return _without_texts(judged) if judged.missing else judged
    if judged.partial and not rules.allow_partial:
        judged = _without_texts(judged)
    return replace(judged, retry=Retry.NO)


def _judged(
    reading: DiaryReading,
    *,
    prompt: DiaryPrompt,
    finish: FinishReason,
    previous_summary: str,
    rules: AcceptanceRules,
) -> Judgement:
    """Judge without regard to how many attempts are left: `retry` says what a further one should be."""
    if finish is FinishReason.CONTENT_FILTER:
        return _rejected(Code.FILTERED, retry=Retry.NO)
    if reading.code is not None:
        return _unread(reading, finish=finish)
    if _says_nothing_new(reading):
        return _nothing_new(reading)
    if reading.wrong_types:
        return _rejected(Code.WRONG_TYPE)
    cut_field = _cut_field(reading, finish=finish)
    if cut_field == SUMMARY:
        return _rejected(_code_of_cut(finish), retry=_retry_of_cut(finish))
    summary = _shown(reading.summary)
    diary = "" if cut_field == DIARY else _shown(reading.diary)
    repeats = bool(diary) and same_text(diary, summary)
    if repeats:
        diary = ""
    code = _flaw(reading, summary=summary, diary=diary, prompt=prompt, rules=rules)
    if code:
        return _rejected(code)
    cut = bool(cut_field) or (finish is FinishReason.LENGTH and reading.unclosed)
    judged = _accepted(summary=summary, diary=diary, prompt=prompt, cut=cut, finish=finish)
    if summary and same_text(summary, previous_summary):
        if not diary:
            return Judgement(outcome=Outcome.NOTHING_NEW, code=Code.SAME_AS_PREVIOUS)
        judged = replace(judged, flags=("summary_unchanged", *judged.flags))
    if repeats:
        judged = replace(judged, flags=("diary_repeats_summary", *judged.flags))
    if rules.language is LanguageRule.WARN and _in_other_language(summary, diary, prompt=prompt):
        judged = replace(judged, flags=("language_differs", *judged.flags))
    return judged


def _unread(reading: DiaryReading, *, finish: FinishReason) -> Judgement:
    """Say why an answer could not be read: a refusal, a cut, or what the reading found."""
    if reading.code is ReadingCode.NO_JSON and is_refusal(reading.text):
        return _rejected(Code.REFUSAL)
    if reading.code is ReadingCode.NO_JSON and echoes_instructions(reading.text):
        return _rejected(Code.ECHO)
    if finish is not FinishReason.LENGTH or reading.code is ReadingCode.TOO_LONG:
        return _rejected(reading.code or ReadingCode.NO_JSON)
    cut_json = reading.code is ReadingCode.MALFORMED
    return _rejected(Code.TRUNCATED if cut_json else reading.code or "", retry=Retry.DOUBLED_CAP)


def _says_nothing_new(reading: DiaryReading) -> bool:
    texts = (reading.summary or "") + (reading.diary or "")
    return reading.nothing_new and is_blank(texts) and not reading.wrong_types


def _shown(text: str | None) -> str:
    """Return *text* trimmed; empty where it shows nothing, as zero-width characters alone do."""
    return "" if text is None or is_blank(text) else text.strip()


def _nothing_new(reading: DiaryReading) -> Judgement:
    """Accept that there is nothing new, unless the words around it are our own instructions, read back."""
    if reading.parse_path is not ParsePath.STRICT and echoes_instructions(reading.text):
        return _rejected(Code.ECHO)
    return Judgement(outcome=Outcome.NOTHING_NEW, code="nothing_new")


def _cut_field(reading: DiaryReading, *, finish: FinishReason) -> str:
    """Return the field that the end of the text cut, by the text and the finish reason together.

    A string without an end is cut whatever the model says, unless the model stopped by itself behind the last
    brace: then it forgot the quote. A whole value at the very end of the text is cut only where the model ran
    out of tokens: its last quote may be a character's.
    """
    if reading.quote_missing and finish is FinishReason.STOP:
        return ""
    if reading.cut or (finish is FinishReason.LENGTH and reading.open_field):
        return reading.open_field
    return ""


def _flaw(
    reading: DiaryReading, *, summary: str, diary: str, prompt: DiaryPrompt, rules: AcceptanceRules
) -> str:
    """Return the code of the first flaw, empty where there is none."""
    if not summary and not diary:
        return Code.EMPTY
    if reading.parse_path in (ParsePath.TAGS, ParsePath.HEADINGS) and is_refusal(reading.text):
        return Code.REFUSAL
    limits = ((summary, prompt.summary_chars), (diary, prompt.diary_chars))
    for text, asked_chars in limits:
        if not text:
            continue
        if echoes_instructions(text) or is_placeholder(text):
            return Code.ECHO
        if is_raw_json(text):
            return Code.RAW_JSON
        if speaks_as_assistant(text):
            return Code.NOT_A_SUMMARY
        if len(text) > rules.max_length_factor * asked_chars:
            return Code.TOO_LONG
    if summary and content_weight(summary) < rules.min_content:
        return Code.TOO_SHORT
    if not summary and not content_weight(diary):
        return Code.TOO_SHORT
    if rules.language is LanguageRule.REJECT and _in_other_language(summary, diary, prompt=prompt):
        return Code.WRONG_LANGUAGE
    return ""


def _accepted(*, summary: str, diary: str, prompt: DiaryPrompt, cut: bool, finish: FinishReason) -> Judgement:
    """Accept, and say what is missing of what was asked for, why, and what a retry should be."""
    lacks_diary = prompt.asks_diary and not content_weight(diary)
    missing = ((SUMMARY,) if not summary else ()) + ((DIARY,) if lacks_diary else ())
    whole = Judgement(outcome=Outcome.ACCEPT, summary=summary, diary="" if lacks_diary else diary)
    if not missing:
        return whole
    return replace(
        whole,
        code=_code_of_cut(finish) if cut else Code.EMPTY,
        retry=_retry_of_cut(finish) if cut else Retry.SAME,
        partial=lacks_diary,
        missing=missing,
    )


def _without_texts(judged: Judgement) -> Judgement:
    """Return the rejection of an answer that lacks a field."""
    return replace(judged, outcome=Outcome.REJECT, summary="", diary="", partial=False)


def _in_other_language(summary: str, diary: str, *, prompt: DiaryPrompt) -> bool:
    return any(is_other_language(text, expected=prompt.language) for text in (summary, diary) if text)


def _code_of_cut(finish: FinishReason) -> str:
    return ReadingCode.MALFORMED if finish is FinishReason.STOP else Code.TRUNCATED


def _retry_of_cut(finish: FinishReason) -> Retry:
    return Retry.SAME if finish is FinishReason.STOP else Retry.DOUBLED_CAP


def _rejected(code: str, *, retry: Retry = Retry.SAME) -> Judgement:
    return Judgement(outcome=Outcome.REJECT, code=code, retry=retry)
