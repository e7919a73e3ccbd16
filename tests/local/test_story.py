"""The story over HTTP: settled on the accepted turn, once, and in the next context."""

import secrets
from concurrent.futures import ThreadPoolExecutor

from tests.api import Api

PATH = "/v1/conversations/c1/story"
SCENARIO = {
    "memoryRuntime": "axon_go",
    "documents": ["story"],
    "template": {"messages": [{"role": "system", "content": "{{ storyNarrative }}"}, {"history": True}]},
}


def _say(api: Api, turn_id: str) -> None:
    texts = {"user": {"text": "问"}, "assistant": {"text": "答"}}
    said = api.call(
        "POST",
        "/v1/conversations/c1/turns",
        {"turnId": turn_id, "scenarioId": "default", "accepted": True, **texts},
    )
    assert said.status == 202, said.text


def test_two_hosts_settle_one_claim_and_the_next_context_has_the_winners_story(api: Api) -> None:
    name = f"inn-{secrets.token_hex(4)}"
    api.call("PUT", f"/v1/scenarios/{name}", {"expectedRevision": 0, "scenario": SCENARIO})
    _say(api, "t1")
    claim = api.call("POST", f"{PATH}/prepare", {}).json["claim"]
    bodies = [
        {
            "claim": claim,
            "events": [{"id": f"e{host}", "text": "门开了。"}],
            "narrative": f"夜{host}。",
        }
        for host in range(2)
    ]
    with ThreadPoolExecutor(2) as hosts:
        answers = list(hosts.map(lambda body: api.call("POST", f"{PATH}/settle", body), bodies))
    winner = [answer.status for answer in answers].index(200)
    loser = answers[1 - winner]
    assert (loser.status, loser.json["code"], loser.json["moved"]) == (409, "story_conflict", "claim")
    assert api.call("POST", f"{PATH}/settle", bodies[winner]).json == {"revision": 1}
    story = api.call("GET", PATH).json
    assert (story["events"], story["anchor"]) == (bodies[winner]["events"], {"turnId": "t1"})
    context = {"scenarioId": name, "history": [{"role": "user", "content": "去哪？"}]}
    seen = api.call("POST", "/v1/conversations/c1/context", context).json
    assert seen["messages"][0]["content"] == f"夜{winner}。"


def test_a_turn_accepted_meanwhile_moves_the_anchor(api: Api) -> None:
    _say(api, "t1")
    claim = api.call("POST", f"{PATH}/prepare", {}).json["claim"]
    _say(api, "t2")
    moved = api.call("POST", f"{PATH}/settle", {"claim": claim, "events": [], "world": {}})
    assert (moved.status, moved.json["moved"], moved.json["currentTurnId"]) == (409, "anchor", "t2")
