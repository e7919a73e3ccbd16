"""The story of a conversation: read it, replace it, prepare a settlement, and settle what was confirmed."""

from memoir.domain.clock import utc_text
from memoir.domain.json_document import JsonDocument
from memoir.domain.receipt import Receipt
from memoir.domain.revision import NONE_YET, Revision
from memoir.domain.scope import Scope
from memoir.domain.story.claim import read_claim
from memoir.domain.story.document import StoryRecord, read_stored, stored_document
from memoir.domain.story.pages import StoryPage
from memoir.domain.story.read import EventPage, PreparedStory, ReadStory
from memoir.domain.story.settle import Settlement, StoryHead, prepare_story, put_story, settle_story
from memoir.domain.turns import Position, TurnHead
from memoir.domain.write_token import WriteToken
from memoir.errors import NotFound, RecordCorrupt, RevisionConflict, StoreUnavailable
from memoir.ports.records import Found, Put, Record, RecordKey, Refused
from memoir.records.documents import Change, StoredDocument, read_document
from memoir.records.turns import accepted_check, newest_first
from memoir.usecases.engine import Engine, answer_keys

# What came between is told by a conflict at the second look; a third is for what came between those.
_TRIES = 3


def story_key(scope: Scope) -> RecordKey:
    """Return the key of a conversation's story."""
    return RecordKey(owner=scope, kind="story")


def read_story(engine: Engine, *, scope: Scope) -> ReadStory:
    """Return the story. One request. Raises StoreUnavailable, RecordCorrupt."""
    key = story_key(scope)
    stored = read_document(engine.records.read(key).get(key))
    record = _record(stored)
    if record is None:
        return ReadStory(revision=_revision(stored), story=None)
    return ReadStory(revision=_revision(stored), story=record.story, paged=record.paged)


def read_events(engine: Engine, *, scope: Scope, before: int | None) -> EventPage:
    """Return the newest page of moved events below the event of number *before*. Two requests.

    Pages of events that a rewind took back are behind what the story counts.
    Raises NotFound: there is none. StoreUnavailable, RecordCorrupt.
    """
    record_of = _record(read_document(engine.records.read(story_key(scope)).get(story_key(scope))))
    paged = record_of.paged if record_of else 0
    last = (f"{min(before - 1 if before else paged, paged):010}",)
    for name, record in engine.records.walk(scope, "story_page", last=last, backwards=True, page=1):
        if record.body is None:
            raise RecordCorrupt(detail="a stored page of events breaks its own rules; it is kept as it is")
        return EventPage(text=record.body, first=int(name[0]))
    raise NotFound(path="before", detail="before: no older events have moved out of the story")


def replace_story(
    engine: Engine, *, scope: Scope, expected: Revision, story: JsonDocument, token: WriteToken
) -> Revision:
    """Replace the story whole and return its new revision; pages stay. Two requests.

    Raises RevisionConflict, IdempotencyKeyReused, StoreUnavailable, RecordCorrupt: nothing was written;
    WriteOutcomeUnknown.
    """
    key = story_key(scope)
    head, found = engine.read_together(scope, key)
    stored = read_document(found.get(key))
    document = stored_document(put_story(_record(stored), story))
    turn_round = max(head.last.round, stored.round if stored else 0)
    return engine.change(
        Change(
            key=key,
            expected=expected,
            document=document,
            token=token,
            round=turn_round,
            beside=engine.copies(key, stored),
        )
    )


def prepare(engine: Engine, *, scope: Scope) -> PreparedStory:
    """Return a claim on the story's revision and the conversation's accepted turn. It writes nothing.

    Raises StoryConflict (no turn is accepted), StoreUnavailable, RecordCorrupt.
    """
    head, found = engine.read_together(scope, story_key(scope))
    stands = _stands(engine, scope, head, found)
    claim = prepare_story(stands, bound_to=_bound_to(scope))
    return PreparedStory(claim=claim, revision=Revision(stands.revision), turn_id=stands.turn_id or "")


def settle(
    engine: Engine, *, scope: Scope, claimed: str, settlement: Settlement, token: WriteToken
) -> Revision:
    """Lay *settlement* onto the story, if nothing that the claim stands on has moved. Two requests.

    The same settlement again is answered with the revision that the story has. One transaction: the story's
    revision, the accepted turn, the events that no longer fit, and a receipt.
    Raises StoryConflict (naming what moved), RequestInvalid, LimitExceeded, TooLarge, IdempotencyKeyReused,
    StoreUnavailable, RecordCorrupt: nothing was written; WriteOutcomeUnknown.
    """
    claim = read_claim(claimed, bound_to=_bound_to(scope))
    key = story_key(scope)
    for _ in range(_TRIES):
        head, found = engine.read_together(scope, key, *answer_keys(scope, token))
        answered = engine.answered(scope, token, found)
        if answered:
            return Revision(int(answered))
        stored = read_document(found.get(key))
        stands = _stands(engine, scope, head, found)
        settled = settle_story(
            _record(stored), claim=claim, claimed=claimed, head=stands, settlement=settlement
        )
        if not settled.changed:
            engine.keep(scope, token, str(stands.revision))
            return Revision(stands.revision)
        change = Change(
            key=key,
            expected=Revision(stands.revision),
            document=stored_document(settled.record),
            token=token,
            round=max(head.accepted_through, stored.round if stored else 0),
            beside=(
                accepted_check(scope, head),
                engine.receipt(scope, _receipt(engine, head, stands)),
                *engine.copies(key, stored),
                *((_page(scope, settled.page),) if settled.page else ()),
                *engine.kept(scope, token, str(stands.revision + 1)),
            ),
        )
        try:
            return engine.change(change)
        except (RevisionConflict, Refused):  # something moved meanwhile: look what
            continue
    raise StoreUnavailable(detail="the story kept moving; nothing was written, try again")


def _stands(engine: Engine, scope: Scope, head: TurnHead, found: Found) -> StoryHead:
    """Return where the conversation stands. A Query more where the head does not name its accepted turn."""
    turn_id = head.accepted_turn_id
    if not turn_id and head.accepted_through:
        before = head.accepted_through + 1
        for _, record in newest_first(engine.records, scope, before_round=before, limit=1):
            turn_id = record.text("turn_id")
            break
    revision = _revision(read_document(found.get(story_key(scope))))
    return StoryHead(revision=revision, turn_id=turn_id or None)


def _receipt(engine: Engine, head: TurnHead, stands: StoryHead) -> Receipt:
    newest = head.accepted_through == head.last.round
    return Receipt(
        worker="story",
        position=Position(round=head.accepted_through, version=head.last.version if newest else 1),
        turn_id=stands.turn_id or "",
        outcome="ok",
        reason="settled",
        revision_before=stands.revision,
        revision_after=stands.revision + 1,
        created_at=utc_text(engine.clock()),
    )


def _page(scope: Scope, page: StoryPage) -> Put:
    key = RecordKey(owner=scope, kind="story_page", name=(f"{page.first:010}",))
    return Put(key=key, record=Record(facts={"count": page.count}, body=page.text))


def _bound_to(scope: Scope) -> str:
    return "\0".join((scope.product, scope.user, scope.conversation))


def _record(stored: StoredDocument | None) -> StoryRecord | None:
    return read_stored(stored.document) if stored and stored.document else None


def _revision(stored: StoredDocument | None) -> Revision:
    return stored.revision if stored else NONE_YET
