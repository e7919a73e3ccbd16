"""What the use cases need from the outside world."""

from dataclasses import dataclass
from typing import Protocol

from memoir.domain.json_document import JsonDocument
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken


@dataclass(frozen=True, kw_only=True)
class DocumentKey:
    """Which document: its scope and what it is (`memory`)."""

    scope: Scope
    kind: str


@dataclass(frozen=True, kw_only=True)
class StoredDocument:
    """A document and its revision, as stored."""

    revision: Revision
    document: JsonDocument


class DocumentStore(Protocol):
    """JSON documents, each replaced whole by compare-and-set on its revision."""

    def read(self, key: DocumentKey) -> StoredDocument | None:
        """Return the document as of the last finished write, or None where there is none.

        Raises StoreUnavailable; RecordCorrupt where the stored record breaks its rules.
        """

    def replace(
        self, key: DocumentKey, *, expected: Revision, document: JsonDocument, token: WriteToken
    ) -> Revision:
        """Replace the document and return its new revision, *expected* + 1; *expected* 0 creates it.

        A token that is among the document's last 16 writes is answered with the revision of that write, and
        nothing is written again.
        Raises RevisionConflict, IdempotencyKeyReused, StoreUnavailable (nothing was written), RecordCorrupt;
        WriteOutcomeUnknown: read back before trying again.
        """


class Clock(Protocol):
    """The present."""

    def __call__(self) -> float:
        """Return seconds since 1970 UTC."""
