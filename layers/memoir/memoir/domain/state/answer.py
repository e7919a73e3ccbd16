"""What a model answered about the state: a candidate, no update, or a code of why it is neither."""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from memoir.domain.diary.answer.flaws import is_refusal
from memoir.domain.diary.answer.judgement import Retry
from memoir.domain.json_document import MAX_LEVELS, JsonDocument, check_plain_json
from memoir.domain.json_value import exact_value, json_text
from memoir.domain.language_model import FinishReason, ModelAnswer
from memoir.domain.model_text.cleaning import clean_model_text
from memoir.domain.model_text.reasoning import mask_reasoning
from memoir.domain.state.document import is_empty_state, same_state, state_document
from memoir.domain.state.prompt import echoes_prompt
from memoir.domain.state.settings import StateSettings
from memoir.errors import MemoirError

MAX_ANSWER_CHARACTERS = 262_144
MAX_OBJECT_STARTS = 8
"""How many braces that begin no JSON are stepped over: the bound keeps the search linear."""

MAX_OBJECTS = 8
"""How many objects of an answer are looked at, the last ones."""

MAX_ATTEMPTS = 2
_CUT_OBJECT = re.compile(r"\{\s*\"")


class StateOutcome(StrEnum):
    """What becomes of an answer."""

    CANDIDATE = "candidate"
    NO_UPDATE = "no_update"
    REJECT = "reject"


class StateCode(StrEnum):
    """Why an answer was rejected or changes nothing. Codes of `state_document` stand beside them."""

    NOTHING_NEW = "nothing_new"
    SAME_AS_STORED = "same_as_stored"
    EMPTY = "empty"
    REASONING_ONLY = "reasoning_only"
    NO_JSON = "no_json"
    NOT_A_STATE = "not_a_state"
    TRUNCATED = "truncated"
    FILTERED = "filtered"
    REFUSAL = "refusal"
    ECHO = "echo"
    TOO_LONG = "too_long"


@dataclass(frozen=True, kw_only=True)
class StateJudgement:
    """What becomes of an answer. *document*: the candidate, checked. *retry*: how to ask once more."""

    outcome: StateOutcome
    code: str = ""
    retry: Retry = Retry.NO
    document: JsonDocument | None = None
    flags: tuple[str, ...] = ()


def judge_state_answer(
    answer: ModelAnswer, *, stored: JsonDocument | None, settings: StateSettings, attempt: int = 1
) -> StateJudgement:
    """Return what becomes of *answer*. *attempt* counts from 1; of two, the last gives no retry advice.

    Nothing is repaired: a state that was half read would lose records. Whatever is rejected leaves the stored
    state alone. No code or flag holds any text of the answer.
    """
    judged = _judged(answer, stored=stored, settings=settings)
    return judged if attempt < MAX_ATTEMPTS else replace(judged, retry=Retry.NO)


def _judged(answer: ModelAnswer, *, stored: JsonDocument | None, settings: StateSettings) -> StateJudgement:
    clean = clean_model_text(answer.text)
    if answer.finish is FinishReason.CONTENT_FILTER:
        return _rejected(StateCode.FILTERED, retry=Retry.NO)
    if len(clean) > MAX_ANSWER_CHARACTERS:
        return _rejected(StateCode.TOO_LONG)
    text, flags = mask_reasoning(clean)
    if not text.strip():
        return _rejected(StateCode.REASONING_ONLY if clean.strip() else StateCode.EMPTY)
    for value in _json_values(text):
        judged = _of_value(value, stored=stored, settings=settings)
        if judged is not None:
            return replace(judged, flags=flags)
    return replace(_unread(text, finish=answer.finish), flags=flags)


def _of_value(value: Any, *, stored: JsonDocument | None, settings: StateSettings) -> StateJudgement | None:
    """Judge one JSON value of the answer; None where it is no state and says nothing of one."""
    if value is None:
        return StateJudgement(outcome=StateOutcome.NO_UPDATE, code=StateCode.NOTHING_NEW)
    if not isinstance(value, Mapping):
        return None
    if "state" in value:
        return _of_value(value["state"], stored=stored, settings=settings)
    if value.get("nothing_new") is True and not value.keys() & {"text", "records"}:
        return StateJudgement(outcome=StateOutcome.NO_UPDATE, code=StateCode.NOTHING_NEW)
    if not value.keys() & {"text", "records"}:
        return None
    try:
        text = clean_model_text(json_text(value))
        document = _checked(text, settings=settings)
    except MemoirError as refusal:
        return _rejected(refusal.code)
    except (ValueError, RecursionError):  # an integer of more digits than Python reads, nesting without end
        return _rejected(StateCode.NOT_A_STATE)
    if echoes_prompt(text):
        return _rejected(StateCode.ECHO)
    if stored is not None and same_state(stored, document):
        return StateJudgement(outcome=StateOutcome.NO_UPDATE, code=StateCode.SAME_AS_STORED)
    if is_empty_state(document):
        return _rejected(StateCode.EMPTY)
    return StateJudgement(outcome=StateOutcome.CANDIDATE, document=document)


def _checked(text: str, *, settings: StateSettings) -> JsonDocument:
    plain = json.loads(text)
    check_plain_json(plain, path="/state", max_values=len(text) + 1, max_levels=MAX_LEVELS)
    return state_document(plain, settings=settings, text=text)


def _json_values(text: str) -> Iterator[Any]:
    """Yield the JSON that *text* is, else the top-level objects in it that parse, the last first.

    Behind an object that was cut nothing counts: what parses there is a part of it.
    """
    whole = text.strip()
    try:
        yield exact_value(whole)
        return
    except (ValueError, RecursionError):
        pass
    found: deque[str] = deque(maxlen=MAX_OBJECTS)
    position, failures = text.find("{"), 0
    decoder = json.JSONDecoder()
    while position >= 0 and failures < MAX_OBJECT_STARTS:
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            if _CUT_OBJECT.match(text, position):
                break
            failures += 1
            end = position + 1
        else:
            found.append(text[position:end])
        position = text.find("{", end)
    yield from map(exact_value, reversed(found))


def _unread(text: str, *, finish: FinishReason) -> StateJudgement:
    if is_refusal(text):
        return _rejected(StateCode.REFUSAL)
    if echoes_prompt(text):
        return _rejected(StateCode.ECHO)
    opened = "{" in text and text.count("{") > text.count("}")
    if finish is FinishReason.LENGTH or opened:
        return _rejected(StateCode.TRUNCATED, retry=Retry.DOUBLED_CAP)
    return _rejected(StateCode.NOT_A_STATE if "{" in text else StateCode.NO_JSON)


def _rejected(code: str, *, retry: Retry = Retry.SAME) -> StateJudgement:
    return StateJudgement(outcome=StateOutcome.REJECT, code=code, retry=retry)
