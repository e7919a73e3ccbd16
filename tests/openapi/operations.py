"""What a reader has to know of each operation beside its types: its tag, errors, and an example."""

from dataclasses import dataclass, field
from typing import Any

from memoir.contracts import (
    answers,
    compact,
    compact_answers,
    context,
    diary,
    diary_answers,
    documents,
    hinos,
    rewind,
    rewind_answers,
    scenarios,
    state,
    state_answers,
    story,
    story_answers,
    table,
    turns,
)

GOVERNED = ("ScenarioUnknown",)
WRITES = ("IdempotencyKeyReused", "PreconditionFailed", "WriteOutcomeUnknown")
CAS = ("RevisionConflict", *WRITES)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """*request*: the contract of its body. *answer*: a TypedDict, None for an opaque object.

    *errors*: classes beside those of every operation. *query*: its query parameters, by name. *event*: the
    file of `events/` whose body is its example.
    """

    tag: str
    answer: type | None = None
    request: Any = None
    status: int = 200
    errors: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    event: str = ""
    is_open: bool = False
    conditional: bool = False
    notes: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


CONVERSATION = "/v1/conversations/{id}"
PAGE = ("limit", "before")

OPERATIONS: dict[str, Operation] = {
    "GET /v1/health": Operation(tag="service", is_open=True),
    "GET /v1/openapi.json": Operation(tag="service", is_open=True),
    "GET /v1/conversations": Operation(tag="conversations", answer=answers.ConversationsAnswer, query=PAGE),
    "GET /v1/profile": Operation(tag="memory", answer=answers.ProfileAnswer, conditional=True),
    "PUT /v1/profile": Operation(
        tag="memory",
        request=documents.put_contract("profile"),
        answer=answers.RevisionAnswer,
        errors=CAS,
        event="profile/02-put-first",
    ),
    f"GET {CONVERSATION}/memory": Operation(
        tag="memory",
        answer=answers.MemoryAnswer,
        query=("revision",),
        errors=("HistoryExpired", "NotFound"),
        conditional=True,
    ),
    f"PUT {CONVERSATION}/memory": Operation(
        tag="memory",
        request=documents.put_contract("memory"),
        answer=answers.RevisionAnswer,
        errors=(*CAS, *GOVERNED, "UpdateRefused"),
        query=("scenarioId",),
        event="memory/02-put-first",
    ),
    f"POST {CONVERSATION}/turns": Operation(
        tag="turns",
        request=turns._PostTurn,
        answer=answers.RecordedAnswer,
        status=202,
        errors=(
            *WRITES,
            *GOVERNED,
            *("TurnConflict", "RoundClosed", "NotFound", "ConversationRewound", "TurnDiscarded"),
            "DoorbellFailed",
        ),
        event="turns/01-post",
    ),
    f"GET {CONVERSATION}/turns": Operation(tag="turns", answer=answers.TurnsAnswer, query=PAGE),
    f"POST {CONVERSATION}/turns/{{turnId}}/accept": Operation(
        tag="turns",
        answer=answers.RecordedAnswer,
        status=202,
        errors=(*WRITES, "RoundClosed", "NotFound", "TurnDiscarded", "DoorbellFailed"),
    ),
    f"GET {CONVERSATION}/receipts": Operation(tag="turns", answer=answers.ReceiptsAnswer, query=PAGE),
    f"GET {CONVERSATION}/table": Operation(
        tag="table",
        answer=answers.TableAnswer,
        query=("revision",),
        errors=("HistoryExpired", "NotFound"),
        conditional=True,
    ),
    f"PUT {CONVERSATION}/table": Operation(
        tag="table",
        request=table._PutTable,
        answer=answers.RevisionAnswer,
        errors=CAS,
        event="table/02-put",
    ),
    f"POST {CONVERSATION}/table/edits": Operation(
        tag="table", request=table._PostEdits, errors=CAS, event="table/04-edits-as-json"
    ),
    f"GET {CONVERSATION}/diary": Operation(
        tag="diary",
        answer=diary_answers.DiaryAnswer,
        query=(*PAGE, "scenarioId"),
        errors=(*GOVERNED, "NotFound"),
    ),
    f"GET {CONVERSATION}/diary/recall": Operation(
        tag="diary",
        answer=diary_answers.RecallAnswer,
        query=("subscriptionCategory", "scenarioId"),
        errors=(*GOVERNED, "NotFound"),
    ),
    f"PUT {CONVERSATION}/diary/{{endRound}}": Operation(
        tag="diary",
        request=diary._PutEntry,
        answer=diary_answers.EntryAnswer,
        errors=(*CAS, *GOVERNED, "NotFound"),
        query=("scenarioId",),
        event="diary/03-put-unknown",
    ),
    f"DELETE {CONVERSATION}/diary/{{endRound}}": Operation(
        tag="diary", errors=(*CAS, *GOVERNED, "NotFound"), query=("scenarioId",)
    ),
    "GET /v1/scenarios": Operation(tag="scenarios", answer=answers.ScenariosAnswer, query=PAGE),
    "GET /v1/scenarios/{scenarioId}": Operation(
        tag="scenarios", answer=answers.ScenarioAnswer, errors=GOVERNED, conditional=True
    ),
    "PUT /v1/scenarios/{scenarioId}": Operation(
        tag="scenarios",
        request=scenarios._PutScenario,
        errors=(*CAS, "ScenarioInvalid"),
        event="scenarios/04-put",
    ),
    "DELETE /v1/scenarios/{scenarioId}": Operation(
        tag="scenarios", answer=answers.RevisionAnswer, errors=(*CAS, *GOVERNED)
    ),
    f"POST {CONVERSATION}/context": Operation(
        tag="context",
        request=context._PostContext,
        errors=(
            *GOVERNED,
            *("MessagesRefused", "HinosNotConfigured", "HinosUnavailable", "HinosTimeout", "HinosBadReply"),
            "WriteOutcomeUnknown",
        ),
        event="context/post",
    ),
    f"POST {CONVERSATION}/compact": Operation(
        tag="context",
        request=compact._Compact,
        answer=compact_answers.CompactAnswer,
        errors=(*GOVERNED, "ScenarioForbids"),
        event="compact/post-not-configured",
    ),
    f"GET {CONVERSATION}/state": Operation(
        tag="state",
        answer=state_answers.StateAnswer,
        query=("revision",),
        errors=("HistoryExpired", "NotFound"),
        conditional=True,
    ),
    f"PUT {CONVERSATION}/state": Operation(
        tag="state",
        request=state._PutState,
        answer=answers.RevisionAnswer,
        errors=(*CAS, *GOVERNED, "ScenarioForbids"),
        event="state/02-put",
    ),
    f"POST {CONVERSATION}/state/candidates": Operation(
        tag="state",
        request=state._PostCandidate,
        answer=state_answers.CandidateAnswer,
        errors=(*CAS, *GOVERNED, "ScenarioForbids", "CandidateStale"),
        event="state/06-candidate-changes",
    ),
    f"GET {CONVERSATION}/state/projection": Operation(
        tag="state",
        answer=state_answers.ProjectionAnswer,
        query=("audience", "scenarioId"),
        errors=GOVERNED,
    ),
    f"GET {CONVERSATION}/story": Operation(
        tag="story",
        answer=story_answers.StoryAnswer,
        query=("revision",),
        errors=("HistoryExpired", "NotFound"),
        conditional=True,
    ),
    f"GET {CONVERSATION}/story/events": Operation(
        tag="story", answer=story_answers.EventsAnswer, query=("before",), errors=("NotFound",)
    ),
    f"PUT {CONVERSATION}/story": Operation(
        tag="story", request=story._PutStory, answer=answers.RevisionAnswer, errors=CAS, event="story/02-put"
    ),
    f"POST {CONVERSATION}/story/prepare": Operation(
        tag="story",
        request=story._Prepare,
        answer=story_answers.PreparedStoryAnswer,
        errors=("StoryConflict", "PreconditionFailed"),
        event="story/04-prepare-none-accepted",
    ),
    f"POST {CONVERSATION}/story/settle": Operation(
        tag="story",
        request=story._Settle,
        answer=answers.RevisionAnswer,
        errors=(*WRITES, "StoryConflict"),
        event="story/05-settle-not-accepted",
    ),
    f"POST {CONVERSATION}/rewind": Operation(
        tag="history",
        request=rewind._Rewind,
        answer=rewind_answers.RewindAnswer,
        errors=(
            *WRITES,
            *("NotFound", "GenerationConflict", "BoundaryUnknown", "HistoryExpired", "DoorbellFailed"),
        ),
        event="rewind/post-no-turn",
    ),
    f"GET {CONVERSATION}/rewinds": Operation(tag="history", answer=rewind_answers.RewindsAnswer, query=PAGE),
    f"POST {CONVERSATION}/hinos/prepare": Operation(
        tag="hinos",
        request=hinos._Prepare,
        errors=(
            *GOVERNED,
            *("MessagesRefused", "HinosNotConfigured", "HinosUnavailable", "HinosTimeout", "HinosBadReply"),
            "WriteOutcomeUnknown",
        ),
        event="hinos/01-prepare",
    ),
    f"POST {CONVERSATION}/hinos/commit": Operation(
        tag="hinos",
        request=hinos._Commit,
        answer=answers.CommittedAnswer,
        errors=(
            *WRITES,
            *("ClaimConflict", "ClaimExpired", "HinosNotConfigured", "HinosUnavailable", "HinosTimeout"),
            *("HinosBadReply", "HinosUncertain"),
        ),
        event="hinos/03-commit",
    ),
}

QUERY: dict[str, dict[str, Any]] = {
    "limit": {"schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}},
    "before": {"schema": {"type": "string"}, "description": "The `next` of an earlier answer."},
    "revision": {"schema": {"type": "integer", "minimum": 1}, "description": "A kept revision."},
    "scenarioId": {"schema": {"type": "string", "minLength": 1, "maxLength": 128}},
    "subscriptionCategory": {"schema": {"type": "string"}, "description": "An unknown one is `default`."},
    "audience": {"schema": {"enum": ["actor", "director"]}, "required": True},
}
