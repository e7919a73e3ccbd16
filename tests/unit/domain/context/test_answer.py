"""The answer of a context: numbers of documents are exact, and everything is told."""

import json

from memoir.domain.context.answer import context_answer
from memoir.domain.context.build import build_context
from memoir.domain.context.source import Missing
from tests.unit.domain.context.builders import HISTORY, diary, memory, said, scenario_of, table


def test_an_answer_tells_everything_and_keeps_numbers_as_they_are_stored() -> None:
    scenario = scenario_of("{{ memory.n }} {{ compassMemory }}", HISTORY, documents=("memory",))
    history = [
        said("user", "old", tokens=90, turn_id="t1"),
        said("assistant", "", tokens=9, tool_calls='[{"id":1.0}]'),
        said("tool", "r", tokens=9, tool_call_id="c"),
        said("user", "now", tokens=9),
    ]
    sources = [
        memory('{"n":1.0,"big":9007199254740993}'),
        diary("剑"),
        table("", missing=Missing(reason="not_due", next_at=20)),
    ]
    context = build_context(scenario=scenario, sources=sources, history=history, budget=80)
    text = context_answer(context, generation=3, manifest="m")
    answer = json.loads(text)
    assert '"memory":{"n":1.0,"big":9007199254740993}' in text
    assert '"toolCalls":[{"id":1.0}]' in text
    assert "剑" in text
    assert list(answer) == [
        *("variables", "revisions", "generation", "messages", "referenced", "unreferenced"),
        *("missing", "cut", "tokens", "warnings", "context"),
    ]
    assert answer["messages"][0] == {"role": "system", "content": "1.0 剑"}
    assert answer["revisions"] == {"compassMemory": 3, "memory": 2}
    assert answer["missing"] == [{"source": "memoryTable", "reason": "not_due", "nextAt": 20}]
    assert answer["cut"] == [{"history": True, "messages": 1, "tokens": 90}]
    assert answer["tokens"]["limit"] == 80
    assert answer["tokens"]["estimated"] is True
    assert (answer["generation"], answer["context"]) == (3, "m")
