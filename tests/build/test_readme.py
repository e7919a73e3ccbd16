"""The README's tables and its example say what is there."""

import os
import re

import pytest

from tests.build.template import ROOT, TEMPLATE
from tests.tables import TABLE_NAME

README = (ROOT / "README.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table after *heading*."""
    lines = README.split(heading, 1)[1].splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("|"))
    found = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def test_every_function_has_a_row() -> None:
    named = sorted(row[0].strip("`") for row in rows("## Routes and functions"))
    assert named == sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))


def test_every_route_is_in_a_row() -> None:
    told = README.split("## Routes and functions", 1)[1].split("## How a write", 1)[0]
    for resource in TEMPLATE["Resources"].values():
        for event in resource.get("Properties", {}).get("Events", {}).values():
            path = event["Properties"].get("Path")
            if event["Type"] == "HttpApi" and path:
                assert path.replace("/v1/conversations/{id}", "…") in told or path in told


def test_every_parameter_has_a_row_with_its_default() -> None:
    told: dict[str, str] = {}
    for row in rows("Parameters (`sam deploy"):
        names, defaults = re.findall(r"`(\w+)`", row[0]), re.findall(r"`([^`]+)`|empty", row[1])
        for index, name in enumerate(names):
            told[name] = defaults[min(index, len(defaults) - 1)] if defaults else ""
    declared = {name: str(value.get("Default", "")) for name, value in TEMPLATE["Parameters"].items()}
    assert told == declared


def test_the_alarms_are_counted_as_they_are_billed() -> None:
    alarms = [one for one in TEMPLATE["Resources"].values() if one["Type"] == "AWS::CloudWatch::Alarm"]
    assert f"{len(alarms)} standard alarms of one metric each" in README
    filters = [one for one in TEMPLATE["Resources"].values() if one["Type"] == "AWS::Logs::MetricFilter"]
    assert len(filters) == 2 and "two that are counted in the log" in README


def test_every_command_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for command in set(re.findall(r"make ([a-z]+)", README)):
        assert f"\n{command}:" in makefile, command


@pytest.mark.usefixtures("wired")
def test_the_example_of_the_model_tools_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = README.split("```python\n", 1)[1].split("```", 1)[0]
    assert os.environ["MEMOIR_TABLE_NAME"] == TABLE_NAME
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == "{'revision': 1} update_memory\n"
