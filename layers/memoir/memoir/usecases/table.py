"""Read, replace and edit the memory table of a conversation, as its host asks."""

import json
from dataclasses import dataclass, replace
from typing import Any

from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.table.document import TableDocument, table_document
from memoir.domain.table.reply import Reply
from memoir.domain.table.state import TableState
from memoir.domain.table.step import step_of_edits
from memoir.domain.turns import Position
from memoir.domain.write_token import WriteToken
from memoir.errors import IdempotencyKeyReused, RevisionConflict
from memoir.ports import KeptAnswer, TableStore
from memoir.usecases.edit_table import stored_state


@dataclass(frozen=True, kw_only=True)
class TableRecord:
    """A table, its revision, and the last round whose reply it reflects. None yet: revision 0."""

    revision: Revision
    through_round: int
    document: TableDocument | None


def read_table(*, tables: TableStore, scope: Scope) -> TableRecord:
    """Return the table as of the last finished write. Raises StoreUnavailable, RecordCorrupt."""
    view = tables.read(scope)
    state, revision = stored_state(view.stored)
    through: Position = max(state.through, view.passed)
    return TableRecord(
        revision=revision,
        through_round=through.round,
        document=state.document if view.stored else None,
    )


def replace_table(
    *, tables: TableStore, scope: Scope, expected: Revision, table: Any, token: WriteToken
) -> Revision:
    """Replace the whole table by *table*, parsed JSON, and return its new revision.

    Raises RequestInvalid, LimitExceeded, TooLarge (the table breaks a rule), RevisionConflict,
    IdempotencyKeyReused, StoreUnavailable, RecordCorrupt: nothing was written; WriteOutcomeUnknown.
    """
    table_document(table)  # refuse before the store is asked
    state, _ = stored_state(tables.read(scope).stored)
    after = replace(state, document=table_document(table, previous=state.document))
    return _put(tables, scope, expected=expected, state=after, token=token)


def edit_by_host(
    *, tables: TableStore, scope: Scope, expected: Revision, reply: Reply, token: WriteToken
) -> dict[str, Any]:
    """Apply *reply*'s edits to the table at revision *expected* and return the report, with both revisions.

    Nothing is written where nothing changes. The same idempotency key gets the same report again.
    Raises RevisionConflict, IdempotencyKeyReused, StoreUnavailable, RecordCorrupt: nothing was written;
    WriteOutcomeUnknown.
    """
    view = tables.read(scope, token=token if token.body_hash else None)
    if view.answered:
        if view.answered.token != token:
            raise IdempotencyKeyReused(detail="this idempotency key stands for a write with another body")
        kept: dict[str, Any] = json.loads(view.answered.text)
        return kept
    state, revision = stored_state(view.stored)
    if revision != expected:
        raise RevisionConflict(
            expected_revision=expected,
            current_revision=revision,
            detail=f"the edits were based on revision {expected}, the current one is {revision}",
        )
    step = step_of_edits(state, reply)
    if step.state is None:
        return {"revision": revision, "baseRevision": revision, **step.report}
    answer = {"revision": revision + 1, "baseRevision": revision, **step.report}
    kept_answer = None
    if token.body_hash:
        kept_answer = KeptAnswer(token=token, text=json.dumps(answer, ensure_ascii=False))
    _put(tables, scope, expected=expected, state=step.state, token=token, answer=kept_answer)
    return answer


def _put(
    tables: TableStore,
    scope: Scope,
    *,
    expected: Revision,
    state: TableState,
    token: WriteToken,
    answer: KeptAnswer | None = None,
) -> Revision:
    stored = state.at(expected + 1).to_document()
    return tables.replace(scope, expected=expected, state=stored, token=token, answer=answer)
