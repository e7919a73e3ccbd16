"""Every error that Memoir raises on purpose, with the facts a caller needs to act on it.

MemoirError
├── RequestRefused                 the caller has to change something; nothing was written
│   ├── JsonMalformed              the text is not strict JSON                        (place in the text)
│   ├── RequestInvalid             JSON, but not what the contract asks for           (path, reason)
│   ├── TooLarge                   more bytes than allowed                            (size, limit, path)
│   ├── LimitExceeded              more levels, rows, commands … than allowed         (value, limit, path)
│   ├── MediaTypeUnsupported       the body is not declared as UTF-8 JSON
│   ├── NotAuthenticated           no usable identity in the verified token
│   ├── Forbidden                  an identity that may not do this
│   ├── NotFound                   no such route or resource
│   ├── TurnConflict               the turn id stands for a turn with another text    (turn_id, round)
│   ├── RoundClosed                the round is followed by another, or its turn was replaced
│   ├── MessagesRefused            the last message is not the current user's
│   ├── ClaimConflict              the claim was used for other texts
│   ├── ClaimExpired               the claim holds no longer
│   ├── UpdateRefused              the product's own check said no                    (reason, problems)
│   ├── ScenarioInvalid            the scenario breaks rules                          (problems)
│   └── IdempotencyKeyReused       the key already stands for another request
├── RevisionConflict               the stored revision moved; nothing was written     (expected, current)
├── DoorbellFailed                 the turn is stored, its background work was not rung; send it again
├── HinosFailed                    the external memory failed                         (sent)
│   ├── HinosNotConfigured         there is none
│   ├── HinosUnavailable           it was not reached, broke off, or answered 5xx
│   ├── HinosTimeout               it did not answer within its budget
│   └── HinosBadReply              its answer is not what the protocol says           (member)
├── WorkLeft                       time ran out before all was done; what was done stands
├── LeaseHeld                      another worker is at this job; nothing was done
├── ModelFailed                    a language model gave no answer                    (code)
├── StoreUnavailable               the store refused or was not reached; nothing was written
├── WriteOutcomeUnknown            the store did not say whether it wrote; read back before trying again
└── RecordCorrupt                  a stored record breaks its own rules; it is kept as it is

Fields are the facts. `code` is stable: callers and dashboards compare it. No HTTP here; the status of each
class stands in `edge/http.py`, and a test fails if one is missing.
"""

from dataclasses import dataclass, fields
from typing import ClassVar

Problem = dict[str, str | int]  # path, code, detail; where it helps line and column, or rule
Fact = str | int | float | bool | list[Problem] | None


@dataclass(eq=False, kw_only=True)
class MemoirError(Exception):
    """A failure with a stable `code`, a sentence for people in `detail`, and its facts as fields."""

    code: ClassVar[str] = "internal_error"
    detail: str

    def __str__(self) -> str:
        return self.detail

    def facts(self) -> dict[str, Fact]:
        """Return the fields beside `detail` and `code` that are set, by their snake_case names."""
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("detail", "code")}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(eq=False, kw_only=True)
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


@dataclass(eq=False, kw_only=True)
class MediaTypeUnsupported(RequestRefused):
    """The body is not declared as UTF-8 JSON."""

    code: ClassVar[str] = "media_type_unsupported"


@dataclass(eq=False, kw_only=True)
class NotAuthenticated(RequestRefused):
    """The verified token carries no usable identity."""

    code: ClassVar[str] = "not_authenticated"


@dataclass(eq=False, kw_only=True)
class Forbidden(RequestRefused):
    """The identity is known and may not do this."""

    code: ClassVar[str] = "forbidden"


@dataclass(eq=False, kw_only=True)
class NotFound(RequestRefused):
    """No such route or resource within the caller's own scope."""

    code: ClassVar[str] = "not_found"
    path: str | None = None


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
class IdempotencyKeyReused(RequestRefused):
    """The idempotency key already stands for a write with another body."""

    code: ClassVar[str] = "idempotency_key_reused"


@dataclass(eq=False, kw_only=True)
class RevisionConflict(MemoirError):
    """The stored revision is not the one the write was based on; nothing was written."""

    code: ClassVar[str] = "revision_conflict"
    expected_revision: int
    current_revision: int


@dataclass(eq=False, kw_only=True)
class DoorbellFailed(MemoirError):
    """The turn is stored and its background work was not rung. Sending the same turn again rings again."""

    code: ClassVar[str] = "doorbell_failed"
    turn_id: str
    round: int


@dataclass(eq=False, kw_only=True)
class HinosFailed(MemoirError):
    """The external memory failed. `sent`: the request may have reached it."""

    code: ClassVar[str] = "hinos_failed"
    sent: bool = True


@dataclass(eq=False, kw_only=True)
class HinosNotConfigured(HinosFailed):
    """There is no external memory here; the rest of the service works."""

    code: ClassVar[str] = "hinos_not_configured"
    sent: bool = False


@dataclass(eq=False, kw_only=True)
class HinosUnavailable(HinosFailed):
    """It was not reached, broke off, or answered 5xx."""

    code: ClassVar[str] = "hinos_unavailable"


@dataclass(eq=False, kw_only=True)
class HinosTimeout(HinosFailed):
    """It did not answer within its budget."""

    code: ClassVar[str] = "hinos_timeout"


@dataclass(eq=False, kw_only=True)
class HinosBadReply(HinosFailed):
    """Its answer is not what the protocol says."""

    code: ClassVar[str] = "hinos_bad_reply"
    member: str | None = None


@dataclass(eq=False, kw_only=True)
class WorkLeft(MemoirError):
    """Time ran out before all was done. What was done stands; a retry goes on behind it."""

    code: ClassVar[str] = "work_left"


@dataclass(eq=False, kw_only=True)
class LeaseHeld(MemoirError):
    """Another worker holds the lease of this job; nothing was done."""

    code: ClassVar[str] = "lease_held"


@dataclass(eq=False, kw_only=True)
class ModelFailed(MemoirError):
    """A language model gave no answer; `code` says how (`model_timeout`, `model_throttled` …)."""

    code: str = "model_failed"  # type: ignore[misc]
    worth_another_try: bool = True
    retry_after_seconds: float = 0.0


@dataclass(eq=False, kw_only=True)
class StoreUnavailable(MemoirError):
    """The store refused the request or was not reached; nothing was written, a retry is safe."""

    code: ClassVar[str] = "store_unavailable"


@dataclass(eq=False, kw_only=True)
class WriteOutcomeUnknown(MemoirError):
    """The store did not say whether it wrote. Read back before trying again."""

    code: ClassVar[str] = "write_outcome_unknown"


@dataclass(eq=False, kw_only=True)
class RecordCorrupt(MemoirError):
    """A stored record breaks its own rules. It is neither shown as empty nor overwritten."""

    code: ClassVar[str] = "record_corrupt"
