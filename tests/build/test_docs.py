"""The documents: short, linked, in step in both languages, and their examples are accepted."""

import json
import re

import pytest

from memoir.adapters.schema_check import check_schema
from memoir.contracts.template import compile_content
from memoir.domain.scenario.reading import read_scenario
from tests.build.template import ROOT
from tests.build.test_readme import DOCUMENTS, README

CHINESE = (ROOT / "README.zh-CN.md").read_text()
SCENARIOS = (ROOT / "docs" / "scenarios.md").read_text()


def blocks(text: str) -> list[str]:
    return re.findall(r"```.*?```", text, flags=re.DOTALL)


def links(text: str) -> set[str]:
    return set(re.findall(r"\]\(([^)]+)\)", text))


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150
    assert len(CHINESE.splitlines()) <= 150


def test_both_readmes_are_in_step() -> None:
    for form in (r"^#+ ", r"^\| `make \w+`", r"^\| [^|]+\|", r"^- "):
        ours, theirs = (len(re.findall(form, text, flags=re.MULTILINE)) for text in (README, CHINESE))
        assert ours == theirs, form
    assert blocks(README) == blocks(CHINESE)
    assert links(README) - {"README.zh-CN.md"} == links(CHINESE) - {"README.md"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: object) -> None:
    from pathlib import Path

    here = Path(str(path))
    for target in re.findall(r"\]\(([^)#]+)\)", here.read_text()):
        if not target.startswith("http"):
            assert (here.parent / target).exists(), target


def test_every_document_is_one_click_away() -> None:
    for path in (ROOT / "docs").glob("*.md"):
        assert f"](docs/{path.name})" in README, path.name


EXAMPLES = re.findall(r"```json\n(.*?)```", SCENARIOS, flags=re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_scenarios_of_the_documents_are_accepted(example: str) -> None:
    scenario = read_scenario(
        json.loads(example), scenario_id="s", compile_content=compile_content, check_schema=check_schema
    )
    assert scenario.program is not None
    assert len(EXAMPLES) == 3


def test_the_template_language_is_as_it_is_told() -> None:
    told = re.findall(r"^\| `(.*)` \|", SCENARIOS.split("## The template language")[1], flags=re.MULTILINE)
    for forms in told:
        for form in re.split(r"`, `", forms):
            content = form.replace("\\|", "|").replace("…", "x")
            content = re.sub(r"\bx %\}", "memory %}", content).replace("{% if x", "{% if memory")
            if content.startswith("|"):
                content = f"{{{{ memory{content} }}}}"
            content = content.replace("{% elif y", "{% elif memory")
            if "{" in content:
                _, _, problems = compile_content(content, ("memory",), path="")
                assert problems == [], (content, problems)


def test_the_drawing_has_the_form_of_one() -> None:
    (drawing,) = re.findall(r"```mermaid\n(.*?)```", README, flags=re.DOTALL)
    kind, *lines = drawing.strip().splitlines()
    assert kind == "sequenceDiagram"
    names = [re.fullmatch(r" +participant (\w+) as .+", line) for line in lines]
    known = {found[1] for found in names if found}
    for line, name in zip(lines, names, strict=True):
        arrow = re.fullmatch(r" +(\w+)--?>>(\w+): .+", line)
        assert name or (arrow and {arrow[1], arrow[2]} <= known), line
