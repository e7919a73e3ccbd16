"""Read a scenario as products write it, and say all that is wrong with it at once."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from memoir.domain.scenario.members import Members, Problems
from memoir.domain.scenario.scenario import DEFAULT_RECEIPT_DAYS, Json, MemorySource, Scenario
from memoir.domain.scenario.schema_cost import schema_problems
from memoir.domain.scenario.settings import read_compact, read_diary, read_state, read_table
from memoir.domain.scenario.sources import read_documents, read_sources, read_values
from memoir.domain.scenario.template import CompileContent, compile_template
from memoir.domain.scenario.variables import GIVEN_VALUES, VARIABLES_OF_RUNTIME, Document, Runtime
from memoir.domain.template.run import Program
from memoir.domain.tokens.estimate import DEFAULT_TOKENIZER, TOKENIZERS
from memoir.errors import Problem, ScenarioInvalid

MAX_SCENARIO_BYTES = 128 * 1024
MAX_RECEIPT_DAYS = 3_650

CheckSchema = Callable[[Json], list[Problem]]
"""Tries a schema: what is wrong with it, each with its path in the schema."""

MEMBERS = (
    *("memoryRuntime", "memorySources", "documents", "template", "values", "writeOn", "table", "diary"),
    *("state", "compact", "hinos", "memorySchema", "onMissing", "receiptDays", "keepInput", "tokenizer"),
)


def read_scenario(
    value: object,
    *,
    scenario_id: str,
    revision: int = 0,
    program: Program | None = None,
    compile_content: CompileContent | None = None,
    check_schema: CheckSchema | None = None,
) -> Scenario:
    """Return the scenario that parsed JSON *value* is.

    For one that is being saved, *compile_content* parses each message, *check_schema* tries `memorySchema`.
    For a stored one, *program* is what its template was made into then.
    Raises ScenarioInvalid with all that is wrong: `path`, `code` and `detail` each.
    """
    problems = Problems()
    members = Members(value, path="", problems=problems, known=MEMBERS)
    _check_size(value, problems)
    runtime = members.choice("memoryRuntime", tuple(VARIABLES_OF_RUNTIME), default="personalization")
    sources = read_sources(members, runtime=cast(Runtime, runtime))
    documents = read_documents(members)
    scenario = _with_settings(members, scenario_id, cast(Runtime, runtime), sources, documents, revision)
    names = frozenset({*scenario.variables(), *scenario.values, *GIVEN_VALUES} - {""})
    if compile_content is not None and members.given.get("template") is not None:
        program = compile_template(members, names=names, compile_content=compile_content)
    schema = _read_schema(members, check_schema)
    if problems.found:
        count = len(problems.found)
        raise ScenarioInvalid(
            problems=problems.found,
            detail=f"the scenario has {count} {'problem' if count == 1 else 'problems'}; "
            f"the first: {problems.found[0]['detail']}",
        )
    return replace(scenario, program=program, memory_schema=schema)


def _with_settings(
    members: Members,
    scenario_id: str,
    runtime: Runtime,
    sources: tuple[MemorySource, ...],
    documents: tuple[Document, ...],
    revision: int,
) -> Scenario:
    hinos = members.inner("hinos", ("memoryIngest",))
    settings: dict[str, Any] = {
        "write_on": members.choice("writeOn", ("completed", "accepted"), default="completed"),
        "on_missing": members.choice("onMissing", ("tell", "fail"), default="tell"),
        "memory_ingest": hinos.choice("memoryIngest", ("best_effort", "required"), default="best_effort"),
        "tokenizer": members.choice("tokenizer", TOKENIZERS, default=DEFAULT_TOKENIZER),
    }
    return Scenario(
        id=scenario_id,
        revision=revision,
        memory_runtime=runtime,
        memory_sources=sources,
        documents=documents,
        values=read_values(members, sources=sources, documents=documents),
        table=read_table(members),
        diary=read_diary(members),
        state=read_state(members),
        compact=read_compact(members),
        receipt_days=members.number(
            "receiptDays", default=DEFAULT_RECEIPT_DAYS, at_least=1, at_most=MAX_RECEIPT_DAYS
        ),
        keep_input=members.flag("keepInput", default=False),
        **settings,
    )


def _read_schema(members: Members, check_schema: CheckSchema | None) -> Json | None:
    schema = members.given.get("memorySchema")
    if schema is None:
        return None
    if not isinstance(schema, dict):
        members.wrong("memorySchema", "schema_invalid", "must be a JSON Schema object")
        return None
    path = members.at("memorySchema")
    found = schema_problems(schema, path=path)
    if not found and check_schema is not None:
        found = [{**problem, "path": f"{path}{problem['path']}"} for problem in check_schema(schema)]
    members.problems.extend(found)
    return schema


def _check_size(value: object, problems: Problems) -> None:
    size_bytes = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size_bytes > MAX_SCENARIO_BYTES:
        problems.add("/", "scenario_too_large", f"{size_bytes} bytes, the limit is {MAX_SCENARIO_BYTES}")
