"""A settlement: what was confirmed is laid onto the story, if nothing moved since it was prepared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memoir.domain.json_document import JsonDocument, json_document
from memoir.domain.json_value import exact_value, json_text
from memoir.domain.story.claim import Claim, claim_text
from memoir.domain.story.document import (
    EMPTY_STORY,
    EVENT_ID_HASH_CHARACTERS,
    MAX_FACTS,
    Settled,
    StoryRecord,
    check_events,
    check_narrative,
    check_world,
    digest,
    event_hash,
    exact_part,
)
from memoir.domain.story.pages import StoryPage, split_events
from memoir.errors import LimitExceeded, RequestInvalid, StoryConflict


@dataclass(frozen=True, kw_only=True)
class StoryHead:
    """Where a conversation stands: its story's revision, and its last accepted turn, None before one."""

    revision: int
    turn_id: str | None


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """What a host confirmed, as parsed JSON. *narrative* None leaves the narrative as it is.

    *texts*: the JSON texts of `events` and `world` where the caller has them: then numbers stay as spelled.
    """

    events: list[Any]
    world: dict[str, Any]
    narrative: str | None = None
    texts: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class SettledStory:
    """The story after a settlement. *changed* False: it was settled before. *page*: to be stored with it."""

    record: StoryRecord
    changed: bool
    page: StoryPage | None = None


def prepare_story(head: StoryHead, *, bound_to: str) -> str:
    """Return a claim on *head*. Raises StoryConflict: there is no accepted turn to anchor a story to."""
    if head.turn_id is None:
        raise StoryConflict(
            moved="anchor", current_revision=head.revision, detail="the conversation has no accepted turn yet"
        )
    return claim_text(Claim(revision=head.revision, turn_id=head.turn_id), bound_to=bound_to)


def settle_story(
    stored: StoryRecord | None, *, claim: Claim, claimed: str, head: StoryHead, settlement: Settlement
) -> SettledStory:
    """Return *stored* with *settlement* laid onto it. *claimed*: the text that *claim* was read from.

    World facts merge by name, null removes one; events are appended, one that is there already is the same
    event; the anchor is the claim's turn. Events that no longer fit move into a page, the oldest first.
    The same settlement again changes nothing. Raises StoryConflict, naming what moved (`claim`: it was
    settled with other content); RequestInvalid, LimitExceeded, TooLarge, naming the place.
    """
    check_world(settlement.world, path="/world", may_remove=True)
    check_events(settlement.events, path="/events")
    if settlement.narrative is not None:
        check_narrative(settlement.narrative, path="/narrative")
    texts = settlement.texts or {}
    world = exact_part(settlement.world, path="/world", text=texts.get("world"))
    events = exact_part(settlement.events, path="/events", text=texts.get("events"))
    settled = Settled(
        claim=digest(claimed),
        content=digest(json_text([world, events, settlement.narrative], sort=True)),
    )
    if stored is not None and stored.settled == settled:
        return SettledStory(record=stored, changed=False)
    _check_unmoved(stored, settled=settled, claim=claim, head=head)
    story = exact_value(stored.story.text) if stored else dict(EMPTY_STORY)
    paged_hashes = stored.paged_hashes if stored else ()
    story = {
        "anchor": {"turnId": claim.turn_id},
        "world": _merged(story["world"], world),
        "events": _appended(story["events"], events, paged_hashes=paged_hashes),
        "narrative": story["narrative"] if settlement.narrative is None else settlement.narrative,
    }
    split = split_events(story, paged=stored.paged if stored else 0, paged_hashes=paged_hashes)
    record = replace(split.record, settled=settled)
    return SettledStory(record=record, changed=True, page=split.page)


def put_story(stored: StoryRecord | None, story: JsonDocument) -> StoryRecord:
    """Return the record of *story*, put whole. Pages stay; what was settled before can be settled no more."""
    record = stored or StoryRecord(story=story)
    return replace(record, story=story, settled=None)


def _check_unmoved(stored: StoryRecord | None, *, settled: Settled, claim: Claim, head: StoryHead) -> None:
    moved = ""
    if stored is not None and stored.settled and stored.settled.claim == settled.claim:
        moved = "claim"
    elif head.turn_id != claim.turn_id:
        moved = "anchor"
    elif head.revision != claim.revision:
        moved = "revision"
    if moved:
        raise StoryConflict(
            moved=moved,
            current_revision=head.revision,
            current_turn_id=head.turn_id,
            detail=f"the {moved} has moved since the story was prepared; nothing was written",
        )


def _merged(facts: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = {name: fact for name, fact in {**facts, **changes}.items() if fact is not None}
    if len(merged) > MAX_FACTS:
        raise LimitExceeded(
            code="too_many_facts",
            value=len(merged),
            limit=MAX_FACTS,
            path="/world",
            detail=f"/world: {len(merged)} facts with those before, the limit is {MAX_FACTS}",
        )
    return merged


def _appended(known: list[Any], events: list[Any], *, paged_hashes: tuple[str, ...]) -> list[Any]:
    by_id = {event["id"]: event for event in known}
    paged = {known_hash[:EVENT_ID_HASH_CHARACTERS]: known_hash for known_hash in paged_hashes}
    appended = list(known)
    for i, event in enumerate(events):
        before = by_id.get(event["id"])
        event_is = event_hash(event)
        id_is = event_is[:EVENT_ID_HASH_CHARACTERS]
        if before is None and id_is not in paged:
            appended.append(event)
        elif not (before == event or paged.get(id_is) == event_is):
            raise RequestInvalid(
                code="event_conflict",
                path=f"/events/{i}/id",
                detail=f"/events/{i}/id: stands for another event already",
            )
    return appended


def stored_story(text: str) -> JsonDocument:
    """Return the stored *text* of a story as a document."""
    return json_document(json.loads(text), name="story", text=text)
