from dataclasses import replace
from typing import Any

import pytest

from memoir.domain.scope import Scope
from memoir.errors import RecordCorrupt, RequestInvalid, RevisionConflict, UpdateRefused, WriteOutcomeUnknown
from memoir.tools import MemoryTool, create_memory_tools
from memoir.usecases.documents import ScopedMemory
from memoir.usecases.engine import Engine
from tests.fakes.records import HookedRecords, InMemoryRecords

SCOPE = Scope(product="p", user="u", conversation="c")


@pytest.fixture
def engine() -> Engine:
    return Engine(records=InMemoryRecords(), clock=lambda: 0.0, receipt_days=30)


@pytest.fixture
def tools(engine: Engine) -> tuple[MemoryTool, MemoryTool]:
    return create_memory_tools(store=ScopedMemory(engine, SCOPE))


class Plain:
    """A store as a product would write one."""

    def __init__(self, record: Any, answer: Any = None) -> None:
        self.record, self.answer = record, answer
        self.written: list[tuple[int, dict[str, Any]]] = []

    def get(self) -> Any:
        return self.record

    def compare_and_set(self, expected_revision: int, memory: dict[str, Any]) -> Any:
        self.written.append((expected_revision, memory))
        return self.answer


def test_read_write_read(tools: tuple[MemoryTool, MemoryTool]) -> None:
    get_memory, update_memory = tools
    assert get_memory.execute({}) == {"revision": 0, "memory": None}
    scene = {"scene": "城门", "keyHolder": "守卫"}
    assert update_memory.execute({"expectedRevision": 0, "memory": scene}) == {"revision": 1}
    assert get_memory.execute({}) == {"revision": 1, "memory": scene}


def test_a_stale_update_conflicts_and_changes_nothing(tools: tuple[MemoryTool, MemoryTool]) -> None:
    get_memory, update_memory = tools
    update_memory.execute({"expectedRevision": 0, "memory": {"a": 1}})
    with pytest.raises(RevisionConflict) as conflict:
        update_memory.execute({"expectedRevision": 0, "memory": {"a": 2}})
    assert conflict.value.current_revision == 1
    assert get_memory.execute({})["memory"] == {"a": 1}


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "/expectedRevision"),
        ({"expectedRevision": 0}, "/memory"),
        ({"expectedRevision": "0", "memory": {}}, "/expectedRevision"),
        ({"expectedRevision": 0, "memory": "{}"}, "/memory"),
        ({"expectedRevision": 0, "memory": {}, "user": "other"}, "/user"),
    ],
)
def test_arguments_that_are_not_as_told_are_refused_before_the_store(arguments: Any, path: str) -> None:
    store = Plain(None)
    with pytest.raises(RequestInvalid) as refusal:
        create_memory_tools(store)[1].execute(arguments)
    assert refusal.value.path == path
    assert store.written == []


def test_get_takes_no_arguments(tools: tuple[MemoryTool, MemoryTool]) -> None:
    with pytest.raises(RequestInvalid):
        tools[0].execute({"user": "other"})


def test_the_products_check_runs_before_the_store_and_may_refuse(engine: Engine) -> None:
    def scene_is_needed(memory: dict[str, Any]) -> None:
        if not isinstance(memory.get("scene"), str):
            raise ValueError("scene 必填")

    asked: list[object] = []
    hooked = HookedRecords(records=engine.records, before_write=lambda *writes: asked.append(writes))
    store = ScopedMemory(replace(engine, records=hooked), SCOPE)
    _, update_memory = create_memory_tools(store, before_update=scene_is_needed)
    with pytest.raises(UpdateRefused) as refusal:
        update_memory.execute({"expectedRevision": 0, "memory": {}})
    assert refusal.value.reason == "scene 必填"
    assert asked == []
    assert update_memory.execute({"expectedRevision": 0, "memory": {"scene": "城门"}}) == {"revision": 1}


def test_what_the_products_check_changes_is_not_stored(engine: Engine) -> None:
    store = ScopedMemory(engine, SCOPE)
    get_memory, update_memory = create_memory_tools(store, before_update=lambda memory: memory.clear())
    update_memory.execute({"expectedRevision": 0, "memory": {"a": 1}})
    assert get_memory.execute({})["memory"] == {"a": 1}


@pytest.mark.parametrize("answer", [8, {"revision": 8}])
def test_a_store_may_answer_the_revision_plain_or_in_an_object(answer: Any) -> None:
    store = Plain({"revision": 7, "memory": {}}, answer)
    _, update_memory = create_memory_tools(store)
    assert update_memory.execute({"expectedRevision": 7.0, "memory": {"a": 1}}) == {"revision": 8}
    assert store.written == [(7, {"a": 1})]


@pytest.mark.parametrize("answer", [7, 9, True, None, "8", {}])
def test_a_store_that_answers_another_revision_leaves_the_outcome_unknown(answer: Any) -> None:
    _, update_memory = create_memory_tools(Plain(None, answer))
    with pytest.raises(WriteOutcomeUnknown):
        update_memory.execute({"expectedRevision": 7, "memory": {}})


@pytest.mark.parametrize(
    "record",
    [
        {"revision": 0, "memory": {}},
        {"revision": 1, "memory": None},
        {"revision": 1, "memory": []},
        {"revision": -1, "memory": {}},
        {"revision": True, "memory": {}},
        {},
        None,
    ],
)
def test_a_record_that_breaks_the_rules_is_corrupt_and_not_empty(record: Any) -> None:
    with pytest.raises(RecordCorrupt):
        create_memory_tools(Plain(record))[0].execute({})


def test_tools_name_no_user_and_are_never_replayed(tools: tuple[MemoryTool, MemoryTool]) -> None:
    assert [tool.name for tool in tools] == ["get_memory", "update_memory"]
    assert [tool.replay for tool in tools] == ["never", "never"]
    assert [sorted(tool.parameters["properties"]) for tool in tools] == [[], ["expectedRevision", "memory"]]


def test_each_provider_gets_its_own_form(tools: tuple[MemoryTool, MemoryTool]) -> None:
    tool = tools[1]
    told = {"name": tool.name, "description": tool.description}
    assert tool.to_openai() == {"type": "function", "function": {**told, "parameters": tool.parameters}}
    assert tool.to_anthropic() == {**told, "input_schema": tool.parameters}
    assert tool.to_bedrock_converse() == {"toolSpec": {**told, "inputSchema": {"json": tool.parameters}}}
