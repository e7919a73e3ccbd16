"""The turns of a conversation: a record for each version of a round, one for each turn id, and a head.

A turn is stored with its id and the head's move, all or nothing, so that a number is never given twice and no
id is ever without its turn. A text is kept as it came, behind its length: no escape makes it longer.
"""

import json
from collections.abc import Iterator, Mapping

from memoir.domain.scope import Scope
from memoir.domain.turn_place import Placement
from memoir.domain.turns import START, Governed, KnownTurn, Position, Turn, TurnHead
from memoir.errors import RecordCorrupt
from memoir.ports.records import (
    ABSENT,
    Amend,
    Check,
    Fact,
    Found,
    Is,
    Put,
    Record,
    RecordKey,
    Records,
    Stands,
    Write,
    stands,
)
from memoir.records.positions import (
    position_name,
    position_text,
    read_position,
    read_revisions,
    revisions_text,
    round_name,
)

Named = tuple[tuple[str, ...], Record]
"""A record and the parts of its name."""

_UNGOVERNED = Governed()


def head_key(scope: Scope) -> RecordKey:
    """Return the key of where the turns of a conversation stand."""
    return RecordKey(owner=scope, kind="head")


def turn_key(scope: Scope, position: Position) -> RecordKey:
    """Return the key of one version of a round."""
    return RecordKey(owner=scope, kind="turn", name=position_name(position))


def turn_id_key(scope: Scope, turn_id: str) -> RecordKey:
    """Return the key of what is known of a turn id."""
    return RecordKey(owner=scope, kind="turn_id", name=(turn_id,))


def cursor_key(scope: Scope, *worker: str) -> RecordKey:
    """Return the key of how far a worker has passed turns that changed nothing."""
    return RecordKey(owner=scope, kind="cursor", name=worker)


def read_head(record: Record | None) -> TurnHead:
    """Return the head of a conversation, for no record that before its first turn. Raises RecordCorrupt."""
    if record is None:
        return TurnHead()
    try:
        head = TurnHead(
            last=read_position(record.text("last_position")),
            last_turn_id=record.text("last_turn_id") or None,
            accepted_through=record.number("accepted_through"),
            life=record.text("life"),
            generation=record.number("generation"),
            floor=record.number("floor"),
            top=record.number("top"),
            stamped=tuple(filter(None, record.text("stamped").split(","))),
            scenario_id=record.text("scenario_id"),
            scenario_revision=record.number("scenario_revision"),
            accepted_turn_id=record.text("accepted_turn_id"),
            marks=read_revisions(record.text("marks")),
            marks_at=record.number("marks_at"),
            before=read_revisions(record.text("before")),
            agents=tuple(json.loads(record.text("agents") or "[]")),
        )
    except ValueError:
        head = TurnHead()
    if not head.begun:
        raise RecordCorrupt(detail="a stored turn head breaks its own rules; it is kept as it is")
    return head


def is_torn(head: TurnHead, found: Found) -> bool:
    """Tell whether records that were read with *head* are of another side of a rewind than it.

    A rewind stamps its generation on the head and on every document and cursor, which the head then names.
    """
    for key, record in found.items():
        generation = record.number("generation")
        stamped = key.kind in head.stamped or (key.kind == "cursor" and bool(head.stamped))
        if generation > head.generation or (stamped and generation != head.generation):
            return True
    return False


def read_cursor(record: Record | None) -> Position:
    """Return how far a worker has passed. Raises RecordCorrupt."""
    try:
        return START if record is None else read_position(record.text("place"))
    except ValueError:
        raise RecordCorrupt(detail="a stored cursor breaks its own rules; it is kept as it is") from None


def pass_write(key: RecordKey, position: Position, *, generation: int) -> Amend:
    """Return the write that moves a cursor to *position*, never back, and never past a rewind."""
    ahead = Stands(facts=(Is("place", "<", position_text(position)), Is("generation", "=", generation)))
    facts: dict[str, Fact] = {"place": position_text(position), **_given(generation=generation)}
    return Amend(key=key, facts=facts, when=(*ABSENT, ahead))


def read_turn(name: tuple[str, ...], record: Record) -> Turn:
    """Return the turn that is stored under *name*. Raises RecordCorrupt."""
    try:
        user_text, assistant_text = _texts(record.body)
        return Turn(
            position=Position(round=int(name[0]), version=int(name[1])),
            turn_id=record.text("turn_id"),
            user_text=user_text,
            assistant_text=assistant_text,
            scenario_id=record.text("scenario_id"),
            subscription_category=record.text("subscription_category") or None,
            table_revision=record.number("table_revision"),
            recorded_at=record.text("recorded_at"),
            follows=read_position(record.text("follows")),
            generation=record.number("generation"),
            scenario_revision=record.number("scenario_revision"),
            context=record.text("context"),
            before=read_revisions(record.text("before")),
        )
    except (ValueError, IndexError):
        raise RecordCorrupt(detail="a stored turn breaks its own rules; it is kept as it is") from None


def read_known(record: Record) -> KnownTurn:
    """Return what is kept under a turn's id. Raises RecordCorrupt."""
    try:
        return KnownTurn(
            position=read_position(record.text("place")),
            text_hash=record.text("text_hash"),
            scenario_id=record.text("scenario_id"),
            subscription_category=record.text("subscription_category") or None,
            superseded=bool(record.facts.get("superseded", False)),
            replaces=record.text("replaces") or None,
            generation=record.number("generation"),
            governed=Governed(
                workers=tuple(filter(None, record.text("workers").split(","))),
                write_on="accepted" if record.text("write_on") == "accepted" else "completed",
                revision=record.number("scenario_revision"),
                agent=record.text("agent"),
            ),
        )
    except ValueError:
        raise RecordCorrupt(detail="a stored turn id breaks its own rules; it is kept as it is") from None


def turn_writes(
    scope: Scope,
    turn: Turn,
    placement: Placement,
    *,
    replaces: str | None,
    governed: Governed = _UNGOVERNED,
) -> list[Write]:
    """Return the writes that store *turn* where *placement* says, if nothing moved since."""
    known: dict[str, Fact] = {
        "place": position_text(turn.position),
        "text_hash": turn.text_hash,
        "scenario_id": turn.scenario_id,
        **_given(subscription_category=turn.subscription_category, replaces=replaces),
        "write_on": governed.write_on,
        **_given(
            generation=turn.generation,
            workers=",".join(governed.workers),
            scenario_revision=governed.revision,
            agent=governed.agent,
        ),
    }
    writes: list[Write] = [
        Put(key=turn_key(scope, turn.position), record=_turn_record(turn), when=ABSENT),
        Put(key=turn_id_key(scope, turn.turn_id), record=Record(facts=known), when=ABSENT),
        head_write(scope, placement.before, placement.after),
    ]
    if placement.supersedes:
        superseded = turn_id_key(scope, placement.supersedes)
        writes.append(Amend(key=superseded, facts={"superseded": True}, name="superseded"))
    return writes


def head_write(scope: Scope, before: TurnHead, after: TurnHead) -> Amend:
    """Return the write that moves the head from *before* to *after*, if it stands at *before*."""
    unmoved = ABSENT
    if before.begun:
        unmoved = stands(
            last_position=position_text(before.last),
            accepted_through=before.accepted_through,
            generation=before.generation,
        )
    facts: dict[str, Fact] = {
        "last_position": position_text(after.last),
        "last_turn_id": after.last_turn_id or "",
        "accepted_through": after.accepted_through,
        "top": after.top,
        "scenario_id": after.scenario_id,
        "scenario_revision": after.scenario_revision,
        "accepted_turn_id": after.accepted_turn_id,
        "marks": revisions_text(after.marks),
        "marks_at": after.marks_at,
        "before": revisions_text(after.before),
        "agents": json.dumps(after.agents, ensure_ascii=False),
        **_given(life=after.life),
    }
    return Amend(key=head_key(scope), facts=facts, when=unmoved)


def accepted_check(scope: Scope, head: TurnHead) -> Check:
    """Return the check that the accepted turn is still the one that *head* tells."""
    unmoved = stands(
        accepted_through=head.accepted_through,
        accepted_turn_id=head.accepted_turn_id,
        generation=head.generation,
    )
    return Check(key=head_key(scope), when=unmoved)


def life_check(scope: Scope, head: TurnHead) -> Check:
    """Return the check that the conversation is still the one that *head* is of, and was not taken back."""
    return Check(key=head_key(scope), when=stands(life=head.life, generation=head.generation))


def newest_first(records: Records, scope: Scope, *, before_round: int, limit: int) -> Iterator[Named]:
    """Yield the records of rounds below *before_round*, newest first, of each round its newest version."""
    turn_round = None
    for name, record in records.walk(
        scope, "turn", last=(round_name(before_round),), backwards=True, page=limit + 1
    ):
        if name[0] != turn_round:
            turn_round = name[0]
            yield name, record


def rounds_between(records: Records, scope: Scope, *, first: int, last: int) -> Mapping[str, Named]:
    """Return the records of these rounds by round, oldest first, of each its newest version."""
    return {
        name[0]: (name, record)
        for name, record in records.walk(
            scope, "turn", first=(round_name(first),), last=(round_name(last + 1),)
        )
    }


def turns_since(
    records: Records, scope: Scope, *, after: Position, head: TurnHead, page: int
) -> Iterator[Named]:
    """Yield the records after a place, oldest first, every version, none that *head* does not know of."""
    behind = Position(round=after.round, version=after.version + 1)
    for name, record in records.walk(
        scope, "turn", first=position_name(behind), last=position_name(head.last), page=page
    ):
        if record.number("generation") <= head.generation:
            yield name, record


def _turn_record(turn: Turn) -> Record:
    facts: dict[str, Fact] = {
        "turn_id": turn.turn_id,
        "scenario_id": turn.scenario_id,
        "table_revision": turn.table_revision,
        "recorded_at": turn.recorded_at,
        "follows": position_text(turn.follows),
        **_given(
            subscription_category=turn.subscription_category,
            generation=turn.generation,
            scenario_revision=turn.scenario_revision,
            context=turn.context,
            before=revisions_text(turn.before),
        ),
    }
    body = f"{len(turn.user_text)}:{turn.user_text}{turn.assistant_text}"
    return Record(facts=facts, body=body)


def _texts(body: str | None) -> tuple[str, str]:
    length, colon, texts = (body or "").partition(":")
    if not colon or int(length) > len(texts):
        raise ValueError("the texts are cut")
    return texts[: int(length)], texts[int(length) :]


def _given(**facts: Fact | None) -> dict[str, Fact]:
    return {name: value for name, value in facts.items() if value}
