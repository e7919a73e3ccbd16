"""A conversation that is rewound, and one that never had what was taken back: both have to be the same."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.diary.due.tiers import PerTier
from memoir.domain.memory import memory_document
from memoir.domain.rewind import RewindRequest
from memoir.domain.scenario import DEFAULT
from memoir.domain.state.record import ReadState
from memoir.domain.story.document import story_document
from memoir.domain.write_token import random_token
from memoir.usecases.documents import memory_key, read_json_document, replace_json_document
from memoir.usecases.governed_reads import GovernedReads
from memoir.usecases.rewind import rewind
from memoir.usecases.state import read_state, replace_state
from memoir.usecases.story import read_story, replace_story
from tests.conversation import Conversation, insert

POLICY = replace(
    DEFAULT.diary.policy,
    first_after_rounds=3,
    every_rounds=PerTier(default=2, plus=2, ultra=2, max=2),
)
SETTINGS = replace(DEFAULT, diary=replace(DEFAULT.diary, policy=POLICY))


@dataclass(frozen=True)
class Act:
    """Something that was done, the round that it belongs to, and a number that tells it from all others."""

    name: str
    round: int
    number: int


@dataclass
class World:
    """A conversation on a store in memory. `log`: what it was told, as far as rewinds have left it."""

    chat: Conversation = field(default_factory=Conversation)
    log: list[Act] = field(default_factory=list)
    undoable: list[Act] | None = None
    lagging: bool = False

    def __post_init__(self) -> None:
        """Begin with the sheets of a host."""
        self.chat.default = SETTINGS
        self.chat.set_sheets()

    @property
    def last_round(self) -> int:
        """The last round, 0 before the first."""
        return self.chat.head().last.round if self.chat.records.records.read(_head(self)) else 0

    def do(self, name: str, number: int) -> None:
        """Do one thing of its own kind, and note it."""
        acts: dict[str, Callable[[int], None]] = {
            "say": self._say,
            "swipe": self._swipe,
            "memory": self._memory,
            "rows": self._rows,
            "state": self._state,
            "story": self._story,
        }
        if name == "swipe" and not self.last_round:
            return
        acts[name](number)
        self.log.append(Act(name, self.last_round, number))
        if name in ("say", "swipe"):
            self.undoable = None

    def _say(self, number: int) -> None:
        self._reply(number)

    def _swipe(self, number: int) -> None:
        self._reply(number, replaces=self.chat.head().last_turn_id)

    def _reply(self, number: int, **members: Any) -> None:
        turn_id = f"t{number}"
        self.chat.record(turn_id, f"第{number}句。{insert(f'd{number}')}", user_text="问", **members)
        if not self.lagging:
            self.drain()

    def drain(self) -> None:
        """Let the workers do all that is to be done, twice over."""
        if not self.last_round or self.chat.head().last_turn_id is None:
            return
        rung = self.chat.rung(self.chat.head().last_turn_id or "")
        for _ in range(2):
            self.chat.edit(rung)
            self.chat.write(rung)

    def _memory(self, number: int) -> None:
        key = memory_key(self.chat.scope)
        expected = read_json_document(self.chat.engine, key).revision
        document = memory_document({"n": number})
        replace_json_document(self.chat.engine, key, expected=expected, document=document)

    def _rows(self, number: int) -> None:
        self.drain()
        revision, _ = self.chat.table_at()
        rows = [[day, "p"] for day in self.chat.days()]
        self.chat.set_rows(revision, [*rows, [f"h{number}", "p"]])

    def _state(self, number: int) -> None:
        reads = GovernedReads(self.chat.engine, default=SETTINGS)
        state = {"text": f"s{number}", "records": {}}
        replace_state(
            reads,
            scope=self.chat.scope,
            expected=self._state_now().revision,
            state=state,
            text=f'{{"text":"s{number}","records":{{}}}}',
            scenario_id=None,
            token=random_token(),
        )

    def _state_now(self) -> ReadState:
        return read_state(self.chat.engine, scope=self.chat.scope)

    def _story(self, number: int) -> None:
        expected = read_story(self.chat.engine, scope=self.chat.scope).revision
        story = story_document({"world": {"n": number}, "events": [], "narrative": ""})
        replace_story(
            self.chat.engine, scope=self.chat.scope, expected=expected, story=story, token=random_token()
        )

    # Rewinds

    def rewind(self, to_round: int) -> dict[str, Any]:
        """Rewind, and let the log be what is left."""
        before = list(self.log)
        told = self._rewind(RewindRequest(to_round=to_round))
        if told["discarded"] or any(one["before"] != one["after"] for one in _documents(told)):
            self.undoable = before
        self.log = left_after(self.log, to_round)
        return told

    def undo(self) -> None:
        """Take the newest rewind back, if nothing was said since."""
        if self.undoable is None:
            return
        self._rewind(RewindRequest(undo=self.chat.head().generation))
        self.log, self.undoable = self.undoable, None

    def _rewind(self, request: RewindRequest) -> dict[str, Any]:
        return rewind(
            self.chat.engine,
            doorbell=self.chat.doorbell,
            scope=self.chat.scope,
            request=request,
            token=random_token(),
        )

    # What can be seen

    def seen(self) -> dict[str, Any]:
        """Return all that a host sees of the conversation, once its workers are through."""
        self.drain()
        engine, scope = self.chat.engine, self.chat.scope
        memory = read_json_document(engine, memory_key(scope)).memory
        state = self._state_now().state
        story = read_story(engine, scope=scope).story
        return {
            "turns": self.chat.listed(limit=100),
            "memory": memory and memory.value,
            "table": self.chat.days(),
            "through": self.chat.table_at()[1],
            "state": state and state.value,
            "story": story and story.value["world"],
            "diary": [(entry.first_round, entry.last_round, entry.summary) for entry in self.chat.entries()],
            "recalled": self.chat.recall("max"),
        }


def left_after(log: list[Act], to_round: int) -> list[Act]:
    """Return what is left of *log* after a rewind: memory after the last turn belongs to the coming round."""
    kept = [act for act in log if act.round <= to_round]
    turns = [at for at, act in enumerate(kept) if act.name in ("say", "swipe") and act.round == to_round]
    ended = turns[-1] if turns else -1
    return [act for at, act in enumerate(kept) if act.name != "memory" or at < ended]


def fresh(log: list[Act]) -> dict[str, Any]:
    """Return what is seen of a conversation that was told *log* and nothing else."""
    world = World()
    for act in log:
        world.do(act.name, act.number)
    return world.seen()


def _documents(told: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for kind, one in told["kinds"].items() if kind != "diary"]


def _head(world: World) -> Any:
    from memoir.records.turns import head_key

    return head_key(world.chat.scope)
