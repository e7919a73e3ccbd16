"""The scenario `default`: what a conversation has that names none."""

from typing import Any

from memoir.domain.scenario.scenario import MemorySource, Scenario

DEFAULT_TEMPLATE: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "{{ memory }}"},
        {"role": "system", "content": "{{ compassMemory }}"},
        {"role": "system", "content": "{{ memoryTable }}"},
        {"history": True},
    ]
}

# DEFAULT_TEMPLATE as the parser makes it, which needs Jinja2; a test compares the two.
_PROGRAM: dict[str, Any] = {
    "messages": [
        {"role": "system", "body": [["print", ["path", name]]], "names": [name]}
        for name in ("memory", "compassMemory", "memoryTable")
    ]
    + [{"history": True}]
}

DEFAULT = Scenario(
    id="default",
    memory_runtime="axon_go",
    memory_sources=(
        MemorySource(id="table", agent_ref="memory-table", variable="memoryTable"),
        MemorySource(id="diary", agent_ref="diary", variable="compassMemory"),
    ),
    documents=("memory",),
    program=_PROGRAM,
)
