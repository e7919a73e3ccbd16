"""`storyWorld` and `storyNarrative`: the story as the model sees it."""

from memoir.domain.diary.record.recall import without_markup
from memoir.domain.json_document import JsonDocument
from memoir.domain.json_value import exact_value, shown

SHOWN_EVENTS = 30
"""How many of the newest events are shown: older ones are the narrative's business."""


def world_text(story: JsonDocument | None) -> str:
    """Return the facts by name, a line each, then the newest 30 events, oldest first. Empty for none.

    Equal stories give equal bytes. Working markup in values is broken up.
    """
    if story is None:
        return ""
    value = exact_value(story.text)
    facts = [f"- {shown(name)}: {shown(fact)}" for name, fact in sorted(value["world"].items(), key=_name)]
    events = [f"* {shown(event['text'])}" for event in value["events"][-SHOWN_EVENTS:]]
    return without_markup("\n".join([*facts, *events]))


def narrative_text(story: JsonDocument | None) -> str:
    """Return the narrative, working markup in it broken up. Empty for none."""
    return without_markup(story.value["narrative"].strip()) if story else ""


def _name(member: tuple[str, object]) -> str:
    return member[0]
