"""The state over HTTP: what each audience sees of it, and what the next context gets."""

import secrets

from tests.api import Api

SECRET = "canary-5d1e"
PATH = "/v1/conversations/c1/state"
SCENE = {"text": "酒馆里很安静。", "records": {"plot": [{"plan": SECRET}], "people": [{"name": "守卫"}]}}
SCENARIO = {
    "memoryRuntime": "axon_go",
    "documents": ["state"],
    "state": {"categories": ["plot", "people"], "visibility": {"plot": "director"}},
    "template": {"messages": [{"role": "system", "content": "{{ actorState }}"}, {"history": True}]},
}


def test_the_next_context_has_the_state_and_the_actor_nothing_of_the_directors(api: Api) -> None:
    name = f"inn-{secrets.token_hex(4)}"
    saved = api.call("PUT", f"/v1/scenarios/{name}", {"expectedRevision": 0, "scenario": SCENARIO})
    assert saved.json == {"revision": 1}
    put = api.call("PUT", PATH, {"expectedRevision": 0, "state": SCENE, "scenarioId": name})
    assert put.json == {"revision": 1}
    context = {"scenarioId": name, "history": [{"role": "user", "content": "去哪？"}]}
    seen = api.call("POST", "/v1/conversations/c1/context", context)
    assert "守卫" in seen.json["messages"][0]["content"]
    assert SECRET not in seen.text
    actor = api.call("GET", f"{PATH}/projection?audience=actor&scenarioId={name}")
    assert actor.json["state"]["records"] == {"people": [{"name": "守卫"}]}
    director = api.call("GET", f"{PATH}/projection?audience=director&scenarioId={name}")
    assert director.json["state"] == SCENE


def test_a_candidate_is_stored_once_and_an_older_one_is_refused(api: Api) -> None:
    body = {"expectedRevision": 0, "candidate": SCENE, "basedOn": {"round": 5}}
    assert api.call("POST", f"{PATH}/candidates", body).json == {"changed": True, "revision": 1}
    assert api.call("POST", f"{PATH}/candidates", body).json == {"changed": False, "revision": 1}
    older = {"expectedRevision": 1, "candidate": {**SCENE, "text": "x"}, "basedOn": {"round": 4}}
    refused = api.call("POST", f"{PATH}/candidates", older)
    assert (refused.status, refused.json["code"]) == (409, "candidate_stale")
    assert api.call("GET", PATH).json == {"revision": 1, "state": SCENE}
