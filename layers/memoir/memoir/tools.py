"""`get_memory` and `update_memory` as tools for a model, over any store that is bound to one scope.

The model's arguments hold no user, product or conversation: whose memory it is was decided when the store was
made. After a conflict, read again and judge again; a stale proposal must not be pushed under a new revision.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from memoir.domain.json_document import MAX_DOCUMENT_BYTES, MAX_LEVELS, Json
from memoir.domain.memory import BeforeUpdate, ask_before_update, memory_document
from memoir.domain.revision import MAX_SAFE_INTEGER, check_expected_revision
from memoir.errors import RecordCorrupt, RequestInvalid
from memoir.usecases.documents import check_next_revision


class ToolStore(Protocol):
    """What the tools need: a memory that is already bound to one product, user and conversation."""

    def get(self) -> Any:
        """Return `{"revision", "memory"}`, or an object with these two attributes."""

    def compare_and_set(self, expected_revision: int, memory: Json) -> Any:
        """Store *memory* if the revision is still *expected_revision*; return the new one.

        The answer is the revision itself, `{"revision"}` or an object with that attribute. Raises
        `memoir.errors.RevisionConflict` where the revision moved.
        """


@dataclass(frozen=True, kw_only=True)
class MemoryTool:
    """A tool: what a model is told of it, and `execute`, which runs it.

    `parameters` is the JSON Schema of the arguments. `replay` is "never": a call whose outcome is unknown
    must not be run again by itself.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    execute: Callable[[Mapping[str, Any]], dict[str, Any]]
    replay: Literal["never"] = "never"

    def to_openai(self) -> dict[str, Any]:
        """Return the tool as OpenAI's chat completions take it in `tools`."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }

    def to_anthropic(self) -> dict[str, Any]:
        """Return the tool as Anthropic's messages take it in `tools`."""
        return {"name": self.name, "description": self.description, "input_schema": self.parameters}

    def to_bedrock_converse(self) -> dict[str, Any]:
        """Return the tool as Bedrock Converse takes it in `toolConfig.tools`."""
        return {
            "toolSpec": {
                "name": self.name,
                "description": self.description,
                "inputSchema": {"json": self.parameters},
            }
        }


def create_memory_tools(
    store: ToolStore, before_update: BeforeUpdate | None = None
) -> tuple[MemoryTool, MemoryTool]:
    """Return the tools `get_memory` and `update_memory` over *store*.

    *before_update* is the product's own check of a new memory; it raises to refuse it, before the store is
    called. `execute` raises the errors of `memoir.errors`; only WriteOutcomeUnknown may follow a write.
    """

    def get_memory(arguments: Mapping[str, Any]) -> dict[str, Any]:
        _check_members(arguments, allowed=())
        return _checked_record(store.get())

    def update_memory(arguments: Mapping[str, Any]) -> dict[str, Any]:
        _check_members(arguments, allowed=("expectedRevision", "memory"))
        expected = check_expected_revision(arguments["expectedRevision"])
        memory = memory_document(arguments["memory"])
        ask_before_update(before_update, memory)
        answer = store.compare_and_set(expected, memory.fresh_value())
        return {"revision": check_next_revision(_member(answer, "revision"), expected=expected)}

    return (
        MemoryTool(
            name="get_memory",
            description="Read this conversation's memory. Returns {revision, memory}; "
            "revision 0 with memory null means that there is none yet.",
            parameters={"type": "object", "properties": {}, "additionalProperties": False},
            execute=get_memory,
        ),
        MemoryTool(
            name="update_memory",
            description="Replace this conversation's whole memory at once. What the new object leaves out is "
            "deleted, so send the complete object. expectedRevision is the revision that the change is based "
            "on, from get_memory. Returns {revision}. After a conflict, read again and decide again.",
            parameters=_update_parameters(),
            execute=update_memory,
        ),
    )


def _update_parameters() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "expectedRevision": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_SAFE_INTEGER - 1,
                "description": "The revision that this update is based on.",
            },
            "memory": {
                "type": "object",
                "description": f"The complete new memory: a JSON object of at most "
                f"{MAX_DOCUMENT_BYTES} bytes and {MAX_LEVELS} levels.",
            },
        },
        "required": ["expectedRevision", "memory"],
        "additionalProperties": False,
    }


def _check_members(arguments: Mapping[str, Any], *, allowed: tuple[str, ...]) -> None:
    if not isinstance(arguments, Mapping):
        raise RequestInvalid(code="not_an_object", path="", detail="the arguments must be a JSON object")
    for name in arguments:
        if name not in allowed:
            raise RequestInvalid(code="unknown_member", path=f"/{name}", detail=f"/{name}: no such argument")
    for name in allowed:
        if name not in arguments:
            raise RequestInvalid(code="member_missing", path=f"/{name}", detail=f"/{name}: is missing")


def _checked_record(answer: Any) -> dict[str, Any]:
    revision, memory = _member(answer, "revision"), _member(answer, "memory")
    memory = getattr(memory, "value", memory)
    absent = revision == 0 and memory is None
    present = isinstance(revision, int) and revision > 0 and isinstance(memory, dict)
    if isinstance(revision, bool) or not (absent or present):
        raise RecordCorrupt(
            detail="the store returned neither revision 0 with null nor a positive revision with an object"
        )
    return {"revision": revision, "memory": memory}


def _member(answer: Any, name: str) -> Any:
    if isinstance(answer, Mapping):
        return answer.get(name)
    return getattr(answer, name, answer if name == "revision" else None)
