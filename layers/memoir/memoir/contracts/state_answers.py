"""What the routes of the state answer."""

from typing import TYPE_CHECKING, Any, TypedDict

from memoir.contracts.answers import Answer, spliced

if TYPE_CHECKING:
    from memoir.domain.state.record import Judged, ReadState


class StateAnswer(TypedDict):
    """A state: null at revision 0, and at one that a rewind left without."""

    revision: int
    state: Any


class ProjectionAnswer(TypedDict):
    """What an audience sees of a state. `text`: as `actorState` or `directorState` gives it to a model."""

    revision: int
    audience: str
    state: Any
    text: str


class CandidateAnswer(TypedDict):
    """What became of a candidate."""

    changed: bool
    revision: int


def state_answer(read: "ReadState") -> Answer:
    """Return the answer to a read of a state."""
    body: StateAnswer = {"revision": read.revision, "state": spliced(read.state)}
    return Answer(body=body, etag=str(read.revision), facts={"revision_after": read.revision})


def projection_answer(read: "ReadState") -> Answer:
    """Return the answer to a projection. It has no ETag: a change of the scenario changes it too."""
    body: ProjectionAnswer = {
        "revision": read.revision,
        "audience": str(read.audience),
        "state": spliced(read.state),
        "text": read.text,
    }
    return Answer(body=body, facts={"revision_after": read.revision, "audience": str(read.audience)})


def candidate_answer(judged: "Judged") -> Answer:
    """Return what became of a candidate."""
    body: CandidateAnswer = {"changed": judged.changed, "revision": judged.revision}
    facts = {"revision_after": judged.revision, "changed": judged.changed}
    return Answer(body=body, etag=str(judged.revision), facts=facts)
