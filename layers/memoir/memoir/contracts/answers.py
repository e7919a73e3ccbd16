"""What each route answers: shapes, and how results become them. No pydantic: a read should not load it.

A shape is a TypedDict, so that the API's description can be made from it. `Spliced` is JSON text that goes
into an answer as it was accepted, number by number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from memoir.domain.clock import utc_text
from memoir.domain.json_document import JsonDocument

if TYPE_CHECKING:
    from memoir.domain.hinos import Committed, PreparedMemory
    from memoir.domain.memory import MemoryRecord
    from memoir.domain.receipt import Receipt
    from memoir.domain.scenario.record import ScenarioRecord
    from memoir.domain.table.record import TableRecord
    from memoir.domain.turns import Recorded, TurnPage


@dataclass(frozen=True)
class Spliced:
    """JSON text, to be put into an answer as it is."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer's body, its ETag where it has one, the place of the next page, and what the log says of it.

    `event`: in place of the route's own. `measures`: metrics beside the event's own, without a unit.
    """

    body: Mapping[str, Any] | Spliced
    etag: str | None = None
    next_place: str | None = None
    status: int = 200
    event: str | None = None
    facts: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)


class RevisionAnswer(TypedDict):
    """A write's answer."""

    revision: int


class MemoryAnswer(TypedDict):
    """A memory: null at revision 0, and at one that a rewind left without."""

    revision: int
    memory: Any


class ProfileAnswer(TypedDict):
    """A profile: null at revision 0."""

    revision: int
    profile: Any


class TableAnswer(TypedDict):
    """A table, the round through which replies are in it, and its text for the model."""

    revision: int
    throughRound: int
    table: dict[str, Any] | None
    memoryTable: str


class RecordedAnswer(TypedDict):
    """What became of a reported turn."""

    turnId: str
    round: int
    scheduled: list[str]
    duplicate: bool
    generation: int
    notUndone: NotRequired[dict[str, dict[str, int]]]


class Text(TypedDict):
    """A text of a turn."""

    text: str


class TurnAnswer(TypedDict):
    """A turn."""

    turnId: str
    round: int
    user: Text
    assistant: Text
    status: str


class TurnsAnswer(TypedDict):
    """A page of turns, newest first. `unreadable`: rounds whose stored text breaks its own rules."""

    turns: list[TurnAnswer]
    unreadable: NotRequired[list[int]]
    next: NotRequired[str]


class ReceiptsAnswer(TypedDict):
    """A page of receipts, newest first."""

    receipts: list[dict[str, Any]]
    next: NotRequired[str]


class ScenarioAnswer(TypedDict):
    """A scenario as its product wrote it."""

    revision: int
    scenario: dict[str, Any] | None


class ListedScenario(TypedDict):
    """A scenario in a list."""

    id: str
    revision: int
    memoryRuntime: str


class ScenariosAnswer(TypedDict):
    """A page of a product's scenarios, by id."""

    scenarios: list[ListedScenario]
    next: NotRequired[str]


class CommittedAnswer(TypedDict):
    """What became of a commit. `error`: the code of its failure."""

    committed: bool
    error: NotRequired[str]


class ConversationAnswer(TypedDict):
    """A conversation of the user's."""

    id: str
    createdAt: str
    lastRound: int


class ConversationsAnswer(TypedDict):
    """A page of a user's conversations, newest first."""

    conversations: list[ConversationAnswer]
    next: NotRequired[str]


def revision_answer(revision: int) -> Answer:
    """Return the answer to a compare-and-set write."""
    body: RevisionAnswer = {"revision": revision}
    return Answer(body=body, etag=str(revision), facts={"revision_after": revision})


def memory_answer(record: "MemoryRecord") -> Answer:
    """Return the answer to a read of a memory."""
    body: MemoryAnswer = {"revision": record.revision, "memory": spliced(record.memory)}
    return Answer(body=body, etag=str(record.revision), facts={"revision_after": record.revision})


def profile_answer(record: "MemoryRecord") -> Answer:
    """Return the answer to a read of a profile."""
    body: ProfileAnswer = {"revision": record.revision, "profile": spliced(record.memory)}
    return Answer(body=body, etag=str(record.revision), facts={"revision_after": record.revision})


def table_answer(record: "TableRecord") -> Answer:
    """Return the answer to a read of a table."""
    from memoir.domain.table.text import memory_table_text

    body: TableAnswer = {
        "revision": record.revision,
        "throughRound": record.through_round,
        "table": record.document.to_json() if record.document else None,
        "memoryTable": memory_table_text(record.document) if record.document else "",
    }
    # A turn without edits moves the round alone.
    etag = f"{record.revision}.{record.through_round}" if record.through_round else str(record.revision)
    return Answer(body=body, etag=etag, facts={"revision_after": record.revision})


def edits_answer(report: dict[str, Any]) -> Answer:
    """Return the answer to table edits: the report of each."""
    facts = {"revision_before": report["baseRevision"], "revision_after": report["revision"]}
    return Answer(body=report, etag=str(report["revision"]), facts={**facts, **report["counts"]})


def recorded_answer(recorded: "Recorded") -> Answer:
    """Return the answer to a reported or accepted turn."""
    body: RecordedAnswer = {
        "turnId": recorded.turn_id,
        "round": recorded.round,
        "scheduled": list(recorded.scheduled),
        "duplicate": recorded.duplicate,
        "generation": recorded.generation,
    }
    if recorded.not_undone:
        body["notUndone"] = {
            kind: {"since": since, "now": now} for kind, (since, now) in recorded.not_undone.items()
        }
    facts = {"round": recorded.round, "duplicate": recorded.duplicate, "workers": len(recorded.scheduled)}
    return Answer(status=202, body=body, facts=facts)


def turns_answer(page: "TurnPage") -> Answer:
    """Return a page of turns."""
    body: TurnsAnswer = {
        "turns": [
            {
                "turnId": turn.turn_id,
                "round": turn.position.round,
                "user": {"text": turn.user_text},
                "assistant": {"text": turn.assistant_text},
                "status": page.head.status_of(turn.position.round),
            }
            for turn in page.turns
        ]
    }
    if page.unreadable:
        body["unreadable"] = list(page.unreadable)
    following = None if page.next_before is None else str(page.next_before)
    return Answer(body=body, next_place=following, facts={"turns": len(page.turns)})


def receipts_answer(page: tuple[tuple["Receipt", ...], str | None]) -> Answer:
    """Return a page of receipts."""
    receipts, following = page
    body: ReceiptsAnswer = {"receipts": [receipt.to_json() for receipt in receipts]}
    return Answer(body=body, next_place=following, facts={"receipts": len(receipts)})


def conversations_answer(page: tuple[tuple[tuple[str, int, int], ...], str | None]) -> Answer:
    """Return a page of conversations: (id, created in ms, last round)."""
    listed, following = page
    body: ConversationsAnswer = {
        "conversations": [
            {"id": name, "createdAt": utc_text(created_ms / 1000), "lastRound": last_round}
            for name, created_ms, last_round in listed
        ]
    }
    return Answer(body=body, next_place=following, facts={"conversations": len(listed)})


def scenario_answer(record: "ScenarioRecord") -> Answer:
    """Return a scenario; null for the built-in `default`."""
    body: ScenarioAnswer = {"revision": record.revision, "scenario": record.scenario}
    return Answer(body=body, etag=str(record.revision), facts={"revision_after": record.revision})


def scenarios_answer(page: tuple[tuple[tuple[str, int, str], ...], str | None]) -> Answer:
    """Return a page of scenarios: (id, revision, runtime)."""
    listed, following = page
    body: ScenariosAnswer = {
        "scenarios": [
            {"id": name, "revision": revision, "memoryRuntime": runtime} for name, revision, runtime in listed
        ]
    }
    return Answer(body=body, next_place=following, facts={"scenarios": len(listed)})


def prepared_answer(prepared: "PreparedMemory") -> Answer:
    """Return what Hinos prepared, by its protocol's names."""
    facts = {"turn": prepared.turn, "characters": len(prepared.memory)}
    return Answer(body=vars(prepared), facts=facts)


def committed_answer(committed: "Committed") -> Answer:
    """Return what became of a commit."""
    body: CommittedAnswer = {"committed": committed.committed}
    if not committed.error:
        return Answer(body=body)
    body["error"] = committed.error
    return Answer(body=body, event="hinos.commit_failed", facts={"error_code": committed.error})


def spliced(document: JsonDocument | None) -> Spliced | None:
    """Return a document as it goes into an answer."""
    return Spliced(document.text) if document else None
