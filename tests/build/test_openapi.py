"""The description of the API is what the service does, and as the template deploys it."""

import json
import re

import pytest

from memoir import errors
from memoir.edge.http import STATUS
from tests.build.template import RESOURCES
from tests.openapi.description import FILE, description, routes, text
from tests.openapi.operations import OPERATIONS
from tests.openapi.schemas import codes

WHOLE = description()
BY_OPERATION = {
    f"{method.upper()} {path}": told
    for path, methods in WHOLE["paths"].items()
    for method, told in methods.items()
}

# What no request of a host can meet: workers alone raise them, or another class is told in their place.
NOT_TOLD = {"LeaseHeld", "WorkLeft", "ModelFailed", "HinosFailed", "StoreMisused", "RequestRefused"}


def test_what_is_committed_is_what_would_be_made_now() -> None:
    assert FILE.read_text() == text(), "run `make openapi`"


def test_the_template_deploys_these_routes_and_no_others() -> None:
    deployed = {
        f"{event['Properties']['Method']} {event['Properties']['Path']}"
        for resource in RESOURCES.values()
        for event in resource.get("Properties", {}).get("Events", {}).values()
        if event["Type"] == "HttpApi" and "Path" in event["Properties"]
    }
    assert deployed == set(BY_OPERATION) == set(routes()) == set(OPERATIONS)


@pytest.mark.parametrize("key", BY_OPERATION)
def test_an_operation_says_what_a_reader_needs(key: str) -> None:
    told = BY_OPERATION[key]
    assert re.fullmatch(r"[a-z][A-Za-z]+", told["operationId"])
    assert told["summary"] and told["description"] and told["tags"]
    is_open = told.get("security") == []
    assert is_open == OPERATIONS[key].is_open
    assert is_open or {"400", "401", "403", "500", "503"} <= set(told["responses"])
    if "requestBody" in told:
        assert "example" in told["requestBody"]["content"]["application/json"]


def test_operations_are_told_apart() -> None:
    ids = [told["operationId"] for told in BY_OPERATION.values()]
    assert len(set(ids)) == len(ids)


def test_every_error_that_a_host_can_meet_is_described_with_all_its_codes() -> None:
    schemas = WHOLE["components"]["schemas"]
    known = codes()
    for kind in STATUS:
        if kind.__name__ not in NOT_TOLD:
            assert schemas[kind.__name__]["properties"]["code"]["enum"] == sorted(known[kind.__name__])
            assert schemas[kind.__name__]["properties"]["status"]["const"] == STATUS[kind]
    assert {"turn_conflict", "text_too_large", "json_malformed"} <= {
        c for listed in known.values() for c in listed
    }
    assert all(hasattr(errors, name) for name in NOT_TOLD)


def test_it_is_valid_openapi() -> None:
    from openapi_spec_validator import validate

    validate(json.loads(text()))
