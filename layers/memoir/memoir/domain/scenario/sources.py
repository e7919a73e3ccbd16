"""Read which sources, documents and values a scenario names."""

import re
from typing import Any

from memoir.domain.diary.record.agent_ref import canonical_agent_ref
from memoir.domain.scenario.members import Members, Problems
from memoir.domain.scenario.scenario import MemorySource
from memoir.domain.scenario.variables import (
    VARIABLES_OF_DOCUMENT,
    VARIABLES_OF_RUNTIME,
    WORKER_OF_VARIABLE,
    Document,
    Runtime,
)

MAX_SOURCES = 20
MAX_VALUES = 50
MAX_PRIORITY = 1_000

_PROFILE = "personalization"
_VALUE_NAME = re.compile(r"[^\W\d]\w{0,63}")
# What the template language reads as something else than a name.
_RESERVED = frozenset(
    {"and", "or", "not", "in", "is", "if", "elif", "else", "for", "loop", "self"}
    | {"true", "false", "none", "True", "False", "None"}
)


def read_sources(members: Members, *, runtime: Runtime) -> tuple[MemorySource, ...]:
    """Return the sources. Those that answer from the profile have its source without naming it."""
    sources = []
    for index, item in enumerate(members.items("memorySources", at_most=MAX_SOURCES)):
        sources.append(_read_source(item, f"{members.at('memorySources')}/{index}", members.problems))
    _check_sources(members, sources, runtime)
    if runtime in (_PROFILE, "axon_shadow") and all(source.variable != _PROFILE for source in sources):
        sources.insert(0, MemorySource(id=_PROFILE, agent_ref=_PROFILE, variable=_PROFILE))
    return tuple(sources)


def _read_source(item: object, path: str, problems: Problems) -> MemorySource:
    given = Members(item, path=path, problems=problems, known=("id", "agentRef", "variable", "priority"))
    agent_ref = given.text("agentRef")
    if agent_ref and not canonical_agent_ref(agent_ref):
        given.wrong("agentRef", "text_invalid", "must hold more than white space and |")
    return MemorySource(
        id=given.text("id"),
        agent_ref=agent_ref,
        variable=given.text("variable"),
        priority=given.number("priority", default=0, at_least=-MAX_PRIORITY, at_most=MAX_PRIORITY),
    )


def _check_sources(members: Members, sources: list[MemorySource], runtime: Runtime) -> None:
    path = members.at("memorySources")
    supported = VARIABLES_OF_RUNTIME[runtime]
    for index, source in enumerate(sources):
        before = sources[:index]
        if source.id and any(other.id == source.id for other in before):
            members.problems.add(f"{path}/{index}/id", "source_id_taken", "another source has this id")
        if source.variable and any(other.variable == source.variable for other in before):
            detail = "another source has this variable"
            members.problems.add(f"{path}/{index}/variable", "source_variable_taken", detail)
        if source.variable and source.variable not in supported:
            detail = f"{runtime} supports only {', '.join(supported)}"
            members.problems.add(f"{path}/{index}/variable", "source_unsupported", detail)
    if runtime == "hinos" and len(sources) != 1:
        members.problems.add(path, "hinos_source_missing", "hinos needs exactly one source, hinosMemory")


def read_documents(members: Members) -> tuple[Document, ...]:
    """Return the documents of the conversation that are named, each once."""
    documents: list[Document] = []
    for index, name in enumerate(members.items("documents", at_most=len(VARIABLES_OF_DOCUMENT))):
        path = f"{members.at('documents')}/{index}"
        known: Document | None = next((one for one in VARIABLES_OF_DOCUMENT if one == name), None)
        if known is None:
            detail = f"must be one of {', '.join(VARIABLES_OF_DOCUMENT)}"
            members.problems.add(path, "document_unknown", detail)
        elif known in documents:
            members.problems.add(path, "document_taken", "is named already")
        else:
            documents.append(known)
    return tuple(documents)


def read_values(
    members: Members, *, sources: tuple[MemorySource, ...], documents: tuple[Document, ...]
) -> tuple[str, ...]:
    """Return the names of the values that a request may give beside `user`, `character` and so on."""
    taken = {source.variable for source in sources}
    taken |= {variable for document in documents for variable in VARIABLES_OF_DOCUMENT[document]}
    values: list[str] = []
    for index, name in enumerate(members.items("values", at_most=MAX_VALUES)):
        problem = _value_problem(name, taken, values)
        if problem:
            members.problems.add(f"{members.at('values')}/{index}", *problem)
        else:
            values.append(name)
    return tuple(values)


def _value_problem(name: Any, taken: set[str], values: list[str]) -> tuple[str, str] | None:
    if not isinstance(name, str) or not _VALUE_NAME.fullmatch(name) or name in _RESERVED:
        return "value_name_invalid", "must be a name: a letter or _, then letters, digits or _, at most 64"
    if name in taken or name in WORKER_OF_VARIABLE:
        return "value_shadows_source", f"{name} is the variable of a source"
    return ("value_taken", "is named already") if name in values else None
