"""The tables and commands of the documents say what is there."""

import os
import re

import pytest

from tests.build.template import ROOT, TEMPLATE
from tests.tables import TABLE_NAME

README = (ROOT / "README.md").read_text()
API = (ROOT / "docs" / "api.md").read_text()
OPERATE = (ROOT / "docs" / "operate.md").read_text()
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def rows(document: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table after *heading*."""
    lines = document.split(heading, 1)[1].splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("|"))
    found = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def test_every_function_has_a_row() -> None:
    named = sorted(row[0].strip("`") for row in rows(API, "## Routes and functions"))
    assert named == sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))


def test_every_route_is_in_a_row() -> None:
    told = API.split("## Routes and functions", 1)[1].split("## How a write", 1)[0]
    for resource in TEMPLATE["Resources"].values():
        for event in resource.get("Properties", {}).get("Events", {}).values():
            path = event["Properties"].get("Path")
            if event["Type"] == "HttpApi" and path:
                assert path.replace("/v1/conversations/{id}", "…") in told or path in told


def test_every_parameter_has_a_row_with_its_default() -> None:
    told: dict[str, str] = {}
    for row in rows(OPERATE, "Parameters (`sam deploy"):
        names, defaults = re.findall(r"`(\w+)`", row[0]), re.findall(r"`([^`]+)`|empty", row[1])
        for index, name in enumerate(names):
            told[name] = defaults[min(index, len(defaults) - 1)] if defaults else ""
    declared = {name: str(value.get("Default", "")) for name, value in TEMPLATE["Parameters"].items()}
    assert told == declared


def test_the_alarms_are_counted_as_they_are_billed() -> None:
    alarms = [one for one in TEMPLATE["Resources"].values() if one["Type"] == "AWS::CloudWatch::Alarm"]
    assert f"{len(alarms)} standard alarms of one metric each" in OPERATE
    filters = [one for one in TEMPLATE["Resources"].values() if one["Type"] == "AWS::Logs::MetricFilter"]
    assert len(filters) == 2 and "two that are counted in the log" in OPERATE


def test_every_command_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    told = "".join(path.read_text() for path in DOCUMENTS)
    for command in set(re.findall(r"`make ([a-z]+)", told)):
        assert f"\n{command}:" in makefile, command


@pytest.mark.usefixtures("wired")
def test_the_example_of_the_model_tools_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = (ROOT / "docs" / "client.md").read_text().split("## Model tools", 1)[1]
    example = example.split("```python\n", 1)[1].split("```", 1)[0]
    assert os.environ["MEMOIR_TABLE_NAME"] == TABLE_NAME
    exec(compile(example, "client.md", "exec"), {})
    assert capsys.readouterr().out == "{'revision': 1} update_memory\n"
