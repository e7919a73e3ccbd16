"""Read, replace and edit the memory table of a conversation, as its host asks."""

import json
from typing import Any

from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.table.document import table_document
from memoir.domain.table.record import TableRecord, bounded_report
from memoir.domain.table.reply import Reply
from memoir.domain.table.state import TableState
from memoir.domain.table.step import step_of_edits
from memoir.domain.write_token import WriteToken
from memoir.ports.records import Found, Refused, Write
from memoir.records.documents import Change, StoredDocument, read_document, revision_conflict
from memoir.records.turns import cursor_key, read_cursor
from memoir.usecases.edit_table import stored_state, table_key
from memoir.usecases.engine import Engine, answer_keys


def read_table(engine: Engine, *, scope: Scope) -> TableRecord:
    """Return the table as of the last finished write. Raises StoreUnavailable, RecordCorrupt."""
    cursor = cursor_key(scope, "table")
    _, found = engine.read_together(scope, table_key(scope), cursor)
    stored = read_document(found.get(table_key(scope)))
    if stored is None:
        return TableRecord(revision=Revision(0), through_round=read_cursor(found.get(cursor)).round)
    through = max(stored.place, read_cursor(found.get(cursor)))
    document = stored_state(stored).document if stored.document else None
    return TableRecord(revision=stored.revision, through_round=through.round, document=document)


def replace_table(
    engine: Engine, *, scope: Scope, expected: Revision, table: Any, token: WriteToken
) -> Revision:
    """Replace the whole table by *table*, parsed JSON, and return its new revision.

    Raises RequestInvalid, LimitExceeded, TooLarge (the table breaks a rule), RevisionConflict,
    IdempotencyKeyReused, StoreUnavailable, RecordCorrupt: nothing was written; WriteOutcomeUnknown.
    """
    table_document(table)  # refuse before the store is asked
    head, found = engine.read_together(scope, table_key(scope), cursor_key(scope, "table"))
    stored = read_document(found.get(table_key(scope)))
    state = stored_state(stored)
    after = TableState(
        document=table_document(table, previous=state.document),
        through=state.through,
        shown=state.shown,
        undo=state.undo,
    )
    return _put(
        engine,
        scope,
        stored,
        after,
        expected=expected,
        token=token,
        newest_round=head.last.round,
        beside=_copies(engine, scope, stored, found),
    )


def edit_by_host(
    engine: Engine, *, scope: Scope, expected: Revision, reply: Reply, token: WriteToken
) -> dict[str, Any]:
    """Apply *reply*'s edits to the table at revision *expected* and return the report, with both revisions.

    The table is not written where nothing changes. The same idempotency key gets the same report again.
    Raises RevisionConflict, IdempotencyKeyReused, StoreUnavailable, RecordCorrupt: nothing was written;
    WriteOutcomeUnknown.
    """
    cursor = cursor_key(scope, "table")
    head, found = engine.read_together(scope, table_key(scope), cursor, *answer_keys(scope, token))
    answered = engine.answered(scope, token, found)
    if answered:
        kept: dict[str, Any] = json.loads(answered)
        return kept
    stored = read_document(found.get(table_key(scope)))
    state, revision = stored_state(stored), stored.revision if stored else 0
    if revision != expected:
        raise revision_conflict(expected=expected, current=revision)
    step = step_of_edits(state, reply)
    changed = step.state is not None
    answer = bounded_report({"revision": revision + changed, "baseRevision": revision, **step.report})
    text = json.dumps(answer, ensure_ascii=False)
    if step.state is None:
        engine.keep(scope, token, text)
        return answer
    try:
        _put(
            engine,
            scope,
            stored,
            step.state,
            expected=expected,
            token=token,
            newest_round=head.last.round,
            beside=(*_copies(engine, scope, stored, found), *engine.kept(scope, token, text)),
        )
    except Refused:  # the same key came twice at once: the other has its answer by now
        return edit_by_host(engine, scope=scope, expected=expected, reply=reply, token=token)
    return answer


def _copies(engine: Engine, scope: Scope, stored: StoredDocument | None, found: Found) -> tuple[Write, ...]:
    place = read_cursor(found.get(cursor_key(scope, "table")))
    return engine.copies(table_key(scope), stored, place=place)


def _put(
    engine: Engine,
    scope: Scope,
    stored: StoredDocument | None,
    state: TableState,
    *,
    expected: Revision,
    token: WriteToken,
    newest_round: int,
    beside: tuple[Write, ...] = (),
) -> Revision:
    return engine.change(
        Change(
            key=table_key(scope),
            expected=expected,
            document=state.at(expected + 1).to_document(),
            token=token,
            round=max(newest_round, stored.round if stored else 0),
            beside=beside,
        )
    )
