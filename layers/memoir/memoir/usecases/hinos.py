"""Prepare and commit with Hinos: asked before a reply, told after it, each commit sent at most once.

credential ── take the claim (it names its taker) ── send ── note what became of it
     └─ nothing is taken before it is there        └─ never sent: the claim is given back
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from memoir.domain.hinos import (
    CLAIM_SECONDS,
    Claim,
    ClaimState,
    Commit,
    Committed,
    PreparedMemory,
    check_claim,
    check_committed,
    read_prepared,
    texts_hash,
)
from memoir.domain.scenario import Scenario
from memoir.domain.scope import Scope, check_opaque_id
from memoir.domain.write_token import WriteToken
from memoir.errors import (
    HinosBadReply,
    HinosFailed,
    HinosTimeout,
    HinosUnavailable,
    HinosUncertain,
    MemoirError,
    NotFound,
    RequestInvalid,
    StoreUnavailable,
    WriteOutcomeUnknown,
)
from memoir.ports.events import EventBus
from memoir.ports.hinos import Hinos
from memoir.ports.records import Refused, Write
from memoir.records.claims import claim_key, claim_settle, claim_take, claim_write, read_claim
from memoir.usecases.engine import Engine, answer_keys
from memoir.usecases.scenarios import governing, governing_keys
from memoir.usecases.tell_others import whose

MemoryIngest = Literal["best_effort", "required"]

_OUTCOME_UNKNOWN = "hinos_outcome_unknown"
_TRIES = 3

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class HinosPorts:
    """What the proxy needs. `default`: the built-in scenario."""

    engine: Engine
    hinos: Hinos
    events: EventBus
    default: Scenario
    sleep: Callable[[float], None]


def prepare(ports: HinosPorts, *, scope: Scope, body: Mapping[str, Any], request_id: str) -> PreparedMemory:
    """Ask Hinos for the memory of the coming reply, and keep the claim that it gives.

    Raises HinosUnavailable, HinosTimeout, HinosBadReply: generation must stop; StoreUnavailable,
    WriteOutcomeUnknown.
    """
    ports.hinos.ready()
    reply = ports.hinos.call("/v1/memory/prepare", body, headers=_headers(scope, request_id))
    prepared = read_prepared(reply)
    valid_until = ports.engine.clock() + CLAIM_SECONDS
    claim = claim_write(
        claim_key(scope, prepared.claim_id), valid_until=valid_until, scenario_id=_scenario_of(body)
    )
    try:
        ports.engine.records.write(claim)
    except Refused:
        return prepared  # it is kept already, and stays as it is
    return prepared


def commit(ports: HinosPorts, *, scope: Scope, turn: Commit, request_id: str, token: WriteToken) -> Committed:
    """Tell Hinos what was said under a claim, once; the same commit again answers what became of the first.

    Every failure is told to others. Raises NotFound, ClaimConflict, ClaimExpired, IdempotencyKeyReused:
    nothing was sent; StoreUnavailable, WriteOutcomeUnknown: nothing was sent; HinosFailed, where the commit
    failed and `memoryIngest` of the scenario that it was prepared under is required.
    """
    try:
        _commit(ports, scope, turn, request_id=request_id, token=token)
    except HinosFailed as failure:
        _tell(ports, scope, turn.claim_id, failure.code)
        if _memory_ingest(ports, scope, turn.claim_id) == "required":
            raise
        return Committed(committed=False, error=failure.code)
    except (StoreUnavailable, WriteOutcomeUnknown) as failure:
        _tell(ports, scope, turn.claim_id, failure.code)
        raise
    return Committed(committed=True)


def _commit(ports: HinosPorts, scope: Scope, turn: Commit, *, request_id: str, token: WriteToken) -> None:
    ports.hinos.ready()
    texts = texts_hash(user=turn.user, assistant=turn.assistant)
    taker = secrets.token_urlsafe(9)
    used = _take(ports, scope, turn.claim_id, taker=taker, texts=texts, token=token)
    if used is not None:
        _check_earlier(check_claim(used, texts=texts, now=ports.engine.clock()))
        return
    body = {"claim_id": turn.claim_id, "user": turn.user, "assistant": turn.assistant}
    try:
        check_committed(ports.hinos.call("/v1/memory/commit", body, headers=_headers(scope, request_id)))
    except HinosFailed as failure:
        never_sent = isinstance(failure, HinosUnavailable | HinosTimeout) and not failure.sent
        state: ClaimState = "prepared" if never_sent else "unknown"
        _settle(ports, scope, turn.claim_id, taker=taker, state=state, error_code=failure.code)
        raise
    _settle(ports, scope, turn.claim_id, taker=taker, state="committed")


def _take(
    ports: HinosPorts, scope: Scope, claim_id: str, *, taker: str, texts: str, token: WriteToken
) -> Claim | None:
    """Take a prepared claim; None if it is ours now, else what is stored of it.

    A lost answer burns no claim: the next try finds our own name on it.
    """
    key, engine = claim_key(scope, claim_id), ports.engine
    answered = answer_keys(scope, token) and engine.answered(
        scope, token, engine.records.read(*answer_keys(scope, token))
    )
    kept = engine.kept(scope, token) if answered in ((), None) else ()
    take = claim_take(key, taker=taker, texts=texts, now=engine.clock())

    def once() -> Claim | None:
        writes: tuple[Write, ...] = (take, *kept)
        try:
            engine.records.write(*writes)
        except Refused as refused:
            held = refused.held.get(key.kind) or engine.records.read(key).get(key)
            if held is None:
                raise NotFound(
                    path="/claim_id", detail="/claim_id: this conversation has no such claim"
                ) from refused
            claim = read_claim(held)
            return None if claim.taker == taker and claim.state == "committing" else claim
        return None

    return _again(once, ports.sleep)


def _settle(
    ports: HinosPorts, scope: Scope, claim_id: str, *, taker: str, state: ClaimState, error_code: str = ""
) -> None:
    """Note what became of a claim; what Hinos answered stands, whether or not the note can be stored."""
    settle = claim_settle(claim_key(scope, claim_id), taker=taker, state=state, error_code=error_code)

    def once() -> None:
        try:
            ports.engine.records.write(settle)
        except Refused:
            return  # an earlier try of ours has noted it

    try:
        _again(once, ports.sleep)
    except (StoreUnavailable, WriteOutcomeUnknown):
        return


def _scenario_of(body: Mapping[str, Any]) -> str:
    """Return the scenario that a prepare names, empty where it names none that could be one."""
    source = body.get("source")
    named = source.get("scenarioId") if isinstance(source, dict) else None
    try:
        return check_opaque_id(named, path="/source/scenarioId") if isinstance(named, str) else ""
    except RequestInvalid:
        return ""


def _memory_ingest(ports: HinosPorts, scope: Scope, claim_id: str) -> MemoryIngest:
    """Return whether a failed commit is an answer or an error; asked only once it has failed.

    Where the claim's scenario is none of ours, or cannot be read, the built-in one says it.
    """
    key = claim_key(scope, claim_id)
    try:
        held = ports.engine.records.read(key).get(key)
        scenario_id = (read_claim(held).scenario_id if held else "") or ports.default.id
        found = ports.engine.records.read(*governing_keys(scope, scenario_id))
        return governing(found, scope, scenario_id, default=ports.default).memory_ingest
    except MemoirError:
        return ports.default.memory_ingest


def _again(once: Callable[[], Answer], sleep: Callable[[float], None]) -> Answer:
    for attempt in range(1, _TRIES):
        try:
            return once()
        except (StoreUnavailable, WriteOutcomeUnknown):
            sleep(0.2 * attempt)
    return once()


def _check_earlier(claim: Claim) -> None:
    """Raise what became of a claim's first commit. One that nobody settled is as unknown as a lost one."""
    if claim.state == "committed":
        return
    code = claim.error_code or _OUTCOME_UNKNOWN
    kinds: dict[str, type[HinosFailed]] = {
        HinosUnavailable.code: HinosUnavailable,
        HinosBadReply.code: HinosBadReply,
        HinosTimeout.code: HinosTimeout,
    }
    detail = "the first commit of this claim failed"
    if code in kinds:
        raise kinds[code](detail=detail)
    raise HinosUncertain(detail="nobody knows what became of the first commit of this claim")


def _tell(ports: HinosPorts, scope: Scope, claim_id: str, code: str) -> None:
    detail = {**whose(scope), "claimId": claim_id, "code": code}
    try:
        ports.events.publish("MemoryWriteFailed", detail)
    except MemoirError:
        return  # the answer tells of the failure as well


def _headers(scope: Scope, request_id: str) -> dict[str, str]:
    return {"x-flow-conversation-id": scope.conversation, "x-request-id": request_id}
