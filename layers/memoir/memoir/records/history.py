"""Copies of revisions: written by whoever has read one, since the body of a revision never changes."""

from dataclasses import dataclass

from memoir.domain.scope import Scope
from memoir.domain.turns import START, Position
from memoir.errors import RecordCorrupt
from memoir.ports.records import Fact, Put, Record, RecordKey
from memoir.records.documents import StoredDocument
from memoir.records.positions import position_text, read_position

_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A kept revision: its text, None where there was no document at it; its round; how far a worker was."""

    revision: int
    text: str | None
    round: int
    place: Position


def copy_key(scope: Scope, kind: str, revision: int) -> RecordKey:
    """Return the key of the copy of a document's revision."""
    return RecordKey(owner=scope, kind="copy", name=(kind, f"{revision:016}"))


def kept_of(stored: StoredDocument, *, place: Position = START) -> Kept:
    """Return *stored* to be kept. *place*: how far its worker has passed turns, where that is further."""
    return Kept(
        revision=stored.revision,
        text=stored.document.text if stored.document else None,
        round=stored.round,
        place=max(place, stored.place),
    )


def copy_write(scope: Scope, kind: str, kept: Kept, *, now: float, history_days: int) -> Put:
    """Return the write of a copy. It is kept for twice *history_days*, 0 for as long as the conversation."""
    facts: dict[str, Fact] = {"round": kept.round, "place": position_text(kept.place)}
    if kept.text is None:
        facts["absent"] = kept.revision
    expires_at = int(now) + 2 * history_days * _SECONDS_A_DAY if history_days else None
    key = copy_key(scope, kind, kept.revision)
    record = Record(facts=facts, body=kept.text, expires_at=expires_at)
    return Put(key=key, record=record, name=f"copy of {kind} {kept.revision}")


def read_copy(revision: int, record: Record) -> Kept:
    """Return the kept *revision*. Raises RecordCorrupt."""
    try:
        place = read_position(record.text("place"))
    except ValueError:
        raise RecordCorrupt(detail="a kept revision breaks its own rules; it is left as it is") from None
    absent = record.number("absent") == revision
    if record.body is None and not absent:
        raise RecordCorrupt(detail="a kept revision has no body; it is left as it is")
    return Kept(
        revision=revision,
        text=None if absent else record.body,
        round=record.number("round"),
        place=place,
    )
