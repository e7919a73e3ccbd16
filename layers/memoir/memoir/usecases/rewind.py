"""Bring a conversation back to the end of a round, or take the newest rewind back: one transaction.

head, documents, cursors (one read) ─ turns N and N+1 ─ what to bring back ─ diaries ─ one transaction ─ ring

Every document gets a new revision, also one that stays as it is: each writer under way loses its own write.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.clock import utc_text
from memoir.domain.history import MEMORY, REWOUND
from memoir.domain.rewind import LoggedRewind, Restored, RewindRequest, Rewound
from memoir.domain.scope import Scope
from memoir.domain.turns import START, Position, TurnHead
from memoir.domain.write_token import WriteToken, random_token
from memoir.errors import GenerationConflict, NotFound, StoreUnavailable
from memoir.ports.doorbell import Doorbell
from memoir.ports.records import Amend, Fact, Refused, Write
from memoir.records.history import (
    Kept,
    read_logged,
    restored_write,
    rewind_key,
    rewind_write,
    rewound_head_write,
    undone_write,
)
from memoir.records.positions import position_text
from memoir.records.turns import cursor_key, read_known, turn_id_key
from memoir.usecases.engine import Engine, answer_keys
from memoir.usecases.rewind_diaries import Diaries
from memoir.usecases.rewind_targets import (
    WORKERS,
    Border,
    Standing,
    read_kept,
    standing_keys,
    targets,
    with_rows_shown,
)
from memoir.usecases.ring_turn import ring_turn

_TRIES = 5


def rewind(
    engine: Engine, *, doorbell: Doorbell, scope: Scope, request: RewindRequest, token: WriteToken
) -> dict[str, Any]:
    """Do what *request* asks, ring the background, and return what became of it.

    At most ten requests, however many rounds are taken back. One that is done already changes nothing and
    rings again. Raises NotFound (no such round or rewind), BoundaryUnknown, HistoryExpired,
    GenerationConflict, IdempotencyKeyReused, RecordCorrupt, StoreUnavailable: nothing was written;
    WriteOutcomeUnknown, DoorbellFailed: send the same again.
    """
    for _ in range(_TRIES):
        keys = (*standing_keys(scope), *answer_keys(scope, token))
        head, found = engine.read_together(scope, *keys)
        answered = engine.answered(scope, token, found)
        if answered:
            told: dict[str, Any] = json.loads(answered)
            return told | {"scheduled": list(_ring(engine, doorbell, scope, head))}
        _check_generation(request, head)
        standing = Standing.read(found, scope)
        plan = _undo_of if request.undo is not None else _plan_of
        planned = plan(engine, scope, head, standing, request)
        rewound = planned.rewound
        if not rewound.changed:
            engine.keep(scope, token, json.dumps(rewound.to_json(())))
            return rewound.to_json(_ring(engine, doorbell, scope, head))
        kept = engine.kept(scope, token, json.dumps(rewound.to_json(())))
        try:
            engine.records.write(*_writes(engine, scope, standing, planned), *kept)
        except Refused:  # somebody wrote meanwhile: look again
            continue
        return rewound.to_json(_ring(engine, doorbell, scope, rewound.after))
    raise StoreUnavailable(detail="others kept writing to this conversation; nothing was written, try again")


def list_rewinds(
    engine: Engine, *, scope: Scope, before: int | None, limit: int
) -> tuple[list[LoggedRewind], int | None]:
    """Return at most *limit* rewinds below a generation, newest first, and where the next page begins."""
    last = (f"{before - 1:08}",) if before else ("~",)
    listed: list[LoggedRewind] = []
    for name, record in engine.records.walk(scope, "rewind", last=last, backwards=True, page=limit + 1):
        if len(listed) == limit:
            return listed, listed[-1].generation
        listed.append(read_logged(name, record))
    return listed, None


@dataclass(frozen=True, kw_only=True)
class _Planned:
    """A rewind, and what is to be written for it. `place`: of the turn that becomes the last one."""

    rewound: Rewound
    targets: Mapping[str, Kept]
    places: Mapping[str, Position]
    place: Position
    diaries: Diaries = field(default_factory=Diaries)


def _check_generation(request: RewindRequest, head: TurnHead) -> None:
    if not head.begun:
        raise NotFound(path="/toRound", detail="the conversation has no turn yet")
    wanted = request.expected_generation if request.undo is None else request.undo
    if wanted not in (None, head.generation):
        raise GenerationConflict(
            current_generation=head.generation,
            detail=f"the conversation has seen {head.generation} rewinds; nothing was written",
        )


def _plan_of(
    engine: Engine, scope: Scope, head: TurnHead, standing: Standing, request: RewindRequest
) -> _Planned:
    to_round = head.last.round if request.to_round is None else request.to_round
    border = Border.read(engine, scope, head, to_round)
    found = targets(engine, scope, head, standing, border, to_round=to_round, asked=request.revisions)
    diaries = Diaries.cut(engine, scope, head, to_round=to_round)
    turn = border.turn
    place = turn.position if turn else START
    accepted = min(head.accepted_through, to_round)
    after = replace(
        head,
        last=place,
        last_turn_id=turn.turn_id if turn else None,
        accepted_through=accepted,
        accepted_turn_id=head.accepted_turn_id if accepted == head.accepted_through else "",
        scenario_id=turn.scenario_id if turn else "",
        scenario_revision=turn.scenario_revision if turn else 0,
        before=turn.before if turn else {},
    )
    exact = border.next_turn is None or bool(border.next_turn.context) or standing.revision(MEMORY) == 0
    changed = (
        to_round < head.last.round
        or diaries.changed
        or any(found[kind].revision != standing.revision(kind) for kind in REWOUND)
    )
    places = {name: min(found[name].place, place) for name in WORKERS}
    pending = max(0, to_round - places["table"].round) if found["table"].text else 0
    rewound = _rewound(engine, head, after, standing, found, to_round=to_round, exact=exact, changed=changed)
    kinds = {**rewound.kinds, "table": replace(rewound.kinds["table"], pending=pending)}
    rewound = replace(rewound, kinds=kinds, cut_entries=diaries.cut_entries, diaries=diaries.as_plain())
    return _Planned(rewound=rewound, targets=found, places=places, place=place, diaries=diaries)


def _undo_of(
    engine: Engine, scope: Scope, head: TurnHead, standing: Standing, request: RewindRequest
) -> _Planned:
    generation = request.undo or 0
    key = rewind_key(scope, generation)
    record = engine.records.read(key).get(key)
    if record is None:
        raise NotFound(path="/undo", detail=f"there is no rewind {generation}")
    logged = read_logged(key.name, record)
    if logged.undone or head.last != logged.left_at:
        raise GenerationConflict(
            current_generation=head.generation,
            detail="a turn followed that rewind, or it was taken back; nothing was written",
        )
    told = logged.body["head"]
    found = {}
    for kind in REWOUND:
        revision = logged.body["kinds"][kind]["before"]
        found[kind] = (
            read_kept(engine, scope, kind, revision)
            if revision
            else Kept(revision=0, text=None, round=0, place=START)
        )
    found["table"] = with_rows_shown(found["table"])
    place = Position(round=told["round"], version=told["version"])
    after = replace(
        head,
        last=place,
        last_turn_id=told["turnId"],
        accepted_through=told["acceptedThrough"],
        accepted_turn_id=told["acceptedTurnId"],
        scenario_id=told["scenarioId"],
        scenario_revision=told["scenarioRevision"],
        marks=told["marks"],
        before=told["before"],
    )
    rewound = _rewound(engine, head, after, standing, found, to_round=place.round, undoes=generation)
    diaries = Diaries.restored(engine, scope, head, logged.body["diaries"])
    rewound = replace(rewound, diaries=diaries.as_plain())
    places = {name: found[name].place for name in WORKERS}
    return _Planned(rewound=rewound, targets=found, places=places, place=place, diaries=diaries)


def _rewound(
    engine: Engine,
    head: TurnHead,
    after: TurnHead,
    standing: Standing,
    found: Mapping[str, Kept],
    *,
    to_round: int,
    exact: bool = True,
    changed: bool = True,
    undoes: int = 0,
) -> Rewound:
    revisions = {kind: standing.revision(kind) + changed for kind in REWOUND}
    kinds = {
        kind: Restored(
            before=standing.revision(kind),
            after=revisions[kind],
            as_of=found[kind].revision,
            exact=exact or kind != MEMORY,
        )
        for kind in REWOUND
    }
    if changed:
        now = int(engine.clock())
        # What an undo brings back goes on with the marks of then: their copies are still there.
        marks = after.marks if undoes else revisions
        after = replace(
            after,
            generation=head.generation + 1,
            floor=head.top,
            stamped=REWOUND,
            marks=marks,
            marks_at=now,
        )
    return Rewound(
        to_round=to_round,
        before=head,
        after=after,
        kinds=kinds,
        created_at=utc_text(engine.clock()),
        undoes=undoes,
        changed=changed,
    )


def _writes(engine: Engine, scope: Scope, standing: Standing, planned: _Planned) -> list[Write]:
    """Return all that a rewind writes: head, log, documents, copies of what stood, cursors, diaries."""
    rewound, token = planned.rewound, random_token()
    generation = rewound.after.generation
    writes: list[Write] = [rewound_head_write(scope, rewound.before, rewound.after)]
    writes.append(rewind_write(scope, rewound))
    if rewound.undoes:
        writes.append(undone_write(scope, rewound.undoes))
    for kind in REWOUND:
        current, target = standing.revision(kind), planned.targets[kind]
        place = planned.places.get(kind, START)
        writes.append(
            restored_write(
                scope, kind, target, current=current, place=place, generation=generation, token=token
            )
        )
        if current:
            writes.append(engine.copy(scope, kind, standing.kept(kind)))
    restored = replace(planned.targets[MEMORY], revision=standing.revision(MEMORY) + 1)
    writes.append(engine.copy(scope, MEMORY, restored))
    for name in WORKERS:
        facts: dict[str, Fact] = {"place": position_text(planned.places[name]), "generation": generation}
        writes.append(Amend(key=cursor_key(scope, name), facts=facts, name=f"cursor {name}"))
    return [*writes, *planned.diaries.writes(scope, place=planned.place, generation=generation, token=token)]


def _ring(engine: Engine, doorbell: Doorbell, scope: Scope, head: TurnHead) -> tuple[str, ...]:
    """Ring for the last turn: a worker that was behind goes on to it. Raises DoorbellFailed."""
    if head.last_turn_id is None:
        return ()
    key = turn_id_key(scope, head.last_turn_id)
    record = engine.records.read(key).get(key)
    if record is None:
        return ()
    known = read_known(record)
    return ring_turn(doorbell, scope, head.last_turn_id, known, head=head, duplicate=True).scheduled
