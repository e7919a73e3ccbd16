"""What a rewind does to the diaries of a conversation: their heads are cut, their entries stay."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.diary.record.entry import DiaryEntry, DiaryHead, head_as_plain, head_from_plain
from memoir.domain.diary.record.head import head_after_cut
from memoir.domain.scope import Scope
from memoir.domain.turns import Position, TurnHead
from memoir.domain.write_token import WriteToken
from memoir.ports.records import ABSENT, Amend, Fact, Write, stands
from memoir.records.diary import diary_head_key, head_document, read_diary_head
from memoir.records.documents import read_document, slot_facts
from memoir.records.positions import position_text, read_position, round_name
from memoir.records.turns import cursor_key, read_cursor
from memoir.usecases.diary import newest_entries
from memoir.usecases.engine import Engine

_COUNTED_ENTRIES = 100


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """A diary's head before and after, its revision, and how far its worker is, before and after."""

    before: DiaryHead
    after: DiaryHead
    revision: int
    through: Position
    through_after: Position
    cut_entries: int = 0


@dataclass(frozen=True, kw_only=True)
class Diaries:
    """The diaries of a conversation, by agent."""

    cuts: Mapping[AgentRef, _Cut] = field(default_factory=dict)

    @classmethod
    def read(cls, engine: Engine, scope: Scope, head: TurnHead) -> "Diaries":
        """Return the diaries as they stand, those of all agents that were ever rung. One request.

        Raises StoreUnavailable, RecordCorrupt.
        """
        agents = [AgentRef(agent) for agent in head.agents]
        keys = [
            key
            for agent in agents
            for key in (diary_head_key(scope, agent), cursor_key(scope, "diary", agent))
        ]
        found = engine.records.read(*keys) if keys else {}
        cuts = {}
        for agent in agents:
            stored = read_document(found.get(diary_head_key(scope, agent)))
            diary = read_diary_head(stored)
            passed = read_cursor(found.get(cursor_key(scope, "diary", agent)))
            through = max(passed, stored.place) if stored else passed
            cuts[agent] = _Cut(
                before=diary,
                after=diary,
                revision=stored.revision if stored else 0,
                through=through,
                through_after=through,
            )
        return cls(cuts=cuts)

    @classmethod
    def cut(cls, engine: Engine, scope: Scope, head: TurnHead, *, to_round: int) -> "Diaries":
        """Return the diaries cut behind *to_round*. Two requests more for each that reaches beyond it."""
        read = cls.read(engine, scope, head)
        cuts = {
            agent: _cut(engine, scope, agent, known, to_round=to_round, generation=head.generation + 1)
            for agent, known in read.cuts.items()
        }
        return cls(cuts=cuts)

    @classmethod
    def restored(cls, engine: Engine, scope: Scope, head: TurnHead, logged: Mapping[str, Any]) -> "Diaries":
        """Return the diaries with the heads that a log has of them."""
        read = cls.read(engine, scope, head)
        cuts = {
            agent: _restored(known, logged[agent]) if agent in logged else known
            for agent, known in read.cuts.items()
        }
        return cls(cuts=cuts)

    @property
    def changed(self) -> bool:
        """Some diary is another one afterwards."""
        return any(cut.after != cut.before for cut in self.cuts.values())

    @property
    def cut_entries(self) -> int:
        """How many entries are taken back, 100 at most for each diary."""
        return sum(cut.cut_entries for cut in self.cuts.values())

    def as_plain(self) -> dict[str, Any]:
        """Return the heads as they were."""
        return {
            agent: {"head": head_as_plain(cut.before), "through": position_text(cut.through)}
            for agent, cut in self.cuts.items()
        }

    def writes(self, scope: Scope, *, place: Position, generation: int, token: WriteToken) -> list[Write]:
        """Return the writes of heads, also where there is none yet, and of cursors."""
        writes: list[Write] = []
        for agent, cut in self.cuts.items():
            through = position_text(min(cut.through_after, place))
            stamp: dict[str, Fact] = {"place": through, "generation": generation}
            head = Amend(
                key=diary_head_key(scope, agent),
                facts={**slot_facts(cut.revision + 1, token), **stamp},
                body=head_document(cut.after).text,
                when=stands(revision=cut.revision) if cut.revision else ABSENT,
                name=f"diary {agent}",
            )
            cursor = Amend(key=cursor_key(scope, "diary", agent), facts=stamp, name=f"cursor diary {agent}")
            writes += (head, cursor)
        return writes


def _restored(known: _Cut, logged: Mapping[str, Any]) -> _Cut:
    through = read_position(logged["through"])
    return replace(known, after=head_from_plain(logged["head"]), through_after=through)


def _cut(
    engine: Engine, scope: Scope, agent: AgentRef, known: _Cut, *, to_round: int, generation: int
) -> _Cut:
    diary = known.before
    if diary.watermark <= to_round:
        return known
    behind = engine.records.walk(
        scope,
        "diary",
        first=(agent, round_name(to_round + 1)),
        last=(agent, round_name(diary.watermark)),
        page=_COUNTED_ENTRIES,
    )
    beyond = sum(
        not diary.voids(int(name[-1]), generation=record.number("generation"))
        for name, record in islice(behind, _COUNTED_ENTRIES)
    )
    earlier = newest_entries(engine.records, scope, agent, head=diary, before_round=to_round + 1)
    newest = next((found for found in earlier if isinstance(found, DiaryEntry)), None)
    after = head_after_cut(
        diary,
        to_round=to_round,
        generation=generation,
        newest_end=newest.last_round if newest else 0,
        cuts_entries=beyond > 0,
    )
    return replace(known, after=after, cut_entries=beyond)
