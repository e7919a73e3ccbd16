"""A rewind over HTTP: the key is back in the boot for every kind, and the workers go on from there."""

import secrets
from typing import Any

from tests.api import Api

BASE = "/v1/conversations/c1"
PRINTED = ("memory", "memoryTable", "actorState", "storyNarrative")
SCENARIO = {
    "memoryRuntime": "axon_go",
    "memorySources": [{"id": "t", "agentRef": "table", "variable": "memoryTable"}],
    "documents": ["memory", "state", "story"],
    "template": {
        "messages": [
            {"role": "system", "content": "|".join(f"{{{{ {name} }}}}" for name in PRINTED)},
            {"history": True},
        ]
    },
}


def test_a_reply_is_taken_back_for_every_kind(api: Api) -> None:
    name = f"inn-{secrets.token_hex(4)}"

    def call(method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        answer = api.call(method, f"{BASE}{path}", body)
        assert answer.status == status, answer.text
        return answer.json

    def say(number: int, reply: str) -> None:
        seen = context()
        body = {"turnId": f"t{number}", "scenarioId": name, "user": {"text": "问"}, "accepted": True}
        recalled = {**seen["revisions"], "context": seen["context"]}
        call("POST", "/turns", {**body, "assistant": {"text": reply}, "recalled": recalled}, status=202)
        api.wait_for(f"{BASE}/table", lambda answer: answer.json["throughRound"] == number)

    def context() -> Any:
        return call("POST", "/context", {"scenarioId": name, "history": [{"role": "user", "content": "？"}]})

    def keep(where: str, revision: int) -> None:
        call("PUT", "/memory", {"expectedRevision": revision, "memory": {"key": where}})
        state = {"text": f"state: {where}", "records": {}}
        call("PUT", "/state", {"expectedRevision": revision, "state": state, "scenarioId": name})

    def settle(where: str) -> None:
        claim = call("POST", "/story/prepare", {})["claim"]
        call("POST", "/story/settle", {"claim": claim, "narrative": f"story: {where}"})

    api.call("PUT", f"/v1/scenarios/{name}", {"expectedRevision": 0, "scenario": SCENARIO})
    sheet = {"name": "物", "columns": ["what", "where"], "rows": [["key", "nowhere"]]}
    call("PUT", "/table", {"expectedRevision": 0, "table": {"sheets": [sheet]}})
    keep("boot", 0)
    say(1, '<tableEdit>updateRow(0, 0, {"1":"boot"})</tableEdit>')
    settle("boot")
    before = context()["messages"][0]["content"]
    assert before.count("boot") == 4
    say(2, '<tableEdit>updateRow(0, 0, {"1":"guard"})</tableEdit>')
    keep("guard", 1)
    settle("guard")
    assert context()["messages"][0]["content"].count("guard") == 4
    told = call("POST", "/rewind", {"toRound": 1})
    assert told["discarded"] == {"firstRound": 2, "lastRound": 2}
    assert context()["messages"][0]["content"] == before
    body = {"turnId": "t2b", "scenarioId": name, "user": {"text": "问"}, "assistant": {"text": "守卫摇头。"}}
    assert call("POST", "/turns", body, status=202)["round"] == 2
    api.wait_for(f"{BASE}/table", lambda answer: answer.json["throughRound"] == 2)
    assert context()["messages"][0]["content"] == before
    assert [turn["turnId"] for turn in call("GET", "/turns")["turns"]] == ["t2b", "t1"]
