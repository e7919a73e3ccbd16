"""A diary job, what it needs, and how it notices that a round it had covered was regenerated."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from memoir.diary_ports import DiaryChange, DiaryStore, DiaryView, LanguageModel
from memoir.domain.diary.due.policy import DiaryPolicy, node_policy
from memoir.domain.diary.record.agent_ref import AgentRef, canonical_agent_ref
from memoir.domain.diary.record.entry import DiaryEntry
from memoir.domain.diary.record.head import head_with_stale
from memoir.domain.diary.record.staleness import newly_stale
from memoir.domain.scenario import find_scenario
from memoir.domain.scope import Scope
from memoir.domain.turns import RungTurn
from memoir.ports import Clock, EventBus, ReceiptStore, TurnStore


@dataclass(frozen=True, kw_only=True)
class DiaryWork:
    """One job: whose diary, by which rules, and the turn that it was rung for."""

    scope: Scope
    agent: AgentRef
    policy: DiaryPolicy
    character: str
    turn: RungTurn
    only_accepted: bool = False


@dataclass(frozen=True, kw_only=True)
class DiaryPorts:
    """What writing a diary needs from the outside world. `lease_seconds`: longer than a worker may run.

    `has_time`: whether there is time for one more diary. `model_reasons`: its reasoning counts into its
    answer, which is then given twice the room.
    """

    diaries: DiaryStore
    turns: TurnStore
    receipts: ReceiptStore
    model: LanguageModel
    events: EventBus
    clock: Clock
    sleep: Callable[[float], None]
    lease_seconds: int
    has_time: Callable[[], bool]
    model_reasons: bool = False


def diary_work(*, scope: Scope, turn: RungTurn) -> DiaryWork | None:
    """Return the job that *turn* rings for, None where its scenario has no diary. Raises NotFound."""
    scenario = find_scenario(turn.scenario_id)
    source = scenario.source("compassMemory")
    if source is None:
        return None
    return DiaryWork(
        scope=scope,
        agent=canonical_agent_ref(source.agent_ref),
        policy=node_policy(),
        character="",
        turn=turn,
        only_accepted=scenario.write_on == "accepted",
    )


def notice_reroll(
    ports: DiaryPorts, work: DiaryWork, view: DiaryView, *, though_followed: bool = False
) -> DiaryView:
    """Return the view after the entry of a regenerated round was marked stale, if there is one.

    Only the last round can be regenerated, so only the one at the watermark can have been, before another
    followed it. *though_followed* looks it up although others have: one more query.
    """
    head, turns = view.head, view.turns
    if not head.watermark:
        return view
    if turns.last.round == head.watermark:
        turn_id = turns.last_turn_id or ""
    elif though_followed:
        kept = ports.turns.between(work.scope, first_round=head.watermark, last_round=head.watermark)
        turn_id = kept[0].turn_id if kept else ""
    else:
        return view
    if turn_id == head.watermark_turn_id:
        return view
    entries = entries_from(ports, work, first_round=head.watermark)
    stale = newly_stale(entries, changed={head.watermark})
    after = replace(head_with_stale(head, stale=stale), version=head.version + 1, watermark_turn_id=turn_id)
    change = DiaryChange(before=head, after=after, put=stale)
    ports.diaries.save(work.scope, agent=work.agent, change=change)
    return replace(view, head=after)


def entries_from(ports: DiaryPorts, work: DiaryWork, *, first_round: int) -> list[DiaryEntry]:
    """Return the entries that end at *first_round* or later."""
    entries: list[DiaryEntry] = []
    for found in ports.diaries.newest(work.scope, agent=work.agent):
        if isinstance(found, DiaryEntry):
            if found.last_round < first_round:
                break
            entries.append(found)
    return entries
