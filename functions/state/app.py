"""GET and PUT …/state, POST …/state/candidates, GET …/state/projection: the V2 background state."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import revision_answer
from memoir.contracts.state_answers import candidate_answer, projection_answer, state_answer
from memoir.domain.state.settings import read_audience
from memoir.edge.http import Route, lazily, serve
from memoir.edge.paging import read_revision
from memoir.edge.request import Request
from memoir.usecases import state
from memoir.usecases.kept_revisions import kept_state


def get(request: Request) -> Any:
    """Read the whole state and its revision, or a revision that is kept."""
    revision = read_revision(request.query)
    if revision is not None:
        return kept_state(wiring.engine(), scope=request.conversation, revision=revision)
    return state.read_state(wiring.engine(), scope=request.conversation)


def project(request: Request) -> Any:
    """Read what an audience may see of it."""
    return state.project(
        wiring.governed_reads(),
        scope=request.conversation,
        audience=read_audience(request.query),
        scenario_id=request.query.get("scenarioId"),
    )


def put(request: Request) -> Any:
    """Replace the state whole."""
    return state.replace_state(
        wiring.governed_reads(),
        scope=request.conversation,
        expected=request.body.expected_revision,
        state=request.body.state,
        text=request.body.state_text,
        scenario_id=request.body.scenario_id,
        token=request.token,
    )


def propose(request: Request) -> Any:
    """Judge a candidate, and store it if it changes the state."""
    return state.propose_state(
        wiring.governed_reads(),
        scope=request.conversation,
        expected=request.body.expected_revision,
        candidate=request.body.candidate,
        text=request.body.candidate_text,
        based_on_round=request.body.based_on_round,
        scenario_id=request.body.scenario_id,
        token=request.token,
    )


ROUTES = {
    "GET /v1/conversations/{id}/state": Route(run=get, answer=state_answer, event="state.read"),
    "GET /v1/conversations/{id}/state/projection": Route(
        run=project, answer=projection_answer, event="state.projected"
    ),
    "PUT /v1/conversations/{id}/state": Route(
        reads=lazily("memoir.contracts.state", "read_put_state"),
        run=put,
        answer=revision_answer,
        event="state.replaced",
    ),
    "POST /v1/conversations/{id}/state/candidates": Route(
        reads=lazily("memoir.contracts.state", "read_post_candidate"),
        run=propose,
        answer=candidate_answer,
        event="state.judged",
        keeps=True,
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
