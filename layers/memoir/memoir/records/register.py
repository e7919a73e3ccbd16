"""The register: one small record for each conversation, written with the first record of any kind in it.

It lies by user, not by conversation, so that a user's or a product's conversations can be walked.
"""

from dataclasses import dataclass

from memoir.domain.scope import Scope
from memoir.errors import RecordCorrupt
from memoir.ports.records import Amend, Fact, Record, RecordKey


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A conversation in the register. `created_ms`: since 1970 UTC."""

    conversation: str
    created_ms: int


def register_write(scope: Scope, *, now: float) -> Amend:
    """Return the write by which *scope* is registered, once, whoever comes first."""
    key = RecordKey(owner=scope.owner, kind="register", name=(scope.conversation,))
    first: dict[str, Fact] = {
        "conversation": scope.conversation,
        "user": scope.user,
        "created_ms": int(now * 1000),
    }
    return Amend(key=key, at_first=first)


def read_registered(record: Record) -> Registered:
    """Return what `register_write` stored. Raises RecordCorrupt."""
    try:
        registered = Registered(
            conversation=record.text("conversation"), created_ms=record.number("created_ms")
        )
    except ValueError:
        registered = None
    if registered is None or not registered.conversation:
        raise RecordCorrupt(detail="a stored register record breaks its own rules; it is kept as it is")
    return registered
