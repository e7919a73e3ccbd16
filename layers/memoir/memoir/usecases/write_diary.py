"""Write the diary of a conversation when one is due: plan, lease, model, judge, save. At most once a range.

    look ── plan ── not due ──────────────────────────> receipt, no other write
               └─ due ── lease ── look and plan again (another worker may have finished) ── model ── save

The save is one transaction with the lease: a worker that lost its lease, or was too slow, saves nothing.
"""

from dataclasses import dataclass, replace
from typing import Any

from memoir.diary_ports import DiaryChange, DiaryView, Lease, WritingJob
from memoir.domain.clock import utc_text
from memoir.domain.diary.answer.judgement import Outcome as Judged
from memoir.domain.diary.due.plan import DiaryPlan, PlanReason, plan_diary
from memoir.domain.diary.prompt.prompt import build_prompt
from memoir.domain.diary.prompt.rounds import DialogueRound, rounds_to_write
from memoir.domain.diary.record.entry import DiaryEntry, DiaryHead, covered_rounds
from memoir.domain.diary.record.head import head_after_failure, head_after_range, progress_of
from memoir.domain.diary.record.staleness import summary_base, superseded
from memoir.domain.receipt import Outcome, Receipt
from memoir.domain.turns import Turn
from memoir.errors import WorkLeft
from memoir.usecases.ask_model import Asked, ask_model
from memoir.usecases.diary_work import DiaryPorts, DiaryWork, entries_from, notice_reroll
from memoir.usecases.tell_others import tell_others


def write_diary(ports: DiaryPorts, work: DiaryWork) -> list[Receipt]:
    """Write all diaries that are due, oldest first, and return the receipts of what was done.

    Raises LeaseHeld (another worker is at it), WorkLeft, RevisionConflict, StoreUnavailable,
    WriteOutcomeUnknown, RecordCorrupt: what was done before stands.
    """
    receipts: list[Receipt] = []
    while True:
        view = notice_reroll(ports, work, ports.diaries.look(work.scope, agent=work.agent))
        plan = _plan(work, view)
        if not plan.generate:
            if not any(receipt.position == work.turn.position for receipt in receipts):
                receipts.append(_note(ports, work, view, plan))
            return receipts
        if receipts and not ports.has_time():
            raise WorkLeft(detail=f"diaries from round {plan.rounds[0]} on are left")
        receipts += _write_one(ports, work)


def _write_one(ports: DiaryPorts, work: DiaryWork) -> list[Receipt]:
    """Write the one diary that is due, under a lease; none if another worker has just done it."""
    lease = ports.diaries.take_lease(work.scope, agent=work.agent, seconds=ports.lease_seconds)
    try:
        view = ports.diaries.look(work.scope, agent=work.agent)
        view = notice_reroll(ports, work, view, though_followed=True)
        plan = _plan(work, view)
        if plan.generate:
            receipt = _write(ports, work, view, plan, lease)
            return [receipt, *_told(ports, work, receipt)]
        ports.diaries.release(work.scope, agent=work.agent, lease=lease)
        return []
    except Exception:
        ports.diaries.release(work.scope, agent=work.agent, lease=lease)
        raise


def _told(ports: DiaryPorts, work: DiaryWork, receipt: Receipt) -> list[Receipt]:
    """Notify others of a stored entry; return the receipt of a failure to, if any."""
    if receipt.outcome != "ok":
        return []
    event = {name: receipt.details[name] for name in ("firstRound", "lastRound", "generator")}
    return tell_others(
        ports.events, ports.receipts, work.scope, "DiaryAppended", event, of=receipt, worker="notification"
    )


def _plan(work: DiaryWork, view: DiaryView) -> DiaryPlan:
    # As of the turn that was rung for: a worker that is late plans what one in time would have planned.
    stored = view.turns.accepted_through if work.only_accepted else view.turns.last.round
    last = min(stored, work.turn.position.round)
    accepted = {*range(view.head.watermark + 1, last + 1)}
    for stale in view.head.stale_ranges:
        accepted.update(range(stale.first, stale.last + 1))
    return plan_diary(
        policy=work.policy,
        progress=progress_of(view.head, accepted_rounds=accepted),
        tier=work.turn.subscription_category,
        quota=view.quota,
    )


@dataclass(frozen=True, kw_only=True)
class _Run:
    """A plan that is being carried out under a lease. `turns`: those of its range, as they stand now."""

    ports: DiaryPorts
    work: DiaryWork
    head: DiaryHead
    plan: DiaryPlan
    lease: Lease
    turns: tuple[Turn, ...]
    newest_round: int


def _write(ports: DiaryPorts, work: DiaryWork, view: DiaryView, plan: DiaryPlan, lease: Lease) -> Receipt:
    """Read the rounds as they stand now, ask the model, save what its answer is worth."""
    assert plan.covers is not None
    turns = ports.turns.between(work.scope, first_round=plan.covers.first, last_round=plan.covers.last)
    run = _Run(
        ports=ports,
        work=work,
        head=view.head,
        plan=plan,
        lease=lease,
        turns=turns,
        newest_round=min(view.turns.last.round, work.turn.position.round),
    )
    rounds = rounds_to_write(map(_dialogue, turns), accepted=plan.rounds)
    if not rounds:
        return _save(run, after=_covered_head(run), outcome="skipped", reason=PlanReason.EMPTY_RANGE)
    earlier = ports.diaries.newest(work.scope, agent=work.agent, before_round=plan.covers.first)
    base = next(
        (found for found in earlier if isinstance(found, DiaryEntry) and _usable(found)),
        None,
    )
    job = _job(run, rounds, previous_summary=base.summary if base else "")
    asked = ask_model(ports.model, job, sleep=ports.sleep)
    if asked.judgement.outcome is Judged.REJECT:
        return _fail(run, asked)
    if asked.judgement.outcome is Judged.NOTHING_NEW:
        return _save(
            run,
            after=_covered_head(run),
            outcome="skipped",
            reason="nothing_new",
            details=asked.facts(),
        )
    return _store(run, _entry(run, job, asked, base=base), asked)


def _job(run: _Run, rounds: tuple[DialogueRound, ...], *, previous_summary: str) -> WritingJob:
    assert run.plan.store is not None
    prompt = build_prompt(
        rounds=rounds,
        previous_summary=previous_summary,
        character=run.work.character,
        store=run.plan.store,
        reasoning_model=run.ports.model_reasons,
    )
    return WritingJob(
        prompt=prompt, rounds=rounds, previous_summary=previous_summary, character=run.work.character
    )


def _store(run: _Run, entry: DiaryEntry, asked: Asked) -> Receipt:
    assert run.plan.covers is not None
    existing = entries_from(run.ports, run.work, first_round=entry.first_round)
    replaced = next((old for old in existing if old.last_round == entry.last_round), None)
    return _save(
        run,
        after=_covered_head(run),
        outcome="ok",
        reason=run.plan.reason,
        details={"firstRound": entry.first_round, "lastRound": entry.last_round, **asked.facts()},
        put=(replace(entry, version=replaced.version + 1 if replaced else 1),),
        removed=superseded(existing, by=run.plan.covers),
        charges_quota=True,
    )


def _fail(run: _Run, asked: Asked) -> Receipt:
    code = asked.judgement.code
    if asked.answer is not None:
        last_round = run.plan.rounds[-1]
        run.ports.diaries.keep_raw(
            run.work.scope, agent=run.work.agent, last_round=last_round, text=asked.answer.text
        )
    after = head_after_failure(run.head, newest_round=run.newest_round, code=code)
    return _save(run, after=after, outcome="failed", reason=code, details=asked.facts())


def _save(
    run: _Run,
    *,
    after: DiaryHead,
    outcome: Outcome,
    reason: str,
    details: dict[str, Any] | None = None,
    put: tuple[DiaryEntry, ...] = (),
    removed: tuple[DiaryEntry, ...] = (),
    charges_quota: bool = False,
) -> Receipt:
    last = run.turns[-1] if run.turns else None
    receipt = Receipt(
        worker="diary",
        position=last.position if last else run.work.turn.position,
        turn_id=last.turn_id if last else run.work.turn.turn_id,
        outcome=outcome,
        reason=reason,
        revision_before=run.head.version,
        revision_after=after.version,
        created_at=utc_text(run.ports.clock()),
        details=details or {},
    )
    change = DiaryChange(
        before=run.head,
        after=after,
        put=put,
        removed=removed,
        lease=run.lease,
        receipt=receipt,
        charges_quota=charges_quota,
    )
    run.ports.diaries.save(run.work.scope, agent=run.work.agent, change=change)
    return receipt


def _covered_head(run: _Run) -> DiaryHead:
    assert run.plan.covers is not None
    after = head_after_range(run.head, covers=run.plan.covers)
    if after.watermark == run.plan.covers.last and run.turns:
        return replace(after, watermark_turn_id=run.turns[-1].turn_id)
    return after


def _entry(run: _Run, job: WritingJob, asked: Asked, *, base: DiaryEntry | None) -> DiaryEntry:
    assert run.plan.covers is not None and asked.answer is not None and asked.reading is not None
    return DiaryEntry(
        first_round=run.plan.covers.first,
        last_round=run.plan.covers.last,
        covered=covered_rounds(job.rounds),
        summary=asked.judgement.summary,
        diary=asked.judgement.diary,
        generator=asked.answer.generator,
        prompt_version=job.prompt.prompt_version,
        finish_reason=asked.answer.finish.value,
        parse_path=asked.reading.parse_path.value,
        created_at_ms=int(run.ports.clock() * 1000),
        base=summary_base(base),
        partial=asked.judgement.partial,
        truncated_input=job.prompt.truncated_input,
        flags=asked.judgement.flags,
    )


def _note(ports: DiaryPorts, work: DiaryWork, view: DiaryView, plan: DiaryPlan) -> Receipt:
    """Leave the receipt of why nothing was written for the turn that was rung for."""
    receipt = Receipt(
        worker="diary",
        position=work.turn.position,
        turn_id=work.turn.turn_id,
        outcome="skipped",
        reason=plan.reason,
        revision_before=view.head.version,
        revision_after=view.head.version,
        created_at=utc_text(ports.clock()),
        details={"nextAt": plan.next_at},
    )
    ports.receipts.note(work.scope, receipt)
    return receipt


def _usable(entry: DiaryEntry) -> bool:
    return not entry.stale and bool(entry.summary)


def _dialogue(turn: Turn) -> DialogueRound:
    return DialogueRound(
        round=turn.position.round,
        turn_id=turn.turn_id,
        user_text=turn.user_text,
        assistant_text=turn.assistant_text,
    )
