"""The state over its real handlers on moto: CAS, candidates, projections, and the next context."""

import json
from typing import Any

import pytest

from memoir import wiring
from memoir.domain.json_document import JsonDocument
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import random_token
from memoir.records.documents import Change
from memoir.usecases.state import state_key
from tests.handlers import HOST, Answered, call

ADMIN = {**HOST, "scope": f"{HOST['scope']} memory/admin"}
SECRET = "canary-7f3a"
SCENE = {
    "text": "酒馆里很安静。",
    "records": {
        "people": [{"name": "守卫", "mood": "calm"}],
        "plot": [{"plan": SECRET}],
        "items": [{"name": "铜钥匙", "visibility": "both"}, {"name": SECRET, "visibility": "director"}],
    },
}
SETTINGS = {"categories": ["people", "plot", "items"], "visibility": {"plot": "director"}}
TEMPLATE = {
    "messages": [
        {"role": "system", "content": "{{ actorState }}|{{ directorState }}|{{ directorState|upper }}"},
        {"history": True},
    ]
}


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


@pytest.fixture
def requests(client: Any) -> list[str]:
    """The names of the requests that the store was asked."""
    asked: list[str] = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: asked.append(model.name))
    return asked


def save(name: str, *, revision: int = 0, **members: Any) -> None:
    body = {
        "expectedRevision": revision,
        "scenario": {"memoryRuntime": "axon_go", "documents": ["state"], **members},
    }
    answer = call("PUT /v1/scenarios/{scenarioId}", body, path={"scenarioId": name}, claims=ADMIN, user=None)
    assert answer.status == 200, answer.text


def put(state: Any = SCENE, *, expected: int = 0, **members: Any) -> Answered:
    return call("PUT …/state", {"expectedRevision": expected, "state": state, **members})


def propose(candidate: Any, *, expected: int, based_on: int | None = None, **sent: Any) -> Answered:
    based = {} if based_on is None else {"basedOn": {"round": based_on}}
    return call(
        "POST …/state/candidates", {"expectedRevision": expected, "candidate": candidate, **based}, **sent
    )


def project(audience: str, **query: str) -> Answered:
    return call("GET …/state/projection", query={"audience": audience, **query})


def say(number: int, *, scenario: str = "default") -> None:
    texts = {"user": {"text": "问"}, "assistant": {"text": "答"}}
    assert call("POST …/turns", {"turnId": f"t{number}", "scenarioId": scenario, **texts}).status == 202


def text(words: str) -> dict[str, Any]:
    return {"text": words, "records": {}}


def told() -> list[tuple[str, int, str, str]]:
    receipts = call("GET …/receipts").json["receipts"]
    return [(one["worker"], one["round"], one["outcome"], one["reason"]) for one in receipts]


def test_what_was_put_comes_back_number_by_number() -> None:
    state = '{"text":"","records":{"a":[{"n":1.50,"m":9007199254740993}]}}'
    answer = call("PUT …/state", f'{{"expectedRevision":0,"state":{state}}}')
    assert (answer.status, answer.json) == (200, {"revision": 1})
    assert call("GET …/state").text == f'{{"revision":1,"state":{state}}}'
    assert call("GET …/state", if_none_match='"1"').status == 304


def test_none_yet_is_revision_0_and_projects_to_nothing() -> None:
    assert call("GET …/state").json == {"revision": 0, "state": None}
    nothing = {"revision": 0, "audience": "actor", "state": {"text": "", "records": {}}, "text": ""}
    assert project("actor").json == nothing


def test_another_revision_is_a_conflict_that_says_which() -> None:
    put()
    answer = put(text("x"), expected=0)
    assert (answer.code, answer.json["currentRevision"]) == ("revision_conflict", 1)
    refused = propose(text("x"), expected=7)
    assert (refused.code, refused.json["currentRevision"]) == ("revision_conflict", 1)
    assert call("GET …/state").json["state"] == SCENE


def test_a_candidate_that_changes_nothing_writes_nothing_and_leaves_a_receipt(requests: list[str]) -> None:
    put()
    say(1)
    requests.clear()
    assert propose(None, expected=1).json == {"changed": False, "revision": 1}
    assert len(requests) == 2
    shuffled = {"records": dict(reversed(SCENE["records"].items())), "text": SCENE["text"]}
    assert propose(shuffled, expected=1).json == {"changed": False, "revision": 1}
    assert told() == [("candidate", 1, "skipped", "no_update")]
    assert call("GET …/state").json["revision"] == 1


def test_a_candidate_that_changes_the_state_is_two_requests_and_a_receipt(requests: list[str]) -> None:
    say(1)
    requests.clear()
    answer = propose(SCENE, expected=0, based_on=1)
    assert (answer.json, len(requests)) == ({"changed": True, "revision": 1}, 2)
    assert told() == [("candidate", 1, "ok", "saved")]


def test_a_candidate_of_an_older_round_than_the_state_is_refused() -> None:
    assert propose(text("5"), expected=0, based_on=5).json["changed"]
    stale = propose(text("4"), expected=1, based_on=4)
    assert (stale.status, stale.code) == (409, "candidate_stale")
    assert (stale.json["basedOnRound"], stale.json["storedRound"]) == (4, 5)
    assert propose(text("5b"), expected=1, based_on=5).json == {"changed": True, "revision": 2}


def test_a_candidate_of_a_round_that_is_not_there_would_block_all_others_and_is_refused() -> None:
    say(1)
    far = propose(text("9"), expected=0, based_on=9)
    assert (far.status, far.code, far.json["path"]) == (400, "round_unknown", "/basedOn/round")
    assert propose(text("2"), expected=0, based_on=2).json["changed"]  # its turn is still on its way


def test_the_same_key_gets_the_same_answer_also_after_another_writer() -> None:
    say(1)
    first = propose(text("a"), expected=0, idempotency_key="k1")
    assert put(text("b"), expected=1).json == {"revision": 2}
    assert propose(text("a"), expected=0, idempotency_key="k1").json == first.json
    unchanged = propose(None, expected=2, idempotency_key="k2")
    put(text("c"), expected=2)
    assert propose(None, expected=2, idempotency_key="k2").json == unchanged.json
    assert propose(text("z"), expected=3, idempotency_key="k1").code == "idempotency_key_reused"


@pytest.mark.parametrize(
    ("state", "code", "status"),
    [
        ({"text": "", "records": {"spells": []}}, "category_unknown", 422),
        ({"text": "", "records": {"plot": [{"visibility": "public"}]}}, "visibility_unknown", 422),
        ({"text": "x" * 65_536, "records": {}}, "state_too_large", 413),
        ({"text": ""}, "member_missing", 400),
        ([], "not_an_object", 400),
    ],
)
def test_a_state_that_the_scenario_does_not_allow_is_refused_and_nothing_is_written(
    state: Any, code: str, status: int
) -> None:
    save("inn", state=SETTINGS)
    body = {"expectedRevision": 0, "candidate": state, "scenarioId": "inn"}
    for answer in (put(state, scenarioId="inn"), call("POST …/state/candidates", body)):
        assert (answer.status, answer.code) == (status, code)
    assert call("GET …/state").json == {"revision": 0, "state": None}


def test_a_projection_is_one_request_where_the_scenario_is_known(requests: list[str]) -> None:
    save("inn", state=SETTINGS)
    put(scenarioId="inn")
    say(1, scenario="inn")
    project("actor")
    requests.clear()
    assert project("actor", scenarioId="inn").status == 200
    assert project("actor").status == 200
    assert requests == ["BatchGetItem"] * 2


def test_the_newest_turns_scenario_governs_where_none_is_named() -> None:
    save("inn", state=SETTINGS)
    save("open", state={"categories": ["people", "plot", "items"]})
    put(scenarioId="inn")
    say(1, scenario="inn")
    assert SECRET not in project("actor").text
    refused = put({"text": "", "records": {"spells": []}}, expected=1)
    assert refused.code == "category_unknown"
    say(2, scenario="open")
    # Another scenario shows nothing that the one of the last write hid.
    assert SECRET not in project("actor").text
    assert project("director").text.count(SECRET) == 4


def test_a_new_revision_of_the_same_scenario_may_show_what_the_old_one_hid() -> None:
    save("inn", state=SETTINGS)
    put({"text": "", "records": {"plot": [{"plan": SECRET}]}}, scenarioId="inn")
    assert SECRET not in project("actor", scenarioId="inn").text
    save("inn", revision=1, state={**SETTINGS, "visibility": {}})
    assert SECRET in project("actor", scenarioId="inn").text


def test_a_deleted_scenario_still_governs_what_its_turns_left() -> None:
    save("inn", state=SETTINGS)
    put(scenarioId="inn")
    say(1, scenario="inn")
    deleted = call("DELETE /v1/scenarios/{scenarioId}", path={"scenarioId": "inn"}, claims=ADMIN, user=None)
    assert deleted.status == 200
    assert project("actor").status == 200
    assert SECRET not in project("actor").text
    assert project("actor", scenarioId="inn").code == "scenario_unknown"


@pytest.mark.parametrize(
    "query", [{}, {"audience": ""}, {"audience": "Actor"}, {"audience": "actor,director"}]
)
def test_an_unknown_audience_is_refused(query: dict[str, str]) -> None:
    answer = call("GET …/state/projection", query=query)
    assert (answer.status, answer.json["path"]) == (400, "audience")


def context(**body: Any) -> Answered:
    history = [{"role": "user", "content": "去哪？"}]
    return call("POST …/context", {"scenarioId": "inn", "history": history, **body})


def test_no_directors_text_is_in_what_the_actor_gets_nor_in_a_log(caplog: pytest.LogCaptureFixture) -> None:
    save("inn", state=SETTINGS, template=TEMPLATE)
    put(scenarioId="inn")
    actors = context()
    assert actors.json["messages"][0]["content"].startswith("酒馆里很安静。")
    assert "铜钥匙" in actors.text
    assert {one["source"]: one["reason"] for one in actors.json["missing"]} == {
        "directorState": "not_for_audience"
    }
    fails = context(tokenBudget=1)
    stale = propose({**SCENE, "text": "x"}, expected=9)
    bad = put({"text": "", "records": {"plot": [{"plan": SECRET, "visibility": SECRET}]}}, expected=1)
    for answer in (actors, fails, stale, bad, project("actor", scenarioId="inn")):
        assert SECRET not in answer.text
        assert SECRET.upper() not in answer.text
    assert SECRET not in str([vars(record) for record in caplog.records])
    directors = context(audience="director").json["messages"][0]["content"]
    assert SECRET in directors
    assert SECRET.upper() in directors


def test_a_state_that_breaks_its_own_rules_is_told_and_tells_nothing(client: Any) -> None:
    save("inn", state=SETTINGS, template=TEMPLATE)
    put(scenarioId="inn")
    engine = wiring.engine()
    broken = json.dumps({"state": SECRET})
    scope = Scope(product="p", user="u", conversation="c1")
    document = JsonDocument(text=broken, value={}, size_bytes=len(broken))
    engine.change(Change(key=state_key(scope), expected=Revision(1), document=document, token=random_token()))
    for answer in (call("GET …/state"), project("actor"), propose(None, expected=2)):
        assert (answer.status, answer.code) == (500, "record_corrupt")
        assert SECRET not in answer.text
    missing = {one["source"]: one["reason"] for one in context().json["missing"]}
    assert missing["actorState"] == "corrupt"
