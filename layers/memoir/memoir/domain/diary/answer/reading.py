"""Read a model's diary answer: a ladder of steps, strict before tolerant, nothing unmarked.

Linear in the text, and never an exception: whatever cannot be read gets a code.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from memoir.domain.diary.answer.fields import DIARY, KNOWN_NAMES, DiaryFields, diary_fields, field_of
from memoir.domain.diary.answer.loose_object import Ending, LooseObject, read_loose_object
from memoir.domain.diary.answer.sections import Sections, headed_sections, tagged_sections
from memoir.domain.diary.answer.strict_answer import (
    StrictJson,
    fenced_json,
    objects_among_prose,
    parse_strict,
)
from memoir.domain.model_text import clean_model_text, mask_reasoning

MAX_ANSWER_CHARACTERS = 262_144
MAX_REPAIR_TRIES = 6


class ParsePath(StrEnum):
    """The step of the ladder that read the answer. Counted per model."""

    STRICT = "strict"
    FENCED = "fenced"
    BALANCED = "balanced"
    REPAIRED = "repaired"
    TAGS = "tags"
    HEADINGS = "headings"
    NONE = "none"


class ReadingCode(StrEnum):
    """Why an answer could not be read."""

    EMPTY = "empty"
    REASONING_ONLY = "reasoning_only"
    NO_JSON = "no_json"
    MALFORMED = "malformed"
    NOT_A_SUMMARY = "not_a_summary"
    TOO_LONG = "too_long"


@dataclass(frozen=True, kw_only=True)
class DiaryReading:
    """What an answer says. *code* is None where something was read.

    *open_field*: the field in which the text ends, so that it may be or, where *cut*, is incomplete. *text*:
    the answer without its reasoning. *flags*: what was noticed on the way.
    """

    parse_path: ParsePath
    text: str
    code: ReadingCode | None = None
    summary: str | None = None
    diary: str | None = None
    nothing_new: bool = False
    wrong_types: tuple[str, ...] = ()
    open_field: str = ""
    cut: bool = False
    unclosed: bool = False
    flags: tuple[str, ...] = ()


_QUOTE = "[\"'`“”‘’＂]"
_NAME_LIST = "|".join(sorted(KNOWN_NAMES, key=len, reverse=True))
_KNOWN_OBJECT = re.compile(rf"[{{｛]\s*+{_QUOTE}?(?:{_NAME_LIST}){_QUOTE}?\s*+[:：]", re.IGNORECASE)
_ANY_OBJECT = re.compile(rf"[{{｛]\s*+{_QUOTE}?\w{{1,40}}{_QUOTE}?\s*+[:：]")
_CUT_OBJECT = re.compile(r'[{｛]\s*+["“]?\w{0,20}["”]?\s*+\Z')
_THINKING_HEADING = re.compile(
    r"\s*+[#*\s]{0,8}(?:thinking process|thought process|chain of thought|thinking|reasoning|analysis|"
    r"思考过程|思考|推理过程|推理|分析过程|分析)[ \t*]{0,4}[:：\n]",
    re.IGNORECASE,
)


def read_diary(text: str, *, diary_asked: bool) -> DiaryReading:
    """Return what *text* says: summary, diary, nothing new, or the code of why it says none of these.

    Steps, the first that finds one of our names ends them: the whole as JSON, code fences, objects among
    prose, one object repaired, tags, headings. *diary_asked*: headings then need both sections; and only then
    is a diary returned.
    """
    clean = clean_model_text(text)
    if len(clean) > MAX_ANSWER_CHARACTERS:
        return DiaryReading(parse_path=ParsePath.NONE, text="", code=ReadingCode.TOO_LONG)
    rest, flags = mask_reasoning(clean)
    found = _whole(clean, rest) or next(_from_parts(rest, diary_asked=diary_asked), None)
    if found is None:
        found = DiaryReading(parse_path=ParsePath.NONE, text=rest, code=_why_unread(clean, rest))
    found = replace(found, flags=(*found.flags, *flags))
    return found if diary_asked else _without_diary(found)


def _whole(clean: str, rest: str) -> DiaryReading | None:
    """Read text that is JSON as a whole. A reasoning tag inside one of its strings cannot hide the others."""
    for text in (clean, rest) if clean != rest else (clean,):
        parsed = parse_strict(text)
        if parsed is not None and (reading := _from_json(parsed, ParsePath.STRICT, text=rest)):
            return replace(reading, summary=_unreasoned(reading.summary), diary=_unreasoned(reading.diary))
    return None


def _from_parts(rest: str, *, diary_asked: bool) -> Iterator[DiaryReading]:
    """Yield what each further step reads, strictest first."""
    for parsed in fenced_json(rest):
        if reading := _from_json(parsed, ParsePath.FENCED, text=rest):
            yield reading
    for parsed in objects_among_prose(rest):
        if reading := _from_json(parsed, ParsePath.BALANCED, text=rest):
            yield reading
    for start in _repair_starts(rest):
        loose = read_loose_object(rest, start)
        if loose is not None and (reading := _from_loose(loose, text=rest)):
            yield reading
    if tagged := tagged_sections(rest):
        yield _from_sections(tagged, ParsePath.TAGS, text=rest)
    if not _THINKING_HEADING.match(rest) and (headed := headed_sections(rest, both=diary_asked)):
        yield _from_sections(headed, ParsePath.HEADINGS, text=rest)


def _repair_starts(text: str) -> list[int]:
    """Return where the objects to repair begin: first name ours, the last first; then any others."""
    known = [found.start() for found in _KNOWN_OBJECT.finditer(text)]
    others = [found.start() for found in _ANY_OBJECT.finditer(text)]
    half = MAX_REPAIR_TRIES // 2
    tries = [*reversed(known[-half:]), *reversed(others[-half:])]
    return list(dict.fromkeys(tries))


def _from_json(parsed: StrictJson, path: ParsePath, *, text: str) -> DiaryReading | None:
    fields = diary_fields(parsed.value)
    flags = ("duplicate_keys",) if parsed.duplicate_keys else ()
    return None if fields is None else _reading(fields, path, text=text, flags=flags)


def _from_loose(loose: LooseObject, *, text: str) -> DiaryReading | None:
    fields = diary_fields(loose.members)
    cut = loose.ending is Ending.CUT
    open_field = "" if loose.ending is Ending.CLOSED else field_of(loose.last_name) or ""
    if fields is None:
        if not (cut and open_field):
            return None
        fields = DiaryFields()
    flags = () if loose.ending is Ending.CLOSED else ("object_not_closed",)
    reading = _reading(fields, ParsePath.REPAIRED, text=text, flags=flags)
    unclosed = loose.ending is not Ending.CLOSED
    return replace(reading, open_field=open_field, cut=cut and bool(open_field), unclosed=unclosed)


def _from_sections(sections: Sections, path: ParsePath, *, text: str) -> DiaryReading:
    fields = DiaryFields(summary=sections.summary, diary=sections.diary)
    return replace(_reading(fields, path, text=text), open_field=sections.open_field)


def _reading(fields: DiaryFields, path: ParsePath, *, text: str, flags: tuple[str, ...] = ()) -> DiaryReading:
    return DiaryReading(
        parse_path=path,
        text=text,
        summary=fields.summary,
        diary=fields.diary,
        nothing_new=fields.nothing_new,
        wrong_types=fields.wrong_types,
        flags=flags,
    )


def _without_diary(reading: DiaryReading) -> DiaryReading:
    wrong = tuple(name for name in reading.wrong_types if name != DIARY)
    about_diary = reading.open_field == DIARY
    return replace(
        reading,
        diary=None,
        wrong_types=wrong,
        open_field="" if about_diary else reading.open_field,
        cut=reading.cut and not about_diary,
    )


def _unreasoned(text: str | None) -> str | None:
    return None if text is None else mask_reasoning(text)[0]


def _why_unread(clean: str, rest: str) -> ReadingCode:
    if not rest.strip():
        return ReadingCode.REASONING_ONLY if clean.strip() else ReadingCode.EMPTY
    if _THINKING_HEADING.match(rest):
        return ReadingCode.REASONING_ONLY
    parsed = parse_strict(rest)
    if parsed is not None:
        return ReadingCode.NOT_A_SUMMARY if parsed.value else ReadingCode.EMPTY
    if _ANY_OBJECT.search(rest) or _CUT_OBJECT.search(rest):
        return ReadingCode.MALFORMED
    return ReadingCode.NO_JSON
