"""Read and replace the JSON memory of a conversation."""

from memoir.domain.json_document import Json, JsonDocument
from memoir.domain.memory import BeforeUpdate, MemoryRecord, ask_before_update, memory_document, no_memory
from memoir.domain.revision import Revision, check_expected_revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken, random_token
from memoir.errors import WriteOutcomeUnknown
from memoir.ports import DocumentKey, DocumentStore


def read_memory(*, documents: DocumentStore, scope: Scope) -> MemoryRecord:
    """Return the memory as of the last finished write; revision 0 and None where there is none.

    Raises StoreUnavailable; RecordCorrupt: what is stored is no memory.
    """
    stored = documents.read(_key(scope))
    return MemoryRecord(revision=stored.revision, memory=stored.document) if stored else no_memory()


def update_memory(
    *,
    documents: DocumentStore,
    scope: Scope,
    expected: Revision,
    memory: JsonDocument,
    token: WriteToken | None = None,
    before_update: BeforeUpdate | None = None,
) -> Revision:
    """Replace the whole memory of one conversation and return its new revision.

    The old object is discarded, not merged. *before_update* runs before the store is called.
    Raises UpdateRefused, RevisionConflict, IdempotencyKeyReused, StoreUnavailable: nothing was written;
    WriteOutcomeUnknown: read back before trying again.
    """
    ask_before_update(before_update, memory)
    revision = documents.replace(
        _key(scope), expected=expected, document=memory, token=token or random_token()
    )
    return check_next_revision(revision, expected=expected)


def check_next_revision(revision: object, *, expected: Revision) -> Revision:
    """Return *revision* if it is *expected* + 1. Raises WriteOutcomeUnknown where it is not."""
    if isinstance(revision, bool) or revision != expected + 1:
        raise WriteOutcomeUnknown(
            detail=f"the store answered revision {revision!r} to a write based on {expected}; read back first"
        )
    return Revision(expected + 1)


class ScopedMemory:
    """The memory of one scope as the store that `memoir.tools.create_memory_tools` wants."""

    def __init__(self, *, documents: DocumentStore, scope: Scope) -> None:
        """Bind *documents* to *scope*; no later argument can change whose memory it is."""
        self._documents = documents
        self._scope = scope

    def get(self) -> dict[str, object]:
        """Return `{"revision", "memory"}`. Raises as `read_memory`."""
        record = read_memory(documents=self._documents, scope=self._scope)
        return {
            "revision": record.revision,
            "memory": record.memory.fresh_value() if record.memory else None,
        }

    def compare_and_set(self, expected_revision: int, memory: Json) -> int:
        """Replace the whole memory and return its new revision. Raises as `update_memory`."""
        return update_memory(
            documents=self._documents,
            scope=self._scope,
            expected=check_expected_revision(expected_revision),
            memory=memory_document(memory),
        )


def _key(scope: Scope) -> DocumentKey:
    return DocumentKey(scope=scope, kind="memory")
