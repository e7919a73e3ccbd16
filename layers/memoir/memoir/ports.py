"""What the use cases need from the outside world."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from memoir.domain.json_document import JsonDocument
from memoir.domain.receipt import Receipt
from memoir.domain.revision import Revision
from memoir.domain.scenario import Worker
from memoir.domain.scope import Scope
from memoir.domain.turns import START, Lookup, Placement, Position, RungTurn, Turn, TurnHead
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


class TurnRace(Exception):
    """Another turn was stored between reading the head and writing; nothing was written."""


class TurnStore(Protocol):
    """The turns of conversations. Texts never change once stored."""

    def head(self, scope: Scope) -> TurnHead:
        """Return where the conversation stands. Raises StoreUnavailable."""

    def look_up(self, scope: Scope, *, turn_ids: tuple[str, ...]) -> Lookup:
        """Return the head, what is known of these ids, and the table's revision. Raises StoreUnavailable."""

    def add(self, scope: Scope, turn: Turn, *, placement: Placement) -> None:
        """Store *turn* and move the head, both or neither.

        Raises TurnRace, StoreUnavailable: nothing was written; WriteOutcomeUnknown.
        """

    def accept(self, scope: Scope, *, turn_id: str, turn_round: int) -> None:
        """Move the accepted round up to *turn_round*. Raises StoreUnavailable, WriteOutcomeUnknown."""

    def page(self, scope: Scope, *, before_round: int, limit: int) -> tuple[Turn, ...]:
        """Return at most *limit* turns below that round, newest first, of each round its newest version."""

    def between(self, scope: Scope, *, first_round: int, last_round: int) -> tuple[Turn, ...]:
        """Return the turns of these rounds, oldest first, of each round its newest version."""

    def since(self, scope: Scope, *, after: Position, limit: int) -> tuple[Turn, ...]:
        """Return at most *limit* turns after that place, oldest first, every version of each round."""


class ReceiptStore(Protocol):
    """What background workers did, and why."""

    def note(self, scope: Scope, receipt: Receipt) -> None:
        """Store the receipt of what had no effect, unless the same turn has one that tells of no failure.

        Raises StoreUnavailable, WriteOutcomeUnknown.
        """

    def page(self, scope: Scope, *, before: str | None, limit: int) -> tuple[tuple[Receipt, str], ...]:
        """Return at most *limit* receipts below the place *before*, newest first, each with its place."""


class RequestKeys(Protocol):
    """Which request each idempotency key stands for, where the request itself is safe to repeat."""

    def bind(self, scope: Scope, token: WriteToken) -> None:
        """Let `token.name` stand for the request `token.body_hash`, for a day.

        Raises IdempotencyKeyReused: it stands for another one; StoreUnavailable, WriteOutcomeUnknown.
        """


@dataclass(frozen=True, kw_only=True)
class KeptAnswer:
    """The answer that a request with an idempotency key got: JSON text, kept for a day."""

    token: WriteToken
    text: str


@dataclass(frozen=True, kw_only=True)
class TableView:
    """All that a table's worker has to know, read at one moment.

    `stored`: the state. `passed`: how far turns without an effect were passed. `turn`: the hinted one.
    `answered`: what the asked-for idempotency key was answered before.
    """

    stored: StoredDocument | None
    passed: Position = START
    head: TurnHead = field(default_factory=TurnHead)
    turn: Turn | None = None
    answered: KeptAnswer | None = None


class TableStore(Protocol):
    """The memory table of conversations: its state by compare-and-set, and how far its worker has come."""

    def read(self, scope: Scope, *, hint: Position = START, token: WriteToken | None = None) -> TableView:
        """Return the table, its cursor, the head of the turns, the turn at *hint*, the answer to *token*.

        Raises StoreUnavailable, RecordCorrupt.
        """

    def replace(
        self,
        scope: Scope,
        *,
        expected: Revision,
        state: JsonDocument,
        token: WriteToken,
        receipt: Receipt | None = None,
        answer: KeptAnswer | None = None,
    ) -> Revision:
        """Replace the state as `DocumentStore.replace` does, and store the rest with it, all or nothing."""

    def pass_by(self, scope: Scope, *, position: Position, receipt: Receipt) -> None:
        """Note that the turn at *position* changed nothing, with its receipt, unless that is noted already.

        Raises StoreUnavailable, WriteOutcomeUnknown.
        """


class Doorbell(Protocol):
    """Tells workers that a conversation has something new. Messages may double, swap or vanish."""

    def ring(self, scope: Scope, *, workers: tuple[Worker, ...], turn: RungTurn) -> None:
        """Ring *workers* for *scope*; the turn is a hint. Raises StoreUnavailable: not rung for sure."""


class EventBus(Protocol):
    """Tells others of what happened. It never decides whether it happened."""

    def publish(self, kind: str, detail: Mapping[str, Any]) -> None:
        """Publish an event. Raises StoreUnavailable: it was not, or nobody knows."""


class Clock(Protocol):
    """The present."""

    def __call__(self) -> float:
        """Return seconds since 1970 UTC."""
