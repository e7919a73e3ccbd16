"""The Hinos proxy's real handler, against the reference server over a socket and claims on moto."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from functions.hinos import app
from memoir import wiring
from memoir.adapters.hinos_http import HinosHttp
from memoir.errors import HinosTimeout, HinosUnavailable
from tests.handlers import HOST, call
from tests.localcloud.hinos_server import HinosState, hinos_server
from tests.tables import TABLE_NAME

CHAT = {"system": "你是守卫。", "messages": [{"role": "user", "content": "我答应明天归还铜钥匙。"}]}
BUDGET_MS = 700


class Proxy:
    """The function, the server that it calls, and what it told EventBridge."""

    def __init__(self, state: HinosState, url: str, client: Any) -> None:
        self.state, self.url, self.client = state, url, client
        self.told: list[tuple[str, dict[str, Any]]] = []

    def publish(self, kind: str, detail: Any) -> None:
        self.told.append((kind, dict(detail)))

    def misbehave(
        self, how: str | None, path: str = "prepare", conversation: str | None = None, ms: int = 0
    ) -> None:
        self.state.faults.clear()
        if how:
            self.state.faults[(conversation, path)] = {"how": how, "ms": ms}

    def call(self, path: str, body: Any, *, conversation: str = "c1", user: str = "u", **headers: str) -> Any:
        event = {
            "routeKey": f"POST /v1/conversations/{{id}}/hinos/{path}",
            "headers": {
                "content-type": "application/json",
                "x-user-id": user,
                **{name.replace("_", "-"): value for name, value in headers.items()},
            },
            "pathParameters": {"id": conversation},
            "requestContext": {
                "requestId": "made",
                "authorizer": {
                    "jwt": {"claims": {"client_id": "p", "sub": "p", "scope": "memory/act-as-user"}}
                },
            },
            "body": json.dumps(body),
        }
        answer = app.handler(event, None)
        return answer["statusCode"], json.loads(answer["body"])

    def prepare(self, **options: Any) -> Any:
        return self.call("prepare", CHAT, **options)

    def commit(self, claim_id: str, text: str = "守卫点头。", **options: Any) -> Any:
        body = {"claim_id": claim_id, "user": "我答应明天归还铜钥匙。", "assistant": text}
        return self.call("commit", body, **options)

    def claim(self) -> str:
        status, body = self.prepare()
        assert status == 200
        claim_id: str = body["claim_id"]
        return claim_id

    def calls(self, path: str) -> int:
        return sum(entry["path"].endswith(path) for entry in self.state.log)


@pytest.fixture
def proxy(wired: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    with hinos_server() as (url, state):
        monkeypatch.setenv("HINOS_MEMORY_URL", url)
        monkeypatch.setenv("HINOS_MEMORY_TIMEOUT_MS", str(BUDGET_MS))
        wiring.settings.cache_clear()
        found = Proxy(state, url, wired)
        monkeypatch.setattr(wiring, "events", lambda: found)
        with pytest.warns(UserWarning, match="plain http"):
            wiring.settings()
        yield found


def test_what_was_committed_is_in_the_next_prepared_memory(proxy: Proxy) -> None:
    status, first = proxy.prepare()
    assert (status, first["memory"], first["state_through_round"]) == (200, "", 0)
    assert sorted(first) == ["claim_id", "memory", "state_through_round", "turn"]
    assert proxy.commit(first["claim_id"]) == (200, {"committed": True})
    assert proxy.prepare()[1]["memory"] == "我答应明天归还铜钥匙。 / 守卫点头。"


def test_hinos_is_sent_the_system_message_first_and_both_headers(proxy: Proxy) -> None:
    source = {"requestId": "r", "scenarioId": "s", "modelConfig": {"t": 1}, "prompt": "p"}
    proxy.call("prepare", {**CHAT, "source": source}, x_request_id="mine-1")
    sent = proxy.state.log[0]
    assert [message["role"] for message in sent["body"]["messages"]] == ["system", "user"]
    assert sent["body"]["source"] == source
    assert sent["headers"]["x-flow-conversation-id"] == "c1"
    assert sent["headers"]["x-request-id"] == "mine-1"
    assert "authorization" not in sent["headers"]
    proxy.prepare()
    assert proxy.state.log[1]["headers"]["x-request-id"] == "made"


@pytest.mark.parametrize(
    ("messages", "status"),
    [
        ([], 422),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], 422),
        ([{"role": "system", "content": "a"}], 400),
        ([{"role": "user", "content": 7}], 400),
        ([{"role": "user", "content": "a", "x": 1}], 400),
        ("text", 400),
    ],
)
def test_messages_that_do_not_end_with_the_user_are_refused_without_a_call(
    proxy: Proxy, messages: Any, status: int
) -> None:
    assert proxy.call("prepare", {"system": "s", "messages": messages})[0] == status
    assert proxy.state.log == []


MISBEHAVIOURS = {
    "never": (504, "hinos_timeout"),
    "drip": (504, "hinos_timeout"),
    "cut": (502, "hinos_unavailable"),
    "status_500": (502, "hinos_unavailable"),
    "status_404": (502, "hinos_bad_reply"),
    "redirect": (502, "hinos_bad_reply"),
    "huge": (502, "hinos_bad_reply"),
    "not_json": (502, "hinos_bad_reply"),
    "not_object": (502, "hinos_bad_reply"),
    "text": (502, "hinos_bad_reply"),
    "no_claim_id": (502, "hinos_bad_reply"),
    "empty_claim_id": (502, "hinos_bad_reply"),
    "memory_number": (502, "hinos_bad_reply"),
    "turn_text": (502, "hinos_bad_reply"),
    "turn_true": (502, "hinos_bad_reply"),
    "turn_negative": (502, "hinos_bad_reply"),
}


@pytest.mark.parametrize("how", MISBEHAVIOURS)
def test_a_prepare_that_fails_has_a_code_is_sent_once_and_keeps_no_claim(proxy: Proxy, how: str) -> None:
    proxy.misbehave(how)
    status, body = proxy.prepare()
    assert (status, body["code"]) == MISBEHAVIOURS[how]
    assert proxy.calls("prepare") == 1
    assert proxy.client.scan(TableName=TABLE_NAME)["Items"] == []
    proxy.misbehave(None)
    assert proxy.prepare()[0] == 200


def test_a_bad_reply_names_the_member(proxy: Proxy) -> None:
    proxy.misbehave("turn_true")
    assert proxy.prepare()[1]["member"] == "turn"


def test_members_that_the_protocol_does_not_know_are_no_fault(proxy: Proxy) -> None:
    proxy.misbehave("extra_members")
    assert proxy.prepare()[0] == 200


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("never", "hinos_timeout"),
        ("cut", "hinos_unavailable"),
        ("status_500", "hinos_unavailable"),
        ("committed_false", "hinos_bad_reply"),
        ("committed_text", "hinos_bad_reply"),
        ("committed_absent", "hinos_bad_reply"),
    ],
)
def test_a_commit_that_fails_is_told_and_never_sent_again(proxy: Proxy, how: str, code: str) -> None:
    claim_id = proxy.claim()
    proxy.misbehave(how, "commit")
    for _ in range(3):
        assert proxy.commit(claim_id) == (200, {"committed": False, "error": code})
    assert proxy.calls("commit") == 1
    whose = {"product": "p", "user": "u", "conversationId": "c1"}
    told = ("MemoryWriteFailed", {**whose, "claimId": claim_id, "code": code})
    assert proxy.told == [told] * 3


def test_a_commit_that_is_required_fails_with_a_problem(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim_id = proxy.claim()
    monkeypatch.setenv("MEMOIR_MEMORY_INGEST", "required")
    for factory in (wiring.settings, wiring.default_scenario, wiring.hinos):
        factory.cache_clear()
    with pytest.warns(UserWarning):
        wiring.settings()
    proxy.misbehave("never", "commit")
    for _ in range(2):
        status, body = proxy.commit(claim_id)
        assert (status, body["code"]) == (504, "hinos_timeout")
    assert proxy.calls("commit") == 1


def test_an_answer_after_the_time_out_changes_nothing_although_hinos_has_stored_it(proxy: Proxy) -> None:
    claim_id = proxy.claim()
    proxy.misbehave("late", "commit", ms=BUDGET_MS + 300)
    assert proxy.commit(claim_id)[1] == {"committed": False, "error": "hinos_timeout"}
    proxy.misbehave(None)
    assert proxy.commit(claim_id)[1] == {"committed": False, "error": "hinos_timeout"}
    assert proxy.calls("commit") == 1


def test_the_same_commit_again_answers_what_became_of_the_first(proxy: Proxy) -> None:
    claim_id = proxy.claim()
    assert [proxy.commit(claim_id) for _ in range(3)] == [(200, {"committed": True})] * 3
    assert proxy.calls("commit") == 1


def test_other_texts_under_a_used_claim_are_refused_without_a_call(proxy: Proxy) -> None:
    claim_id = proxy.claim()
    proxy.commit(claim_id)
    status, body = proxy.commit(claim_id, "别的回答。")
    assert (status, body["code"]) == (409, "claim_conflict")
    assert proxy.calls("commit") == 1


@pytest.mark.parametrize("stranger", [{"conversation": "c2"}, {"user": "other"}])
def test_a_claim_of_another_conversation_or_user_is_unknown(proxy: Proxy, stranger: dict[str, str]) -> None:
    claim_id = proxy.claim()
    status, body = proxy.commit(claim_id, **stranger)
    assert (status, body["code"]) == (404, "not_found")
    assert proxy.commit("never-given")[0] == 404
    assert proxy.calls("commit") == 0


def test_an_expired_claim_is_gone_although_it_is_still_stored(proxy: Proxy) -> None:
    claim_id = proxy.claim()
    (item,) = proxy.client.scan(TableName=TABLE_NAME)["Items"]
    proxy.client.put_item(TableName=TABLE_NAME, Item={**item, "valid_until": {"N": "1"}})
    status, body = proxy.commit(claim_id)
    assert (status, body["code"]) == (410, "claim_expired")
    assert proxy.calls("commit") == 0


def test_a_commit_whose_sender_was_killed_is_unknown_and_never_sent_again(proxy: Proxy) -> None:
    claim_id = proxy.claim()
    proxy.commit(claim_id)
    (item,) = proxy.client.scan(TableName=TABLE_NAME)["Items"]
    proxy.client.put_item(TableName=TABLE_NAME, Item={**item, "claim_state": {"S": "committing"}})
    assert proxy.commit(claim_id) == (200, {"committed": False, "error": "hinos_outcome_unknown"})
    assert proxy.calls("commit") == 1


def test_prepare_is_one_write_and_commit_two(proxy: Proxy) -> None:
    requests: list[str] = []
    wiring.dynamodb().meta.events.register(
        "before-call.dynamodb", lambda model, **_: requests.append(model.name)
    )
    claim_id = proxy.claim()
    proxy.commit(claim_id)
    assert requests == ["PutItem", "UpdateItem", "UpdateItem"]


def test_no_log_line_holds_a_text_a_claim_or_the_urls_user_part(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HINOS_MEMORY_URL", proxy.url.replace("//", "//secret-user:secret-word@"))
    wiring.settings.cache_clear()
    wiring.hinos.cache_clear()
    with pytest.warns(UserWarning):
        wiring.settings()
    claim_id = proxy.claim()
    proxy.commit(claim_id)
    proxy.misbehave("status_500")
    proxy.prepare()
    logged = str([vars(record) for record in caplog.records])
    assert "hinos.committed" in logged
    for secret in ("secret-", "铜钥匙", "守卫", claim_id):
        assert secret not in logged


def test_without_an_address_these_two_routes_say_so(wired: Any) -> None:
    proxy = Proxy(HinosState(), "", wired)
    for status, body in (proxy.prepare(), proxy.commit("x")):
        assert (status, body["code"]) == (503, "hinos_not_configured")


def test_sixty_four_conversations_that_wait_at_once_each_get_their_time_out(proxy: Proxy) -> None:
    proxy.misbehave("never")
    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(lambda number: proxy.prepare(conversation=f"c{number}"), range(64)))
    assert {(status, body["code"]) for status, body in answers} == {(504, "hinos_timeout")}
    assert proxy.calls("prepare") <= 64  # none was sent twice; a slow machine may not have read all
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


def test_a_refused_connection_is_tried_once_more_and_counts_as_not_sent() -> None:
    nowhere = HinosHttp(base_url="http://127.0.0.1:1", timeout_ms=500)
    with pytest.raises(HinosUnavailable) as failure:
        nowhere.call("/v1/memory/prepare", {}, headers={})
    assert failure.value.sent is False


def test_a_commit_that_was_never_sent_may_be_sent_again(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim_id = proxy.claim()
    monkeypatch.setattr(wiring.hinos().hinos, "_port", 1)
    assert proxy.commit(claim_id)[1] == {"committed": False, "error": "hinos_unavailable"}
    monkeypatch.undo()
    wiring.hinos.cache_clear()


def test_a_credential_is_sent_as_a_bearer(proxy: Proxy) -> None:
    hinos = HinosHttp(base_url=proxy.url, timeout_ms=2_000, credential=lambda: "secret")
    headers = {"x-flow-conversation-id": "c9"}
    hinos.call("/v1/memory/prepare", {"messages": []}, headers=headers)
    assert proxy.state.log[-1]["headers"]["authorization"] == "Bearer secret"


def test_the_budget_bounds_a_slow_peer(proxy: Proxy) -> None:
    proxy.misbehave("slow", ms=5_000)
    hinos = HinosHttp(base_url=proxy.url, timeout_ms=100)
    with pytest.raises(HinosTimeout):
        hinos.call("/v1/memory/prepare", {"messages": []}, headers={"x-flow-conversation-id": "c9"})


ADMIN = {**HOST, "scope": "memory/act-as-user memory/admin"}


def save_scenario(name: str, ingest: str) -> None:
    sources = [{"id": "h", "agentRef": "hinos", "variable": "hinosMemory"}]
    scenario = {"memoryRuntime": "hinos", "memorySources": sources, "hinos": {"memoryIngest": ingest}}
    body = {"expectedRevision": 0, "scenario": scenario}
    path = {"scenarioId": name}
    saved = call("PUT /v1/scenarios/{scenarioId}", body, path=path, claims=ADMIN, user=None)
    assert saved.status == 200, saved.text


@pytest.mark.parametrize(
    ("ingest", "named", "status"),
    [
        ("required", "inn", 504),
        ("best_effort", "inn", 200),
        ("required", "none-of-ours", 200),
        ("required", 7, 200),
        ("required", None, 200),
    ],
)
def test_the_scenario_that_a_claim_was_prepared_under_says_what_a_failed_commit_answers(
    proxy: Proxy, ingest: str, named: Any, status: int
) -> None:
    save_scenario("inn", ingest)
    source = {} if named is None else {"scenarioId": named}
    _, prepared = proxy.call("prepare", {**CHAT, "source": source})
    proxy.misbehave("never", "commit")
    for _ in range(2):
        assert proxy.commit(prepared["claim_id"])[0] == status
    assert proxy.calls("commit") == 1
