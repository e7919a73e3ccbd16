"""Copies of revisions: written by whoever has read one, since the body of a revision never changes."""

import json
from dataclasses import dataclass, replace

from memoir.domain.rewind import LoggedRewind, Rewound, rewound_as_plain
from memoir.domain.scope import Scope
from memoir.domain.turns import START, Position, TurnHead
from memoir.domain.write_token import WriteToken
from memoir.errors import RecordCorrupt
from memoir.ports.records import ABSENT, Amend, Fact, Put, Record, RecordKey, stands
from memoir.records.documents import StoredDocument, slot_facts
from memoir.records.positions import position_text, read_position
from memoir.records.turns import head_write

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


def restored_write(
    scope: Scope,
    kind: str,
    target: Kept,
    *,
    current: int,
    place: Position,
    generation: int,
    token: WriteToken,
) -> Amend:
    """Return the write by which a rewind makes the revision behind *current*: *target*'s body, or none."""
    revision = current + 1
    facts = {
        **slot_facts(revision, token),
        "generation": generation,
        "round": target.round,
        "place": position_text(place),
        "absent": revision if target.text is None else 0,
    }
    return Amend(
        key=RecordKey(owner=scope, kind=kind),
        facts=facts,
        body=target.text,
        when=stands(revision=current) if current else ABSENT,
    )


def rewound_head_write(scope: Scope, before: TurnHead, after: TurnHead) -> Amend:
    """Return the write by which a rewind moves the head, if it stands at *before*."""
    write = head_write(scope, before, after)
    facts: dict[str, Fact] = {
        **write.facts,
        "generation": after.generation,
        "floor": after.floor,
        "stamped": ",".join(after.stamped),
    }
    return replace(write, facts=facts)


def rewind_key(scope: Scope, generation: int) -> RecordKey:
    """Return the key of the log of the rewind that made *generation*."""
    return RecordKey(owner=scope, kind="rewind", name=(f"{generation:08}",))


def rewind_write(scope: Scope, rewound: Rewound) -> Put:
    """Return the write of a rewind's log."""
    facts: dict[str, Fact] = {
        "to_round": rewound.to_round,
        "left_at": position_text(rewound.after.last),
        "undoes": rewound.undoes,
        "created_at": rewound.created_at,
    }
    body = json.dumps(rewound_as_plain(rewound), ensure_ascii=False, separators=(",", ":"))
    key = rewind_key(scope, rewound.after.generation)
    return Put(key=key, record=Record(facts=facts, body=body), when=ABSENT, name="rewind")


def undone_write(scope: Scope, generation: int) -> Amend:
    """Return the write that notes that a rewind was taken back."""
    return Amend(key=rewind_key(scope, generation), facts={"undone": 1}, name="undone rewind")


def read_logged(name: tuple[str, ...], record: Record) -> LoggedRewind:
    """Return what the log says of a rewind. Raises RecordCorrupt."""
    try:
        return LoggedRewind(
            generation=int(name[0]),
            to_round=record.number("to_round"),
            left_at=read_position(record.text("left_at")),
            undone=bool(record.number("undone")),
            undoes=record.number("undoes"),
            created_at=record.text("created_at"),
            body=json.loads(record.body or ""),
        )
    except (ValueError, IndexError):
        raise RecordCorrupt(detail="a stored rewind breaks its own rules; it is kept as it is") from None
