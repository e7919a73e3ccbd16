"""`memorySchema`: a product's rules for its memory as a JSON Schema, checked by jsonschema-rs.

Patterns run on the engine that is linear in the text; look-around and back-references, which it lacks, are
refused when the scenario is saved. Nothing is ever fetched. `format` is not asserted.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any

from jsonschema_rs import RegexOptions, ValidationError, validator_for

from memoir.errors import Problem, UpdateRefused

MAX_PROBLEMS = 10
MAX_MESSAGE_CHARACTERS = 500

_PATTERN_BYTES = 1024 * 1024
_COMPILED_SCHEMAS = 64

Check = Callable[[dict[str, Any]], None]


def check_schema(schema: dict[str, Any]) -> list[Problem]:
    """Return why no validator can be made of *schema*: `path` in it, `code`, `detail`. Fine: nothing."""
    try:
        _validator(schema)
    except ValidationError as error:
        place = error.instance_path or error.schema_path
        return [
            {"path": _pointer(place), "code": "schema_invalid", "detail": _short(error.message)},
        ]
    except ValueError as error:
        return [{"path": "", "code": "schema_invalid", "detail": _short(str(error))}]
    return []


class SchemaChecks:
    """Checks of memories, made once for each revision of a scenario and kept while the process lives."""

    def __init__(self) -> None:
        """Begin with none."""
        self._made: dict[tuple[str, str, int], Check] = {}

    def check_for(self, *, product: str, scenario_id: str, revision: int, schema: dict[str, Any]) -> Check:
        """Return the check of *schema*, which is that scenario's in that revision. See `memory_check`."""
        key = (product, scenario_id, revision)
        if key not in self._made:
            if len(self._made) >= _COMPILED_SCHEMAS:
                self._made.pop(next(iter(self._made)))
            self._made[key] = memory_check(schema)
        return self._made[key]


def memory_check(schema: dict[str, Any]) -> Check:
    """Return a function that raises UpdateRefused where a memory breaks *schema*.

    Its `problems` are the first ten: `path` in the memory (JSON pointer), `rule`, `detail`.
    """
    validator = _validator(schema)

    def check(memory: dict[str, Any]) -> None:
        if validator.is_valid(memory):
            return
        problems = [_refusal(error) for error in islice(validator.iter_errors(memory), MAX_PROBLEMS)]
        first = problems[0]
        reason = f"{first['path'] or '/'}: {first['detail']}"
        raise UpdateRefused(reason=reason, detail=f"the update was refused: {reason}", problems=problems)

    return check


def _validator(schema: dict[str, Any]) -> Any:
    return validator_for(
        schema,
        pattern_options=RegexOptions(size_limit=_PATTERN_BYTES, dfa_size_limit=_PATTERN_BYTES),
        retriever=_refuse,
        validate_formats=False,
    )


def _refuse(uri: str) -> Any:
    raise ValueError("nothing is fetched; put the definition into $defs")


def _refusal(error: ValidationError) -> Problem:
    return {
        "path": _pointer(error.instance_path),
        "code": "schema_broken",
        "rule": next((str(part) for part in reversed(error.schema_path) if isinstance(part, str)), "false"),
        "detail": _short(error.message),
    }


def _pointer(parts: list[str | int]) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _short(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE_CHARACTERS else message[:MAX_MESSAGE_CHARACTERS] + " …"
