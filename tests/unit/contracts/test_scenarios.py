"""Scenarios: what is accepted, and that all that is wrong is told at once, each with its place."""

import json
from typing import Any

import pytest

from memoir.contracts.scenarios import PutScenario, read_put_scenario
from memoir.domain.diary.due.policy import Store, memory_v2_policy
from memoir.domain.diary.due.tiers import Tier
from memoir.domain.scenario.reading import read_scenario
from memoir.errors import RequestInvalid, ScenarioInvalid

TABLE = {"id": "t", "agentRef": "table", "variable": "memoryTable"}
DIARY = {"id": "d", "agentRef": "diary", "variable": "compassMemory", "priority": 5}
HINOS = {"id": "h", "agentRef": "hinos", "variable": "hinosMemory"}
PROFILE = {"id": "p", "agentRef": "profile", "variable": "personalization"}
GO: dict[str, Any] = {"memoryRuntime": "axon_go", "memorySources": [TABLE, DIARY]}


def put(scenario: Any, **members: Any) -> PutScenario:
    body = {"expectedRevision": 0, "scenario": scenario, **members}
    return read_put_scenario(json.dumps(body).encode(), scenario_id="s", check_schema=lambda _: [])


def problems_of(scenario: Any) -> list[tuple[Any, Any]]:
    with pytest.raises(ScenarioInvalid) as caught:
        put(scenario)
    return [(problem["path"], problem["code"]) for problem in caught.value.problems]


def test_nothing_but_an_object_is_personalization() -> None:
    scenario = put({}).scenario
    assert scenario.memory_runtime == "personalization"
    assert scenario.variables() == ("personalization",)
    assert scenario.reads() == ("profile",)
    assert scenario.workers() == ()
    assert (scenario.write_on, scenario.on_missing, scenario.memory_ingest) == (
        "completed",
        "tell",
        "best_effort",
    )
    assert (scenario.receipt_days, scenario.keep_input, scenario.documents) == (30, False, ())
    assert [scenario.recall_count(tier) for tier in ("default", "plus", "ultra", "max", "?")] == [
        1,
        2,
        3,
        5,
        1,
    ]


@pytest.mark.parametrize(
    ("sources", "workers", "reads"),
    [
        ([], (), ()),
        ([TABLE], ("table",), ("table",)),
        ([DIARY], ("diary",), ("diary",)),
        ([DIARY, TABLE], ("diary", "table"), ("diary", "table")),
    ],
)
def test_axon_go_reads_and_rings_only_what_is_configured(sources: Any, workers: Any, reads: Any) -> None:
    scenario = put({"memoryRuntime": "axon_go", "memorySources": sources}).scenario
    assert (scenario.workers(), scenario.reads()) == (workers, reads)


def test_axon_shadow_answers_from_the_profile_reads_both_and_writes_nothing() -> None:
    scenario = put({"memoryRuntime": "axon_shadow", "memorySources": [TABLE, DIARY]}).scenario
    assert scenario.variables() == ("personalization",)
    assert scenario.reads() == ("profile", "table", "diary")
    assert [source.variable for source in scenario.compared_sources()] == ["memoryTable", "compassMemory"]
    assert scenario.workers() == ()


def test_documents_give_their_variables_beside_any_runtime() -> None:
    scenario = put({**GO, "documents": ["state", "memory"]}).scenario
    assert scenario.variables() == ("memoryTable", "compassMemory", "actorState", "directorState", "memory")
    assert scenario.reads() == ("table", "diary", "state", "memory")


def test_every_setting_is_read() -> None:
    scenario = put(
        {
            **GO,
            "writeOn": "accepted",
            "values": ["char", "weather"],
            "table": {"refine": False},
            "diary": {
                "policy": "memory_v2",
                "minRounds": 30,
                "roundsPerDiary": 15,
                "readBehindRounds": 1,
                "storeByTier": dict.fromkeys(Tier, "summary_and_diary"),
                "recallByTier": {"default": 2, "plus": 2, "ultra": 3, "max": 4},
                "character": "阿莱娜",
                "summaryChars": 500,
                "diaryChars": 600,
                "monthlyQuota": 0,
            },
            "state": {"categories": ["quest"], "visibility": {"quest": "director"}, "instruction": "i"},
            "compact": {
                "keepTurns": 3,
                "targetShare": 0.5,
                "maxSummaryTokens": 400,
                "checkpointEveryTurns": 9,
            },
            "hinos": {"memoryIngest": "required"},
            "onMissing": "fail",
            "receiptDays": 7.0,
            "keepInput": True,
            "tokenizer": "gpt4o",
            "memorySchema": {"type": "object"},
            "template": {"messages": [{"role": "system", "content": "{{char}} {{ memoryTable }}"}]},
        }
    ).scenario
    policy = scenario.diary.policy
    wanted = memory_v2_policy(first_rounds=30, later_rounds=15, read_behind_rounds=1)
    assert (policy.first_after_rounds, policy.every_rounds) == (
        wanted.first_after_rounds,
        wanted.every_rounds,
    )
    assert policy.read_behind_rounds == 1
    assert policy.stores.of(Tier.DEFAULT) is Store.SUMMARY_AND_DIARY
    assert scenario.recall_count("max") == 4
    assert (scenario.diary.character, scenario.diary.summary_chars, scenario.diary.diary_chars) == (
        "阿莱娜",
        500,
        600,
    )
    assert scenario.diary.monthly_quota == 0
    assert scenario.state.visibility == {"quest": "director"}
    assert scenario.compact is not None
    assert (scenario.compact.keep_turns, scenario.compact.checkpoint_every_turns) == (3, 9)
    assert (scenario.memory_ingest, scenario.on_missing, scenario.write_on) == (
        "required",
        "fail",
        "accepted",
    )
    assert (scenario.receipt_days, scenario.keep_input, scenario.tokenizer) == (7, True, "gpt4o")
    assert (scenario.table.refine, scenario.memory_schema) == (False, {"type": "object"})
    assert scenario.priority("compassMemory") == 5
    assert scenario.program is not None
    assert scenario.program["messages"][0]["names"] == ["char", "memoryTable"]


def test_what_was_stored_reads_back_as_the_same_scenario_without_a_parser() -> None:
    request = put({**GO, "template": {"messages": [{"history": True}]}})
    again = read_scenario(
        json.loads(request.text), scenario_id="s", revision=1, program=json.loads(json.dumps(request.program))
    )
    assert again == request.scenario


@pytest.mark.parametrize(
    ("scenario", "path", "code"),
    [
        ({"nope": 1}, "/nope", "unknown_member"),
        ({"memoryRuntime": "axon"}, "/memoryRuntime", "memory_runtime_unknown"),
        ({"memoryRuntime": None}, "/memoryRuntime", "memory_runtime_unknown"),
        ({"memorySources": {}}, "/memorySources", "list_invalid"),
        ({**GO, "memorySources": [TABLE, {**DIARY, "id": "t"}]}, "/memorySources/1/id", "source_id_taken"),
        (
            {**GO, "memorySources": [TABLE, {**TABLE, "id": "u"}]},
            "/memorySources/1/variable",
            "source_variable_taken",
        ),
        ({**GO, "memorySources": [PROFILE]}, "/memorySources/0/variable", "source_unsupported"),
        ({**GO, "memorySources": [HINOS]}, "/memorySources/0/variable", "source_unsupported"),
        ({"memorySources": [TABLE]}, "/memorySources/0/variable", "source_unsupported"),
        (
            {**GO, "memorySources": [{**TABLE, "variable": "memory"}]},
            "/memorySources/0/variable",
            "source_unsupported",
        ),
        (
            {**GO, "memorySources": [{"id": "t", "agentRef": "a"}]},
            "/memorySources/0/variable",
            "member_missing",
        ),
        (
            {**GO, "memorySources": [{**TABLE, "agentRef": " | "}]},
            "/memorySources/0/agentRef",
            "text_invalid",
        ),
        (
            {**GO, "memorySources": [{**TABLE, "priority": True}]},
            "/memorySources/0/priority",
            "number_invalid",
        ),
        ({"memoryRuntime": "hinos"}, "/memorySources", "hinos_source_missing"),
        (
            {"memoryRuntime": "hinos", "memorySources": [HINOS, TABLE]},
            "/memorySources",
            "hinos_source_missing",
        ),
        ({"documents": ["diary"]}, "/documents/0", "document_unknown"),
        ({"documents": ["memory", "memory"]}, "/documents/1", "document_taken"),
        ({"documents": ["memory"], "values": ["memory"]}, "/values/0", "value_shadows_source"),
        ({**GO, "values": ["memoryTable"]}, "/values/0", "value_shadows_source"),
        ({"values": ["a b"]}, "/values/0", "value_name_invalid"),
        ({"values": ["loop"]}, "/values/0", "value_name_invalid"),
        ({"values": ["a", "a"]}, "/values/1", "value_taken"),
        ({"writeOn": "never"}, "/writeOn", "write_on_unknown"),
        ({"onMissing": True}, "/onMissing", "on_missing_unknown"),
        ({"tokenizer": "gpt-17"}, "/tokenizer", "tokenizer_unknown"),
        ({"table": []}, "/table", "not_an_object"),
        ({"table": {"refine": 1}}, "/table/refine", "boolean_invalid"),
        ({"diary": {"minRounds": 0}}, "/diary/minRounds", "number_invalid"),
        ({"diary": {"minRounds": 201}}, "/diary/minRounds", "number_invalid"),
        ({"diary": {"roundsPerDiary": 1.5}}, "/diary/roundsPerDiary", "number_invalid"),
        ({"diary": {"minRounds": 9}}, "/diary/minRounds", "diary_rounds_invalid"),
        ({"diary": {"readBehindRounds": 3}}, "/diary/readBehindRounds", "number_invalid"),
        (
            {"diary": {"recallByTier": {"default": 1, "plus": 1, "ultra": 1}}},
            "/diary/recallByTier/max",
            "tier_missing",
        ),
        (
            {"diary": {"recallByTier": {"default": 6, "plus": 1, "ultra": 1, "max": 1}}},
            "/diary/recallByTier/default",
            "tier_invalid",
        ),
        (
            {"diary": {"recallByTier": {"default": 1, "plus": 1, "ultra": 1, "max": 1, "vip": 1}}},
            "/diary/recallByTier/vip",
            "unknown_member",
        ),
        ({"state": {"categories": ["a/b"]}}, "/state/categories/0", "category_invalid"),
        (
            {"state": {"categories": ["people"], "visibility": {"quest": "both"}}},
            "/state/visibility/quest",
            "unknown_member",
        ),
        ({"state": {"visibility": 5}}, "/state/visibility", "not_an_object"),
        ({"compact": {"targetShare": 0}}, "/compact/targetShare", "number_invalid"),
        ({"hinos": {"memoryIngest": "maybe"}}, "/hinos/memoryIngest", "memory_ingest_unknown"),
        ({"memorySchema": []}, "/memorySchema", "schema_invalid"),
        ({"receiptDays": 0}, "/receiptDays", "number_invalid"),
        ({"template": {}}, "/template/messages", "member_missing"),
        ({"template": {"messages": [{"history": True}] * 2}}, "/template/messages/1", "history_twice"),
        ({"template": {"messages": [{"history": False}]}}, "/template/messages/0", "history_invalid"),
        (
            {"template": {"messages": [{"history": True, "role": "user"}]}},
            "/template/messages/0",
            "history_invalid",
        ),
        (
            {"template": {"messages": [{"role": "tool", "content": ""}]}},
            "/template/messages/0/role",
            "role_unknown",
        ),
        (
            {"template": {"messages": [{"role": "system", "content": 1}]}},
            "/template/messages/0/content",
            "text_invalid",
        ),
        (
            {"template": {"messages": [{"role": "system", "content": "{{ memoryTable }}"}]}},
            "/template/messages/0/content",
            "template_unknown_variable",
        ),
    ],
)
def test_what_breaks_a_rule_is_refused_by_its_place(scenario: Any, path: str, code: str) -> None:
    assert (path, code) in problems_of(scenario)


def test_the_shadowed_sources_are_no_variables_of_a_template() -> None:
    template = {"messages": [{"role": "system", "content": "{{ memoryTable }}"}]}
    scenario = {"memoryRuntime": "axon_shadow", "memorySources": [TABLE], "template": template}
    assert problems_of(scenario) == [("/template/messages/0/content", "template_unknown_variable")]


def test_all_problems_are_told_at_once() -> None:
    found = problems_of(
        {
            "memoryRuntime": "hinos",
            "nope": 1,
            "writeOn": 2,
            "diary": {"minRounds": 0},
            "template": {
                "messages": [{"role": "system", "content": "{{ x }}"}, {"role": 1, "content": "{{ y"}]
            },
        }
    )
    assert {path for path, _ in found} == {
        "/nope",
        "/memorySources",
        "/writeOn",
        "/diary/minRounds",
        "/template/messages/0/content",
        "/template/messages/1/role",
        "/template/messages/1/content",
    }


@pytest.mark.parametrize(("count", "fits"), [(40, True), (41, False)])
def test_a_template_has_at_most_forty_messages(count: int, fits: bool) -> None:
    template = {"messages": [{"role": "system", "content": "x"}] * count}
    if fits:
        assert len((put({"template": template}).program or {})["messages"]) == count
    else:
        assert problems_of({"template": template}) == [("/template/messages", "list_too_long")]


@pytest.mark.parametrize(("size", "fits"), [(32 * 1024, True), (32 * 1024 + 1, False)])
def test_a_message_has_at_most_32_kib(size: int, fits: bool) -> None:
    template = {"messages": [{"role": "system", "content": "x" * size}]}
    if fits:
        assert put({"template": template}).program is not None
    else:
        assert problems_of({"template": template}) == [("/template/messages/0/content", "content_too_long")]


def test_a_scenario_over_128_kib_is_refused() -> None:
    template = {"messages": [{"role": "system", "content": "x" * 32_000}] * 5}
    assert ("/", "scenario_too_large") in problems_of({"template": template})


def test_a_problem_of_a_schema_is_told_with_its_place_in_the_scenario() -> None:
    body = json.dumps({"expectedRevision": 0, "scenario": {"memorySchema": {"type": "x"}}}).encode()
    with pytest.raises(ScenarioInvalid) as caught:
        read_put_scenario(
            body, scenario_id="s", check_schema=lambda _: [{"path": "/type", "code": "c", "detail": "d"}]
        )
    assert caught.value.problems == [{"path": "/memorySchema/type", "code": "c", "detail": "d"}]


@pytest.mark.parametrize("scenario", [None, [], "x", 1])
def test_a_scenario_is_an_object(scenario: Any) -> None:
    with pytest.raises(RequestInvalid) as caught:
        put(scenario)
    assert caught.value.path == "/scenario"


def test_a_body_has_two_members_and_no_other() -> None:
    with pytest.raises(RequestInvalid) as caught:
        put({}, other=1)
    assert (caught.value.path, caught.value.code) == ("/other", "unknown_member")


def test_the_text_that_is_stored_is_the_text_that_was_sent() -> None:
    body = b'{"scenario": {"receiptDays": 7.0, "values": ["\\u5251"]}, "expectedRevision": 3}'
    request = read_put_scenario(body, scenario_id="s", check_schema=lambda _: [])
    assert request.text == '{"receiptDays":7.0,"values":["剑"]}'
    assert (request.expected_revision, request.scenario.revision) == (3, 4)
