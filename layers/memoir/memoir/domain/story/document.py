"""The story document `{anchor, world, events, narrative}`: its shape, its limits, what is kept with it."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memoir.domain.json_document import JsonDocument, check_plain_json, compact_text, json_document
from memoir.domain.json_value import exact_value, json_text, part_text
from memoir.domain.scope import check_opaque_id
from memoir.errors import LimitExceeded, RecordCorrupt, RequestInvalid

MAX_EVENTS = 2_000
MAX_FACTS = 500
MAX_FACT_NAME_CHARACTERS = 128
MAX_EVENT_CHARACTERS = 4_000
MAX_NARRATIVE_CHARACTERS = 8_000
PAGED_REMEMBERED = 2_000
"""How many of the events that moved into pages are still known by their hashes."""

EVENT_ID_HASH_CHARACTERS = 12

EMPTY_STORY: dict[str, Any] = {"anchor": None, "world": {}, "events": [], "narrative": ""}


@dataclass(frozen=True, kw_only=True)
class Settled:
    """The claim that was settled last, by hashes: the same again is no second settlement."""

    claim: str
    content: str


@dataclass(frozen=True, kw_only=True)
class StoryRecord:
    """A story as it is stored.

    *story* is what callers see. *paged*: how many older events stand in pages. *paged_hashes*: of the newest
    2,000 of these, id and content, 20 characters each.
    """

    story: JsonDocument
    settled: Settled | None = None
    paged: int = 0
    paged_hashes: tuple[str, ...] = ()


def story_document(value: object, *, text: str | None = None) -> JsonDocument:
    """Return *value* as a story that may be stored whole, or raise what is wrong with it, naming the place.

    *text*: its compact JSON text where the caller has read it as strict JSON. Limits: 65,536 bytes of UTF-8,
    32 levels, 2,000 events, 500 facts, an event's text 4,000 characters, the narrative 8,000.
    """
    members = checked_members(
        value, path="/story", required=("world", "events", "narrative"), optional=("anchor",)
    )
    anchor = members.get("anchor")
    if anchor is not None:
        check_anchor(anchor, path="/story/anchor")
    check_world(members["world"], path="/story/world", may_remove=False)
    check_events(members["events"], path="/story/events")
    check_narrative(members["narrative"], path="/story/narrative")
    return json_document(value, name="story", text=text)


def check_anchor(value: object, *, path: str) -> None:
    """Check `{turnId}`. Raises RequestInvalid."""
    members = checked_members(value, path=path, required=("turnId",))
    if not isinstance(members["turnId"], str):
        raise _invalid(f"{path}/turnId", "must be text")
    check_opaque_id(members["turnId"], path=f"{path}/turnId")


def check_world(value: object, *, path: str, may_remove: bool) -> None:
    """Check facts by name. *may_remove*: null removes one. Raises RequestInvalid, LimitExceeded."""
    if not isinstance(value, dict):
        raise _invalid(path, "must be a JSON object of facts")
    _check_count(len(value), MAX_FACTS, path=path, code="too_many_facts")
    for name, fact in value.items():
        if not name.strip() or len(name) > MAX_FACT_NAME_CHARACTERS:
            raise _invalid(
                path, f"a fact's name must be 1 to {MAX_FACT_NAME_CHARACTERS} characters, not all blank"
            )
        if fact is None and not may_remove:
            raise _invalid(f"{path}/{name}", "a fact must not be null")


def check_events(value: object, *, path: str) -> None:
    """Check events, each with an id of its own and a text. Raises RequestInvalid, LimitExceeded."""
    if not isinstance(value, list):
        raise _invalid(path, "must be a list of events")
    _check_count(len(value), MAX_EVENTS, path=path, code="too_many_events")
    seen: set[str] = set()
    for i, event in enumerate(value):
        place = f"{path}/{i}"
        if not isinstance(event, dict):
            raise _invalid(place, "must be a JSON object")
        for name in ("id", "text"):
            if not isinstance(event.get(name), str):
                raise _invalid(f"{place}/{name}", "must be text")
        check_opaque_id(event["id"], path=f"{place}/id")
        if event["id"] in seen:
            raise _invalid(f"{place}/id", "the id stands twice")
        seen.add(event["id"])
        _check_count(len(event["text"]), MAX_EVENT_CHARACTERS, path=f"{place}/text", code="event_too_long")


def check_narrative(value: object, *, path: str) -> None:
    """Check the narrative: text of at most 8,000 characters. Raises RequestInvalid, LimitExceeded."""
    if not isinstance(value, str):
        raise _invalid(path, "must be text")
    _check_count(len(value), MAX_NARRATIVE_CHARACTERS, path=path, code="narrative_too_long")


def checked_members(
    value: object, *, path: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """Return *value* if it is an object of these members. Raises RequestInvalid, naming the place."""
    if not isinstance(value, dict):
        raise RequestInvalid(code="not_an_object", path=path, detail=f"{path}: must be a JSON object")
    for name in value:
        if name not in required + optional:
            raise RequestInvalid(
                code="unknown_member", path=f"{path}/{name}", detail=f"{path}/{name}: no such member"
            )
    for name in required:
        if name not in value:
            raise RequestInvalid(
                code="member_missing", path=f"{path}/{name}", detail=f"{path}/{name}: is missing"
            )
    return value


def exact_part(value: object, *, path: str, text: str | None = None) -> Any:
    """Return checked plain JSON with exact numbers. *text*: its JSON text where the caller has it."""
    if text is None:
        check_plain_json(value, path=path, max_values=1_000_000)
        text = compact_text(value, path=path)
    return exact_value(text)


def event_hash(event: Mapping[str, Any]) -> str:
    """Return the hash of an exact event: 12 characters of its id, 8 of its content, member order apart."""
    return digest(event["id"])[:EVENT_ID_HASH_CHARACTERS] + digest(json_text(event, sort=True))[:8]


def digest(text: str) -> str:
    """Return a short hash: 32 hexadecimal characters."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def record_as_plain(record: StoryRecord) -> dict[str, Any]:
    """Return what is stored beside the story, which is stored as its own text."""
    return {
        "settled": record.settled and {"claim": record.settled.claim, "content": record.settled.content},
        "paged": record.paged,
        "pagedHashes": list(record.paged_hashes),
    }


def record_from_plain(story: JsonDocument, value: Mapping[str, Any]) -> StoryRecord:
    """Return the record of *story* and what was stored beside it. Raises RecordCorrupt."""
    try:
        settled = value.get("settled")
        return StoryRecord(
            story=story,
            settled=Settled(claim=settled["claim"], content=settled["content"]) if settled else None,
            paged=int(value.get("paged", 0)),
            paged_hashes=tuple(value.get("pagedHashes", ())),
        )
    except (TypeError, KeyError, ValueError) as error:
        raise RecordCorrupt(detail=f"a stored story breaks its rules: {type(error).__name__}") from None


def stored_document(record: StoryRecord) -> JsonDocument:
    """Return *record* as it is stored, its story as it was spelled."""
    beside = record_as_plain(record)
    text = f'{{"beside":{compact_text(beside, path="/")},"story":{record.story.text}}}'
    return JsonDocument(
        text=text, value={"beside": beside, "story": record.story.value}, size_bytes=len(text.encode())
    )


def read_stored(stored: JsonDocument) -> StoryRecord:
    """Return the record that was stored. Raises RecordCorrupt."""
    value = stored.value
    story, beside = value.get("story"), value.get("beside")
    members = EMPTY_STORY.keys() - {"anchor"}
    if not (isinstance(story, dict) and isinstance(beside, dict) and members <= story.keys()):
        raise RecordCorrupt(detail="a stored story breaks its own rules; it is kept as it is")
    text = part_text(stored.text, "story")
    return record_from_plain(JsonDocument(text=text, value=story, size_bytes=len(text.encode())), beside)


def hashes_of(events: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the hashes of exact *events*, in order."""
    return tuple(event_hash(event) for event in events)


def _check_count(count: int, limit: int, *, path: str, code: str) -> None:
    if count > limit:
        raise LimitExceeded(
            code=code, value=count, limit=limit, path=path, detail=f"{path}: {count}, the limit is {limit}"
        )


def _invalid(path: str, reason: str) -> RequestInvalid:
    return RequestInvalid(code="story_invalid", path=path, detail=f"{path}: {reason}")
