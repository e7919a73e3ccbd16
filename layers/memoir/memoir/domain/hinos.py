"""Hinos, the external memory: claims that are committed at most once, and what its answers have to be."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from memoir.errors import ClaimConflict, ClaimExpired, HinosBadReply, NotFound

ClaimState = Literal["prepared", "committing", "committed", "unknown"]
"""prepared: may be committed. committing: a commit was sent, or its sender is gone. committed: Hinos said so.
unknown: the commit was sent and Hinos did not say."""

CLAIM_SECONDS = 3_600
MAX_CLAIM_ID_CHARACTERS = 512


@dataclass(frozen=True, kw_only=True)
class PreparedMemory:
    """What Hinos prepared for a reply. Empty `memory` is a success: there is nothing to remember yet."""

    claim_id: str
    memory: str
    turn: int
    state_through_round: int


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is kept of a claim: its state, a hash of the texts committed under it, how long it holds, who took
    it, and the scenario under which it was prepared, empty where the host named none."""

    state: ClaimState
    texts_hash: str
    valid_until: float
    error_code: str = ""
    taker: str = ""
    scenario_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A turn to commit under a claim."""

    claim_id: str
    user: str
    assistant: str


@dataclass(frozen=True, kw_only=True)
class Committed:
    """What became of a commit. `error`: the code of its failure, empty for none."""

    committed: bool
    error: str = ""


def texts_hash(*, user: str, assistant: str) -> str:
    """Return the hash by which a commit that comes again is known."""
    return hashlib.sha256(json.dumps([user, assistant]).encode()).hexdigest()[:32]


def read_prepared(reply: Any) -> PreparedMemory:
    """Return what Hinos prepared. Further members are allowed. Raises HinosBadReply, naming the member."""
    if not isinstance(reply, dict):
        raise HinosBadReply(detail="Hinos answered no JSON object")
    claim_id = reply.get("claim_id")
    if not isinstance(claim_id, str) or not 1 <= len(claim_id) <= MAX_CLAIM_ID_CHARACTERS:
        raise _bad("claim_id", f"text of 1 to {MAX_CLAIM_ID_CHARACTERS} characters")
    if not isinstance(reply.get("memory"), str):
        raise _bad("memory", "text")
    for name in ("turn", "state_through_round"):
        value = reply.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise _bad(name, "a whole number, at least 0")
    return PreparedMemory(
        claim_id=claim_id,
        memory=reply["memory"],
        turn=reply["turn"],
        state_through_round=reply["state_through_round"],
    )


def check_committed(reply: Any) -> None:
    """Check that Hinos has taken the turn. Raises HinosBadReply: `committed` is not exactly true."""
    if not isinstance(reply, dict) or reply.get("committed") is not True:
        raise _bad("committed", "true")


def check_claim(claim: Claim | None, *, texts: str, now: float) -> Claim:
    """Return a claim that is not free any more, if *texts* are those that it was used for.

    Raises NotFound (no such claim in this conversation), ClaimExpired, ClaimConflict (used for other texts).
    """
    if claim is None:
        raise NotFound(path="/claim_id", detail="/claim_id: this conversation has no such claim")
    if claim.state == "prepared" and claim.valid_until <= now:
        raise ClaimExpired(detail="/claim_id: the claim has expired; prepare again", path="/claim_id")
    if claim.texts_hash != texts:
        raise ClaimConflict(detail="/claim_id: the claim was used for other texts", path="/claim_id")
    return claim


def _bad(name: str, wanted: str) -> HinosBadReply:
    return HinosBadReply(detail=f"in Hinos's answer, {name} is not {wanted}", member=name)
