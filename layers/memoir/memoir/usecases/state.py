"""The state of a conversation: read it, project it, replace it, and judge candidates for the next one."""

from memoir.domain.clock import utc_text
from memoir.domain.json_document import JsonDocument
from memoir.domain.receipt import Outcome, Receipt
from memoir.domain.revision import NONE_YET, Revision
from memoir.domain.scenario import Scenario
from memoir.domain.scope import Scope
from memoir.domain.state.candidate import judge_candidate
from memoir.domain.state.document import state_document
from memoir.domain.state.projection import project_state, state_text
from memoir.domain.state.record import (
    Judged,
    ReadState,
    StateRecord,
    read_record,
    reading_settings,
    record_document,
    state_record,
)
from memoir.domain.state.settings import Audience
from memoir.domain.turns import Position, TurnHead
from memoir.domain.write_token import WriteToken
from memoir.errors import RequestInvalid, StoreUnavailable
from memoir.ports.records import Found, RecordKey, Refused, Write
from memoir.records.documents import Change, StoredDocument, read_document
from memoir.records.turns import cursor_key, read_cursor
from memoir.usecases.engine import Engine, answer_keys
from memoir.usecases.governed_reads import GovernedReads


def state_key(scope: Scope) -> RecordKey:
    """Return the key of a conversation's state."""
    return RecordKey(owner=scope, kind="state")


def stored_record(stored: StoredDocument | None) -> StateRecord | None:
    """Return the stored record, None for none. Raises RecordCorrupt."""
    return read_record(stored.document) if stored and stored.document else None


def read_state(engine: Engine, *, scope: Scope) -> ReadState:
    """Return the whole state, as the director sees it. One request.

    Raises StoreUnavailable, RecordCorrupt.
    """
    key = state_key(scope)
    stored = read_document(engine.records.read(key).get(key))
    record = stored_record(stored)
    return ReadState(revision=_revision(stored), state=record.state if record else None)


def project(reads: GovernedReads, *, scope: Scope, audience: Audience, scenario_id: str | None) -> ReadState:
    """Return what *audience* may see of the state, by the scenario that is named or governs.

    Raises ScenarioUnknown, StoreUnavailable, RecordCorrupt.
    """
    key = state_key(scope)
    scenario, _, found = reads.read(scope, key, scenario_id=scenario_id)
    stored = read_document(found.get(key))
    record = stored_record(stored)
    settings = reading_settings(record, scenario_id=scenario.id, settings=scenario.state)
    projected = project_state(record.state if record else None, audience=audience, settings=settings)
    return ReadState(
        revision=_revision(stored),
        state=projected,
        audience=audience,
        text=state_text(projected, settings=settings),
    )


def replace_state(
    reads: GovernedReads,
    *,
    scope: Scope,
    expected: Revision,
    state: object,
    text: str,
    scenario_id: str | None,
    token: WriteToken,
) -> Revision:
    """Replace the whole state and return its new revision. *text*: its JSON text. Two requests.

    Raises RequestInvalid, ScenarioForbids, LimitExceeded, TooLarge (the state breaks a rule),
    ScenarioUnknown, RevisionConflict, IdempotencyKeyReused, StoreUnavailable, RecordCorrupt: nothing was
    written; WriteOutcomeUnknown.
    """
    key = state_key(scope)
    scenario, head, found = reads.read(scope, key, cursor_key(scope, "state"), scenario_id=scenario_id)
    document = state_document(state, settings=scenario.state, text=text)
    stored = read_document(found.get(key))
    return reads.engine.change(
        Change(
            key=key,
            expected=expected,
            document=_stored(document, scenario),
            token=token,
            round=max(head.last.round, stored.round if stored else 0),
            beside=_copies(reads.engine, scope, stored, found),
        )
    )


def propose_state(
    reads: GovernedReads,
    *,
    scope: Scope,
    expected: Revision,
    candidate: object,
    text: str,
    based_on_round: int | None,
    scenario_id: str | None,
    token: WriteToken,
) -> Judged:
    """Store *candidate* if it changes the state, and leave a receipt either way. Two requests.

    None, or a state that is the stored one, writes nothing else, whatever revision it expects. The same
    idempotency key gets the same answer. Raises CandidateStale (the stored state is of a later round than it
    was made from), and what `replace_state` raises.
    """
    key, engine, answers = state_key(scope), reads.engine, answer_keys(scope, token)
    keys = (key, cursor_key(scope, "state"), *answers)
    scenario, head, found = reads.read(scope, *keys, scenario_id=scenario_id)
    answered = engine.answered(scope, token, found)
    if answered:
        return _judged(answered)
    stored = read_document(found.get(key))
    record, revision = stored_record(stored), _revision(stored)
    turn_round = _round_of(based_on_round, head)
    document = judge_candidate(
        record.state if record else None,
        candidate,
        stored_round=stored.round if stored else 0,
        based_on_round=based_on_round,
        settings=scenario.state,
        text=text,
    )
    if document is None:
        why = "no_update" if candidate is None else "same_as_stored"
        receipt = _receipt(engine, head, turn_round, outcome="skipped", reason=why, before=revision)
        engine.note(scope, receipt)
        engine.keep(scope, token, f"unchanged {revision}")
        return Judged(changed=False, revision=revision)
    receipt = _receipt(engine, head, turn_round, outcome="ok", reason="saved", before=expected)
    kept = engine.kept(scope, token, f"changed {expected + 1}")
    change = Change(
        key=key,
        expected=expected,
        document=_stored(document, scenario),
        token=token,
        round=max(turn_round, stored.round if stored else 0),
        beside=(engine.receipt(scope, receipt), *_copies(engine, scope, stored, found), *kept),
    )
    try:
        return Judged(changed=True, revision=engine.change(change))
    except Refused as refused:  # the same key came twice at once: the other has its answer by now
        answered = engine.answered(scope, token, engine.records.read(*answers))
        if not answered:
            raise StoreUnavailable(detail="another write came between; try again") from refused
        return _judged(answered)


def _copies(engine: Engine, scope: Scope, stored: StoredDocument | None, found: Found) -> tuple[Write, ...]:
    place = read_cursor(found.get(cursor_key(scope, "state")))
    return engine.copies(state_key(scope), stored, place=place)


def _judged(answered: str) -> Judged:
    changed, _, revision = answered.partition(" ")
    return Judged(changed=changed == "changed", revision=Revision(int(revision)))


def _stored(document: JsonDocument, scenario: Scenario) -> JsonDocument:
    return record_document(state_record(document, scenario_id=scenario.id, settings=scenario.state))


def _round_of(based_on_round: int | None, head: TurnHead) -> int:
    """Return the round of a candidate: the one that it names, which has to be there or the next one, for its
    turn may still be on its way; else the newest.

    Where no turns are reported, rounds are the host's own. A round far ahead would make every later
    candidate stale.
    """
    if based_on_round is None:
        return head.last.round
    if not head.begun or based_on_round <= head.last.round + 1:
        return based_on_round
    raise RequestInvalid(
        code="round_unknown",
        path="/basedOn/round",
        detail=f"/basedOn/round: {based_on_round}, the conversation is at round {head.last.round}",
    )


def _receipt(
    engine: Engine, head: TurnHead, turn_round: int, *, outcome: Outcome, reason: str, before: int
) -> Receipt:
    newest = turn_round == head.last.round
    return Receipt(
        worker="candidate",
        position=Position(round=turn_round, version=head.last.version if newest else 1),
        turn_id=(head.last_turn_id or "") if newest else "",
        outcome=outcome,
        reason=reason,
        revision_before=before,
        revision_after=before + (outcome == "ok"),
        created_at=utc_text(engine.clock()),
    )


def _revision(stored: StoredDocument | None) -> Revision:
    return stored.revision if stored else NONE_YET
