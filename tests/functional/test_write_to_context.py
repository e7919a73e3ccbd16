"""Whatever a write acknowledged is in the next context: 500 pairs for each kind, some on DynamoDB Local."""

import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from memoir import wiring
from tests.functional.test_context import put_diary, put_table
from tests.handlers import HOST, call
from tests.tables import TABLE_NAME

ADMIN = {**HOST, "scope": f"{HOST['scope']} memory/admin"}
PAIRS = 500
EVERYTHING = "|".join(
    f"{{{{ {name} }}}}"
    for name in ("memory", "memoryTable", "compassMemory", "actorState", "storyWorld", "storyNarrative")
)


def template(content: str) -> Any:
    return {"messages": [{"role": "system", "content": content}, {"history": True}]}


SCENARIOS = {
    "all": {
        "memoryRuntime": "axon_go",
        "memorySources": [
            {"id": "t", "agentRef": "table", "variable": "memoryTable"},
            {"id": "d", "agentRef": "diary", "variable": "compassMemory"},
        ],
        "documents": ["memory", "state", "story"],
        "template": template(EVERYTHING),
    },
    "profile": {
        "memoryRuntime": "personalization",
        "memorySources": [{"id": "p", "agentRef": "profile", "variable": "personalization"}],
        "template": template("{{ personalization }}"),
    },
    "hinos": {
        "memoryRuntime": "hinos",
        "memorySources": [{"id": "h", "agentRef": "hinos", "variable": "hinosMemory"}],
        "template": template("{{ hinosMemory }}"),
    },
}


def expect(answer: Any, status: int = 200) -> Any:
    assert answer.status == status, answer.text
    return answer.json


def memory(number: int, text: str) -> None:
    expect(call("PUT …/memory", {"expectedRevision": number, "memory": {"scene": text}}))


def profile(number: int, text: str) -> None:
    expect(call("PUT /v1/profile", {"expectedRevision": number, "profile": {"likes": text}}))


def table(number: int, text: str) -> None:
    put_table(text, revision=number)


def table_by_reply(number: int, text: str) -> None:
    """By the worker, from a model's reply, as the ring brings it."""
    if not number:
        put_table("…", revision=0)
    turn_id, reply = f"t{number}", f'<tableEdit>updateRow(0, 0, {{"0":"{text}"}})</tableEdit>'
    texts = {"user": {"text": "问"}, "assistant": {"text": reply}}
    told = expect(call("POST …/turns", {"turnId": turn_id, "scenarioId": "all", **texts}), 202)
    ring = {
        **{"product": "p", "user": "u", "conversation": "c1", "round": told["round"], "version": 1},
        **{"turnId": turn_id, "scenarioId": "all", "subscriptionCategory": None},
    }
    record = {
        "messageId": "1",
        "body": json.dumps(ring),
        "attributes": {"MessageGroupId": "g", "ApproximateReceiveCount": "1"},
    }
    worker = importlib.import_module("functions.edit_table.app")
    assert worker.handler({"Records": [record]}, _Context())["batchItemFailures"] == []


class _Context:
    def get_remaining_time_in_millis(self) -> int:
        return 300_000


def diary(number: int, text: str) -> None:
    put_diary(text, first=10 * number + 1, last=10 * number + 10)


def diary_by_user(number: int, text: str) -> None:
    if not number:
        put_diary("…")
    expect(call("PUT …/diary/{endRound}", {"summary": text, "diary": ""}, path={"endRound": "10"}))


def state(number: int, text: str) -> None:
    expect(call("PUT …/state", {"expectedRevision": number, "state": {"text": text, "records": {}}}))


def state_by_candidate(number: int, text: str) -> None:
    candidate = {"text": "", "records": {"people": [{"name": text}]}}
    expect(call("POST …/state/candidates", {"expectedRevision": number, "candidate": candidate}))


def story(number: int, text: str) -> None:
    if not number:
        texts = {"user": {"text": "问"}, "assistant": {"text": "答"}}
        expect(call("POST …/turns", {"turnId": "t", "accepted": True, **texts}), 202)
    claim = expect(call("POST …/story/prepare", {}))["claim"]
    expect(call("POST …/story/settle", {"claim": claim, "world": {"scene": text}}))


WRITES: dict[str, tuple[Callable[[int, str], None], str]] = {
    write.__name__: (write, scenario)
    for write, scenario in (
        (memory, "all"),
        (profile, "profile"),
        (table, "all"),
        (table_by_reply, "all"),
        (diary, "all"),
        (diary_by_user, "all"),
        (state, "all"),
        (state_by_candidate, "all"),
        (story, "all"),
    )
}


@dataclass(frozen=True)
class Hinos:
    """A Hinos text is the host's own: it is passed in with the call."""

    claim_id: str = "claim-1"

    def given(self, text: str) -> Any:
        return {"claim_id": self.claim_id, "memory": text}


def check_pairs(kind: str, *, pairs: int) -> None:
    write, scenario = WRITES[kind]
    for name, body in SCENARIOS.items():
        saved = {"expectedRevision": 0, "scenario": body}
        expect(
            call("PUT /v1/scenarios/{scenarioId}", saved, path={"scenarioId": name}, claims=ADMIN, user=None)
        )
    asked = {"scenarioId": scenario, "history": [{"role": "user", "content": "去哪？"}]}
    for number in range(pairs):
        text = f"门-{number}-"
        write(number, text)
        answer = expect(call("POST …/context", asked))
        assert text in answer["messages"][0]["content"], (number, answer)


@pytest.mark.usefixtures("wired")
@pytest.mark.parametrize("kind", WRITES)
def test_each_write_is_in_the_messages_of_the_next_context(kind: str) -> None:
    # moto looks at every turn for a read of one: those 500 are on DynamoDB Local.
    check_pairs(kind, pairs=50 if kind == "table_by_reply" else PAIRS)


@pytest.fixture
def on_dynamodb_local(
    wired: Any, dynamodb_local: Any, dynamodb_local_client: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The functions' own wiring, with DynamoDB Local as its store."""
    monkeypatch.setattr(wiring, "dynamodb", lambda: dynamodb_local_client)
    monkeypatch.setenv("MEMOIR_TABLE_NAME", TABLE_NAME)
    for value in vars(wiring).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()
    yield


@pytest.mark.usefixtures("on_dynamodb_local")
@pytest.mark.parametrize("kind", WRITES)
def test_so_it_is_on_amazons_own_dynamodb(kind: str) -> None:
    check_pairs(kind, pairs=PAIRS if kind == "table_by_reply" else 40)


@pytest.mark.usefixtures("wired")
def test_a_text_of_hinos_is_in_the_messages_of_its_own_call() -> None:
    saved = {"expectedRevision": 0, "scenario": SCENARIOS["hinos"]}
    expect(
        call("PUT /v1/scenarios/{scenarioId}", saved, path={"scenarioId": "hinos"}, claims=ADMIN, user=None)
    )
    for number in range(PAIRS):
        text = f"门-{number}-"
        asked = {"scenarioId": "hinos", "hinos": Hinos().given(text), "history": []}
        assert text in expect(call("POST …/context", asked))["messages"][0]["content"]
