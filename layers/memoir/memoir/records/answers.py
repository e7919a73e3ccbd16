"""What an idempotency key stands for, for a day: the request that first carried it, and its answer."""

from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken
from memoir.errors import IdempotencyKeyReused
from memoir.ports.records import ABSENT, Fact, Put, Record, RecordKey, stands

_KEPT_SECONDS = 86_400


def answer_key(scope: Scope, token: WriteToken) -> RecordKey:
    """Return the key of the answer to the request that *token* names."""
    return RecordKey(owner=scope, kind="answer", name=(token.name,))


def answer_write(scope: Scope, token: WriteToken, answer: str, *, now: float, refused: bool = False) -> Put:
    """Return the write that keeps *answer*, JSON text, for the transaction of the effect that it tells of.

    *refused*: the request was refused, and the same one may yet be taken.
    """
    facts: dict[str, Fact] = {"body_hash": token.body_hash, "refused": refused}
    record = Record(facts=facts, body=answer, expires_at=int(now) + _KEPT_SECONDS)
    again = stands(body_hash=token.body_hash, refused=True)
    return Put(key=answer_key(scope, token), record=record, when=(*ABSENT, *again))


def read_answer(record: Record | None, token: WriteToken) -> str | None:
    """Return the answer that the same request got before, None where it got none or was refused.

    Raises IdempotencyKeyReused: the key stands for another request.
    """
    if record is None:
        return None
    if record.facts.get("body_hash") != token.body_hash:
        raise IdempotencyKeyReused(detail="this idempotency key stands for a request with another body")
    return None if record.facts.get("refused") else record.body or ""
