"""The diary's worker: after each turn plan, and where one is due, lease, ask, judge, save. Once a range.

    step ── a covered round was regenerated? mark its entries stale ── plan ── not due ──────────> no document
                                                                      └─ due ── lease ── ask ── head, entry …

The save is one write with the lease: a worker that lost its lease, or was too slow, saves nothing. What a
model was paid for is kept for a second save, where another write came between.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.diary.due.plan import DiaryPlan, Due, plan_diary
from memoir.domain.diary.due.policy import DiaryQuota
from memoir.domain.diary.record.agent_ref import AgentRef, canonical_agent_ref
from memoir.domain.diary.record.entry import DiaryEntry, DiaryHead
from memoir.domain.diary.record.head import head_with_stale, progress_of
from memoir.domain.diary.record.staleness import newly_stale
from memoir.domain.receipt import Receipt
from memoir.domain.scenario import Scenario
from memoir.domain.scenario.scenario import DiarySettings
from memoir.domain.scope import Scope
from memoir.domain.turns import RungTurn, Turn
from memoir.ports.records import RecordKey, Write
from memoir.records.diary import (
    diary_head_key,
    entry_write,
    head_document,
    lease_key,
    quota_charge,
    quota_key,
    read_diary_head,
)
from memoir.usecases.ask_model import Asked, WritingJob
from memoir.usecases.diary_job import (
    DiaryJob,
    DiaryPorts,
    ask_job,
    effect_of_answer,
    effect_of_nothing,
    entries_from,
    gather_job,
)
from memoir.usecases.follow_turns import follow_turns
from memoir.usecases.governed_work import governed_by, rules_of
from memoir.usecases.lease import Lease
from memoir.usecases.scenarios import governing_keys
from memoir.usecases.worker import Effect, View, Worker


def write_diary(ports: DiaryPorts, *, scope: Scope, rung: RungTurn) -> list[Receipt]:
    """Write all diaries that are due, oldest first, and return the receipts of what was done.

    Raises LeaseHeld (another worker is at it) and what `follow_turns` raises: what was done before stands.
    """
    agent = canonical_agent_ref(rung.agent or "diary")
    month = time.strftime("%Y-%m", time.gmtime(ports.worker.engine.clock()))
    scenario = governed_by(ports.worker, scope, rung)
    lease = Lease(
        ports.worker.engine,
        lease_key(scope, agent),
        document=diary_head_key(scope, agent),
        seconds=ports.lease_seconds,
    )
    quota = quota_key(scope, month)
    step = _Step(ports=ports, scope=scope, agent=agent, scenario_of=scenario, quota=quota, lease=lease)
    worker = Worker(
        name="diary",
        key=diary_head_key(scope, agent),
        step=step,
        cursor=("diary", agent),
        beside=(step.quota, *governing_keys(scope, rung.scenario_id, revision=rung.scenario_revision)),
        rules=lambda view: rules_of(scenario(view), "compassMemory"),
        end=lease.release,
    )
    return follow_turns(ports.worker, worker, scope=scope, rung=rung)


@dataclass(kw_only=True)
class _Step:
    """What one turn makes of a diary. Holds the lease once it has it, and the answers that were paid for."""

    ports: DiaryPorts
    scope: Scope
    agent: AgentRef
    scenario_of: Callable[[View], Scenario]
    quota: RecordKey
    lease: Lease
    paid: dict[tuple[Any, ...], tuple[WritingJob, Asked]] = field(default_factory=dict)

    def __call__(self, view: View, turn: Turn) -> Effect:
        head = read_diary_head(view.stored)
        stale = self.stale_entries(head, turn)
        head = head_with_stale(head, stale=stale)
        plan = self.plan(view, head, turn)
        if plan.due:
            return self.write(view, head, plan.due, turn, reason=plan.reason, stale=stale)
        effect = Effect(outcome="skipped", reason=plan.reason, details={"nextAt": plan.next_at})
        if not stale:
            return effect
        return replace(effect, document=head_document(head), beside=self.puts(stale))

    def stale_entries(self, head: DiaryHead, turn: Turn) -> tuple[DiaryEntry, ...]:
        """Return, marked, the entries that tell another version of the turn's round than it is."""
        if turn.position.round > head.watermark:
            return ()
        entries = entries_from(
            self.ports.records, self.scope, self.agent, head, first_round=turn.position.round
        )
        for entry in entries:
            told = [item.turn_id for item in entry.covered if item.round == turn.position.round]
            if told and told != [turn.turn_id]:
                return newly_stale(entries, changed={turn.position.round})
        return ()

    def plan(self, view: View, head: DiaryHead, turn: Turn) -> DiaryPlan:
        """Plan as of *turn*: a worker that is late plans what one in time would have planned."""
        scenario = self.scenario_of(view)
        only_accepted = scenario.write_on == "accepted"
        stored = view.head.accepted_through if only_accepted else view.head.last.round
        last = min(stored, turn.position.round)
        accepted = {*range(head.watermark + 1, last + 1)}
        for stale in head.stale_ranges:
            accepted.update(range(stale.first, stale.last + 1))
        used = view.found[self.quota].number("used") if self.quota in view.found else 0
        return plan_diary(
            policy=scenario.diary.policy,
            progress=progress_of(head, accepted_rounds=accepted),
            tier=turn.subscription_category,
            quota=DiaryQuota(used=used, limit=scenario.diary.monthly_quota),
        )

    def write(
        self,
        view: View,
        head: DiaryHead,
        due: Due,
        turn: Turn,
        *,
        reason: str,
        stale: tuple[DiaryEntry, ...],
    ) -> Effect:
        """Take the lease, read the rounds as they stand now, ask, and return what the answer is worth."""
        self.lease.take(revision=view.revision)
        settings = self.scenario_of(view).diary
        job = gather_job(self.ports.records, self.scope, self.agent, due=due, head=head, stale=stale)
        if job.rounds:
            written, asked = self.ask(job, settings)
            after, effect = effect_of_answer(
                self.scope,
                self.agent,
                job,
                written,
                asked,
                reason=reason,
                newest_round=min(view.head.last.round, turn.position.round),
                generation=view.head.generation,
                now=self.ports.worker.engine.clock(),
            )
        else:
            after, effect = effect_of_nothing(job)
        following = self.plan(view, after, turn)
        others = tuple(entry for entry in stale if not entry.range.overlaps(due.covers))
        return replace(
            effect,
            details={**effect.details, "nextAt": following.next_at},
            beside=(
                *effect.beside,
                *self.puts(others),
                *self.charge(effect, settings.monthly_quota),
                self.lease.giving_back(),
            ),
            done=following.due is None,
            at=job.turns[-1] if following.due and job.turns else None,
            saved=self.lease.given_back,
        )

    def ask(self, job: DiaryJob, settings: DiarySettings) -> tuple[WritingJob, Asked]:
        """Return the job and its answer; where the same one was asked in this run already, that answer."""
        texts = tuple((turn.turn_id, turn.text_hash) for turn in job.turns)
        wanted = (job.due.covers, texts, job.base.last_round if job.base else 0)
        if wanted not in self.paid:
            self.paid[wanted] = ask_job(self.ports, job, settings)
        return self.paid[wanted]

    def charge(self, effect: Effect, limit: int | None) -> tuple[Write, ...]:
        """Return the write that takes a stored entry out of the user's quota."""
        if limit is None or effect.outcome != "ok":
            return ()
        return (quota_charge(self.quota, limit=limit, now=self.ports.worker.engine.clock()),)

    def puts(self, entries: tuple[DiaryEntry, ...]) -> tuple[Write, ...]:
        """Return the writes of entries that were marked."""
        return tuple(entry_write(self.scope, self.agent, entry) for entry in entries)
