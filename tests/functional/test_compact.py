"""Compaction over its real handler on moto: what is asked, stored, answered, and what a failure leaves."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memoir import wiring
from tests.fakes.model_server import ModelServer, Reply, completion, model_server
from tests.handlers import HOST, Answered, call

ADMIN = {**HOST, "scope": f"{HOST['scope']} memory/admin"}
SYSTEM = {"turnId": "s", "role": "system", "content": "你是阿莱娜。", "tokens": 200}


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


@pytest.fixture
def requests(client: Any) -> list[str]:
    """The names of the requests that the store was asked."""
    asked: list[str] = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: asked.append(model.name))
    return asked


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model that the settings name."""
    with model_server() as running:
        monkeypatch.setenv("MEMOIR_MODEL", "openai:m")
        monkeypatch.setenv("MEMOIR_MODEL_URL", f"{running.url}/v1")
        wiring.settings.cache_clear()
        wiring.language_model.cache_clear()
        wiring.compaction.cache_clear()
        with pytest.warns(UserWarning, match="plain http"):
            wiring.settings()
        yield running


def save(**compact: Any) -> None:
    body = {"expectedRevision": 0, "scenario": {"memoryRuntime": "axon_go", "compact": compact}}
    answer = call("PUT /v1/scenarios/{scenarioId}", body, path={"scenarioId": "inn"}, claims=ADMIN, user=None)
    assert answer.status == 200, answer.text


def turn(number: int, *, tokens: int | None = 100) -> list[dict[str, Any]]:
    said = [
        {
            "turnId": f"t{number}",
            "role": "user",
            "content": f"第{number}天我们去哪里？我记得你说过北门的守卫。",
        },
        {
            "turnId": f"t{number}",
            "role": "assistant",
            "content": f"第{number}天阿莱娜带你去了第{number}座塔。",
        },
    ]
    return [one if tokens is None else {**one, "tokens": tokens} for one in said]


def turns(first: int, last: int, **sent: Any) -> list[dict[str, Any]]:
    return [message for number in range(first, last + 1) for message in turn(number, **sent)]


def compact(messages: list[dict[str, Any]] | None, *, budget: int = 3_000, **members: Any) -> Answered:
    given = {} if messages is None else {"messages": messages}
    answer = call("POST …/compact", {"scenarioId": "inn", "tokenBudget": budget, **given, **members})
    assert answer.status == 200, answer.text
    return answer


def said(text: str = "阿莱娜带旅人去看了十四座塔，守卫答应归还铜钥匙。", **reply: Any) -> Reply:
    return Reply(body=completion(text, **reply))


def receipts() -> list[tuple[str, str, str]]:
    listed = call("GET …/receipts").json["receipts"]
    return [(one["outcome"], one["reason"], one["generator"]) for one in listed if one["worker"] == "compact"]


def report(first: int, last: int) -> None:
    for number in range(first, last + 1):
        user, assistant = turn(number)
        body = {"turnId": f"t{number}", "user": {"text": user["content"]}, "scenarioId": "inn"}
        answer = call("POST …/turns", {**body, "assistant": {"text": assistant["content"]}})
        assert answer.status == 202, answer.text


def test_a_history_within_its_budget_is_one_read_and_comes_back_as_it_was(requests: list[str]) -> None:
    save()
    compact(turns(1, 3))
    requests.clear()
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"n": 1.50}'}}]
    tools = [
        {"turnId": "t4", "role": "assistant", "content": "", "toolCalls": calls},
        {"turnId": "t4", "role": "tool", "content": "42", "toolCallId": "c"},
    ]
    messages = [SYSTEM, *turns(1, 3), *tools, {"role": "system", "content": "x"}]
    answer = compact(messages).json
    assert (answer["status"], answer["reason"]) == ("unchanged", "within_budget")
    assert answer["messages"] == messages
    assert answer["tokens"]["limit"] == 3_000
    assert answer["tokens"]["estimated"] is True
    assert requests == ["BatchGetItem"]


def test_the_model_is_asked_once_and_the_next_calls_stand_on_what_was_stored(
    model: ModelServer, requests: list[str]
) -> None:
    save()
    report(1, 1)
    model.script.append(said())
    first = compact([SYSTEM, *turns(1, 20)]).json
    assert (first["status"], first["tokens"]["estimated"]) == ("compacted", False)
    assert first["summary"].startswith("阿莱娜带旅人")
    assert first["checkpoint"]["throughTurnId"] == "t14"
    assert first["messages"][0] == SYSTEM
    assert first["messages"][1]["coversTurns"] == 14
    assert first["messages"][2:] == turns(15, 20)
    assert receipts() == [("ok", "compacted", "openai:m")]
    (_, _, asked) = model.requests[0]
    assert "response_format" not in asked
    assert "你是阿莱娜" not in json.dumps(asked, ensure_ascii=False)
    for last in range(21, 27):
        requests.clear()
        again = compact([SYSTEM, *turns(1, last)]).json
        assert (again["status"], again["checkpoint"]["revision"]) == ("reused", 1)
        assert again["messages"][2:] == turns(15, last)
        assert requests == ["BatchGetItem"]
    assert len(model.requests) == 1
    sent_back = compact([SYSTEM, first["messages"][1], *turns(15, 21)]).json
    assert (sent_back["status"], sent_back["messages"][2:]) == ("reused", turns(15, 21))


def test_a_second_checkpoint_goes_on_from_the_first(model: ModelServer) -> None:
    save()
    model.script += [said(), said("他们看完了二十四座塔，铜钥匙还在守卫那里。")]
    compact([SYSTEM, *turns(1, 20)])
    answer = compact([SYSTEM, *turns(1, 30)]).json
    assert (answer["status"], answer["checkpoint"]["coversTurns"]) == ("compacted", 24)
    asked = model.requests[1][2]["messages"][1]["content"]
    assert "守卫答应归还铜钥匙" in asked
    assert "第14天" not in asked
    assert "第15天" in asked


def test_a_covered_message_that_changed_is_summarised_anew(model: ModelServer) -> None:
    save()
    model.script += [said(), said("第三天改去了集市，其余照旧，铜钥匙还在守卫那里。")]
    compact([SYSTEM, *turns(1, 20)])
    edited = turns(1, 20)
    edited[5] = {**edited[5], "content": "第3天改去了集市。"}
    answer = compact([SYSTEM, *edited]).json
    assert (answer["status"], answer["reason"]) == ("compacted", "checkpoint_stale")
    assert "集市" in model.requests[1][2]["messages"][1]["content"]
    window = compact([SYSTEM, *turns(16, 22)]).json
    assert (window["status"], window["reason"]) == ("unchanged", "history_gap")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (said(""), "summary_empty"),
        (said("抱歉，我无法总结这段内容。"), "summary_refusal"),
        (said("守卫", finish_reason="length"), "summary_cut"),
        (Reply(status=500), "model_unavailable"),
        (Reply(body="no json"), "model_bad_reply"),
    ],
)
def test_a_failure_gives_the_input_back_and_is_not_paid_for_again(
    model: ModelServer, reply: Reply, reason: str
) -> None:
    save()
    report(1, 1)
    model.script.append(reply)
    messages = [SYSTEM, *turns(1, 20)]
    answer = compact(messages).json
    assert (answer["status"], answer["reason"], answer["messages"]) == ("unchanged", reason, messages)
    assert "summary" not in answer
    assert [told[:2] for told in _failures()] == [("failed", reason)]
    for last in range(20, 25):
        later = compact([SYSTEM, *turns(1, last)]).json
        assert (later["status"], later["reason"]) == ("unchanged", "backing_off")
    assert len(model.requests) == 1
    model.script.append(said())
    assert compact([SYSTEM, *turns(1, 25)]).json["status"] == "compacted"


def _failures() -> list[tuple[str, str]]:
    listed = call("GET …/receipts").json["receipts"]
    return [(one["outcome"], one["reason"]) for one in listed if one["worker"] == "compact"]


def test_two_hosts_at_once_store_one_checkpoint_and_both_use_it(model: ModelServer) -> None:
    save()
    model.script += [
        Reply(body=completion("阿莱娜带旅人去看了塔，守卫答应归还铜钥匙。"), wait=0.3),
        Reply(body=completion("旅人同阿莱娜看过了塔，铜钥匙在守卫手里。"), wait=0.3),
    ]
    with ThreadPoolExecutor(2) as hosts:
        answers = list(hosts.map(lambda _: compact([SYSTEM, *turns(1, 20)]).json, range(2)))
    assert sorted(answer["status"] for answer in answers) == ["compacted", "reused"]
    assert len({json.dumps(answer["checkpoint"]) for answer in answers}) == 1
    assert len({answer["summary"] for answer in answers}) == 1


def test_stored_turns_are_taken_back_to_the_checkpoint(model: ModelServer, requests: list[str]) -> None:
    save(keepTurns=1)
    report(1, 12)
    model.script.append(said())
    first = compact(None, budget=400, history={"turns": 50}).json
    assert first["status"] == "compacted"
    covered = first["checkpoint"]["coversTurns"]
    assert [one["turnId"] for one in first["messages"][1::2]] == [
        f"t{number}" for number in range(covered + 1, 13)
    ]
    report(13, 13)
    requests.clear()
    again = compact(None, budget=400, history={"turns": 50}).json
    assert (again["status"], again["messages"][-1]["turnId"]) == ("reused", "t13")
    assert requests == ["BatchGetItem", "Query"]
    short = compact(None, budget=400, history={"turns": 1}).json
    assert (short["status"], short["reason"]) == ("unchanged", "history_gap")


def test_a_window_that_begins_among_covered_turns_gets_their_summary(
    model: ModelServer,
) -> None:
    save()
    model.script.append(said())
    compact([SYSTEM, *turns(1, 20)])
    answer = compact([SYSTEM, *turns(10, 18)], budget=9_000).json  # it fits, and would have lost t1 to t9
    assert (answer["status"], answer["messages"][2:]) == ("reused", turns(15, 18))
    assert answer["messages"][1]["coversTurns"] == 14


def test_a_checkpoint_is_made_ahead_of_need_and_the_originals_are_still_given(model: ModelServer) -> None:
    save(checkpointEveryTurns=10)
    model.script.append(said())
    messages = [SYSTEM, *turns(1, 12)]
    answer = compact(messages, budget=10_000).json
    assert (answer["status"], answer["messages"]) == ("checkpointed", messages)
    assert answer["checkpoint"]["throughTurnId"] == "t10"
    for last in range(13, 22):
        assert compact([SYSTEM, *turns(1, last)], budget=10_000).json["status"] == "unchanged"
    assert len(model.requests) == 1


def test_without_a_model_the_summary_is_made_of_central_sentences() -> None:
    save()
    report(1, 1)
    answer = compact([SYSTEM, *turns(1, 20)]).json
    assert (answer["status"], answer["checkpoint"]["generator"]) == ("compacted", "extractive")
    assert answer["tokens"]["total"] <= 3_000
    assert receipts() == [("ok", "compacted", "extractive")]
    for last in range(21, 60):
        answer = compact([SYSTEM, *turns(1, last)]).json
        assert answer["status"] in ("reused", "compacted")
        assert answer["tokens"]["total"] <= 3_000
    assert answer["checkpoint"]["revision"] <= 6


def test_a_checkpoint_that_cannot_be_read_gives_the_input_back(model: ModelServer, client: Any) -> None:
    save()
    model.script.append(said())
    messages = [SYSTEM, *turns(1, 20)]
    compact(messages)
    items = client.scan(TableName=wiring.settings().table_name)["Items"]
    (item,) = [item for item in items if "checkpoint" in item["sk"]["S"].lower()]
    client.put_item(TableName=wiring.settings().table_name, Item={**item, "body": {"S": "{}broken"}})
    answer = compact(messages).json
    assert (answer["status"], answer["reason"], answer["messages"]) == (
        "unchanged",
        "checkpoint_corrupt",
        messages,
    )


@pytest.mark.parametrize(
    ("body", "status", "code", "path"),
    [
        ({"messages": [], "history": {"turns": 1}}, 400, "request_invalid", "/messages"),
        ({}, 400, "request_invalid", "/messages"),
        ({"history": {"turns": 0}}, 400, "number_invalid", "/history/turns"),
        ({"messages": [], "tokenBudget": 0}, 400, "number_invalid", "/tokenBudget"),
        ({"messages": [], "tokenizer": "x"}, 400, "tokenizer_unknown", "/tokenizer"),
        (
            {"messages": [{"role": "user", "content": "x"}]},
            400,
            "member_missing",
            "/messages/0/turnId",
        ),
        (
            {"messages": [*turns(1, 2), *turns(1, 1)]},
            400,
            "request_invalid",
            "/messages/4/turnId",
        ),
        (
            {"messages": [{"turnId": "t", "role": "user", "content": "x" * 262_145}]},
            413,
            "message_too_large",
            "/messages/0/content",
        ),
    ],
)
def test_bad_input_names_the_place(body: dict[str, Any], status: int, code: str, path: str) -> None:
    save()
    answer = call("POST …/compact", {"scenarioId": "inn", "tokenBudget": 1_000, **body})
    assert (answer.status, answer.code, answer.json["path"]) == (status, code, path)


def test_messages_that_could_not_be_given_back_are_refused() -> None:
    save()
    messages = [{"turnId": f"t{n}", "role": "user", "content": "门" * 87_000} for n in range(12)]
    body = json.dumps({"scenarioId": "inn", "tokenBudget": 9, "messages": messages}, ensure_ascii=False)
    answer = call("POST …/compact", body)
    assert (answer.status, answer.code, answer.json["path"]) == (413, "messages_too_large", "/messages")
    assert answer.json["sizeBytes"] > answer.json["limitBytes"]
