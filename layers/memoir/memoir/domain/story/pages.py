"""What moves out of a story that has grown too large: its oldest events, into pages that never change."""

import json
from dataclasses import dataclass
from typing import Any

from memoir.domain.json_document import MAX_DOCUMENT_BYTES, JsonDocument, check_plain_json, json_document
from memoir.domain.json_value import json_text
from memoir.domain.story.document import MAX_EVENTS, PAGED_REMEMBERED, StoryRecord, hashes_of

KEPT_SHARE = 0.75
"""Once one event has to go, a quarter goes: else every settlement would write a page."""


@dataclass(frozen=True, kw_only=True)
class StoryPage:
    """Events that moved out, in append order. *first*: the number of the first one, counted from 1."""

    first: int
    text: str
    count: int


@dataclass(frozen=True, kw_only=True)
class SplitStory:
    """A story that fits, and the page that goes with it, None where all fits."""

    record: StoryRecord
    page: StoryPage | None


def split_events(
    story: dict[str, Any],
    *,
    paged: int,
    paged_hashes: tuple[str, ...],
    max_bytes: int = MAX_DOCUMENT_BYTES,
    max_events: int = MAX_EVENTS,
) -> SplitStory:
    """Return exact *story* within *max_bytes* of JSON and *max_events*, its oldest events moved into a page.

    The newest event never moves. Raises TooLarge `story_too_large`: even without the others it is too large.
    """
    events: list[Any] = story["events"]
    sizes = [len(json_text(event).encode()) + 1 for event in events]
    size_bytes = len(json_text({**story, "events": []}).encode()) + sum(sizes)
    out = 0
    if size_bytes > max_bytes or len(events) > max_events:
        while out < len(events) - 1 and (
            size_bytes > KEPT_SHARE * max_bytes or len(events) - out > KEPT_SHARE * max_events
        ):
            size_bytes -= sizes[out]
            out += 1
    document = _document({**story, "events": events[out:]}, max_bytes=max_bytes)
    moved = events[:out]
    record = StoryRecord(
        story=document,
        paged=paged + out,
        paged_hashes=(*paged_hashes, *hashes_of(moved))[-PAGED_REMEMBERED:],
    )
    page = StoryPage(first=paged + 1, text=json_text(moved), count=out) if moved else None
    return SplitStory(record=record, page=page)


def _document(story: dict[str, Any], *, max_bytes: int) -> JsonDocument:
    text = json_text(story)
    value = json.loads(text)
    check_plain_json(value, path="/story", max_values=len(text) + 1)
    return json_document(value, name="story", text=text, max_bytes=max_bytes)
