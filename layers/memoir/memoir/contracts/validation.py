"""Pydantic's view of a request turned into ours: strict, nothing extra, frozen, camelCase."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from memoir.errors import RequestInvalid

Model = TypeVar("Model", bound="Contract")


# In the words of the request: pydantic's own name our classes.
_MESSAGES = {
    "extra_forbidden": "no such member",
    "missing": "is missing",
    "model_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
    "list_type": "must be a list",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "int_type": "must be an integer",
}


class Contract(BaseModel):
    """A request body, or a part of one."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, arbitrary_types_allowed=False
    )


def read_contract(model: type[Model], value: object) -> Model:
    """Return *value* as *model*. Raises RequestInvalid that names the first place that is not as agreed."""
    if not isinstance(value, dict):
        raise RequestInvalid(code="not_an_object", path="", detail="the body must be a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _first_problem(error) from None


def _first_problem(error: ValidationError) -> RequestInvalid:
    problems: list[Any] = error.errors(include_url=False, include_input=False)
    problem = problems[0]
    path = "".join(f"/{part}" for part in problem["loc"])
    kind = problem["type"]
    code = {"extra_forbidden": "unknown_member", "missing": "member_missing"}.get(kind, "request_invalid")
    message = _MESSAGES.get(kind, "is not what the route asks for")
    if kind == "literal_error":
        message = f"must be {problem['ctx']['expected']}"
    return RequestInvalid(code=code, path=path, detail=f"{path}: {message}")
