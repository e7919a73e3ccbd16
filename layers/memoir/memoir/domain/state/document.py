"""The state document `{text, records: {category: [record]}}`: its shape, its limits, its equality.

No error here tells what a record holds: a place ends at the record's number, for a record may be the
director's alone while errors are for everyone.
"""

from typing import Any

from memoir.domain.json_document import (
    MAX_DOCUMENT_BYTES,
    MAX_LEVELS,
    JsonDocument,
    check_plain_json,
    json_document,
)
from memoir.domain.json_value import same_json
from memoir.domain.state.settings import StateSettings, Visibility
from memoir.errors import LimitExceeded, RequestInvalid, ScenarioForbids

EMPTY_STATE = '{"text":"","records":{}}'
_LEVELS_AROUND_A_RECORD = 3


def state_document(value: object, *, settings: StateSettings, text: str | None = None) -> JsonDocument:
    """Return *value* as a state that may be stored, or raise what is wrong with it, naming the place.

    *text*: its compact JSON text where the caller has read it as strict JSON. Limits: 65,536 bytes of UTF-8,
    32 levels.
    Raises RequestInvalid (shape), ScenarioForbids (a category or visibility that the scenario does not have),
    LimitExceeded (levels), TooLarge (bytes).
    """
    members = _state_members(value)
    if not isinstance(members["text"], str):
        raise _invalid("/state/text", "must be text")
    if not isinstance(members["records"], dict):
        raise _invalid("/state/records", "must be a JSON object of categories")
    for category, records in members["records"].items():
        _check_category(category, records, settings=settings)
    return json_document(value, name="state", text=text)


def same_state(first: JsonDocument, second: JsonDocument) -> bool:
    """Tell whether two states are the same JSON value: member order does not count, numbers are exact."""
    return same_json(first.text, second.text)


def is_empty_state(state: JsonDocument) -> bool:
    """Tell whether *state* says nothing: a blank text and no record."""
    return not state.value["text"].strip() and not any(state.value["records"].values())


def _state_members(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RequestInvalid(code="not_an_object", path="/state", detail="/state: must be a JSON object")
    for name in ("text", "records"):
        if name not in value:
            raise RequestInvalid(
                code="member_missing", path=f"/state/{name}", detail=f"/state/{name}: is missing"
            )
    if len(value) > 2:
        raise RequestInvalid(
            code="unknown_member", path="/state", detail="/state: has other members than text and records"
        )
    return value


def _check_category(category: str, records: object, *, settings: StateSettings) -> None:
    if not settings.allows(category):
        raise ScenarioForbids(
            code="category_unknown",
            path=f"/state/records/{_place(category)}",
            detail=f"/state/records/{_place(category)}: the scenario has no such category",
        )
    path = f"/state/records/{_place(category)}"
    if not isinstance(records, list):
        raise _invalid(path, "must be a list of records")
    for i, record in enumerate(records):
        _check_record(record, path=f"{path}/{i}")


def _check_record(record: object, *, path: str) -> None:
    if not isinstance(record, dict):
        raise _invalid(path, "must be a JSON object")
    if "visibility" in record and record["visibility"] not in tuple(Visibility):
        raise ScenarioForbids(
            code="visibility_unknown",
            path=f"{path}/visibility",
            detail=f"{path}/visibility: must be actor, director or both",
        )
    try:
        check_plain_json(
            record, path=path, max_values=MAX_DOCUMENT_BYTES, max_levels=MAX_LEVELS - _LEVELS_AROUND_A_RECORD
        )
    except LimitExceeded as error:
        limit = MAX_LEVELS if error.code == "json_too_deep" else error.limit
        raise LimitExceeded(
            code=error.code,
            value=max(error.value, limit + 1),
            limit=limit,
            path=path,
            detail=f"{path}: {error.code}, the limit is {limit}",
        ) from None


def _place(category: str) -> str:
    return category[:64].replace("~", "~0").replace("/", "~1")  # RFC 6901


def _invalid(path: str, reason: str) -> RequestInvalid:
    return RequestInvalid(code="state_invalid", path=path, detail=f"{path}: {reason}")
