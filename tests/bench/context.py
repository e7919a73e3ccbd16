"""CPU of a context: rendering 16 KiB of sources, placing a history and counting tokens."""

import json
import time
from contextlib import suppress

from memoir.contracts.template import compile_content
from memoir.domain.context.answer import context_answer
from memoir.domain.context.build import build_context
from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.manifest import encode_manifest, make_manifest
from memoir.domain.context.source import RecalledSource
from memoir.domain.scenario.reading import read_scenario
from memoir.domain.scenario.scenario import Scenario
from memoir.domain.template.run import run_template
from memoir.domain.turns import Position
from memoir.errors import LimitExceeded
from tests.unit.contracts.test_hostile_templates import CASES, NAMES, VALUES

SENTENCE = "守卫点头接过铜钥匙，把它藏进靴筒。"


def main() -> None:
    """Print ms for 16 KiB of sources with a short history (target: 3), and with more of either."""
    print("\ncontext: CPU to build and answer it (target: 3 ms for 16 KiB of sources)")
    for kib, turns, budget in (
        (1, 0, None),
        (16, 0, None),
        (64, 0, None),
        (16, 10, None),
        (16, 10, 4_000),
        (64, 40, None),
    ):
        milliseconds = min(_measure(kib, turns, budget) for _ in range(15))
        told = "no budget" if budget is None else f"budget {budget}"
        print(f"  {kib:3} KiB of sources, {turns:2} turns, {told:11}: {milliseconds:6.2f} ms")
    worst = max(_hostile(content, values) for content, values in CASES)
    print(f"  the worst of {len(CASES)} hostile templates and values: {worst:6.1f} ms (target: 200)")


def _hostile(content: str, values: str) -> float:
    started = time.process_time()
    body, names, problems = compile_content(content, NAMES, path="")
    if not problems:
        with suppress(LimitExceeded):
            run_template({"messages": [{"role": "system", "body": body, "names": names}]}, VALUES[values])
    return (time.process_time() - started) * 1000


def scenario() -> Scenario:
    """Return a scenario with diary, table and memory."""
    contents = [
        "{% if compassMemory %}# 日记\n{{ compassMemory }}{% endif %}",
        "{{ memoryTable }}",
        "{{ memory.scene|default('?') }}\n{% for x in memory.facts %}- {{ x.text }}\n{% endfor %}",
    ]
    messages = [{"role": "system", "content": content} for content in contents]
    value = {
        "memoryRuntime": "axon_go",
        "memorySources": [
            {"id": "d", "agentRef": "d", "variable": "compassMemory"},
            {"id": "t", "agentRef": "t", "variable": "memoryTable"},
        ],
        "documents": ["memory"],
        "template": {"messages": [*messages, {"history": True}]},
    }
    return read_scenario(value, scenario_id="bench", compile_content=compile_content)


def _sources(kib: int) -> list[RecalledSource]:
    third = SENTENCE * (kib * 1024 // 3 // len(SENTENCE.encode()))
    facts = [{"text": SENTENCE, "n": n} for n in range(kib * 1024 // 3 // len(SENTENCE.encode()))]
    document = json.dumps({"scene": "城门", "facts": facts}, ensure_ascii=False)
    return [
        RecalledSource(variable="compassMemory", kind="diary", text=third, revision=1),
        RecalledSource(variable="memoryTable", kind="table", text=third, revision=1),
        RecalledSource(variable="memory", kind="memory", text=document, is_json=True, revision=1),
    ]


def _measure(kib: int, turns: int, budget: int | None) -> float:
    chosen, sources = scenario(), _sources(kib)
    history = [
        HistoryMessage(role=role, content=SENTENCE * 5, turn_id=f"t{n}")
        for n in range(turns)
        for role in ("user", "assistant")
    ]
    started = time.process_time()
    context = build_context(scenario=chosen, sources=sources, history=history, budget=budget)
    manifest = make_manifest(
        context,
        generation=0,
        head=Position(round=turns, version=1),
        scenario_id=chosen.id,
        scenario_revision=1,
    )
    context_answer(context, generation=0, manifest=encode_manifest(manifest))
    return (time.process_time() - started) * 1000


if __name__ == "__main__":
    main()
