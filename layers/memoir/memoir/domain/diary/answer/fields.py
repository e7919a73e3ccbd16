"""The names under which models give a summary and a diary, and what may stand there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from memoir.domain.model_text.cleaning import clean_model_text

SUMMARY = "summary"
DIARY = "entry"

SUMMARY_NAMES = ("summary", "摘要", "总结")
DIARY_NAMES = ("entry", "diary", "diary_entry", "日记")
TITLE = "title"
CONTENT = "content"
NOTHING_NEW = "nothing_new"
KNOWN_NAMES = (*SUMMARY_NAMES, *DIARY_NAMES, TITLE, CONTENT, NOTHING_NEW)


@dataclass(frozen=True, kw_only=True)
class DiaryFields:
    """The texts of an answer, None where not given. *wrong_types* names fields that hold no text."""

    summary: str | None = None
    diary: str | None = None
    nothing_new: bool = False
    wrong_types: tuple[str, ...] = ()


def diary_fields(value: object) -> DiaryFields | None:
    """Return the fields of an object, or None where *value* is none or has none of our names.

    Names in any case, blanks and hyphens as underscores. A list of texts is joined by line ends; null is not
    given. The first name in order that is given counts. `content` is a summary only beside `title`.
    """
    if not isinstance(value, Mapping):
        return None
    members = {_folded(key): item for key, item in value.items() if isinstance(key, str)}
    summary_names = (*SUMMARY_NAMES, CONTENT) if TITLE in members else SUMMARY_NAMES
    if not members.keys() & {*summary_names, *DIARY_NAMES, NOTHING_NEW}:
        return None
    summary, wrong_summary = _text(members, summary_names)
    diary, wrong_diary = _text(members, DIARY_NAMES)
    wrong = ((SUMMARY, wrong_summary), (DIARY, wrong_diary))
    return DiaryFields(
        summary=summary,
        diary=diary,
        nothing_new=_is_true(members.get(NOTHING_NEW)),
        wrong_types=tuple(name for name, is_wrong in wrong if is_wrong),
    )


def field_of(name: str) -> str | None:
    """Return `summary` or `entry` for one of their names in any spelling."""
    folded = _folded(name)
    if folded in (*SUMMARY_NAMES, CONTENT):
        return SUMMARY
    return DIARY if folded in DIARY_NAMES else None


def _text(members: Mapping[str, object], names: Iterable[str]) -> tuple[str | None, bool]:
    given = [members[name] for name in names if members.get(name) is not None]
    for value in given:
        text = "\n".join(value) if _is_text_list(value) else value
        if isinstance(text, str):
            return clean_model_text(text), False
    return None, bool(given)


def _is_text_list(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().casefold() == "true")


def _folded(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")
