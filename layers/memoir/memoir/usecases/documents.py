"""Read and replace a JSON document by compare-and-set: one rule for memory and every further kind."""

from memoir.domain.json_document import Json, JsonDocument
from memoir.domain.memory import BeforeUpdate, MemoryRecord, ask_before_update, memory_document
from memoir.domain.revision import NONE_YET, Revision, check_expected_revision
from memoir.domain.scope import Scope, UserScope
from memoir.domain.write_token import WriteToken, random_token
from memoir.errors import UpdateRefused, WriteOutcomeUnknown
from memoir.ports.records import RecordKey
from memoir.records.documents import Change, made_by, read_document
from memoir.usecases.engine import Engine


def memory_key(scope: Scope) -> RecordKey:
    """Return the key of a conversation's JSON memory."""
    return RecordKey(owner=scope, kind="memory")


def profile_key(owner: UserScope) -> RecordKey:
    """Return the key of a user's profile, which is of all conversations."""
    return RecordKey(owner=owner, kind="profile")


def read_json_document(engine: Engine, key: RecordKey) -> MemoryRecord:
    """Return the document as of the last finished write, revision 0 and None for none. One request.

    Raises StoreUnavailable; RecordCorrupt: what is stored is no document.
    """
    stored = read_document(engine.records.read(key).get(key))
    if stored is None:
        return MemoryRecord(revision=NONE_YET, memory=None)
    return MemoryRecord(revision=stored.revision, memory=stored.document)


def replace_json_document(
    engine: Engine,
    key: RecordKey,
    *,
    expected: Revision,
    document: JsonDocument,
    token: WriteToken | None = None,
    before_update: BeforeUpdate | None = None,
) -> Revision:
    """Replace the whole document and return its new revision. One request.

    The old object is discarded, not merged. *before_update* runs before the store is called; what it refuses
    may be the repeat of a write that was made before the rule, and then has that write's answer.
    Raises UpdateRefused, RevisionConflict, IdempotencyKeyReused, StoreUnavailable: nothing was written;
    WriteOutcomeUnknown: read back before trying again.
    """
    token = token or random_token()
    try:
        ask_before_update(before_update, document)
    except UpdateRefused:
        made = made_by(engine.records.read(key).get(key), token) if token.body_hash else None
        if made is None:
            raise
        return made
    return engine.change(Change(key=key, expected=expected, document=document, token=token))


def check_next_revision(revision: object, *, expected: Revision) -> Revision:
    """Return *revision* if it is *expected* + 1. Raises WriteOutcomeUnknown where it is not."""
    if isinstance(revision, bool) or revision != expected + 1:
        raise WriteOutcomeUnknown(
            detail=f"the store answered revision {revision!r} to a write based on {expected}; read back first"
        )
    return Revision(expected + 1)


class ScopedMemory:
    """The memory of one scope as the store that `memoir.tools.create_memory_tools` wants."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        """Bind *engine* to *scope*; no later argument can change whose memory it is."""
        self._engine = engine
        self._key = memory_key(scope)

    def get(self) -> dict[str, object]:
        """Return `{"revision", "memory"}`. Raises as `read_json_document`."""
        record = read_json_document(self._engine, self._key)
        return {
            "revision": record.revision,
            "memory": record.memory.fresh_value() if record.memory else None,
        }

    def compare_and_set(self, expected_revision: int, memory: Json) -> int:
        """Replace the whole memory and return its new revision. Raises as `replace_json_document`."""
        return replace_json_document(
            self._engine,
            self._key,
            expected=check_expected_revision(expected_revision),
            document=memory_document(memory),
        )
