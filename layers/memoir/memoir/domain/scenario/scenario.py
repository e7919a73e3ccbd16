"""A scenario as the use cases ask it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from memoir.domain.compact.settings import CompactSettings
from memoir.domain.diary.due.policy import DiaryPolicy, node_policy
from memoir.domain.diary.due.tiers import tier_of
from memoir.domain.scenario.variables import (
    KIND_OF_VARIABLE,
    VARIABLES_OF_DOCUMENT,
    WORKER_OF_VARIABLE,
    Document,
    Runtime,
    SourceKind,
    Worker,
)
from memoir.domain.state.settings import StateSettings
from memoir.domain.template.run import Program
from memoir.domain.tokens.estimate import DEFAULT_TOKENIZER

Json = dict[str, Any]

DEFAULT_RECEIPT_DAYS = 30


@dataclass(frozen=True, kw_only=True)
class MemorySource:
    """One recalled text that a template can name as `variable`. A lower `priority` is cut first."""

    id: str
    agent_ref: str
    variable: str
    priority: int = 0


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """`refine`: whether saved tables are told to the refinement step, where one is deployed."""

    refine: bool = True


@dataclass(frozen=True, kw_only=True)
class DiarySettings:
    """When diaries are written, what they hold, and (in the policy) how many of them are recalled.

    `monthly_quota`: how many a user may have in a month, None for no limit.
    """

    policy: DiaryPolicy = field(default_factory=node_policy)
    character: str = ""
    summary_chars: int = 300
    diary_chars: int = 400
    monthly_quota: int | None = None


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A product's choice of memory runtime, sources and documents, with the settings of each.

    `write_on`: background writes start when a reply is `completed`, or only once its user `accepted` it.
    `program`: the parsed template, None where there is none. `on_missing`: whether a source that could not be
    read is told or fails the context call. `keep_input`: whether the rendered messages themselves are stored.
    `memory_ingest`: whether a failed commit to Hinos is told or fails the turn.
    """

    id: str
    memory_runtime: Runtime
    memory_sources: tuple[MemorySource, ...]
    write_on: Literal["completed", "accepted"] = "completed"
    revision: int = 0
    documents: tuple[Document, ...] = ()
    program: Program | None = None
    values: tuple[str, ...] = ()
    table: TableSettings = TableSettings()
    diary: DiarySettings = field(default_factory=DiarySettings)
    state: StateSettings = field(default_factory=StateSettings)
    compact: CompactSettings | None = None
    memory_ingest: Literal["best_effort", "required"] = "best_effort"
    memory_schema: Json | None = None
    on_missing: Literal["tell", "fail"] = "tell"
    receipt_days: int = DEFAULT_RECEIPT_DAYS
    keep_input: bool = False
    tokenizer: str = DEFAULT_TOKENIZER

    def source(self, variable: str) -> MemorySource | None:
        """Return the source of that variable, None where the scenario has none."""
        return next((source for source in self.memory_sources if source.variable == variable), None)

    def workers(self) -> tuple[Worker, ...]:
        """Return the workers that it asks for: those of its sources, in their order, then the state's.

        No source, no worker. Of sources only `axon_go` writes: `axon_shadow` compares what is there and never
        switches the write path. The state is kept in the background where there is an instruction for it.
        """
        sources = self.memory_sources if self.memory_runtime == "axon_go" else ()
        kept = (WORKER_OF_VARIABLE.get(source.variable) for source in sources)
        state: tuple[Worker, ...] = ("state",) if self.state.instruction.strip() else ()
        return (*(worker for worker in kept if worker), *state)

    def variables(self) -> tuple[str, ...]:
        """Return the variables that a context call answers: of its sources, then of its documents.

        Under `axon_shadow` the sources of Axon are only compared, and give no variable.
        """
        shadowed = {source.variable for source in self.compared_sources()}
        answered = [s.variable for s in self.memory_sources if s.variable not in shadowed]
        given = (variable for document in self.documents for variable in VARIABLES_OF_DOCUMENT[document])
        return (*answered, *given)

    def compared_sources(self) -> tuple[MemorySource, ...]:
        """Return the sources that are read to be compared, and answer nothing: those of `axon_shadow`."""
        if self.memory_runtime != "axon_shadow":
            return ()
        return tuple(source for source in self.memory_sources if source.variable in WORKER_OF_VARIABLE)

    def reads(self) -> tuple[SourceKind, ...]:
        """Return what a context call has to read, each kind once. What is not named is not read."""
        named = (*self.variables(), *(source.variable for source in self.compared_sources()))
        return tuple(dict.fromkeys(KIND_OF_VARIABLE[variable] for variable in named))

    def priority(self, variable: str) -> int:
        """Return the priority of that variable: its source's, 0 for a document's."""
        source = self.source(variable)
        return source.priority if source else 0

    def recall_count(self, subscription_category: object) -> int:
        """Return how many diary summaries that category recalls; an unknown one is the default tier."""
        return self.diary.policy.recalled_summaries.of(tier_of(subscription_category))
