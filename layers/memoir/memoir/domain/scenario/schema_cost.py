"""What a `memorySchema` may hold, and how much checking it may cause, told without running it.

Two `$ref`s to a definition that has two `$ref`s again double the work at each step: 22 of them made a
validator list errors for minutes. So it is counted how often the schema can look at one and the same place of
a document, over all levels that a document may have; that number is bounded.
"""

import json
from collections.abc import Iterator
from typing import Any

from memoir.domain.json_document import MAX_LEVELS
from memoir.errors import Problem

MAX_SCHEMA_BYTES = 32 * 1024
MAX_LOOKS = 256
"""How often one place of a document may be looked at."""

DRAFTS = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema")

# Keywords whose schemas look at the same place as the schema they stand in.
_SAME_PLACE = ("not", "if", "then", "else")
_SAME_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_SAME_PLACE_MAPS = ("dependentSchemas", "dependencies")
# Keywords whose schemas look one level further in, all of them; of `properties` one alone applies to a place.
_INSIDE = ("additionalItems", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
_INSIDE_MAPS = ("patternProperties",)
# Keywords whose members are names of the product, and keywords whose value is data.
_NAMED = ("properties", "$defs", "definitions", "dependentRequired", *_SAME_PLACE_MAPS, *_INSIDE_MAPS)
_DATA = ("enum", "const", "default", "examples")
_KEYWORDS = frozenset(
    {
        *_SAME_PLACE,
        *_SAME_PLACE_LISTS,
        *_INSIDE,
        *_NAMED,
        *_DATA,
        "items",
        "prefixItems",
        "additionalProperties",
    }
    | {"$schema", "$ref", "$comment", "type", "required", "title", "description", "deprecated", "readOnly"}
    | {"writeOnly", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength"}
    | {"minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains"}
    | {"maxProperties", "minProperties", "contentEncoding", "contentMediaType", "contentSchema"}
)
_ELSEWHERE = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")


def schema_problems(schema: dict[str, Any], *, path: str) -> list[Problem]:
    """Return what is wrong with *schema* apart from what a validator says of it. *path*: its place."""
    size_bytes = len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())
    if size_bytes > MAX_SCHEMA_BYTES:
        return [_problem(path, "schema_too_large", f"{size_bytes} bytes, the limit is {MAX_SCHEMA_BYTES}")]
    problems = _of_keywords(schema, path)
    if str(schema.get("$schema", DRAFTS[0])).rstrip("#") not in DRAFTS:
        problems.append(_problem(f"{path}/$schema", "schema_draft", f"must be one of {', '.join(DRAFTS)}"))
    if problems:
        return problems
    try:
        counts = _Counts(schema)
        looks = max(counts.looks(schema, level) for level in range(MAX_LEVELS + 1))
    except (_Unresolved, RecursionError) as error:
        detail = str(error) if isinstance(error, _Unresolved) else "its $refs go in a circle or too deep"
        return [_problem(path, "schema_refs", detail)]
    if looks > MAX_LOOKS:
        detail = (
            f"it can look more than {MAX_LOOKS} times at one place; write less $ref, allOf, anyOf and oneOf"
        )
        return [_problem(path, "schema_too_costly", detail)]
    return []


def _problem(path: str, code: str, detail: str) -> Problem:
    return {"path": path, "code": code, "detail": f"{path}: {detail}"}


def schema_warnings(schema: dict[str, Any], *, path: str) -> list[Problem]:
    """Return what is no mistake and may be one: keywords that check nothing."""
    warnings: list[Problem] = []
    for level in _levels(schema, path):
        for place, value, names in level:
            if isinstance(value, dict) and not names:
                warnings += [_unchecked(f"{place}/{key}", key) for key in value if key not in _KEYWORDS]
    return warnings


def _unchecked(place: str, key: str) -> Problem:
    if key == "format":
        return _problem(place, "schema_format", "format is not checked; write a pattern")
    return _problem(place, "schema_keyword_unknown", f"{key} is no keyword, and checks nothing")


def _levels(schema: dict[str, Any], path: str) -> Iterator[list[tuple[str, Any, bool]]]:
    """Yield, level by level, (place, value, whether its members are names and no keywords)."""
    level: list[tuple[str, Any, bool]] = [(path, schema, False)]
    while level:
        yield level
        inner: list[tuple[str, Any, bool]] = []
        for place, value, names in level:
            if isinstance(value, dict):
                for key, item in value.items():
                    if names or key not in _DATA:
                        inner.append((f"{place}/{key}", item, not names and key in _NAMED))
            elif isinstance(value, list):
                inner += [(f"{place}/{index}", item, False) for index, item in enumerate(value)]
        level = inner


def _of_keywords(schema: dict[str, Any], path: str) -> list[Problem]:
    """Return what is wrong with levels and with keywords that lead out of the schema."""
    problems: list[Problem] = []
    for depth, level in enumerate(_levels(schema, path)):
        containers = [
            (place, value, names) for place, value, names in level if isinstance(value, dict | list)
        ]
        if depth == MAX_LEVELS and containers:
            return [_problem(path, "schema_too_deep", f"nested deeper than {MAX_LEVELS} levels")]
        for place, value, names in containers:
            if isinstance(value, dict) and not names:
                problems += _leading_out(value, place)
    return problems


def _leading_out(schema: dict[str, Any], place: str) -> list[Problem]:
    problems = [
        _problem(f"{place}/{key}", "schema_keyword", f"{key} is not allowed; write $ref to #/$defs/name")
        for key in _ELSEWHERE
        if key in schema
    ]
    reference = schema.get("$ref", "#")
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        problems.append(
            _problem(f"{place}/$ref", "schema_ref_remote", "must begin with #/: nothing is fetched")
        )
    return problems


class _Unresolved(Exception):
    """A `$ref` leads nowhere."""


class _Counts:
    """How often each schema makes a validator look at one place, by how many levels further in that is."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._known: dict[tuple[int, int], int] = {}

    def looks(self, schema: Any, levels_in: int) -> int:
        """Return the count for a place *levels_in* below that of *schema*. A circle recurses for ever."""
        if not isinstance(schema, dict):
            return 0
        key = (id(schema), levels_in)
        if key not in self._known:
            here = 1 if levels_in == 0 else self._inside(schema, levels_in - 1)
            same = sum(self.looks(other, levels_in) for other in self._same_place(schema))
            self._known[key] = min(here + same, MAX_LOOKS + 1)
        return self._known[key]

    def _same_place(self, schema: dict[str, Any]) -> list[Any]:
        others = [schema[key] for key in _SAME_PLACE if key in schema]
        for key in _SAME_PLACE_LISTS:
            others += _listed(schema.get(key))
        for key in _SAME_PLACE_MAPS:
            others += _mapped(schema.get(key))
        if "$ref" in schema:
            others.append(self._resolved(schema["$ref"]))
        return others

    def _inside(self, schema: dict[str, Any], levels_in: int) -> int:
        one_of = [*_mapped(schema.get("properties")), *_listed(schema.get("prefixItems"))]
        items = schema.get("items")
        one_of += [*_listed(items), items, schema.get("additionalProperties")]
        all_of = [schema.get(key) for key in _INSIDE]
        for key in _INSIDE_MAPS:
            all_of += _mapped(schema.get(key))
        most = max(self.looks(other, levels_in) for other in one_of)
        return most + sum(self.looks(other, levels_in) for other in all_of)

    def _resolved(self, reference: str) -> Any:
        found: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isascii() and name.isdigit() and int(name) < len(found):
                found = found[int(name)]
            else:
                raise _Unresolved(f"$ref {reference} leads nowhere")
        return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapped(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []
