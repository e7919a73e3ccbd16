"""What each audience gets of a state: as JSON, and as the text of `actorState` and `directorState`."""

import json
from collections.abc import Mapping
from typing import Any

from memoir.domain.diary.record.recall import without_markup
from memoir.domain.json_document import JsonDocument
from memoir.domain.json_value import exact_value, json_text, shown
from memoir.domain.state.document import EMPTY_STATE
from memoir.domain.state.settings import Audience, StateSettings, Visibility


def project_state(state: JsonDocument | None, *, audience: Audience, settings: StateSettings) -> JsonDocument:
    """Return the part of *state* that *audience* may see, a document of the same shape.

    The director sees all. The actor sees `text` and the records that are for the actor or both, without their
    `visibility`; a category with none of these is left out, for its name may tell what it hides.
    """
    text = state.text if state else EMPTY_STATE
    if audience is Audience.ACTOR:
        text = json_text(_for_actor(exact_value(text), settings=settings))
    return JsonDocument(text=text, value=json.loads(text), size_bytes=len(text.encode()))


def state_text(projected: JsonDocument, *, settings: StateSettings) -> str:
    """Return a projection as the model sees it. Equal projections give equal bytes; an empty one none.

    `text` as it is, then `[category]` and a line `- name: value; …` for each record; categories in the
    scenario's order, others by name after them, members by name. Working markup in values is broken up.
    """
    value = exact_value(projected.text)
    records: Mapping[str, list[Any]] = value["records"]
    known = [name for name in settings.categories or () if name in records]
    order = [*known, *sorted(records.keys() - set(known))]
    parts = [value["text"].strip()]
    parts += ["\n".join([f"[{shown(name)}]", *map(_line, records[name])]) for name in order if records[name]]
    return without_markup("\n\n".join(part for part in parts if part))


def audience_text(state: JsonDocument | None, *, audience: Audience, settings: StateSettings) -> str:
    """Return `actorState` or `directorState`: the text of that audience's projection."""
    return state_text(project_state(state, audience=audience, settings=settings), settings=settings)


def _for_actor(value: dict[str, Any], *, settings: StateSettings) -> dict[str, Any]:
    seen = (Visibility.ACTOR, Visibility.BOTH)
    records = {
        category: [
            {name: item for name, item in record.items() if name != "visibility"}
            for record in listed
            if settings.of_record(category, record) in seen
        ]
        for category, listed in value["records"].items()
    }
    return {
        "text": value["text"] if settings.of_text() in seen else "",
        "records": {category: listed for category, listed in records.items() if listed},
    }


def _line(record: Mapping[str, Any]) -> str:
    members = sorted(
        ((name, item) for name, item in record.items() if name != "visibility"), key=lambda member: member[0]
    )
    return "- " + "; ".join(f"{shown(name)}: {shown(item)}" for name, item in members)
