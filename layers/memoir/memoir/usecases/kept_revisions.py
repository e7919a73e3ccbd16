"""Read a revision of a document that is not the current one any more."""

from memoir.domain.json_document import JsonDocument
from memoir.domain.memory import MemoryRecord
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.state.record import ReadState, read_record
from memoir.domain.story.document import read_stored
from memoir.domain.story.read import ReadStory
from memoir.domain.table.record import TableRecord
from memoir.domain.table.state import read_state
from memoir.errors import NotFound
from memoir.ports.records import RecordKey
from memoir.records.documents import document_of, read_document
from memoir.records.history import Kept, copy_key, kept_of, read_copy
from memoir.usecases.engine import Engine
from memoir.usecases.rewind_targets import expired


def kept_memory(engine: Engine, *, scope: Scope, revision: int) -> MemoryRecord:
    """Return the memory at *revision*. Raises as `_kept`."""
    return MemoryRecord(revision=Revision(revision), memory=_kept(engine, scope, "memory", revision)[1])


def kept_table(engine: Engine, *, scope: Scope, revision: int) -> TableRecord:
    """Return the table at *revision*, with how far replies were in it. Raises as `_kept`."""
    kept, document = _kept(engine, scope, "table", revision)
    return TableRecord(
        revision=Revision(revision),
        through_round=kept.place.round,
        document=read_state(document).document if document else None,
    )


def kept_state(engine: Engine, *, scope: Scope, revision: int) -> ReadState:
    """Return the whole state at *revision*. Raises as `_kept`."""
    _, document = _kept(engine, scope, "state", revision)
    return ReadState(revision=Revision(revision), state=read_record(document).state if document else None)


def kept_story(engine: Engine, *, scope: Scope, revision: int) -> ReadStory:
    """Return the story at *revision*. Raises as `_kept`."""
    _, document = _kept(engine, scope, "story", revision)
    if document is None:
        return ReadStory(revision=Revision(revision), story=None)
    record = read_stored(document)
    return ReadStory(revision=Revision(revision), story=record.story, paged=record.paged)


def _kept(engine: Engine, scope: Scope, kind: str, revision: int) -> tuple[Kept, JsonDocument | None]:
    """Return a revision, the current one or a kept one. One request.

    Raises NotFound (there has been none yet), HistoryExpired (it is no longer kept), RecordCorrupt,
    StoreUnavailable.
    """
    key, copy = RecordKey(owner=scope, kind=kind), copy_key(scope, kind, revision)
    found = engine.records.read(key, copy)
    stored = read_document(found.get(key))
    if stored is not None and stored.revision == revision:
        return kept_of(stored), stored.document
    if copy in found:
        kept = read_copy(revision, found[copy])
        return kept, None if kept.text is None else document_of(kept.text)
    if stored is None or revision > stored.revision:
        raise NotFound(path="revision", detail=f"revision: there is no revision {revision} yet")
    raise expired(kind, revision)
