"""A diary that a model gave as tagged or headed sections instead of JSON."""

import re
from dataclasses import dataclass

from memoir.domain.diary.answer.fields import DIARY, DIARY_NAMES, SUMMARY, SUMMARY_NAMES, field_of


@dataclass(frozen=True, kw_only=True)
class Sections:
    """The sections found. *open_field*: the one that only the end of the text ends, if any."""

    summary: str | None
    diary: str | None
    open_field: str


@dataclass(frozen=True, kw_only=True)
class _Mark:
    field: str
    start: int
    end: int
    closes: bool


# Every repetition is bounded or ends at a character it cannot contain: linear in the text.
_NAMES = "|".join(sorted((*SUMMARY_NAMES, *DIARY_NAMES), key=len, reverse=True))
_TAG = re.compile(
    rf"<(?P<shut>/?)(?P<name>{_NAMES})(?:\s[^<>]{{0,80}})?>|\[\[(?P<shut2>/?)\s?(?P<name2>{_NAMES})\s?\]\]",
    re.IGNORECASE,
)
_HEADING = re.compile(
    rf"^[ \t#*_>]{{0,12}}(?:【[ \t]?(?P<name>{_NAMES})[ \t]?】|(?P<name2>{_NAMES})[ \t*_]{{0,4}}[:：])"
    rf"[ \t*_]{{0,4}}[:：]?|^[ \t]{{0,3}}#{{1,6}}[ \t*]{{0,4}}(?P<name3>{_NAMES})[ \t*]{{0,4}}$",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE_LINE = re.compile(r"(?:\A|\n)[ \t]{0,3}(?:`{3,20}|~{3,20})[ \t]{0,3}\Z")


def tagged_sections(text: str) -> Sections | None:
    """Return what stands between `<summary>` and `<diary>` or `<entry>` tags, `[[summary]]` marks, or None.

    Tags in any case; the last that holds something counts; one that is not closed ends at the next tag or the
    end.
    """
    marks = [
        _Mark(
            field=field_of(found["name"] or found["name2"]) or SUMMARY,
            start=found.start(),
            end=found.end(),
            closes=bool(found["shut"] or found["shut2"]),
        )
        for found in _TAG.finditer(text)
    ]
    return _sections(text, marks)


def headed_sections(text: str, *, both: bool) -> Sections | None:
    """Return what follows headings like `【摘要】`, `日记：`, `**Summary:**` at line starts, or None.

    *both*: a diary was asked for too, and then both headings are needed.
    """
    marks = [
        _Mark(
            field=field_of(found["name"] or found["name2"] or found["name3"]) or SUMMARY,
            start=found.start(),
            end=found.end(),
            closes=False,
        )
        for found in _HEADING.finditer(text)
    ]
    found_sections = _sections(text, marks)
    if found_sections is None or found_sections.summary is None:
        return None
    return None if both and found_sections.diary is None else found_sections


def _sections(text: str, marks: list[_Mark]) -> Sections | None:
    if not marks:
        return None
    found: dict[str, str] = {}
    open_field = ""
    ends = [mark.start for mark in marks[1:]] + [len(text)]
    for at, (mark, end) in enumerate(zip(marks, ends, strict=True)):
        if mark.closes:
            continue
        content = _FENCE_LINE.sub("", text[mark.end : end]).strip()
        if content or mark.field not in found:
            found[mark.field] = content
            open_field = mark.field if at == len(marks) - 1 else ""
    if not found:
        return None
    return Sections(summary=found.get(SUMMARY), diary=found.get(DIARY), open_field=open_field)
