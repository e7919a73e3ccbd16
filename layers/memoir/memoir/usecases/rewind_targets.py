"""Which revision of each document a rewind brings back, and where it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memoir.domain.history import BY_ROUND, MEMORY, REWOUND
from memoir.domain.scope import Scope
from memoir.domain.table.state import read_state
from memoir.domain.turns import START, Position, Turn, TurnHead
from memoir.errors import BoundaryUnknown, HistoryExpired, NotFound
from memoir.ports.records import Found, RecordKey
from memoir.records.documents import StoredDocument, document_of, read_document
from memoir.records.history import Kept, copy_key, kept_of, read_copy
from memoir.records.turns import cursor_key, read_cursor, read_turn, rounds_between
from memoir.usecases.engine import Engine

WORKERS = ("table", "state")
"""The documents that a worker follows turns with, by a cursor of that name."""

_PAGE_COPIES = 4
_NONE = Kept(revision=0, text=None, round=0, place=START)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What stands now: each document, None where there is none, and how far its worker has passed turns."""

    documents: Mapping[str, StoredDocument | None]
    passed: Mapping[str, Position]

    @classmethod
    def read(cls, found: Found, scope: Scope) -> "Standing":
        """Return what was read under `standing_keys`. Raises RecordCorrupt."""
        return cls(
            documents={kind: read_document(found.get(RecordKey(owner=scope, kind=kind))) for kind in REWOUND},
            passed={name: read_cursor(found.get(cursor_key(scope, name))) for name in WORKERS},
        )

    def revision(self, kind: str) -> int:
        """Return the revision of a document, 0 for none."""
        stored = self.documents[kind]
        return stored.revision if stored else 0

    def kept(self, kind: str) -> Kept:
        """Return a document as it stands, to be kept."""
        stored, place = self.documents[kind], self.passed.get(kind, START)
        return kept_of(stored, place=place) if stored else Kept(revision=0, text=None, round=0, place=place)


def standing_keys(scope: Scope) -> list[RecordKey]:
    """Return the keys of all that a rewind brings back and of its workers' cursors."""
    documents = [RecordKey(owner=scope, kind=kind) for kind in REWOUND]
    return [*documents, *(cursor_key(scope, name) for name in WORKERS)]


@dataclass(frozen=True, kw_only=True)
class Border:
    """The end of a round: its turn, None for round 0, and the turn of the next round, None for none."""

    turn: Turn | None
    next_turn: Turn | None

    @classmethod
    def read(cls, engine: Engine, scope: Scope, head: TurnHead, to_round: int) -> "Border":
        """Return the end of *to_round*. One request. Raises NotFound, RecordCorrupt, StoreUnavailable."""
        if to_round > head.last.round:
            detail = f"toRound: the conversation is at round {head.last.round}"
            raise NotFound(path="/toRound", detail=detail)
        last = min(to_round + 1, head.last.round)
        found = rounds_between(engine.records, scope, first=max(to_round, 1), last=last)
        turns = {turn.position.round: turn for turn in (read_turn(*named) for named in found.values())}
        return cls(turn=turns.get(to_round), next_turn=turns.get(to_round + 1))


def targets(
    engine: Engine,
    scope: Scope,
    head: TurnHead,
    standing: Standing,
    border: Border,
    *,
    to_round: int,
    asked: Mapping[str, int],
) -> dict[str, Kept]:
    """Return the revision of each document to bring back. *asked*: those that the host names itself.

    Raises BoundaryUnknown, HistoryExpired, RecordCorrupt, StoreUnavailable.
    """
    found = {kind: _named(engine, scope, standing, kind, revision) for kind, revision in asked.items()}
    if MEMORY not in found:
        revision = _memory_revision(head, standing, border)
        found[MEMORY] = _named(engine, scope, standing, MEMORY, revision)
    before = border.next_turn.before if border.next_turn else {}
    for kind in BY_ROUND:
        if kind not in found:
            found[kind] = _by_round(engine, scope, standing, kind, to_round=to_round, start=before.get(kind))
    return {**found, "table": with_rows_shown(found["table"])}


def _memory_revision(head: TurnHead, standing: Standing, border: Border) -> int:
    known = border.next_turn.before if border.next_turn else head.marks
    if MEMORY in known:
        return known[MEMORY]
    if standing.revision(MEMORY) == 0:
        return 0
    raise BoundaryUnknown(
        path="/revisions/memory",
        kind=MEMORY,
        detail="/revisions/memory: nobody said which memory that round began from; name its revision",
    )


def _named(engine: Engine, scope: Scope, standing: Standing, kind: str, revision: int) -> Kept:
    if revision == standing.revision(kind):
        return standing.kept(kind)
    if revision == 0:
        return _NONE
    return read_kept(engine, scope, kind, revision)


def with_rows_shown(kept: Kept) -> Kept:
    """Return a kept table that knows the rows of its own revision.

    A rewind stores an older text as it was, under a revision that the text does not know; a reply that was
    made from that revision may still be waiting.
    """
    if kept.text is None:
        return kept
    state = read_state(document_of(kept.text)).at(kept.revision)
    return replace(kept, text=state.to_document().text)


def read_kept(engine: Engine, scope: Scope, kind: str, revision: int) -> Kept:
    """Return a kept revision. One request. Raises HistoryExpired, RecordCorrupt, StoreUnavailable."""
    key = copy_key(scope, kind, revision)
    record = engine.records.read(key).get(key)
    if record is None:
        raise expired(kind, revision)
    return read_copy(revision, record)


def _by_round(
    engine: Engine, scope: Scope, standing: Standing, kind: str, *, to_round: int, start: int | None
) -> Kept:
    """Return the newest revision of *to_round* or an earlier one.

    *start*: the one that stood as the next round's turn was stored: from there up, and down where even that
    one is of a later round.
    """
    current = standing.kept(kind)
    if current.round <= to_round:
        return current
    if start is not None:
        best = _upwards(
            engine, scope, kind, first=max(start, 1), last=current.revision - 1, to_round=to_round
        )
        if best is not None:
            return best
    start = current.revision - 1 if start is None else min(start, current.revision) - 1
    return _downwards(engine, scope, kind, first=start, to_round=to_round)


def _upwards(engine: Engine, scope: Scope, kind: str, *, first: int, last: int, to_round: int) -> Kept | None:
    best, wanted = None, first
    if first > last:  # the store refuses an empty range
        return None
    for name, record in engine.records.walk(
        scope, "copy", first=(kind, f"{first:016}"), last=(kind, f"{last:016}"), page=_PAGE_COPIES
    ):
        kept = read_copy(int(name[1]), record)
        if kept.revision != wanted:
            raise expired(kind, wanted)
        if kept.round > to_round:
            return best
        best, wanted = kept, wanted + 1
    if wanted <= last:
        raise expired(kind, wanted)
    return best


def _downwards(engine: Engine, scope: Scope, kind: str, *, first: int, to_round: int) -> Kept:
    wanted = first
    if first < 1:
        return _NONE
    for name, record in engine.records.walk(
        scope,
        "copy",
        first=(kind, f"{1:016}"),
        last=(kind, f"{first:016}"),
        backwards=True,
        page=_PAGE_COPIES,
    ):
        kept = read_copy(int(name[1]), record)
        if kept.revision != wanted:
            break
        if kept.round <= to_round:
            return kept
        wanted -= 1
    if wanted > 0:
        raise expired(kind, wanted)
    return _NONE


def expired(kind: str, revision: int) -> HistoryExpired:
    """Return the error of a revision that is no longer kept."""
    return HistoryExpired(kind=kind, revision=revision, detail=f"revision {revision} of {kind} is not kept")
