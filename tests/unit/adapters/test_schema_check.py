"""`memorySchema`: linear patterns, nothing fetched, no blow-up, and refusals that name their place."""

from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")

from memoir.adapters.schema_check import SchemaChecks, check_schema, memory_check
from memoir.domain.memory import ask_before_update, memory_document
from memoir.domain.scenario.schema_cost import schema_problems, schema_warnings
from memoir.errors import UpdateRefused

SCENE = {
    "type": "object",
    "properties": {"scene": {"type": "string", "pattern": "^[a-z]+$"}},
    "required": ["day"],
}


def test_a_memory_that_fits_passes() -> None:
    memory_check(SCENE)({"scene": "gate", "day": 1})


def test_a_refusal_names_place_rule_and_reason() -> None:
    with pytest.raises(UpdateRefused) as caught:
        memory_check(SCENE)({"scene": "GATE"})
    found = {(problem["path"], problem["rule"]) for problem in caught.value.problems or []}
    assert found == {("/scene", "pattern"), ("", "required")}


def test_a_refusal_passes_through_the_memorys_own_check_with_its_places() -> None:
    with pytest.raises(UpdateRefused) as caught:
        ask_before_update(memory_check(SCENE), memory_document({"scene": 1}))
    assert {problem["path"] for problem in caught.value.problems or []} == {"/scene", ""}


def test_a_refusal_names_the_first_ten_places() -> None:
    schema = {"additionalProperties": {"type": "string"}}
    with pytest.raises(UpdateRefused) as caught:
        memory_check(schema)({f"k{n}": n for n in range(30)})
    assert len(caught.value.problems or []) == 10


def test_a_place_with_slashes_is_a_json_pointer() -> None:
    with pytest.raises(UpdateRefused) as caught:
        memory_check({"properties": {"a/b~c": {"type": "string"}}})({"a/b~c": 1})
    assert [problem["path"] for problem in caught.value.problems or []] == ["/a~1b~0c"]


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "wat"}, "/type"),
        ({"properties": {"a": {"minLength": -1}}}, "/properties/a/minLength"),
        ({"properties": {"a": {"pattern": "(?=x)"}}}, "/properties/a/pattern"),
        ({"pattern": "(a)\\1"}, "/pattern"),
        ({"pattern": "(a{1000}){1000}"}, "/pattern"),
        ({"properties": {"a": []}}, "/properties/a"),
    ],
)
def test_a_schema_that_makes_no_validator_is_refused_by_its_place(schema: dict[str, Any], path: str) -> None:
    assert [(problem["path"], problem["code"]) for problem in check_schema(schema)] == [
        (path, "schema_invalid")
    ]


@pytest.mark.parametrize("address", ["http://x.test/s", "file:///etc/passwd", "other.json"])
def test_nothing_is_fetched(address: str) -> None:
    assert check_schema({"$ref": address})
    assert schema_problems({"$ref": address}, path="")[0]["code"] == "schema_ref_remote"


def doubling(depth: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)
    }
    definitions[f"d{depth}"] = {"type": "string"}
    return {"$defs": definitions, "$ref": "#/$defs/d0"}


RECURSIVE_DOUBLING = {
    "$defs": {"n": {"properties": {"x": {"allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}}}},
    "$ref": "#/$defs/n",
}
TREE = {
    "$defs": {
        "n": {"type": "object", "properties": {"left": {"$ref": "#/$defs/n"}, "right": {"$ref": "#/$defs/n"}}}
    },
    "$ref": "#/$defs/n",
}


@pytest.mark.parametrize(
    ("schema", "codes"),
    [
        (doubling(5), []),
        (doubling(8), ["schema_too_costly"]),
        (doubling(200), ["schema_too_costly"]),
        (RECURSIVE_DOUBLING, ["schema_too_costly"]),
        (TREE, []),
        ({"$ref": "#"}, ["schema_refs"]),
        (
            {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
            ["schema_refs"],
        ),
        ({"$ref": "#/$defs/none"}, ["schema_refs"]),
        ({"$dynamicRef": "#x"}, ["schema_keyword"]),
        ({"properties": {"$id": {"type": "string"}, "$ref": {"type": "string"}}}, []),
        ({"const": {"$ref": "http://x"}}, []),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, ["schema_draft"]),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, []),
        ({"title": "x" * 32_800}, ["schema_too_large"]),
        ({"anyOf": [{"const": n} for n in range(200)]}, []),
    ],
)
def test_what_a_schema_could_cost_is_told_without_running_it(
    schema: dict[str, Any], codes: list[str]
) -> None:
    assert [problem["code"] for problem in schema_problems(schema, path="/memorySchema")] == codes


def test_keywords_that_check_nothing_are_told() -> None:
    schema = {
        "requird": ["a"],
        "properties": {"format": {"type": "string", "format": "date"}, "x": {"enum": [{"odd": 1}]}},
        "dependentRequired": {"a": ["b"]},
    }
    told = [(warning["path"], warning["code"]) for warning in schema_warnings(schema, path="")]
    assert told == [
        ("/requird", "schema_keyword_unknown"),
        ("/properties/format/format", "schema_format"),
    ]


@pytest.mark.parametrize(("levels", "fits"), [(32, True), (33, False)])
def test_a_schema_is_at_most_32_levels_deep(levels: int, fits: bool) -> None:
    schema: dict[str, Any] = {}
    for _ in range(levels - 1):
        schema = {"not": schema}
    assert (schema_problems(schema, path="") == []) is fits


def test_a_check_is_made_once_for_a_revision() -> None:
    checks = SchemaChecks()
    key: dict[str, Any] = {"product": "p", "scenario_id": "s", "schema": SCENE}
    first = checks.check_for(revision=1, **key)
    assert checks.check_for(revision=1, **key) is first
    assert checks.check_for(revision=2, **key) is not first
    with pytest.raises(UpdateRefused):
        checks.check_for(revision=2, product="p", scenario_id="s", schema={"required": ["z"]})({})
