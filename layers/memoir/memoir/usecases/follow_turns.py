"""How a worker follows the turns of a conversation: in order, each once, whatever is delivered how often.

    read (document, cursor, head, hinted turn) ── the hinted turn follows what is done ── step, write
                                              └─ it does not: walk from the cursor ── step, write, step …

What is done is decided by what is stored: the document says through which turn it was made, so that an effect
and its place are one write. A turn without an effect moves the cursor, a small record beside, for the store
bills the whole document to change one fact of it. The worker has gone as far as the further of the two.

A worker is its step: what one turn makes of the document, and what a receipt tells of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.clock import utc_text
from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.domain.turns import Position, RungTurn, Turn
from memoir.domain.write_token import random_token
from memoir.errors import MemoirError, RecordCorrupt, RevisionConflict
from memoir.ports.records import RecordKey, Refused, Write
from memoir.records.documents import Change, StoredDocument, read_document, revision_conflict
from memoir.records.turns import cursor_key, pass_write, read_cursor, read_turn, turn_key, turns_since
from memoir.usecases.tell_others import tell_others
from memoir.usecases.worker import Effect, Rules, View, Worker, WorkerPorts

_PAGE_TURNS = 25


class _Rewound(Exception):
    """A rewind came between: the turns in hand may not be any more, and the rewind has rung anew."""


def follow_turns(ports: WorkerPorts, worker: Worker, *, scope: Scope, rung: RungTurn) -> list[Receipt]:
    """Let *worker* take all turns that are new to it, and return the receipts of what it did.

    A ring of another life of the conversation, or of a place that it has not reached, is dropped. Where time
    runs out, the worker rings itself. Raises RevisionConflict (a second one on one turn), StoreUnavailable,
    WriteOutcomeUnknown, RecordCorrupt (its document): what was done before stands.
    """
    return _Following(ports=ports, worker=worker, scope=scope, rung=rung).run()


@dataclass(frozen=True, kw_only=True)
class _Unreadable:
    """A turn whose record breaks its own rules: told by a receipt, and passed."""

    position: Position
    turn_id: str
    error: RecordCorrupt


@dataclass(kw_only=True)
class _Following:
    ports: WorkerPorts
    worker: Worker
    scope: Scope
    rung: RungTurn
    receipts: list[Receipt] = field(default_factory=list)
    rules: Rules = field(default_factory=Rules)

    def run(self) -> list[Receipt]:
        try:
            view = self.read(turn_key(self.scope, self.rung.position))
        except RecordCorrupt as corrupt:
            self.note_failure(self.rung.position, self.rung.turn_id, corrupt)
            raise
        self.rules = self.worker.rules(view)
        if not view.head.knows(self.rung) or self.rules.counts == "none":
            return []
        only_accepted = self.rules.counts == "accepted"
        try:
            for turn in self.new_turns(view):
                if only_accepted and turn.position.round > view.head.accepted_through:
                    break
                if not self.ports.has_time():
                    self.ports.doorbell.ring(self.scope, workers=(self.worker.name,), turn=self.rung)
                    break
                view = self.take(view, turn)
        except _Rewound:
            return self.receipts
        finally:
            self.worker.end()
        return self.receipts

    def read(self, *hint: RecordKey) -> View:
        worker = self.worker
        cursor = cursor_key(self.scope, *worker.cursor)
        head, found = self.ports.engine.read_together(self.scope, worker.key, cursor, *worker.beside, *hint)
        return View(
            head=head,
            stored=read_document(found.get(worker.key)),
            passed=read_cursor(found.get(cursor)),
            found=found,
        )

    def new_turns(self, view: View) -> Iterator[Turn | _Unreadable]:
        """Yield the turns behind what is done, of each round its newest version, none behind the head."""
        if view.head.last <= view.through:
            return
        key = turn_key(self.scope, view.head.last)
        if key in view.found:
            turn = _turn(key.name, view.found[key])
            if isinstance(turn, Turn) and turn.follows == view.through:
                yield turn
                return
        waiting = None
        for name, record in turns_since(
            self.ports.engine.records, self.scope, after=view.through, head=view.head, page=_PAGE_TURNS
        ):
            turn = _turn(name, record)
            if waiting is not None and waiting.position.round != turn.position.round:
                yield waiting
            waiting = turn
        if waiting is not None:
            yield waiting

    def take(self, view: View, turn: Turn | _Unreadable) -> View:
        """Return the view after *turn*. Its effect is written once: asked again where the document moved."""
        tries = 0
        while view.through < turn.position:
            try:
                view = self.write(view, turn)
                continue
            except RevisionConflict as conflict:
                lost = conflict
            except Refused as refused:
                lost = revision_conflict(expected=view.revision, current=view.revision)
                lost.detail = f"{', '.join(refused.held)} did not stand as expected; nothing was written"
            except RecordCorrupt as corrupt:
                self.note_failure(turn.position, turn.turn_id, corrupt, revision=view.revision)
                raise
            tries += 1
            if tries == 2:
                self.note_failure(turn.position, turn.turn_id, lost, revision=view.revision)
                raise lost
            generation, view = view.head.generation, self.read()
            if view.head.generation != generation:
                raise _Rewound
        return view

    def write(self, view: View, turn: Turn | _Unreadable) -> View:
        if isinstance(turn, _Unreadable):
            effect = Effect(outcome="failed", reason=turn.error.code)
        else:
            effect = self.worker.step(view, turn)
        if effect.document is None:
            return self.pass_by(view, turn, effect)
        place = turn.position if effect.done else view.through
        receipt = self.receipt(effect.at or turn, effect, before=view.revision, after=view.revision + 1)
        turn_round = max(turn.position.round, view.stored.round if view.stored else 0)
        change = Change(
            key=self.worker.key,
            expected=view.revision,
            document=effect.document,
            token=random_token(),
            place=place,
            round=turn_round,
            beside=(
                self.kept(receipt),
                *self.ports.engine.copies(self.worker.key, view.stored, place=view.passed),
                *effect.beside,
            ),
        )
        revision = self.ports.engine.change(change)
        effect.saved()
        self.receipts.append(receipt)
        self.tell(effect, receipt)
        stored = StoredDocument(revision=revision, document=effect.document, place=place, round=turn_round)
        return replace(view, stored=stored)

    def pass_by(self, view: View, turn: Turn | _Unreadable, effect: Effect) -> View:
        """Note that *turn* changes nothing, with its receipt, unless an effect of this run has one for it."""
        cursor = cursor_key(self.scope, *self.worker.cursor)
        writes: list[Write] = [pass_write(cursor, turn.position, generation=view.head.generation)]
        told = any(receipt.position == turn.position for receipt in self.receipts)
        receipt = self.receipt(turn, effect, before=view.revision, after=view.revision)
        if not told:
            writes.append(self.kept(receipt))
        try:
            self.ports.engine.records.write(*writes)
        except Refused as refused:
            held = refused.held[cursor.kind]
            if held is None or held.number("generation") != view.head.generation:
                raise _Rewound from refused
            return replace(view, passed=max(turn.position, read_cursor(held)))  # another worker has passed it
        if not told:
            self.receipts.append(receipt)
        return replace(view, passed=turn.position)

    def tell(self, effect: Effect, receipt: Receipt) -> None:
        if effect.event:
            kind, detail = effect.event
            detail = {"turnId": receipt.turn_id, "round": receipt.position.round, **detail}
            self.receipts += tell_others(
                self.ports, self.scope, kind, detail, of=receipt, worker=self.worker.teller
            )

    def kept(self, receipt: Receipt) -> Write:
        return self.ports.engine.receipt(self.scope, receipt, kept_days=self.rules.receipt_days)

    def receipt(self, turn: Turn | _Unreadable, effect: Effect, *, before: int, after: int) -> Receipt:
        return Receipt(
            worker=self.worker.name,
            position=turn.position,
            turn_id=turn.turn_id,
            outcome=effect.outcome,
            reason=effect.reason,
            revision_before=before,
            revision_after=after,
            created_at=utc_text(self.ports.engine.clock()),
            details=dict(effect.details),
        )

    def note_failure(
        self, position: Position, turn_id: str, error: MemoirError, *, revision: int = 0
    ) -> None:
        turn = _Unreadable(position=position, turn_id=turn_id, error=RecordCorrupt(detail=error.detail))
        effect = Effect(outcome="failed", reason=error.code)
        self.ports.engine.note(self.scope, self.receipt(turn, effect, before=revision, after=revision))


def _turn(name: tuple[str, ...], record: Any) -> Turn | _Unreadable:
    try:
        return read_turn(name, record)
    except RecordCorrupt as error:
        position = Position(round=int(name[0]), version=int(name[1]))
        return _Unreadable(position=position, turn_id=str(record.facts.get("turn_id", "")), error=error)
