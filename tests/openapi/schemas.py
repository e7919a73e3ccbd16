"""JSON Schemas of what the service reads and answers, made from its own types."""

import ast
import types
import typing
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from memoir import errors

PACKAGE = Path(errors.__file__).parents[1]
Schema = dict[str, Any]

REVISION: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
OBJECT: Schema = {"type": "object"}
_MEMBERS: dict[str, Schema] = {
    "expectedRevision": {**REVISION, "description": "The revision that the write is based on; 0 creates."},
    "expectedVersion": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
    "round": {"type": "integer", "minimum": 1},
    "memory": {**OBJECT, "description": "At most 65,536 bytes of compact JSON, 32 levels."},
    "profile": {**OBJECT, "description": "At most 65,536 bytes of compact JSON, 32 levels."},
    "table": {**OBJECT, "description": "`{sheets: [{name, columns, rows, rowIds?}]}`."},
    "state": {**OBJECT, "description": "`{text, records: {category: [record]}}`."},
    "story": {**OBJECT, "description": "`{anchor?, world, events: [{id, text}], narrative}`."},
    "candidate": {"anyOf": [OBJECT, {"type": "null"}], "description": "A whole state; null: no update."},
    "scenario": {**OBJECT, "description": "See docs/scenarios.md."},
}
"""Members that are checked by the domain, after the contract: their types stand here."""

_PRIMITIVES: dict[Any, Schema] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


def request_schemas(models: list[type[BaseModel]]) -> tuple[dict[type[BaseModel], Schema], dict[str, Schema]]:
    """Return the schema of each of *models* by reference, and all definitions."""
    listed: Any = [(model, "validation") for model in models]
    by_model, whole = models_json_schema(listed, ref_template="#/components/schemas/{model}", by_alias=True)
    definitions = {name: _filled(schema) for name, schema in whole["$defs"].items()}
    return {model: by_model[(model, "validation")] for model in models}, definitions


def _filled(schema: Schema) -> Schema:
    for name, member in schema.get("properties", {}).items():
        known = _MEMBERS.get(name)
        if known and set(member) <= {"title", "default"}:
            schema["properties"][name] = known
    return {name: value for name, value in schema.items() if name != "description"}


def answer_schema(kind: type, known: dict[str, Schema]) -> Schema:
    """Return the schema of a TypedDict by reference, and put its definition among *known*."""
    name = kind.__name__
    if name not in known:
        known[name] = {}
        hints = typing.get_type_hints(kind, include_extras=True)
        known[name] = {
            "type": "object",
            "description": (kind.__doc__ or "").strip().split("\n")[0],
            "properties": {member: _schema(hint, known) for member, hint in hints.items()},
            "required": sorted(kind.__required_keys__),  # type: ignore[attr-defined]
            "additionalProperties": False,
        }
    return {"$ref": f"#/components/schemas/{name}"}


def _schema(hint: Any, known: dict[str, Schema]) -> Schema:
    if hint in _PRIMITIVES:
        return dict(_PRIMITIVES[hint])
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.NotRequired:
        return _schema(arguments[0], known)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(one, known) for one in arguments]}
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0], known)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1], known)}
    if typing.is_typeddict(hint):
        return answer_schema(hint, known)
    raise TypeError(f"no schema for {hint}")


def codes() -> dict[str, set[str]]:
    """Return the codes of each error class: its own, and those that it is raised with anywhere."""
    found = {name: {kind.code} for name, kind in _error_classes() if isinstance(kind.code, str)}
    for path in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call):
                called = call.func
                name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if name in found:
                    found[name].update(_literal_codes(call))
    return found


def _literal_codes(call: ast.Call) -> Iterator[str]:
    for keyword in call.keywords:
        if keyword.arg == "code":
            for node in ast.walk(keyword.value):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.islower():
                    yield node.value


def _error_classes() -> list[tuple[str, type[errors.MemoirError]]]:
    listed = [(name, getattr(errors, name)) for name in errors.__all__]
    return [(n, k) for n, k in listed if isinstance(k, type) and issubclass(k, errors.MemoirError)]


def error_members(kind: type[errors.MemoirError]) -> dict[str, Schema]:
    """Return the schemas of the facts that an error tells beside `code` and `detail`."""
    hints = typing.get_type_hints(kind)
    told = {}
    for field in fields(kind):
        if field.name not in ("detail", "code"):
            head, *rest = field.name.split("_")
            told[head + "".join(part.capitalize() for part in rest)] = _fact(hints[field.name])
    return told


def _fact(hint: Any) -> Schema:
    arguments = [one for one in typing.get_args(hint) if one is not type(None)]
    kind = arguments[0] if arguments and typing.get_origin(hint) is not list else hint
    if typing.get_origin(kind) is list:
        return {"type": "array", "items": {"type": "object"}}
    return dict(_PRIMITIVES.get(kind, {}))
