"""One diary that is due: what it is written from, the asking, and what the answer is worth."""

from collections.abc import Callable
from dataclasses import dataclass

from memoir.domain.diary.answer.judgement import Outcome as Judged
from memoir.domain.diary.due.plan import Due, PlanReason
from memoir.domain.diary.prompt.prompt import PromptLimits, build_prompt
from memoir.domain.diary.prompt.rounds import DialogueRound, rounds_to_write
from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.diary.record.entry import DiaryEntry, DiaryHead, covered_rounds
from memoir.domain.diary.record.head import head_after_failure, head_after_range
from memoir.domain.diary.record.staleness import summary_base, superseded
from memoir.domain.scenario.scenario import DiarySettings
from memoir.domain.scope import Scope
from memoir.domain.turns import Turn
from memoir.errors import RecordCorrupt
from memoir.ports.records import Records, Remove, Write
from memoir.records.diary import entry_key, entry_write, head_document, raw_write
from memoir.records.turns import read_turn, rounds_between
from memoir.usecases.ask_model import Asked, Writer, WritingJob, ask_for_diary
from memoir.usecases.diary import newest_entries
from memoir.usecases.worker import Effect, WorkerPorts


@dataclass(frozen=True, kw_only=True)
class DiaryPorts:
    """What writing a diary needs. `lease_seconds`: longer than a worker may run.

    `model_reasons`: the writer's reasoning counts into its answer, which is then given twice the room.
    """

    worker: WorkerPorts
    writer: Writer
    sleep: Callable[[float], None]
    lease_seconds: int
    model_reasons: bool = False

    @property
    def records(self) -> Records:
        """The store."""
        return self.worker.engine.records


@dataclass(frozen=True, kw_only=True)
class DiaryJob:
    """What is due, the rounds as they stand now, the entry that the new one follows, and those that it
    stands in place of."""

    due: Due
    head: DiaryHead
    turns: tuple[Turn, ...]
    base: DiaryEntry | None
    existing: tuple[DiaryEntry, ...]

    @property
    def rounds(self) -> tuple[DialogueRound, ...]:
        """The rounds that have something to write about."""
        return rounds_to_write(map(_dialogue, self.turns), accepted=self.due.rounds)


def gather_job(
    records: Records,
    scope: Scope,
    agent: AgentRef,
    *,
    due: Due,
    head: DiaryHead,
    stale: tuple[DiaryEntry, ...],
) -> DiaryJob:
    """Read what a diary is written from. *stale*: entries that were just found to be."""
    covers = due.covers
    turns: list[Turn] = []
    for name, record in rounds_between(records, scope, first=covers.first, last=covers.last).values():
        try:
            turns.append(read_turn(name, record))
        except RecordCorrupt:
            continue  # told by its own receipt; the others are read
    earlier = newest_entries(records, scope, agent, head=head, before_round=covers.first)
    base = next((entry for entry in earlier if isinstance(entry, DiaryEntry) and entry.usable), None)
    existing: tuple[DiaryEntry, ...] = ()
    if covers.first <= head.watermark:
        marked = {entry.last_round: entry for entry in stale}
        found = entries_from(records, scope, agent, head, first_round=covers.first)
        existing = tuple(marked.get(entry.last_round, entry) for entry in found)
    return DiaryJob(due=due, head=head, turns=tuple(turns), base=base, existing=existing)


def ask_job(ports: DiaryPorts, job: DiaryJob, settings: DiarySettings) -> tuple[WritingJob, Asked]:
    """Ask for the diary of *job*, at most twice, as its scenario's *settings* say."""
    rounds, previous = job.rounds, job.base.summary if job.base else ""
    prompt = build_prompt(
        rounds=rounds,
        previous_summary=previous,
        character=settings.character,
        store=job.due.store,
        reasoning_model=ports.model_reasons,
        limits=PromptLimits(summary_chars=settings.summary_chars, diary_chars=settings.diary_chars),
    )
    asked_for = WritingJob(
        prompt=prompt, rounds=rounds, previous_summary=previous, character=settings.character
    )
    return asked_for, ask_for_diary(ports.writer, asked_for, sleep=ports.sleep)


def effect_of_nothing(job: DiaryJob) -> tuple[DiaryHead, Effect]:
    """Return what comes of rounds that have no text: they count as covered."""
    after = head_after_range(job.head, covers=job.due.covers)
    return after, Effect(outcome="skipped", reason=PlanReason.EMPTY_RANGE, document=head_document(after))


def effect_of_answer(
    scope: Scope,
    agent: AgentRef,
    job: DiaryJob,
    written: WritingJob,
    asked: Asked,
    *,
    reason: str,
    newest_round: int,
    generation: int,
    now: float,
) -> tuple[DiaryHead, Effect]:
    """Return the head and the effect of an answer: an entry, nothing new, or a failure."""
    if asked.judgement.outcome is Judged.NOTHING_NEW:
        after = head_after_range(job.head, covers=job.due.covers)
        nothing = Effect(outcome="skipped", reason="nothing_new", details=asked.facts())
        return after, _storing(nothing, after)
    if asked.judgement.outcome is Judged.REJECT or asked.answer is None or asked.reading is None:
        return _failed(scope, agent, job, asked, newest_round=newest_round, now=now)
    replaced = next((old for old in job.existing if old.last_round == job.due.covers.last), None)
    entry = DiaryEntry(
        first_round=job.due.covers.first,
        last_round=job.due.covers.last,
        covered=covered_rounds(written.rounds),
        summary=asked.judgement.summary,
        diary=asked.judgement.diary,
        generator=asked.answer.generator,
        prompt_version=written.prompt.prompt_version,
        finish_reason=asked.answer.finish.value,
        parse_path=asked.reading.parse_path.value,
        created_at_ms=int(now * 1000),
        base=summary_base(job.base),
        version=replaced.version + 1 if replaced else 1,
        partial=asked.judgement.partial,
        truncated_input=written.prompt.truncated_input,
        flags=asked.judgement.flags,
        generation=generation,
    )
    after = head_after_range(job.head, covers=job.due.covers, entry=entry)
    told = {"firstRound": entry.first_round, "lastRound": entry.last_round}
    effect = Effect(
        outcome="ok",
        reason=reason,
        details={**told, **asked.facts()},
        beside=_entry_writes(scope, agent, job, entry),
        event=("DiaryAppended", {**told, "generator": entry.generator}),
    )
    return after, _storing(effect, after)


def entries_from(
    records: Records, scope: Scope, agent: AgentRef, head: DiaryHead, *, first_round: int
) -> tuple[DiaryEntry, ...]:
    """Return the entries that end at *first_round* or later, as far as they can be read."""
    entries: list[DiaryEntry] = []
    for found in newest_entries(records, scope, agent, head=head):
        if found.last_round < first_round:
            break
        if isinstance(found, DiaryEntry):
            entries.append(found)
    return tuple(entries)


def _failed(
    scope: Scope, agent: AgentRef, job: DiaryJob, asked: Asked, *, newest_round: int, now: float
) -> tuple[DiaryHead, Effect]:
    after = head_after_failure(job.head, newest_round=newest_round, code=asked.judgement.code)
    beside: tuple[Write, ...] = ()
    if asked.answer is not None:
        last_round = job.due.covers.last
        beside = (raw_write(scope, agent, last_round=last_round, text=asked.answer.text, now=now),)
    effect = Effect(outcome="failed", reason=asked.judgement.code, details=asked.facts(), beside=beside)
    return after, _storing(effect, after)


def _entry_writes(scope: Scope, agent: AgentRef, job: DiaryJob, entry: DiaryEntry) -> tuple[Write, ...]:
    removes = (
        Remove(key=entry_key(scope, agent, old.last_round), name=f"old {old.last_round}")
        for old in superseded(job.existing, by=job.due.covers)
        if old.last_round != entry.last_round
    )
    return (entry_write(scope, agent, entry), *removes)


def _storing(effect: Effect, after: DiaryHead) -> Effect:
    return Effect(**{**vars(effect), "document": head_document(after)})


def _dialogue(turn: Turn) -> DialogueRound:
    return DialogueRound(
        round=turn.position.round,
        turn_id=turn.turn_id,
        user_text=turn.user_text,
        assistant_text=turn.assistant_text,
    )
