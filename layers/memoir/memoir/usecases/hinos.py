"""Prepare and commit with Hinos: asked before a reply, told after it, each commit sent at most once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memoir.domain.hinos import (
    CLAIM_SECONDS,
    Claim,
    PreparedMemory,
    check_claim,
    check_committed,
    read_prepared,
    texts_hash,
)
from memoir.domain.scope import Scope
from memoir.errors import HinosBadReply, HinosFailed, HinosTimeout, HinosUnavailable, MemoirError
from memoir.hinos_ports import ClaimStore, Hinos
from memoir.ports import Clock, EventBus

MemoryIngest = Literal["best_effort", "required"]

_OUTCOME_UNKNOWN = "hinos_outcome_unknown"


@dataclass(frozen=True, kw_only=True)
class HinosPorts:
    """What the proxy needs from the outside world."""

    hinos: Hinos
    claims: ClaimStore
    events: EventBus
    clock: Clock


@dataclass(frozen=True, kw_only=True)
class Committed:
    """What became of a commit. `error`: the code of its failure, empty for none. `failure`: the error."""

    committed: bool
    error: str = ""
    failure: HinosFailed | None = None


def prepare(ports: HinosPorts, *, scope: Scope, body: Mapping[str, Any], request_id: str) -> PreparedMemory:
    """Ask Hinos for the memory of the coming reply, and keep the claim that it gives.

    Raises HinosUnavailable, HinosTimeout, HinosBadReply: generation must stop; StoreUnavailable,
    WriteOutcomeUnknown.
    """
    reply = ports.hinos.call("/v1/memory/prepare", body, headers=_headers(scope, request_id))
    prepared = read_prepared(reply)
    ports.claims.keep(scope, prepared.claim_id, valid_until=ports.clock() + CLAIM_SECONDS)
    return prepared


def commit(
    ports: HinosPorts, *, scope: Scope, claim_id: str, user: str, assistant: str, request_id: str
) -> Committed:
    """Tell Hinos what was said under a claim, once; the same commit again answers what became of the first.

    Raises NotFound, ClaimConflict, ClaimExpired: nothing was sent; StoreUnavailable, WriteOutcomeUnknown.
    """
    texts = texts_hash(user=user, assistant=assistant)
    used = ports.claims.take(scope, claim_id, texts=texts, now=ports.clock())
    if used is not None:
        return _earlier(check_claim(used, texts=texts, now=ports.clock()))
    body = {"claim_id": claim_id, "user": user, "assistant": assistant}
    try:
        check_committed(ports.hinos.call("/v1/memory/commit", body, headers=_headers(scope, request_id)))
    except HinosFailed as failure:
        never_sent = isinstance(failure, HinosUnavailable | HinosTimeout) and not failure.sent
        state: Literal["prepared", "unknown"] = "prepared" if never_sent else "unknown"
        ports.claims.settle(scope, claim_id, state=state, error_code=failure.code)
        _tell(ports, scope, claim_id, failure.code)
        return Committed(committed=False, error=failure.code, failure=failure)
    ports.claims.settle(scope, claim_id, state="committed")
    return Committed(committed=True)


def _earlier(claim: Claim) -> Committed:
    """Return what became of a claim's first commit. One that nobody settled is as unknown as a lost one."""
    if claim.state == "committed":
        return Committed(committed=True)
    code = claim.error_code or _OUTCOME_UNKNOWN
    kinds: dict[str, type[HinosFailed]] = {
        HinosUnavailable.code: HinosUnavailable,
        HinosBadReply.code: HinosBadReply,
    }
    kind = kinds.get(code, HinosTimeout)
    return Committed(
        committed=False, error=code, failure=kind(detail="the first commit of this claim failed")
    )


def _tell(ports: HinosPorts, scope: Scope, claim_id: str, code: str) -> None:
    detail = {"conversationId": scope.conversation, "claimId": claim_id, "code": code}
    try:
        ports.events.publish("MemoryWriteFailed", detail)
    except MemoirError:
        return  # the answer tells of the failure as well


def _headers(scope: Scope, request_id: str) -> dict[str, str]:
    return {"x-flow-conversation-id": scope.conversation, "x-request-id": request_id}
