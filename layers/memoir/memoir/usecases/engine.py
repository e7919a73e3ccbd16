"""The engine under every memory: reads that belong together, compare-and-set, receipts, idempotency keys."""

from dataclasses import dataclass

from memoir.domain.history import BY_ROUND
from memoir.domain.receipt import Receipt
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.turns import START, Position, TurnHead
from memoir.domain.write_token import WriteToken
from memoir.errors import StoreUnavailable
from memoir.ports.clock import Clock
from memoir.ports.records import Found, Put, RecordKey, Records, Refused, Write
from memoir.records.answers import answer_key, answer_write, read_answer
from memoir.records.documents import Change, StoredDocument, document_writes, settle
from memoir.records.history import Kept, copy_write, kept_of
from memoir.records.receipts import receipt_note, receipt_write
from memoir.records.turns import head_key, is_torn, read_head

# A rewind is rare and one write; a read that meets it three times meets something else.
_TORN_READS = 3


@dataclass(frozen=True, kw_only=True)
class Engine:
    """The store and what every kind of memory does with it.

    `receipt_days`: how long receipts are kept. `history_days`: how long a revision that matters is kept at
    least, 0 for as long as the conversation.
    """

    records: Records
    clock: Clock
    receipt_days: int
    history_days: int = 30

    def read_together(self, scope: Scope, *keys: RecordKey) -> tuple[TurnHead, Found]:
        """Return the head of a conversation and records of it, all of one side of any rewind. One request.

        Raises StoreUnavailable, RecordCorrupt (the head).
        """
        head_of = head_key(scope)
        for _ in range(_TORN_READS):
            found = self.records.read(head_of, *keys)
            head = read_head(found.get(head_of))
            if not is_torn(head, found):
                return head, found
        raise StoreUnavailable(detail="rewinds kept moving the conversation; try again")

    def change(self, change: Change) -> Revision:
        """Replace a document and return its new revision. One request, also when it conflicts.

        A token that is among the document's last 16 writes is answered with the revision of that write.
        Raises RevisionConflict, IdempotencyKeyReused, StoreUnavailable, RecordCorrupt: nothing was written;
        WriteOutcomeUnknown; Refused where a write beside it was.
        """
        try:
            self.records.write(*document_writes(change, now=self.clock()))
        except Refused as refused:
            return settle(change, refused)
        return Revision(change.expected + 1)

    def copies(
        self, key: RecordKey, stored: StoredDocument | None, *, place: Position = START
    ) -> tuple[Write, ...]:
        """Return the write that keeps the revision which is about to be replaced; none for none.

        *place*: how far the document's worker has passed turns.
        """
        if stored is None or not isinstance(key.owner, Scope) or key.kind not in BY_ROUND:
            return ()
        return (self.copy(key.owner, key.kind, kept_of(stored, place=place)),)

    def copy(self, scope: Scope, kind: str, kept: Kept) -> Put:
        """Return the write that keeps a revision."""
        return copy_write(scope, kind, kept, now=self.clock(), history_days=self.history_days)

    def receipt(self, scope: Scope, receipt: Receipt, *, kept_days: int | None = None) -> Put:
        """Return the write of *receipt*, to go beside the effect that it tells of."""
        return receipt_write(scope, receipt, now=self.clock(), kept_days=kept_days or self.receipt_days)

    def note(self, scope: Scope, receipt: Receipt) -> None:
        """Store the receipt of what had no effect, unless the turn has one that tells of no failure."""
        try:
            self.records.write(receipt_note(scope, receipt, now=self.clock(), kept_days=self.receipt_days))
        except Refused:
            return

    def answered(self, scope: Scope, token: WriteToken, found: Found) -> str | None:
        """Return what the request of *token* was answered before, None for a first one.

        Raises IdempotencyKeyReused.
        """
        return read_answer(found.get(answer_key(scope, token)), token) if token.body_hash else None

    def kept(self, scope: Scope, token: WriteToken, answer: str = "") -> tuple[Write, ...]:
        """Return the write that keeps *answer* for the request's idempotency key; none where it has none."""
        if not token.body_hash:
            return ()
        return (answer_write(scope, token, answer, now=self.clock()),)

    def keep(self, scope: Scope, token: WriteToken, answer: str = "", *, refused: bool = False) -> None:
        """Keep the answer to a request that wrote nothing else. Raises IdempotencyKeyReused."""
        if not token.body_hash:
            return
        write = answer_write(scope, token, answer, now=self.clock(), refused=refused)
        try:
            self.records.write(write)
        except Refused as held:
            read_answer(held.held[write.label], token)


def answer_keys(scope: Scope, token: WriteToken) -> tuple[RecordKey, ...]:
    """Return the key under which the answer to *token* is kept; none where it is of no idempotency key."""
    return (answer_key(scope, token),) if token.body_hash else ()
