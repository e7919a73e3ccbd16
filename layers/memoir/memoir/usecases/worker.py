"""What a worker is: its document, its rules, and its step. `follow_turns` does the rest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from memoir.domain.json_document import JsonDocument
from memoir.domain.receipt import Outcome
from memoir.domain.revision import NONE_YET, Revision
from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.turns import START, Position, Turn, TurnHead
from memoir.ports.doorbell import Doorbell
from memoir.ports.events import EventBus
from memoir.ports.records import Found, RecordKey, Write
from memoir.records.documents import StoredDocument
from memoir.usecases.engine import Engine


@dataclass(frozen=True, kw_only=True)
class WorkerPorts:
    """What every worker needs. `has_time`: whether there is time for one more turn.

    `default`: the built-in scenario.
    """

    engine: Engine
    events: EventBus
    doorbell: Doorbell
    has_time: Callable[[], bool]
    default: Scenario = DEFAULT


@dataclass(frozen=True, kw_only=True)
class View:
    """All that a step has to know, read at one moment. `found`: what the worker asked for beside."""

    head: TurnHead
    stored: StoredDocument | None
    passed: Position
    found: Found

    @property
    def revision(self) -> Revision:
        """The revision of the document, 0 for none."""
        return self.stored.revision if self.stored else NONE_YET

    @property
    def through(self) -> Position:
        """The last turn that is done with."""
        return max(self.passed, self.stored.place if self.stored else START)


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a turn does. `document`: the new one, None where it stays. `details` are told by the receipt.

    `beside`: writes that happen with the document's. `done`: the turn has no further effect. `at`: the turn
    that the receipt is for, where it is another. `event`: its kind and detail, told once it is saved, as is
    `saved`.
    """

    outcome: Outcome
    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)
    document: JsonDocument | None = None
    beside: tuple[Write, ...] = ()
    done: bool = True
    at: Turn | None = None
    event: tuple[str, dict[str, Any]] | None = None
    saved: Callable[[], None] = lambda: None


class Step(Protocol):
    """What one turn makes of a worker's document."""

    def __call__(self, view: View, turn: Turn) -> Effect:
        """Return the effect of *turn*, as of what *view* shows. Asked again after a lost write."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a scenario says of a worker's turns: which count, and how long receipts are kept."""

    counts: Literal["all", "accepted", "none"] = "all"
    receipt_days: int | None = None


@dataclass(frozen=True, kw_only=True)
class Worker:
    """A worker: its name in receipts, its document, and its step.

    `cursor`: the name of its cursor. `beside`: further records that its step looks at. `rules`: by what was
    read. `teller`: the name in the receipt of an event that was not told.
    `end`: called when the worker has done what it could.
    """

    name: str
    key: RecordKey
    step: Step
    cursor: tuple[str, ...]
    beside: tuple[RecordKey, ...] = ()
    rules: Callable[[View], Rules] = lambda view: Rules()
    teller: str = "notification"
    end: Callable[[], None] = lambda: None
