"""`PUT …/state` and `POST …/state/candidates`."""

from dataclasses import dataclass
from typing import Any

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.json_value import part_text
from memoir.domain.revision import Revision, check_expected_revision
from memoir.domain.scope import check_opaque_id
from memoir.strict_json import compact_json, read_json


class _PutState(Contract):
    expected_revision: Any
    state: Any
    scenario_id: str | None = None


class _BasedOn(Contract):
    round: Any


class _PostCandidate(Contract):
    expected_revision: Any
    candidate: Any
    based_on: _BasedOn | None = None
    scenario_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class PutState:
    """A request to replace a state. `state` is parsed JSON that the domain checks, `state_text` its text."""

    expected_revision: Revision
    state: Any
    state_text: str
    scenario_id: str | None
    compact_body: str


@dataclass(frozen=True, kw_only=True)
class PostCandidate:
    """A candidate for the next state, None: no update. `candidate_text` is its JSON text."""

    expected_revision: Revision
    candidate: Any
    candidate_text: str
    based_on_round: int | None
    scenario_id: str | None
    compact_body: str


def read_put_state(body: bytes) -> PutState:
    """Return the request that *body* is. Raises JsonMalformed, RequestInvalid, LimitExceeded."""
    value = read_json(body)
    request = read_contract(_PutState, value)
    text = compact_json(body, value)
    return PutState(
        expected_revision=check_expected_revision(request.expected_revision),
        state=request.state,
        state_text=part_text(text, "state"),
        scenario_id=_scenario(request.scenario_id),
        compact_body=text,
    )


def read_post_candidate(body: bytes) -> PostCandidate:
    """Return the request that *body* is; `candidate` has to be there, be it null.

    Raises JsonMalformed, RequestInvalid, LimitExceeded, each naming the place.
    """
    value = read_json(body)
    request = read_contract(_PostCandidate, value)
    text = compact_json(body, value)
    based_on = request.based_on
    return PostCandidate(
        expected_revision=check_expected_revision(request.expected_revision),
        candidate=request.candidate,
        candidate_text=part_text(text, "candidate"),
        based_on_round=check_expected_revision(based_on.round, path="/basedOn/round") if based_on else None,
        scenario_id=_scenario(request.scenario_id),
        compact_body=text,
    )


def _scenario(scenario_id: str | None) -> str | None:
    return None if scenario_id is None else check_opaque_id(scenario_id, path="/scenarioId")
