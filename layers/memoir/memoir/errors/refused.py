"""Refusals: the caller has to change something; nothing was written."""

from dataclasses import dataclass
from typing import ClassVar

from memoir.errors.base import MemoirError, Problem


class RequestRefused(MemoirError):
    """The caller has to change the request; nothing was written."""

    code: ClassVar[str] = "request_refused"


@dataclass(eq=False, kw_only=True)
class JsonMalformed(RequestRefused):
    """The text is not strict JSON: grammar, duplicate key, NaN, lone surrogate, bad UTF-8, trailing text."""

    code: str = "json_malformed"  # type: ignore[misc]
    line: int | None = None
    column: int | None = None
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class RequestInvalid(RequestRefused):
    """Strict JSON, a header or an id that is not what the contract asks for. `path` names the place."""

    code: str = "request_invalid"  # type: ignore[misc]
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class TooLarge(RequestRefused):
    """More bytes than the limit named by `code`. Sizes are UTF-8 bytes."""

    code: str = "too_large"  # type: ignore[misc]
    size_bytes: int
    limit_bytes: int
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class LimitExceeded(RequestRefused):
    """More of something countable (levels, rows, commands) than the limit named by `code`."""

    code: str = "limit_exceeded"  # type: ignore[misc]
    value: int
    limit: int
    path: str | None = None


class MediaTypeUnsupported(RequestRefused):
    """The body is not declared as UTF-8 JSON."""

    code: ClassVar[str] = "media_type_unsupported"


class NotAuthenticated(RequestRefused):
    """The verified token carries no usable identity."""

    code: ClassVar[str] = "not_authenticated"


class Forbidden(RequestRefused):
    """The identity is known and may not do this."""

    code: ClassVar[str] = "forbidden"


@dataclass(eq=False, kw_only=True)
class NotFound(RequestRefused):
    """No such route or resource within the caller's own scope."""

    code: ClassVar[str] = "not_found"
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class ScenarioUnknown(NotFound):
    """The product has no such scenario, or none any more; `current_revision` is what a new one replaces."""

    code: ClassVar[str] = "scenario_unknown"
    current_revision: int | None = None


@dataclass(eq=False, kw_only=True)
class TurnConflict(RequestRefused):
    """The turn id already stands for a turn with another text."""

    code: ClassVar[str] = "turn_conflict"
    turn_id: str
    round: int


@dataclass(eq=False, kw_only=True)
class RoundClosed(RequestRefused):
    """The turn is no longer the current one of the last round: another turn or version followed."""

    code: ClassVar[str] = "round_closed"
    turn_id: str
    round: int
    last_round: int


@dataclass(eq=False, kw_only=True)
class MessagesRefused(RequestRefused):
    """The last message is not the current user's; nothing was sent."""

    code: ClassVar[str] = "messages_refused"
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class ClaimConflict(RequestRefused):
    """The claim was used for other texts; nothing was sent."""

    code: ClassVar[str] = "claim_conflict"
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class ClaimExpired(RequestRefused):
    """The claim holds no longer; nothing was sent."""

    code: ClassVar[str] = "claim_expired"
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class PreconditionFailed(RequestRefused):
    """The header If-Match names another revision than the body expects; nothing was written."""

    code: ClassVar[str] = "precondition_failed"
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class UpdateRefused(RequestRefused):
    """The product's own check refused the new memory. `reason` is what the check said."""

    code: ClassVar[str] = "update_refused"
    reason: str
    problems: list[Problem] | None = None


@dataclass(eq=False, kw_only=True)
class ScenarioInvalid(RequestRefused):
    """The scenario breaks rules; `problems` names all of them."""

    code: ClassVar[str] = "scenario_invalid"
    problems: list[Problem]


@dataclass(eq=False, kw_only=True)
class ScenarioForbids(RequestRefused):
    """Well-formed, and not what the conversation's scenario allows. `path` names the place."""

    code: str = "scenario_forbids"  # type: ignore[misc]
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class CandidateStale(RequestRefused):
    """The stored state is of a later round than the one that the candidate was made from."""

    code: ClassVar[str] = "candidate_stale"
    based_on_round: int
    stored_round: int


@dataclass(eq=False, kw_only=True)
class StoryConflict(RequestRefused):
    """What a story claim stands on has moved: `anchor`, `revision`, or the `claim` was settled otherwise."""

    code: ClassVar[str] = "story_conflict"
    moved: str
    current_revision: int | None = None
    current_turn_id: str | None = None


@dataclass(eq=False, kw_only=True)
class ConversationRewound(RequestRefused):
    """The reply was made from what a rewind has taken back since; nothing was written."""

    code: ClassVar[str] = "conversation_rewound"
    generation: int
    path: str | None = None


@dataclass(eq=False, kw_only=True)
class GenerationConflict(RequestRefused):
    """Another rewind came first, or a turn followed the one that is to be undone; nothing was written."""

    code: ClassVar[str] = "generation_conflict"
    current_generation: int


@dataclass(eq=False, kw_only=True)
class TurnDiscarded(RequestRefused):
    """The turn was taken back by a rewind; nothing was written."""

    code: ClassVar[str] = "turn_discarded"
    turn_id: str
    round: int


@dataclass(eq=False, kw_only=True)
class BoundaryUnknown(RequestRefused):
    """Nobody said what memory the round began from; nothing was written."""

    code: ClassVar[str] = "boundary_unknown"
    path: str
    kind: str


@dataclass(eq=False, kw_only=True)
class HistoryExpired(RequestRefused):
    """The revision is no longer kept; nothing was written."""

    code: ClassVar[str] = "history_expired"
    kind: str
    revision: int | None = None


class IdempotencyKeyReused(RequestRefused):
    """The idempotency key already stands for a write with another body."""

    code: ClassVar[str] = "idempotency_key_reused"
