"""POST …/context by the real handlers on moto: what the next turn gets of what was written before it."""

from dataclasses import replace
from typing import Any

import pytest

from memoir import wiring
from memoir.domain.context.manifest import decode_manifest
from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.agent_ref import AgentRef, canonical_agent_ref
from memoir.domain.diary.record.entry import written_by_user
from memoir.domain.diary.record.head import head_after_range
from memoir.domain.diary.record.staleness import edited_entry
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import random_token
from memoir.records.diary import diary_head_key, entry_write, head_document, read_diary_head
from memoir.records.documents import Change, read_document
from tests.handlers import HOST, call
from tests.localcloud.hinos_server import hinos_server
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c1")
ADMIN = {**HOST, "scope": f"{HOST['scope']} memory/admin"}
ASKED = [{"role": "user", "content": "去哪？"}]
PRINTED_PATH = {"role": "system", "content": "{{ memory.a }}"}


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


def context(**body: Any) -> Any:
    answer = call("POST …/context", {"history": ASKED, **body})
    assert answer.status == 200, answer.text
    return answer.json


def said(answer: Any) -> str:
    """Return all that stands in the messages of *answer*."""
    return "\n".join(message["content"] for message in answer["messages"])


def save(name: str, *, revision: int = 0, **members: Any) -> None:
    body = {"expectedRevision": revision, "scenario": members}
    answer = call("PUT /v1/scenarios/{scenarioId}", body, path={"scenarioId": name}, claims=ADMIN, user=None)
    assert answer.status == 200, answer.text


def sheet(place: str) -> Any:
    return {"sheets": [{"name": "事", "columns": ["地"], "rows": [[place]]}]}


def put_table(place: str, *, revision: int) -> None:
    assert call("PUT …/table", {"expectedRevision": revision, "table": sheet(place)}).status == 200


def put_memory(memory: Any, *, revision: int = 0) -> None:
    assert call("PUT …/memory", {"expectedRevision": revision, "memory": memory}).status == 200


def put_diary(summary: str, *, first: int = 1, last: int = 10, agent: str = "diary") -> None:
    """Write an entry as a job does: with the head, in one transaction."""
    covers, engine = RoundRange(first=first, last=last), wiring.engine()
    agent = canonical_agent_ref(agent)
    entry = edited_entry(written_by_user(covers, created_at_ms=0), summary=summary, diary="")
    key = diary_head_key(SCOPE, agent)
    stored = read_document(engine.records.read(key).get(key))
    head = head_after_range(read_diary_head(stored), covers=covers, entry=entry)
    engine.change(
        Change(
            key=key,
            expected=stored.revision if stored else Revision(0),
            document=head_document(head),
            token=random_token(),
            beside=(entry_write(SCOPE, agent, entry),),
        )
    )


def test_nothing_yet_is_told_and_the_history_stays() -> None:
    answer = context()
    assert answer["messages"] == [{"role": "user", "content": "去哪？"}]
    assert answer["variables"] == answer["revisions"] == {}
    assert {one["source"]: one["reason"] for one in answer["missing"]} == {
        "memory": "empty",
        "memoryTable": "empty",
        "compassMemory": "not_due",
    }
    assert all(one["nextAt"] == 20 for one in answer["missing"] if one["reason"] == "not_due")


def test_the_subscription_category_says_how_many_summaries() -> None:
    for number in range(4):
        put_diary(f"summary-{number}", first=10 * number + 1, last=10 * number + 10)
    told = {
        category: said(context(subscriptionCategory=category)).count("summary-")
        for category in ("default", "plus", "ultra", "max", "nobody-knows")
    }
    assert told == {"default": 1, "plus": 2, "ultra": 3, "max": 4, "nobody-knows": 1}


def test_numbers_of_a_memory_come_as_they_were_written() -> None:
    text = '{"expectedRevision":0,"memory":{"n":12345678901234567890.10}}'
    assert call("PUT …/memory", text).status == 200
    answer = call("POST …/context", {})
    assert '"variables":{"memory":{"n":12345678901234567890.10}}' in answer.text
    assert "12345678901234567890.10" in answer.json["messages"][0]["content"]


def test_what_a_scenario_does_not_name_is_neither_read_nor_told(client: Any) -> None:
    put_memory({"secret": "word"})
    put_table("harbour", revision=0)
    sources = [{"id": "t", "agentRef": "memory-table", "variable": "memoryTable"}]
    template = {"messages": [{"role": "system", "content": "{{ memoryTable }}"}]}
    save("tables", memoryRuntime="axon_go", memorySources=sources, template=template)
    context(scenarioId="tables")
    asked: list[Any] = []
    client.meta.events.register(
        "before-parameter-build.dynamodb", lambda params, model, **_: asked.append((model.name, params))
    )
    answer = context(scenarioId="tables")
    assert list(answer["variables"]) == ["memoryTable"]
    assert "harbour" in said(answer)
    assert [name for name, _ in asked] == ["BatchGetItem"]
    keys = [key["sk"]["S"] for key in asked[0][1]["RequestItems"][TABLE_NAME]["Keys"]]
    assert "D#table" in keys and not {"D#memory", "D#profile"} & set(keys)


def test_a_scenario_that_names_more_than_before_is_read_whole() -> None:
    put_memory({"a": "first"})
    put_table("harbour", revision=0)
    sources = [{"id": "t", "agentRef": "memory-table", "variable": "memoryTable"}]
    save("inn", memoryRuntime="axon_go", memorySources=sources)
    assert list(context(scenarioId="inn")["variables"]) == ["memoryTable"]
    save("inn", revision=1, memoryRuntime="axon_go", memorySources=sources, documents=["memory"])
    assert list(context(scenarioId="inn")["variables"]) == ["memoryTable", "memory"]


def test_a_source_that_the_template_does_not_print_is_told() -> None:
    put_memory({"a": "first"})
    template = {"messages": [{"role": "system", "content": "Be kind."}, {"history": True}]}
    save("mute", memoryRuntime="axon_go", memorySources=[], documents=["memory"], template=template)
    answer = context(scenarioId="mute")
    assert answer["unreferenced"] == ["memory"]
    assert answer["referenced"] == []
    assert any(advice.get("variable") == "memory" for advice in answer["warnings"])


def break_record(client: Any, sk: str) -> None:
    (item,) = (one for one in client.scan(TableName=TABLE_NAME)["Items"] if one["sk"]["S"] == sk)
    client.put_item(TableName=TABLE_NAME, Item={**item, "revision": {"N": "-1"}})


def test_a_source_that_cannot_be_read_is_told_and_hides_no_other(client: Any) -> None:
    put_memory({"a": "first"})
    put_table("harbour", revision=0)
    break_record(client, "D#memory")
    answer = context()
    assert {"source": "memory", "reason": "corrupt"} in answer["missing"]
    assert "harbour" in said(answer)


def test_a_scenario_may_want_to_fail_where_a_source_cannot_be_read(client: Any) -> None:
    put_memory({"a": "first"})
    save("strict", memoryRuntime="axon_go", memorySources=[], documents=["memory"], onMissing="fail")
    assert list(context(scenarioId="strict")["variables"]) == ["memory"]
    break_record(client, "D#memory")
    answer = call("POST …/context", {"scenarioId": "strict"})
    assert (answer.status, answer.code) == (500, "record_corrupt")


def test_stored_turns_are_a_history_oldest_first_with_the_newest_version_of_each() -> None:
    for number in (1, 2, 3):
        turn = {"turnId": f"t{number}", "user": {"text": f"q{number}"}, "assistant": {"text": f"a{number}"}}
        assert call("POST …/turns", turn).status == 202
    again = {"turnId": "t3b", "user": {"text": "q3"}, "assistant": {"text": "a3b"}, "replaces": "t3"}
    assert call("POST …/turns", again).status == 202
    answer = context(history={"turns": 2})
    assert [(one["content"], one["turnId"]) for one in answer["messages"]] == [
        ("q2", "t2"),
        ("a2", "t2"),
        ("q3", "t3b"),
        ("a3b", "t3b"),
    ]
    assert context(history={"turns": 0})["messages"] == []


def test_old_history_is_left_out_first_to_keep_the_budget() -> None:
    put_memory({"a": "first"})
    long = [{"role": "user", "content": "word " * 400}, {"role": "assistant", "content": "yes"}]
    answer = context(history=[*long, *ASKED], tokenBudget=200)
    assert answer["cut"][0]["history"] is True
    assert "first" in said(answer) and "word" not in said(answer)
    assert answer["tokens"]["total"] <= answer["tokens"]["limit"] == 200


def test_a_prepared_memory_of_hinos_is_put_in() -> None:
    sources = [{"id": "h", "agentRef": "hinos", "variable": "hinosMemory"}]
    template = {"messages": [{"role": "system", "content": "{{ hinosMemory }}"}, {"history": True}]}
    save("hinos", memoryRuntime="hinos", memorySources=sources, template=template)
    given = context(scenarioId="hinos", hinos={"claim_id": "1", "memory": "she likes tea"})
    assert "she likes tea" in said(given)
    assert context(scenarioId="hinos")["missing"] == [{"source": "hinosMemory", "reason": "not_supplied"}]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"scenarioId": "nobody-knows"}, 404, "scenario_unknown"),
        ({"values": {"weather": "rain"}}, 400, "value_unknown"),
        ({"tokenBudget": 1, "history": ASKED}, 422, "budget_too_small"),
        ({"hinos": {"prepare": True}}, 400, "source_not_configured"),
        ({"hinos": {"claim_id": "1", "memory": "x"}}, 400, "source_not_configured"),
    ],
)
def test_what_cannot_be_answered_is_refused(body: Any, status: int, code: str) -> None:
    answer = call("POST …/context", body)
    assert (answer.status, answer.code) == (status, code)


def test_an_if_match_has_no_meaning_here() -> None:
    answer = call("POST …/context", {}, if_match='"1"')
    assert (answer.status, answer.code) == (400, "header_not_supported")


def test_another_user_sees_none_of_it() -> None:
    put_memory({"secret": "word"})
    put_diary("summary")
    answer = call("POST …/context", {"history": ASKED}, user="other")
    assert answer.json["variables"] == {}


def test_a_context_of_many_long_texts_is_refused_where_it_has_no_room_in_an_answer() -> None:
    put_memory({"a": "\u0001" * 10_000})
    template = {"messages": [PRINTED_PATH] * 7 + [{"history": True}]}
    save("often", memoryRuntime="axon_go", memorySources=[], documents=["memory"], template=template)
    history = [{"role": "user", "content": "\u0001" * 690_000}]
    answer = call("POST …/context", {"scenarioId": "often", "history": history})
    assert (answer.status, answer.code) == (413, "context_too_large")


@pytest.fixture
def requests(client: Any) -> list[str]:
    made: list[str] = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: made.append(model.name))
    return made


def test_every_source_and_the_scenario_are_one_request(requests: list[str]) -> None:
    sources = [
        {"id": "t", "agentRef": "memory-table", "variable": "memoryTable"},
        {"id": "d", "agentRef": "diary", "variable": "compassMemory"},
    ]
    template = {
        "messages": [{"role": "system", "content": "{{ memory }} {{ memoryTable }} {{ compassMemory }}"}]
    }
    save("all", memoryRuntime="axon_go", memorySources=sources, documents=["memory"], template=template)
    put_memory({"a": "first"})
    put_table("harbour", revision=0)
    for number in range(7):
        put_diary(f"summary-{number}", first=10 * number + 1, last=10 * number + 10)
    context(scenarioId="all")
    for category, count in (("default", 1), ("max", 5)):
        del requests[:]
        answer = context(scenarioId="all", subscriptionCategory=category)
        assert requests == ["BatchGetItem", "PutItem"]  # no turn has kept the memory yet
        assert said(answer).count("summary-") == count
        assert answer["referenced"] == ["memoryTable", "compassMemory", "memory"]
    turn = {"turnId": "t1", "user": {"text": "q"}, "assistant": {"text": "a"}}
    assert call("POST …/turns", turn).status == 202
    del requests[:]
    context(scenarioId="all")
    assert requests == ["BatchGetItem"]


def test_a_diary_head_of_before_falls_back_to_its_entries(requests: list[str]) -> None:
    put_diary("summary-0")
    agent, engine = AgentRef("diary"), wiring.engine()
    key = diary_head_key(SCOPE, agent)
    stored = read_document(engine.records.read(key).get(key))
    assert stored is not None
    old = replace(read_diary_head(stored), recent=None)
    engine.change(
        Change(key=key, expected=stored.revision, document=head_document(old), token=random_token())
    )
    del requests[:]
    assert "summary-0" in said(context())
    assert requests == ["BatchGetItem", "Query"]


HINOS = [{"id": "h", "agentRef": "hinos", "variable": "hinosMemory"}]
HINOS_TEMPLATE = {
    "messages": [
        {"role": "system", "content": "Be {{ character }}."},
        {"role": "system", "content": "You remember: {{ hinosMemory }}"},
        {"history": True},
    ]
}


@pytest.fixture
def hinos(monkeypatch: pytest.MonkeyPatch) -> Any:
    with hinos_server() as (url, state):
        monkeypatch.setenv("HINOS_MEMORY_URL", url)
        monkeypatch.setenv("HINOS_MEMORY_TIMEOUT_MS", "300")
        wiring.settings.cache_clear()
        with pytest.warns(UserWarning, match="plain http"):
            wiring.settings()
        save(
            "hinos", memoryRuntime="hinos", memorySources=HINOS, template=HINOS_TEMPLATE, values=["character"]
        )
        yield state


def test_hinos_is_asked_within_the_call_and_its_claim_can_be_committed(hinos: Any) -> None:
    asked = {"scenarioId": "hinos", "values": {"character": "a guard"}, "hinos": {"prepare": True}}
    first = context(**asked)
    assert first["hinos"]["turn"] == 1
    assert first["missing"] == [{"source": "hinosMemory", "reason": "empty"}]
    commit = {"claim_id": first["hinos"]["claim_id"], "user": "去哪？", "assistant": "去港口。"}
    assert call("POST …/hinos/commit", commit).json == {"committed": True}
    second = context(**asked)
    assert "You remember: 去哪？ / 去港口。" in said(second)
    assert second["referenced"] == ["hinosMemory"]
    sent = hinos.log[0]["body"]
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert sent["messages"][0]["content"].startswith("Be a guard.")
    assert sent["source"]["scenarioId"] == "hinos"


def test_the_host_may_say_more_of_the_source(hinos: Any) -> None:
    context(scenarioId="hinos", hinos={"prepare": True, "source": {"modelConfig": {"t": 1}, "prompt": "p"}})
    source = hinos.log[0]["body"]["source"]
    assert (source["modelConfig"], source["prompt"], source["scenarioId"]) == ({"t": 1}, "p", "hinos")


@pytest.mark.parametrize("on_missing", ["tell", "fail"])
def test_generation_stops_where_hinos_could_not_be_asked(hinos: Any, on_missing: str) -> None:
    save("hinos", revision=1, memoryRuntime="hinos", memorySources=HINOS, onMissing=on_missing)
    hinos.faults[(None, "prepare")] = {"how": "never", "ms": 0}
    answer = call("POST …/context", {"scenarioId": "hinos", "history": ASKED, "hinos": {"prepare": True}})
    assert (answer.status, answer.code) == (504, "hinos_timeout")


def test_hinos_is_not_asked_where_the_history_does_not_end_with_the_user(hinos: Any) -> None:
    history = [*ASKED, {"role": "assistant", "content": "去港口。"}]
    answer = call("POST …/context", {"scenarioId": "hinos", "history": history, "hinos": {"prepare": True}})
    assert (answer.status, answer.code) == (422, "messages_refused")
    assert hinos.log == []


SHADOW = [
    {"id": "t", "agentRef": "memory-table", "variable": "memoryTable"},
    {"id": "d", "agentRef": "diary", "variable": "compassMemory"},
]
PROFILE_TEMPLATE = {"messages": [{"role": "system", "content": "{{ personalization }}"}, {"history": True}]}


def shadowed(caplog: pytest.LogCaptureFixture) -> tuple[Any, Any]:
    """Return the answer of a call under `axon_shadow`, and the line that the log has of it."""
    caplog.clear()
    answer = context(scenarioId="shadow")
    (line,) = (record for record in caplog.records if record.message == "context.answered")
    return answer, line


def test_a_shadow_compares_and_answers_as_personalization_does(
    caplog: pytest.LogCaptureFixture, requests: list[str]
) -> None:
    save("shadow", memoryRuntime="axon_shadow", memorySources=SHADOW, template=PROFILE_TEMPLATE)
    save("plain", memoryRuntime="personalization", memorySources=[], template=PROFILE_TEMPLATE)
    assert call("PUT /v1/profile", {"expectedRevision": 0, "profile": {"likes": "tea"}}).status == 200
    put_table("harbour", revision=0)
    put_diary("summary")
    plain = context(scenarioId="plain")
    context(scenarioId="shadow")
    del requests[:]
    answer, line = shadowed(caplog)
    assert requests == ["BatchGetItem"]
    same = ("variables", "messages", "referenced", "missing", "cut", "warnings")
    assert [answer[name] for name in same] == [plain[name] for name in same]
    assert (line.shadow_equal, line.shadow_only_here) == (False, "personalization")
    assert line.shadow_only_there == "memoryTable,compassMemory"
    assert 0 <= line.shadow_similarity < 1 and line.shadow_bytes_there > 0
    manifest = decode_manifest(answer["context"])
    assert manifest is not None and manifest.comparison is not None
    assert manifest.comparison[0] is False


def test_a_shadow_that_cannot_be_read_changes_nothing_of_the_answer(
    client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    save("shadow", memoryRuntime="axon_shadow", memorySources=SHADOW, template=PROFILE_TEMPLATE)
    assert call("PUT /v1/profile", {"expectedRevision": 0, "profile": {"likes": "tea"}}).status == 200
    put_table("harbour", revision=0)
    before = context(scenarioId="shadow")
    break_record(client, "D#table")
    answer, line = shadowed(caplog)
    assert {**answer, "context": ""} == {**before, "context": ""}
    assert line.shadow_only_there == ""


def test_a_shadow_rings_no_worker() -> None:
    save("shadow", memoryRuntime="axon_shadow", memorySources=SHADOW, template=PROFILE_TEMPLATE)
    turn = {"turnId": "t1", "scenarioId": "shadow", "user": {"text": "q"}, "assistant": {"text": "a"}}
    assert call("POST …/turns", turn).json["scheduled"] == []


def test_the_diary_of_a_scenario_is_listed_recalled_edited_and_deleted_by_its_name() -> None:
    diary = [{"id": "d", "agentRef": "Other|", "variable": "compassMemory"}]
    few = dict.fromkeys(("default", "plus", "ultra", "max"), 2)
    save("other", memoryRuntime="axon_go", memorySources=diary, diary={"recallByTier": few})
    save("none", memoryRuntime="axon_go", memorySources=[])
    for number in range(3):
        put_diary(f"summary-{number}", first=10 * number + 1, last=10 * number + 10, agent="other")
    named = {"scenarioId": "other"}

    def recalled(query: Any) -> list[str]:
        return [one["summary"] for one in call("GET …/diary/recall", query=query).json["entries"]]

    assert recalled({}) == []
    assert recalled(named) == ["summary-1", "summary-2"]
    assert len(call("GET …/diary", query=named).json["entries"]) == 3
    assert call("GET …/diary").json["entries"] == []
    end = {"path": {"endRound": "30"}, "query": named}
    assert call("PUT …/diary/{endRound}", {"summary": "mine", "diary": ""}, **end).status == 200
    assert recalled(named) == ["summary-1", "mine"]
    assert "mine" in context(scenarioId="other")["variables"]["compassMemory"]
    assert call("DELETE …/diary/{endRound}", **end).status == 200
    assert recalled(named) == ["summary-0", "summary-1"]
    missing = call("GET …/diary/recall", query={"scenarioId": "nobody-knows"})
    assert (missing.status, missing.code) == (404, "scenario_unknown")
    assert call("GET …/diary", query={"scenarioId": "none"}).status == 404
