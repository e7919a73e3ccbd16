"""What a caller of the memory function is told when the store refuses or loses a request."""

import json
from typing import Any

import pytest

from functions.memory import app
from memoir import wiring
from memoir.domain.scope import Scope
from tests.concurrency.faults import Fault, answer_lost, inject, sent_as_usual, throttled
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c1")


@pytest.fixture
def faults(moto_server_client: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Line up what happens to the next sends of the function."""
    monkeypatch.setenv("MEMOIR_TABLE_NAME", TABLE_NAME)
    monkeypatch.setenv("MEMOIR_ENDPOINT_URL", moto_server_client.meta.endpoint_url)
    factories = (
        wiring.settings,
        wiring.client,
        wiring.engine,
        wiring.scenarios,
        wiring.memory_schemas,
    )
    for factory in factories:
        factory.cache_clear()
    lined_up: list[Fault] = []
    inject(wiring.dynamodb(), lambda _: lined_up.pop(0) if lined_up else sent_as_usual)
    # The scenario is kept for seconds, so that the faults meet the write.
    wiring.memory_schemas().check_of(SCOPE, None)
    yield lined_up
    for factory in factories:
        factory.cache_clear()


def call(method: str, body: Any = None) -> tuple[int, Any, dict[str, str]]:
    claims = {"client_id": "p", "sub": "u"}
    event = {
        "routeKey": f"{method} /v1/conversations/{{id}}/memory",
        "headers": {"content-type": "application/json"},
        "pathParameters": {"id": "c1"},
        "requestContext": {"requestId": "r", "authorizer": {"jwt": {"claims": claims}}},
        "body": json.dumps(body),
    }
    answer = app.handler(event, None)
    return answer["statusCode"], json.loads(answer["body"]), answer["headers"]


def test_a_refused_write_was_not_written_and_may_be_sent_again(faults: list[Fault]) -> None:
    faults[:] = [throttled] * 3
    status, body, headers = call("PUT", {"expectedRevision": 0, "memory": {"a": 1}})
    assert (status, body["code"], headers["retry-after"]) == (503, "store_unavailable", "1")
    assert call("GET")[1] == {"revision": 0, "memory": None}


def test_a_refused_read_is_not_an_empty_memory(faults: list[Fault]) -> None:
    call("PUT", {"expectedRevision": 0, "memory": {"a": 1}})
    faults[:] = [throttled] * 3
    status, body, _ = call("GET")
    assert (status, body["code"]) == (503, "store_unavailable")


def test_a_write_without_an_answer_is_told_as_unknown_and_not_to_be_repeated_blindly(
    faults: list[Fault],
) -> None:
    faults[:] = [answer_lost] * 3
    status, body, headers = call("PUT", {"expectedRevision": 0, "memory": {"a": 1}})
    assert (status, body["code"]) == (503, "write_outcome_unknown")
    assert "retry-after" not in headers
    assert call("GET")[1] == {"revision": 1, "memory": {"a": 1}}


def test_one_lost_answer_is_no_matter(faults: list[Fault]) -> None:
    faults[:] = [answer_lost]
    assert call("PUT", {"expectedRevision": 0, "memory": {"a": 1}})[:2] == (200, {"revision": 1})


def test_a_memory_is_not_written_unchecked_where_its_scenario_cannot_be_read(faults: list[Fault]) -> None:
    wiring.memory_schemas.cache_clear()
    wiring.scenarios.cache_clear()
    faults[:] = [throttled] * 3
    status, body, _ = call("PUT", {"expectedRevision": 0, "memory": {"a": 1}})
    assert (status, body["code"]) == (503, "store_unavailable")
    assert call("GET")[1] == {"revision": 0, "memory": None}
