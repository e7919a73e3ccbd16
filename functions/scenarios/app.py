"""GET /v1/scenarios, GET, PUT and DELETE /v1/scenarios/{scenarioId}: a product's choices of memory."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import revision_answer, scenario_answer, scenarios_answer
from memoir.contracts.sizes import SCENARIO_BODY_BYTES
from memoir.domain.scope import check_path_id
from memoir.edge.http import Route, serve
from memoir.edge.paging import SCENARIO, read_before, read_limit
from memoir.edge.request import Request
from memoir.usecases import scenarios


def scenario_id(request: Request) -> str:
    """Return the id in the path."""
    return check_path_id(request.path_parameter("scenarioId"), path="scenarioId")


def get_all(request: Request) -> Any:
    """Read a page of scenarios."""
    return scenarios.list_all(
        wiring.engine(),
        owner=request.product,
        after=read_before(request.query, SCENARIO),
        limit=read_limit(request.query),
    )


def get(request: Request) -> Any:
    """Read a scenario."""
    return scenarios.read_one(wiring.engine(), owner=request.product, scenario_id=scenario_id(request))


def read_put(request: Request, body: bytes) -> Any:
    """Read a scenario that is to be saved; all that is wrong with it is told at once."""
    from memoir.contracts.scenarios import read_put_scenario

    request.check_admin()
    return read_put_scenario(body, scenario_id=scenario_id(request), check_schema=wiring.check_schema)


def put(request: Request) -> Any:
    """Replace a scenario whole."""
    return scenarios.replace_one(
        wiring.engine(),
        owner=request.product,
        scenario_id=scenario_id(request),
        expected=request.body.expected_revision,
        text=request.body.text,
        program=request.body.program,
        token=request.token,
    )


def delete(request: Request) -> Any:
    """Delete a scenario; what turns named of it stays."""
    request.check_admin()
    return scenarios.delete_one(wiring.engine(), owner=request.product, scenario_id=scenario_id(request))


ROUTES = {
    "GET /v1/scenarios": Route(run=get_all, answer=scenarios_answer, event="scenarios.read"),
    "GET /v1/scenarios/{scenarioId}": Route(run=get, answer=scenario_answer, event="scenario.read"),
    "PUT /v1/scenarios/{scenarioId}": Route(
        reads=read_put,
        max_bytes=SCENARIO_BODY_BYTES,
        run=put,
        answer=revision_answer,
        event="scenario.replaced",
    ),
    "DELETE /v1/scenarios/{scenarioId}": Route(run=delete, answer=revision_answer, event="scenario.deleted"),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
