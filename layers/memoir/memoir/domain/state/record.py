"""A state as it is stored: the document, and by whose rules it was written."""

from dataclasses import dataclass, replace

from memoir.domain.json_document import JsonDocument, compact_text
from memoir.domain.revision import Revision
from memoir.domain.state.settings import TEXT, Audience, StateSettings, Visibility
from memoir.errors import RecordCorrupt


@dataclass(frozen=True, kw_only=True)
class StateRecord:
    """A state and the scenario that governed its last write.

    *hidden*: what that scenario kept for the director, as names of categories, and `text`.
    """

    state: JsonDocument
    scenario_id: str = ""
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadState:
    """A state at a revision, None before the first. `text`: how a model sees it, where it was projected."""

    revision: Revision
    state: JsonDocument | None
    audience: Audience | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What became of a candidate: whether it changed the state, and the state's revision now."""

    changed: bool
    revision: Revision


def state_record(state: JsonDocument, *, scenario_id: str, settings: StateSettings) -> StateRecord:
    """Return the record of *state*, written under the scenario *scenario_id* with *settings*."""
    names = (*state.value["records"], TEXT)
    hidden = [name for name in names if settings.visibility.get(name) is Visibility.DIRECTOR]
    return StateRecord(state=state, scenario_id=scenario_id, hidden=tuple(hidden))


def reading_settings(
    record: StateRecord | None, *, scenario_id: str, settings: StateSettings
) -> StateSettings:
    """Return by what *record* is read under *scenario_id*, whose settings are *settings*.

    Another scenario than the one of the last write shows the actor nothing that that one hid. A new revision
    of the same one may, for whoever writes scenarios has then decided so.
    """
    if record is None or record.scenario_id == scenario_id:
        return settings
    hidden = dict.fromkeys(record.hidden, Visibility.DIRECTOR)
    return replace(settings, visibility={**settings.visibility, **hidden})


def record_document(record: StateRecord) -> JsonDocument:
    """Return *record* as it is stored, its state as it was spelled."""
    text = f"{_before(record.scenario_id, record.hidden)}{record.state.text}}}"
    value = {"scenarioId": record.scenario_id, "hidden": [*record.hidden], "state": record.state.value}
    return JsonDocument(text=text, value=value, size_bytes=len(text.encode()))


def read_record(stored: JsonDocument) -> StateRecord:
    """Return the record that was stored. Raises RecordCorrupt."""
    value = stored.value
    try:
        before = _before(value["scenarioId"], value["hidden"])
        state, hidden = value["state"], tuple(value["hidden"])
        whole = isinstance(state["text"], str) and isinstance(state["records"], dict)
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole or not stored.text.startswith(before):
        raise RecordCorrupt(detail="a stored state breaks its own rules; it is kept as it is")
    text = stored.text[len(before) : -1]
    document = JsonDocument(text=text, value=state, size_bytes=len(text.encode()))
    return StateRecord(state=document, scenario_id=value["scenarioId"], hidden=hidden)


def _before(scenario_id: str, hidden: object) -> str:
    """Return the text of a record up to its state."""
    named = compact_text({"scenarioId": scenario_id, "hidden": hidden}, path="/")
    return f'{named[:-1]},"state":'
