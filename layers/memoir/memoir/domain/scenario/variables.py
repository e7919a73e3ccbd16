"""The names that sources and documents have in a template, and what stands behind each."""

from typing import Literal

Worker = Literal["table", "diary", "state"]
"""A background worker, by what it writes."""

Runtime = Literal["personalization", "axon_go", "axon_shadow", "hinos"]
"""Which memory system answers."""

Document = Literal["memory", "state", "story"]
"""A document of the conversation that a scenario may name beside its sources."""

SourceKind = Literal["profile", "diary", "table", "hinos", "memory", "state", "story"]
"""Where the value of a variable is stored."""

WORKER_OF_VARIABLE: dict[str, Worker] = {"memoryTable": "table", "compassMemory": "diary"}
"""Which worker keeps the source that a template names by this variable."""

VARIABLES_OF_RUNTIME: dict[Runtime, tuple[str, ...]] = {
    "personalization": ("personalization",),
    "axon_go": ("compassMemory", "memoryTable"),
    "axon_shadow": ("personalization", "compassMemory", "memoryTable"),
    "hinos": ("hinosMemory",),
}
"""The variables that the sources of a runtime may have."""

VARIABLES_OF_DOCUMENT: dict[Document, tuple[str, ...]] = {
    "memory": ("memory",),
    "state": ("actorState", "directorState"),
    "story": ("storyWorld", "storyNarrative"),
}
"""The variables that a document gives."""

KIND_OF_VARIABLE: dict[str, SourceKind] = {
    "personalization": "profile",
    "compassMemory": "diary",
    "memoryTable": "table",
    "hinosMemory": "hinos",
    "memory": "memory",
    "actorState": "state",
    "directorState": "state",
    "storyWorld": "story",
    "storyNarrative": "story",
}

DIRECTOR_ONLY = "directorState"
"""The variable that prints nothing for the actor."""

GIVEN_VALUES = ("user", "character", "audience", "round")
"""Values that every template may name."""
