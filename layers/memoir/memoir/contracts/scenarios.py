"""`PUT /v1/scenarios/{id}`: a scenario, and the revision that it replaces."""

from dataclasses import dataclass
from typing import Any

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.revision import Revision, check_expected_revision
from memoir.domain.scenario.reading import CheckSchema, read_scenario
from memoir.domain.scenario.scenario import Scenario
from memoir.domain.scenario.schema_cost import schema_warnings
from memoir.domain.template.run import Program
from memoir.errors import Problem, RequestInvalid
from memoir.strict_json import compact_json, member_text, read_json


class _PutScenario(Contract):
    expected_revision: Any
    scenario: Any


@dataclass(frozen=True, kw_only=True)
class PutScenario:
    """A checked request to save a scenario.

    `text`: its compact JSON as it was sent, `program`: what its template was made into; both are stored.
    `warnings`: what of its `memorySchema` checks nothing.
    """

    expected_revision: Revision
    scenario: Scenario
    text: str
    program: Program | None
    compact_body: str
    warnings: list[Problem]


def read_put_scenario(body: bytes, *, scenario_id: str, check_schema: CheckSchema) -> PutScenario:
    """Return the request that *body* is. *check_schema*: says what is wrong with a `memorySchema`.

    Raises JsonMalformed, RequestInvalid, LimitExceeded; ScenarioInvalid with all that is wrong.
    """
    # Only here is a template parsed, and Jinja2 takes 44 ms to import.
    from memoir.contracts.template import compile_content

    value = read_json(body)
    request = read_contract(_PutScenario, value)
    expected = check_expected_revision(request.expected_revision)
    if not isinstance(request.scenario, dict):
        raise RequestInvalid(
            code="not_an_object", path="/scenario", detail="/scenario: must be a JSON object"
        )
    scenario = read_scenario(
        request.scenario,
        scenario_id=scenario_id,
        revision=expected + 1,
        compile_content=compile_content,
        check_schema=check_schema,
    )
    text = compact_json(body, value)
    return PutScenario(
        expected_revision=expected,
        scenario=scenario,
        text=member_text(text, member="scenario", beside="expectedRevision"),
        program=scenario.program,
        compact_body=text,
        warnings=schema_warnings(scenario.memory_schema or {}, path="/scenario/memorySchema"),
    )
