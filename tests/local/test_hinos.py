"""Hinos behind the deployed local stack: prepare, reply, commit, and each of its misbehaviours over HTTP."""

import json
from typing import Any

import pytest

from tests.api import Api, send
from tests.localcloud.cloud import Stack

CHAT = {"system": "你是守卫。", "messages": [{"role": "user", "content": "我答应明天归还铜钥匙。"}]}


class Host:
    """A host with a conversation of its own, since misbehaviour is told by conversation."""

    def __init__(self, api: Api, stack: Stack) -> None:
        self.api, self.stack = api, stack
        self.conversation = str(api.user)
        self.base = f"/v1/conversations/{self.conversation}/hinos"

    def prepare(self, **headers: str) -> Any:
        return self.api.call("POST", f"{self.base}/prepare", CHAT, **headers)

    def commit(self, claim_id: str) -> Any:
        body = {"claim_id": claim_id, "user": "我答应明天归还铜钥匙。", "assistant": "守卫点头。"}
        return self.api.call("POST", f"{self.base}/commit", body)

    def misbehave(self, how: str | None, path: str = "prepare") -> None:
        body = {"conversation": self.conversation, "how": how, "path": path}
        url = self.stack["hinosControlUrl"] + "/misbehave"
        headers = {"content-type": "application/json"}
        assert send("POST", url, body=json.dumps(body).encode(), headers=headers).status == 200

    def received(self) -> list[dict[str, Any]]:
        log = send("GET", self.stack["hinosControlUrl"] + "/log").json["log"]
        return [e for e in log if e["headers"]["x-flow-conversation-id"] == self.conversation]


@pytest.fixture
def host(api: Api, stack: Stack) -> Host:
    return Host(api, stack)


def test_what_is_committed_is_prepared_for_the_next_turn(host: Host) -> None:
    first = host.prepare(x_request_id="mine-1")
    assert (first.status, first.json["memory"]) == (200, "")
    for _ in range(2):
        assert host.commit(first.json["claim_id"]).json == {"committed": True}
    assert host.prepare().json["memory"] == "我答应明天归还铜钥匙。 / 守卫点头。"
    received = host.received()
    assert [entry["path"].rsplit("/", 1)[1] for entry in received] == ["prepare", "commit", "prepare"]
    assert received[0]["headers"]["x-request-id"] == "mine-1"


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ("never", 504, "hinos_timeout"),
        ("drip", 504, "hinos_timeout"),
        ("cut", 502, "hinos_unavailable"),
        ("status_500", 502, "hinos_unavailable"),
        ("redirect", 502, "hinos_bad_reply"),
        ("turn_true", 502, "hinos_bad_reply"),
    ],
)
def test_a_prepare_that_fails_stops_generation_and_leaves_nothing_behind(
    host: Host, how: str, status: int, code: str
) -> None:
    host.misbehave(how)
    answer = host.prepare()
    assert (answer.status, answer.json["code"]) == (status, code)
    host.misbehave(None)
    assert host.prepare().status == 200


def test_a_commit_without_an_answer_is_told_and_never_sent_again(host: Host) -> None:
    claim_id = host.prepare().json["claim_id"]
    host.misbehave("never", "commit")
    for _ in range(2):
        answer = host.commit(claim_id)
        assert (answer.status, answer.json) == (200, {"committed": False, "error": "hinos_timeout"})
    assert sum(entry["path"].endswith("commit") for entry in host.received()) == 1


def test_a_claim_of_nobody_is_unknown(host: Host) -> None:
    assert host.commit("claim-of-nobody").status == 404
