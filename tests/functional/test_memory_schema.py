"""`memorySchema` by the real handlers on moto: what breaks it is refused, and nothing is written."""

from typing import Any

import pytest

from memoir import wiring
from memoir.usecases.scenarios import KEPT_SECONDS
from tests.handlers import HOST, call

ADMIN = {**HOST, "scope": f"{HOST['scope']} memory/admin"}
SCHEMA = {"type": "object", "properties": {"mood": {"enum": ["calm", "angry"]}}, "required": ["mood"]}


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


@pytest.fixture
def requests(client: Any) -> list[str]:
    made: list[str] = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: made.append(model.name))
    return made


def save(name: str, *, revision: int = 0, **members: Any) -> None:
    scenario = {"memoryRuntime": "axon_go", "memorySources": [], "documents": ["memory"], **members}
    body = {"expectedRevision": revision, "scenario": scenario}
    path = {"scenarioId": name}
    answer = call("PUT /v1/scenarios/{scenarioId}", body, path=path, claims=ADMIN, user=None)
    assert answer.status == 200, answer.text


def put(memory: Any, *, revision: int = 0, scenario: str | None = None, user: str = "u") -> Any:
    query = {"scenarioId": scenario} if scenario else {}
    body = {"expectedRevision": revision, "memory": memory}
    return call("PUT …/memory", body, query=query, user=user)


def test_a_memory_that_breaks_the_schema_is_refused_with_its_place_and_not_written() -> None:
    save("inn", memorySchema=SCHEMA)
    refused = put({"mood": "odd"}, scenario="inn")
    assert (refused.status, refused.code) == (422, "update_refused")
    assert [(one["path"], one["rule"]) for one in refused.json["problems"]] == [("/mood", "enum")]
    assert call("GET …/memory").json == {"revision": 0, "memory": None}
    assert put({"mood": "calm"}, scenario="inn").json == {"revision": 1}


def test_the_schema_of_the_products_default_counts_where_no_scenario_is_named() -> None:
    save("default", memorySchema=SCHEMA)
    assert put({"mood": "odd"}).code == "update_refused"
    assert put({"mood": "calm"}).status == 200


def test_no_schema_refuses_nothing_and_no_scenario_is_told() -> None:
    save("free")
    assert put({"mood": "odd"}, scenario="free").status == 200
    unknown = put({}, revision=1, scenario="nobody-knows")
    assert (unknown.status, unknown.code) == (404, "scenario_unknown")


def test_a_write_is_one_request_while_the_scenario_is_kept(requests: list[str]) -> None:
    for revision in range(3):
        assert put({"n": revision}, revision=revision).status == 200
    assert requests[0] == "GetItem"
    assert requests.count("GetItem") == 1
    del requests[:]
    assert put({"n": 3}, revision=3).status == 200
    assert requests == ["UpdateItem"]


def test_a_new_schema_counts_after_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_793_500_000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    wiring.engine.cache_clear()
    wiring.memory_schemas.cache_clear()
    wiring.scenarios.cache_clear()
    save("inn")
    assert put({"mood": "odd"}, scenario="inn").status == 200
    save("inn", revision=1, memorySchema=SCHEMA)
    now[0] += KEPT_SECONDS
    assert put({"mood": "odd"}, revision=1, scenario="inn").code == "update_refused"


def test_the_repeat_of_a_write_that_was_made_has_its_answer_whatever_the_schema_says_since() -> None:
    wiring.scenarios.cache_clear()
    wiring.memory_schemas.cache_clear()
    save("inn")
    body = {"expectedRevision": 0, "memory": {"mood": "odd"}}
    key = {"query": {"scenarioId": "inn"}, "idempotency_key": "again-1"}
    assert call("PUT …/memory", body, **key).json == {"revision": 1}
    save("inn", revision=1, memorySchema=SCHEMA)
    wiring.scenarios.cache_clear()
    wiring.memory_schemas.cache_clear()
    assert call("PUT …/memory", body, **key).json == {"revision": 1}
    assert call("PUT …/memory", body, query={"scenarioId": "inn"}).code == "update_refused"
    other = {"expectedRevision": 1, "memory": {"mood": "other"}}
    assert call("PUT …/memory", other, **key).code == "idempotency_key_reused"
