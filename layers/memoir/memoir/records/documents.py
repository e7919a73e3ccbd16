"""JSON documents, each replaced whole by compare-and-set on its revision: memory, table, and all others.

A write names itself in the record. The fact `w<revision % 16>` holds the token of the write that made that
revision, so the record tells its last 16 writes. An `Idempotency-Key` is such a token too: the caller's own
retry finds its first receipt the same way, with no second request.
"""

from dataclasses import dataclass

from memoir.domain.json_document import JsonDocument
from memoir.domain.revision import NONE_YET, Revision
from memoir.domain.scope import Scope
from memoir.domain.turns import START, Position
from memoir.domain.write_token import NAME_CHARACTERS, WriteToken
from memoir.errors import (
    IdempotencyKeyReused,
    MemoirError,
    RecordCorrupt,
    RevisionConflict,
    WriteOutcomeUnknown,
)
from memoir.ports.records import ABSENT, Amend, Fact, Is, Put, Record, RecordKey, Refused, Stands, Write
from memoir.records.positions import position_text, read_position
from memoir.records.register import register_write
from memoir.strict_json import read_json

REMEMBERED_WRITES = 16
DOCUMENT = "document"
"""What a refusal calls the write of the document itself."""


@dataclass(frozen=True, kw_only=True)
class StoredDocument:
    """A document at a revision, None where a rewind left none at it.

    `place`: the turn through which a worker has made it. `round`: the one that the write belongs to.
    """

    revision: Revision
    document: JsonDocument | None
    place: Position = START
    round: int = 0


@dataclass(frozen=True, kw_only=True)
class Change:
    """A replacement of a document, based on revision *expected*; 0 creates it. None: it is gone from then on.

    `beside`: further writes that happen with it or not at all.
    """

    key: RecordKey
    expected: Revision
    document: JsonDocument | None
    token: WriteToken
    place: Position | None = None
    round: int | None = None
    beside: tuple[Write, ...] = ()


def read_document(record: Record | None) -> StoredDocument | None:
    """Return the document that *record* holds, None for no record. Raises RecordCorrupt."""
    if record is None:
        return None
    revision = _revision(record)
    try:
        place, turn_round = read_position(record.text("place")), record.number("round")
        absent = record.number("absent")
    except ValueError:
        raise RecordCorrupt(detail="a stored document breaks its own rules; it is kept as it is") from None
    document = None if absent == revision else document_of(record.body)
    return StoredDocument(revision=revision, document=document, place=place, round=turn_round)


def document_writes(change: Change, *, now: float) -> tuple[Write, ...]:
    """Return the writes of *change*: the document's first, then what goes with it."""
    revision = change.expected + 1
    facts = slot_facts(revision, change.token)
    if change.place is not None:
        facts["place"] = position_text(change.place)
    if change.round is not None:
        facts["round"] = change.round
    text = change.document.text if change.document else None
    if change.document is None:
        facts["absent"] = revision
    if change.expected == NONE_YET:
        record = Record(facts=facts, body=text)
        put = Put(key=change.key, record=record, when=ABSENT, name=DOCUMENT, remembers=True)
        owner = change.key.owner
        first = (register_write(owner, now=now),) if isinstance(owner, Scope) else ()
        return (put, *first, *change.beside)
    unmoved = [Is("revision", "=", change.expected)]
    if change.token.body_hash:  # a key that the caller chose may have been used for an earlier write
        unmoved += (Is(_slot(n), "does not begin with", change.token.name) for n in range(REMEMBERED_WRITES))
    amend = Amend(
        key=change.key,
        facts=facts,
        body=text,
        when=(Stands(facts=tuple(unmoved)),),
        name=DOCUMENT,
        remembers=True,
    )
    return (amend, *change.beside)


def settle(change: Change, refused: Refused) -> Revision:
    """Return the revision of our own write if the stored record shows it, else raise what it shows.

    Raises RevisionConflict, IdempotencyKeyReused, WriteOutcomeUnknown, RecordCorrupt; *refused* again where
    it was not the document that did not stand as expected.
    """
    if DOCUMENT not in refused.held:
        raise refused
    record = refused.held[DOCUMENT]
    stored = _revision(record)
    made = made_by(record, change.token)
    if made is not None:
        return made
    if refused.maybe_executed and stored - change.expected > REMEMBERED_WRITES:
        # Ours may have been executed and then pushed out by the 16 writes after it.
        raise WriteOutcomeUnknown(detail="too many writes followed to tell whether this one was executed")
    raise revision_conflict(expected=change.expected, current=stored)


def made_by(record: Record | None, token: WriteToken) -> Revision | None:
    """Return the revision that the write of *token* made, None where it is not among the last 16.

    Raises IdempotencyKeyReused, RecordCorrupt.
    """
    stored = _revision(record)
    for revision in range(stored, max(0, stored - REMEMBERED_WRITES), -1):
        written = record.text(_slot(revision)) if record else ""
        if written[:NAME_CHARACTERS] == token.name:
            if written[NAME_CHARACTERS:] == token.body_hash:
                return Revision(revision)
            raise IdempotencyKeyReused(detail="this idempotency key stands for a write with another body")
    return None


def revision_conflict(*, expected: int, current: int) -> RevisionConflict:
    """Return the error of a write that was based on another revision than the current one."""
    return RevisionConflict(
        expected_revision=expected,
        current_revision=current,
        detail=f"the write was based on revision {expected}, the current one is {current}",
    )


def _revision(record: Record | None) -> Revision:
    """Return the stored revision, 0 for no record. Raises RecordCorrupt."""
    if record is None:
        return NONE_YET
    try:
        revision = Revision(record.number("revision"))
    except ValueError:
        revision = NONE_YET
    if revision <= NONE_YET:
        raise RecordCorrupt(detail="a stored document has no positive revision; it is kept as it is")
    return revision


def document_of(text: str | None) -> JsonDocument:
    """Return the document that is stored as *text*. Raises RecordCorrupt."""
    try:
        value = None if text is None else read_json(text.encode())
    except MemoirError:
        value = None
    if text is None or not isinstance(value, dict):
        raise RecordCorrupt(detail="a stored document is not a JSON object; it is kept as it is")
    return JsonDocument(text=text, value=value, size_bytes=len(text.encode()))


def slot_facts(revision: int, token: WriteToken) -> dict[str, Fact]:
    """Return the facts by which a record remembers the write that made *revision*."""
    return {"revision": revision, _slot(revision): _written(token)}


def _slot(revision: int) -> str:
    return f"w{revision % REMEMBERED_WRITES}"


def _written(token: WriteToken) -> str:
    return token.name + token.body_hash
