"""Read a model's diary answer: a ladder of steps, strict before tolerant, nothing unmarked.

Linear in the text, and never an exception: whatever cannot be read gets a code.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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
from memoir.domain.model_text.cleaning import clean_model_text
from memoir.domain.model_text.cursor import QUOTES, Looked
from memoir.domain.model_text.marks import REASONING_TAG
from memoir.domain.model_text.reasoning import REASONING_MASKED, final_of_bare_channels, mask_reasoning

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

    *open_field*: the field in which the text ends, so that it may be or, where *cut*, is incomplete.
    *quote_missing*: it is whole after all if the model stopped by itself, for only its last quote is missing.
    *text*: the answer without its reasoning. *flags*: what was noticed on the way. *looked*: how many
    characters were looked at.
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
    quote_missing: bool = False
    unclosed: bool = False
    flags: tuple[str, ...] = ()
    looked: int = field(default=0, compare=False)


_QUOTE = f"[{QUOTES}]"
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
    looked = Looked(characters=len(text))
    found = _whole(clean, looked=looked)
    if found is None:
        rest, flags = _without_reasoning(clean, looked=looked)
        found = _unwrapped(rest, diary_asked=diary_asked, looked=looked)
        if found is None:
            code = _why_unread(clean, rest, looked=looked)
            found = DiaryReading(parse_path=ParsePath.NONE, text=rest, code=code)
        found = replace(found, flags=(*found.flags, *flags))
    found = replace(found, looked=looked.characters)
    return found if diary_asked else _without_diary(found)


def _without_reasoning(clean: str, *, looked: Looked) -> tuple[str, tuple[str, ...]]:
    """Return the answer without its reasoning, and flags. A tag in a string of valid JSON is a word."""
    final = final_of_bare_channels(clean)
    if final is not None:
        return final, (REASONING_MASKED,)
    if not REASONING_TAG.search(clean):
        return clean, ()
    objects = objects_among_prose(clean, looked=looked)
    return mask_reasoning(clean, opaque=[span for json, span in objects if diary_fields(json.value)])


def _whole(text: str, *, looked: Looked) -> DiaryReading | None:
    parsed = parse_strict(text, looked=looked)
    return _from_json(parsed, ParsePath.STRICT, text=text) if parsed else None


def _unwrapped(rest: str, *, diary_asked: bool, looked: Looked) -> DiaryReading | None:
    """Return what the first step that reads something reads, strictest first."""
    return _whole(rest, looked=looked) or next(
        _from_parts(rest, diary_asked=diary_asked, looked=looked), None
    )


def _from_parts(rest: str, *, diary_asked: bool, looked: Looked) -> Iterator[DiaryReading]:
    """Yield what each step after the first reads."""
    for parsed in fenced_json(rest, looked=looked):
        if reading := _from_json(parsed, ParsePath.FENCED, text=rest):
            yield reading
    for parsed, _ in reversed(objects_among_prose(rest, looked=looked)):
        if reading := _from_json(parsed, ParsePath.BALANCED, text=rest):
            yield reading
    for start in _repair_starts(rest):
        loose = read_loose_object(rest, start, looked=looked)
        if loose is not None and (reading := _from_loose(loose, text=rest)):
            yield reading
    looked.characters += 4 * len(rest)  # two lists of starts, tags, headings: each is one pass
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
    quote_missing = loose.unquoted is not None
    members = {**loose.members, loose.last_name: loose.unquoted} if quote_missing else loose.members
    fields = diary_fields(members)
    cut = loose.ending is Ending.CUT
    open_field = "" if loose.ending is Ending.CLOSED else field_of(loose.last_name) or ""
    if fields is None:
        if not (cut and open_field):
            return None
        fields = DiaryFields()
    flag = "last_quote_missing" if quote_missing else "object_not_closed"
    flags = () if loose.ending is Ending.CLOSED else (flag,)
    return replace(
        _reading(fields, ParsePath.REPAIRED, text=text, flags=flags),
        open_field=open_field,
        cut=cut and bool(open_field),
        quote_missing=quote_missing,
        unclosed=loose.ending is not Ending.CLOSED,
    )


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


def _why_unread(clean: str, rest: str, *, looked: Looked) -> ReadingCode:
    if not rest.strip():
        return ReadingCode.REASONING_ONLY if clean.strip() else ReadingCode.EMPTY
    if _THINKING_HEADING.match(rest):
        return ReadingCode.REASONING_ONLY
    parsed = parse_strict(rest, looked=looked)
    if parsed is not None:
        return ReadingCode.NOT_A_SUMMARY if parsed.value else ReadingCode.EMPTY
    if _ANY_OBJECT.search(rest) or _CUT_OBJECT.search(rest):
        return ReadingCode.MALFORMED
    return ReadingCode.NO_JSON
