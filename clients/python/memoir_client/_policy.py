"""What is repeated, when, and until when. No request is sent here."""

import json
import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

REPEATED = {"store_unavailable", "doorbell_failed", "write_outcome_unknown"}
"""Codes of 503 that a repeat may mend."""

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0


def new_key() -> str:
    """Return an idempotency key: every repeat of one call carries the same."""
    return secrets.token_urlsafe(18)


def may_repeat(status: int, code: str) -> bool:
    """Tell whether the same request may be sent again after this answer; status 0 is no answer.

    What Hinos failed at is never repeated: generation has to stop.
    """
    if code.startswith("hinos_"):
        return False
    return status in (0, 429, 502, 504) or (status == 503 and (code in REPEATED or code == "http_503"))


@dataclass
class Tries:
    """The tries of one call. `retries`: how many beyond the first; `deadline`: for all of them, in s."""

    retries: int
    deadline: float
    clock: Callable[[], float]
    began: float = field(init=False)
    made: int = 0

    def __post_init__(self) -> None:
        """Begin now."""
        self.began = self.clock()

    @property
    def seconds_left(self) -> float:
        """How long the call may still take."""
        return self.deadline - (self.clock() - self.began)

    def pause(self, retry_after: str | None) -> float | None:
        """Return how long to wait before the next try, None where there is none: full jitter, or as asked."""
        if self.made > self.retries:
            return None
        longest = min(_FIRST_PAUSE_SECONDS * 2**self.made, _LONGEST_PAUSE_SECONDS)
        pause = random.uniform(0, longest)
        if retry_after and retry_after.isdigit():
            pause = max(pause, float(retry_after))
        return pause if pause < self.seconds_left else None


@dataclass(frozen=True)
class Document:
    """A document at a revision. `value`: with floats as Python has them; `text`: as it was answered.

    `exact()` gives every number as it was written.
    """

    revision: int
    value: Any
    text: str = field(repr=False, default="")
    member: str = field(repr=False, default="")

    def exact(self) -> Any:
        """Return the document with its decimals exact."""
        return json.loads(self.text, parse_float=Decimal)[self.member]


def document_of(text: str, member: str) -> Document:
    """Return the document that is the *member* of an answer."""
    body = json.loads(text)
    return Document(revision=body["revision"], value=body[member], text=text, member=member)
