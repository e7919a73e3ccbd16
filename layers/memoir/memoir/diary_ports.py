"""What the diary's use cases need from the outside world.

Apart from `ports`, for the diary's rules are many modules, and a request for a memory should not load them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from memoir.domain.diary.due.policy import DiaryQuota
from memoir.domain.diary.prompt.prompt import DiaryPrompt
from memoir.domain.diary.prompt.rounds import DialogueRound
from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.diary.record.entry import DiaryEntry, DiaryHead
from memoir.domain.language_model import FinishReason
from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.domain.turns import TurnHead


@dataclass(frozen=True, kw_only=True)
class WritingJob:
    """A diary to write: the prompt for a model, and the same as values for one that reads no prompts."""

    prompt: DiaryPrompt
    rounds: tuple[DialogueRound, ...]
    previous_summary: str
    character: str


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """What a model answered. `generator` names it; token counts are the provider's, 0 where it gives none."""

    text: str
    finish: FinishReason
    generator: str
    input_tokens: int = 0
    output_tokens: int = 0


class LanguageModel(Protocol):
    """Something that writes diaries."""

    def write(self, job: WritingJob) -> ModelAnswer:
        """Return the answer to *job*, whatever it says. Raises ModelFailed: there is none."""


@dataclass(frozen=True, kw_only=True)
class DiaryView:
    """All that a plan has to know, read at one moment. `quota`: the user's, of the present period."""

    head: DiaryHead
    turns: TurnHead
    quota: DiaryQuota


@dataclass(frozen=True, kw_only=True)
class Lease:
    """The right to write one diary until it expires. `fence` is higher than that of every lease before."""

    owner: str
    fence: int


@dataclass(frozen=True, kw_only=True)
class DiaryChange:
    """What a save does, all of it or nothing. `put` and `removed` are entries, by their end round.

    `lease`: must still be held, and is given back. `charges_quota`: the user has one diary less this period.
    """

    before: DiaryHead
    after: DiaryHead
    put: tuple[DiaryEntry, ...] = ()
    removed: tuple[DiaryEntry, ...] = ()
    lease: Lease | None = None
    receipt: Receipt | None = None
    charges_quota: bool = False


class DiaryStore(Protocol):
    """The diaries of conversations, one for each agent."""

    def look(self, scope: Scope, *, agent: AgentRef) -> DiaryView:
        """Return the diary's head and that of the turns. Raises StoreUnavailable, RecordCorrupt."""

    def newest(
        self, scope: Scope, *, agent: AgentRef, before_round: int | None = None
    ) -> Iterator[DiaryEntry | DiaryHead]:
        """Yield entries, newest first: those that end below *before_round*, else the head and all.

        Raises StoreUnavailable, RecordCorrupt.
        """

    def take_lease(self, scope: Scope, *, agent: AgentRef, seconds: int) -> Lease:
        """Take the lease for so long. Raises LeaseHeld, StoreUnavailable, WriteOutcomeUnknown."""

    def release(self, scope: Scope, *, agent: AgentRef, lease: Lease) -> None:
        """Give the lease back, if it is still ours. Never raises: an unreturned lease expires."""

    def save(self, scope: Scope, *, agent: AgentRef, change: DiaryChange) -> None:
        """Save *change*.

        Raises RevisionConflict (the head moved, or the lease was lost), StoreUnavailable: nothing was
        written; WriteOutcomeUnknown.
        """

    def keep_raw(self, scope: Scope, *, agent: AgentRef, last_round: int, text: str) -> None:
        """Keep the raw text of a failed answer for some days, cut to 16 KiB. Raises StoreUnavailable."""
