"""A candidate for the next state: stale, no change, or a new document."""

from memoir.domain.json_document import JsonDocument
from memoir.domain.state.document import same_state, state_document
from memoir.domain.state.settings import StateSettings
from memoir.errors import CandidateStale


def judge_candidate(
    stored: JsonDocument | None,
    candidate: object,
    *,
    stored_round: int,
    based_on_round: int | None,
    settings: StateSettings,
    text: str | None = None,
) -> JsonDocument | None:
    """Return the document to store, None where there is nothing to write.

    *candidate*: parsed JSON, None: the background decided not to update. *text*: its compact JSON text where
    it has been read as strict JSON. *based_on_round*: the round it was made from, None where unsaid.
    Raises what `state_document` raises; CandidateStale: *stored* belongs to a later round.
    """
    if candidate is None:
        return None
    document = state_document(candidate, settings=settings, text=text)
    if based_on_round is not None and stored is not None and based_on_round < stored_round:
        raise CandidateStale(
            based_on_round=based_on_round,
            stored_round=stored_round,
            detail=f"the candidate is based on round {based_on_round}, the state is of round {stored_round}",
        )
    return None if stored is not None and same_state(stored, document) else document
