"""What becomes of a plan once the model, and then the store, have answered."""

from dataclasses import dataclass, replace

from memoir.domain.compact.checkpoint import (
    Checkpoint,
    CompactRecord,
    FailedTry,
    Standing,
    match_checkpoint,
    new_checkpoint,
    record_document,
)
from memoir.domain.compact.history import CountTokens
from memoir.domain.compact.plan import Outcome, Reason, Status, Summarise, compacted
from memoir.domain.compact.summary import size_flaw, summary_message
from memoir.domain.json_document import JsonDocument
from memoir.errors import TooLarge


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A summary that may be given out once *document*, which holds *record*, is stored."""

    record: CompactRecord
    document: JsonDocument
    outcome: Outcome


def finish(plan: Summarise, *, summary: str, generator: str, count_tokens: CountTokens) -> Finished | str:
    """Return what is to be stored and then answered, or the code of why the *summary* will not do.

    *summary*: of the last part, which went on from those before it; none of them had a `summary_flaw`.
    The summary has to be as short as asked, shorter than what it replaces, small enough to be stored, and fit
    the budget beside the turns that stay: the plan asked for no more than is left.
    """
    checkpoint = _checkpoint(plan, summary=summary, generator=generator, count_tokens=count_tokens)
    record = CompactRecord(checkpoint=checkpoint)
    try:
        document = record_document(record)
    except TooLarge as refusal:
        return refusal.code
    flaw = size_flaw(
        summary,
        checkpoint.tokens,
        turns=plan.turns,
        previous=plan.after,
        max_tokens=plan.max_tokens,
    )
    if flaw:
        return str(flaw)
    if plan.ahead:
        outcome = replace(plan.otherwise, status=Status.CHECKPOINTED, reason="", checkpoint=checkpoint)
    else:
        outcome = compacted(plan.history, checkpoint, plan.kept, count_tokens, limit=plan.limit)
        outcome = replace(outcome, status=Status.COMPACTED, reason=plan.reason)
    return Finished(record=record, document=document, outcome=outcome)


def failed(plan: Summarise, code: str) -> Outcome:
    """Return the answer where no summary came about: what it would have been without, and the *code* of why.

    A stored summary that still fits is used all the same.
    """
    if plan.otherwise.status is Status.REUSED and plan.otherwise.fits:
        return replace(plan.otherwise, reason=code)
    return replace(plan.otherwise, status=Status.UNCHANGED, reason=code, checkpoint=None)


def with_failure(record: CompactRecord, plan: Summarise, code: str) -> CompactRecord:
    """Return *record* with the failure noted, so that the next turns do not pay for it again."""
    newest = plan.history.turns[-1].id
    return replace(record, failed=FailedTry(through_turn_id=newest, code=code))


def after_conflict(plan: Summarise, stored: CompactRecord, *, count_tokens: CountTokens) -> Outcome:
    """Return the answer where another host stored a checkpoint first: it is used if it stands and fits."""
    match = match_checkpoint(stored.checkpoint, plan.history.turns)
    if stored.checkpoint and match.standing in (Standing.COVERS, Standing.BEFORE):
        if plan.ahead:
            return replace(plan.otherwise, checkpoint=stored.checkpoint)
        kept = plan.history.turns[match.covered :]
        reused = compacted(plan.history, stored.checkpoint, kept, count_tokens, limit=plan.limit)
        if reused.fits:
            return reused
    return failed(plan, Reason.CONFLICT)


def _checkpoint(plan: Summarise, *, summary: str, generator: str, count_tokens: CountTokens) -> Checkpoint:
    checkpoint = new_checkpoint(
        summary=summary,
        turns=plan.turns,
        next_turn_id=plan.kept[0].id,
        after=plan.after,
        tokens=0,
        generator=generator,
    )
    message = summary_message(checkpoint, count_tokens=count_tokens)
    return replace(checkpoint, tokens=message.tokens or 0)
