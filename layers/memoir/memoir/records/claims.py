"""Claims of Hinos's: a conditional write decides who may commit, and it names who took the claim."""

from typing import get_args

from memoir.domain.hinos import Claim, ClaimState
from memoir.domain.scope import Scope
from memoir.errors import RecordCorrupt
from memoir.ports.records import ABSENT, Amend, Fact, Is, Put, Record, RecordKey, Stands, stands

# What became of a claim can be asked for a day after it has expired.
_KEPT_SECONDS = 86_400

_STATES: dict[str, ClaimState] = {state: state for state in get_args(ClaimState)}


def claim_key(scope: Scope, claim_id: str) -> RecordKey:
    """Return the key of a claim that Hinos gave."""
    return RecordKey(owner=scope, kind="claim", name=(claim_id,))


def claim_write(key: RecordKey, *, valid_until: float, scenario_id: str = "") -> Put:
    """Return the write of a new claim, prepared under a scenario; one that is kept already stays as it is."""
    governed: dict[str, Fact] = {"scenario_id": scenario_id} if scenario_id else {}
    record = Record(
        facts={"claim_state": "prepared", "valid_until": int(valid_until), **governed},
        expires_at=int(valid_until) + _KEPT_SECONDS,
    )
    return Put(key=key, record=record, when=ABSENT)


def claim_take(key: RecordKey, *, taker: str, texts: str, now: float) -> Amend:
    """Return the write by which *taker* takes a prepared claim for committing *texts*."""
    free = (Is("claim_state", "=", "prepared"), Is("valid_until", ">", int(now)))
    facts = {"claim_state": "committing", "texts_hash": texts, "taker": taker, "error_code": ""}
    return Amend(key=key, facts=facts, when=(Stands(facts=free),))


def claim_settle(key: RecordKey, *, taker: str, state: ClaimState, error_code: str = "") -> Amend:
    """Return the write by which *taker* notes what became of its claim."""
    facts = {"claim_state": state, "error_code": error_code}
    return Amend(key=key, facts=facts, when=stands(claim_state="committing", taker=taker))


def read_claim(record: Record) -> Claim:
    """Return a stored claim. Raises RecordCorrupt."""
    state = _STATES.get(record.text("claim_state"))
    if state is None:
        raise RecordCorrupt(detail="a stored claim breaks its own rules; it is kept as it is")
    return Claim(
        state=state,
        texts_hash=record.text("texts_hash"),
        valid_until=record.number("valid_until"),
        error_code=record.text("error_code"),
        taker=record.text("taker"),
        scenario_id=record.text("scenario_id"),
    )
