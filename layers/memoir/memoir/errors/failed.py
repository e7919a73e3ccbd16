"""Failures: a conflict, a store, a queue, a model, another service."""

from dataclasses import dataclass
from typing import ClassVar

from memoir.errors.base import MemoirError


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


class HinosUnavailable(HinosFailed):
    """It was not reached, broke off, or answered 5xx."""

    code: ClassVar[str] = "hinos_unavailable"


class HinosTimeout(HinosFailed):
    """It did not answer within its budget."""

    code: ClassVar[str] = "hinos_timeout"


class HinosUncertain(HinosFailed):
    """Nobody knows what became of an earlier commit of the claim; it is not sent again."""

    code: ClassVar[str] = "hinos_outcome_unknown"


@dataclass(eq=False, kw_only=True)
class HinosBadReply(HinosFailed):
    """Its answer is not what the protocol says."""

    code: ClassVar[str] = "hinos_bad_reply"
    member: str | None = None


class WorkLeft(MemoirError):
    """Time ran out before all was done. What was done stands; a retry goes on behind it."""

    code: ClassVar[str] = "work_left"


@dataclass(eq=False, kw_only=True)
class LeaseHeld(MemoirError):
    """Another worker holds the lease of this job, at most for so long; nothing was done."""

    code: ClassVar[str] = "lease_held"
    retry_after_seconds: int | None = None


@dataclass(eq=False, kw_only=True)
class ModelFailed(MemoirError):
    """A language model gave no answer; `code` says how (`model_timeout`, `model_throttled` …)."""

    code: str = "model_failed"  # type: ignore[misc]
    worth_another_try: bool = True
    retry_after_seconds: float = 0.0


class StoreUnavailable(MemoirError):
    """The store refused the request or was not reached; nothing was written, a retry is safe."""

    code: ClassVar[str] = "store_unavailable"


@dataclass(eq=False, kw_only=True)
class StoreMisused(MemoirError):
    """The store never takes such a request; nothing was written, and trying again is no use."""

    code: ClassVar[str] = "internal_error"
    store_code: str = ""


class WriteOutcomeUnknown(MemoirError):
    """The store did not say whether it wrote. Read back before trying again."""

    code: ClassVar[str] = "write_outcome_unknown"


class RecordCorrupt(MemoirError):
    """A stored record breaks its own rules. It is neither shown as empty nor overwritten."""

    code: ClassVar[str] = "record_corrupt"
