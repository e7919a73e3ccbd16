"""Documents in memory, faithful to their port."""

from dataclasses import dataclass, field

from memoir.domain.json_document import JsonDocument
from memoir.domain.revision import NONE_YET, Revision
from memoir.domain.write_token import WriteToken
from memoir.errors import IdempotencyKeyReused, RevisionConflict
from memoir.ports import DocumentKey, StoredDocument

REMEMBERED_WRITES = 16


@dataclass
class InMemoryDocumentStore:
    """The DocumentStore port without a store. `calls` names the operations that were asked for."""

    stored: dict[DocumentKey, StoredDocument] = field(default_factory=dict)
    writes: dict[DocumentKey, list[tuple[WriteToken, Revision]]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def read(self, key: DocumentKey) -> StoredDocument | None:
        """See the port."""
        self.calls.append("read")
        return self.stored.get(key)

    def replace(
        self, key: DocumentKey, *, expected: Revision, document: JsonDocument, token: WriteToken
    ) -> Revision:
        """See the port."""
        self.calls.append("replace")
        writes = self.writes.setdefault(key, [])
        for known, revision in writes[-REMEMBERED_WRITES:]:
            if known.name == token.name:
                if known == token:
                    return revision
                raise IdempotencyKeyReused(detail="reused")
        current = self.stored[key].revision if key in self.stored else NONE_YET
        if current != expected:
            raise RevisionConflict(expected_revision=expected, current_revision=current, detail="moved")
        revision = Revision(expected + 1)
        self.stored[key] = StoredDocument(revision=revision, document=document)
        writes.append((token, revision))
        return revision
