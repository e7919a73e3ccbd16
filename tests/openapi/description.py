"""The description of the API in OpenAPI 3.1, made from contracts, answers, errors and the route tables."""

import importlib
import json
import re
from http import HTTPStatus
from pathlib import Path
from typing import Any

from memoir import errors
from memoir.edge.http import STATUS, Route
from memoir.version import VERSION
from tests.openapi.operations import OPERATIONS, QUERY, Operation
from tests.openapi.schemas import Schema, answer_schema, codes, error_members, request_schemas

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "functions" / "health" / "openapi.json"

EVERYWHERE = ("RequestInvalid", "RecordCorrupt", "StoreUnavailable", "MemoirError")
IDENTIFIED = ("NotAuthenticated", "Forbidden")
WITH_BODY = ("JsonMalformed", "TooLarge", "LimitExceeded", "MediaTypeUnsupported")

_PATH_PARAMETERS: dict[str, Schema] = {
    "id": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"},
    "turnId": {"type": "string", "pattern": "^(?=.*[A-Za-z0-9])[^/%?#\\\\\\s\\x00-\\x1f]{1,128}$"},
    "scenarioId": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"},
    "endRound": {"type": "integer", "minimum": 1, "maximum": 9_999_999_999},
}

_INTRODUCTION = """\
The memory of role-play and companion chats: exact about when it writes and what the next turn gets back.

The verified token decides product and user; a host with the scope `memory/act-as-user` names its user in
`x-user-id`. Errors are `application/problem+json` with a stable `code` and the facts that belong to it. What
API Gateway answers itself (401, throttling) is `{"message": …}`.
"""


def text() -> str:
    """Return the description as it is committed."""
    return json.dumps(description(), ensure_ascii=False, indent=1, sort_keys=False) + "\n"


def routes() -> dict[str, Route]:
    """Return every route of every function, by its key."""
    found: dict[str, Route] = {}
    for path in sorted(ROOT.glob("functions/*/app.py")):
        module = importlib.import_module(f"functions.{path.parent.name}.app")
        found |= getattr(module, "ROUTES", {})
    return found


def description() -> dict[str, Any]:
    """Return the description."""
    models = [operation.request for operation in OPERATIONS.values() if operation.request]
    by_model, schemas = request_schemas(models)
    known, paths = routes(), dict[str, Any]()
    for key, operation in OPERATIONS.items():
        method, path = key.split(" ")
        body = by_model[operation.request] if operation.request else None
        paths.setdefault(path, {})[method.lower()] = _operation(
            key, operation, known[key], schemas, body=body
        )
    schemas |= _problems(schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Memoir",
            "version": VERSION,
            "description": _INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(one.tag for one in OPERATIONS.values())],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "schemas": dict(sorted(schemas.items())),
        },
    }


def _operation(
    key: str, operation: Operation, route: Route, schemas: dict[str, Schema], *, body: Schema | None
) -> dict[str, Any]:
    path = key.split(" ")[1]
    summary = (route.run.__doc__ or route.event).strip().split("\n")[0].rstrip(".")
    told: dict[str, Any] = {
        "operationId": _operation_id(key),
        "tags": [operation.tag],
        "summary": summary if summary != "<lambda>" else route.event,
        "description": f"{summary}. A success is logged as `{route.event}`.",
        "parameters": _parameters(key, operation),
        "responses": _responses(operation, schemas, has_body=body is not None, path=path),
    }
    if operation.is_open:
        told["security"] = []
    if body is not None:
        media: dict[str, Any] = {"schema": body}
        if operation.event:
            media["example"] = _example(operation.event)
        told["requestBody"] = {"required": True, "content": {"application/json": media}}
    return told


def _operation_id(key: str) -> str:
    method, path = key.split(" ")
    parts = [part for part in path.removeprefix("/v1/").split("/") if not part.startswith("{")]
    names = [re.sub(r"[^a-z]", "", part) for part in parts if part != "conversations"] or ["conversations"]
    if path.endswith(("{scenarioId}",)):
        names = ["scenario"]
    return {"GET": "get", "PUT": "put", "POST": "post", "DELETE": "delete"}[method] + "".join(
        name.capitalize() for name in names
    )


def _parameters(key: str, operation: Operation) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _PATH_PARAMETERS[name]}
        for name in re.findall(r"\{(\w+)\}", key)
    ]
    listed += ({"name": name, "in": "query", "required": False, **QUERY[name]} for name in operation.query)
    if operation.is_open:
        return listed
    if "scenarios" not in key:
        user = {"type": "string", "pattern": "^(?=.*[A-Za-z0-9])[!-~]{1,128}$"}
        about = "Whom a trusted host acts for; any other token must not send it."
        listed.append({"name": "x-user-id", "in": "header", "schema": user, "description": about})
    if not key.startswith("GET "):
        idempotency = {"type": "string", "pattern": "^[!-~]{1,255}$"}
        about = "The same key and body get the first answer."
        listed.append(
            {"name": "Idempotency-Key", "in": "header", "schema": idempotency, "description": about}
        )
    if operation.conditional:
        listed.append({"name": "If-None-Match", "in": "header", "schema": {"type": "string"}})
    return listed


def _responses(
    operation: Operation, schemas: dict[str, Schema], *, has_body: bool, path: str
) -> dict[str, Any]:
    answer = answer_schema(operation.answer, schemas) if operation.answer else {"type": "object"}
    told: dict[str, Any] = {
        str(operation.status): {
            "description": HTTPStatus(operation.status).phrase,
            "content": {"application/json": {"schema": answer}},
        }
    }
    if operation.conditional:
        told["304"] = {"description": "Not modified: the ETag is the one that was sent"}
    if operation.is_open:
        return told
    by_status: dict[int, list[str]] = {}
    for name in _errors_of(operation, has_body=has_body):
        by_status.setdefault(STATUS.get(getattr(errors, name), 500), []).append(name)
    gateway = {"type": "object", "properties": {"message": {"type": "string"}}}
    for status, names in sorted(by_status.items()):
        schema = {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in sorted(names)]}
        content: dict[str, Any] = {"application/problem+json": {"schema": schema}}
        if status in (401, 403, 503):
            content["application/json"] = {"schema": gateway}
        told[str(status)] = {"description": HTTPStatus(status).phrase, "content": content}
    told["429"] = {
        "description": "Too many requests; API Gateway's own",
        "content": {"application/json": {"schema": gateway}},
    }
    return told


def _errors_of(operation: Operation, *, has_body: bool) -> list[str]:
    names = [*EVERYWHERE, *IDENTIFIED, *operation.errors, *(WITH_BODY if has_body else ())]
    return list(dict.fromkeys(names))


def _problems(schemas: dict[str, Schema]) -> dict[str, Schema]:
    used = {name for operation in OPERATIONS.values() for name in _errors_of(operation, has_body=True)}
    by_class = codes()
    return {name: _problem(name, sorted(by_class[name])) for name in sorted(used)}


def _problem(name: str, known: list[str]) -> Schema:
    kind = getattr(errors, name)
    return {
        "type": "object",
        "description": (kind.__doc__ or "").strip().split("\n")[0],
        "properties": {
            "type": {"const": "about:blank"},
            "title": {"type": "string"},
            "status": {"const": STATUS.get(kind, 500)},
            "code": {"enum": known},
            "detail": {"type": "string"},
            **error_members(kind),
        },
        "required": ["type", "title", "status", "code", "detail"],
    }


def _example(event: str) -> Any:
    return json.loads(json.loads((ROOT / "events" / f"{event}.json").read_text())["body"])
