"""Scenarios, sources and histories for the tests of a context."""

from typing import Any

from memoir.contracts.template import compile_content
from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.source import RecalledSource
from memoir.domain.scenario.reading import read_scenario
from memoir.domain.scenario.scenario import Scenario

SYSTEM = "{{ compassMemory }}\n{{ memoryTable }}"


def scenario_of(
    *messages: str | dict[str, Any],
    priorities: tuple[int, int] = (0, 0),
    documents: tuple[str, ...] = (),
    **members: Any,
) -> Scenario:
    """Return a scenario of axon_go with diary and table; a text is a system message's content."""
    template = [m if isinstance(m, dict) else {"role": "system", "content": m} for m in messages]
    value = {
        "memoryRuntime": "axon_go",
        "memorySources": [
            {"id": "d", "agentRef": "d", "variable": "compassMemory", "priority": priorities[0]},
            {"id": "t", "agentRef": "t", "variable": "memoryTable", "priority": priorities[1]},
        ],
        "documents": list(documents),
        **({"template": {"messages": template}} if template else {}),
        **members,
    }
    return read_scenario(value, scenario_id="s", compile_content=compile_content)


HISTORY = {"history": True}


def diary(text: str = "day one", **facts: Any) -> RecalledSource:
    return RecalledSource(variable="compassMemory", kind="diary", text=text, revision=3, **facts)


def table(text: str = "* 0:人物表", **facts: Any) -> RecalledSource:
    return RecalledSource(variable="memoryTable", kind="table", text=text, revision=7, **facts)


def memory(text: str = '{"scene":"gate","n":1.0}', **facts: Any) -> RecalledSource:
    return RecalledSource(variable="memory", kind="memory", text=text, is_json=True, revision=2, **facts)


def said(role: str, content: str = "x", **facts: Any) -> HistoryMessage:
    return HistoryMessage(role=role, content=content, **facts)
