"""The arrow rule: which part of the package may import which, and how large things may grow."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir import errors
from memoir.edge.http import STATUS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "layers" / "memoir" / "memoir"
MODULES = sorted(PACKAGE.rglob("*.py"))
APPS = sorted(ROOT.glob("functions/*/app.py"))

STANDARD = "the standard library"
# Who may import whom inside the package, and which third parties. Everyone may use the standard library.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": {"errors"},
    "version": set(),
    "settings": set(),
    "domain": {"domain", "errors"},
    "strict_json": {"domain", "errors", "jiter", "orjson"},
    "ports": {"ports", "domain", "errors"},
    "records": {"records", "domain", "errors", "ports", "strict_json"},
    "contracts": {"contracts", "domain", "errors", "strict_json", "pydantic", "jinja2"},
    "usecases": {"usecases", "domain", "errors", "ports", "records"},
    "tools": {"domain", "errors", "usecases"},
    "adapters": {
        "adapters",
        "domain",
        "errors",
        "ports",
        "strict_json",
        "botocore",
        "urllib3",
        "jsonschema_rs",
    },
    "edge": {"edge", "contracts", "domain", "errors", "orjson", "aws_lambda_powertools"},
    "wiring": {"adapters", "domain", "errors", "ports", "settings", "usecases"},
}
APP_MAY_IMPORT = {"edge", "contracts", "usecases", "wiring", "version", "domain"}
OUTSIDE = {
    "jinja2",
    "jsonschema_rs",
    "jiter",
    "orjson",
    "pydantic",
    "botocore",
    "boto3",
    "urllib3",
    "aws_lambda_powertools",
}


def imported(path: Path) -> Iterator[str]:
    """Yield the parts of the package and the third parties that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "memoir":
                names = [f"memoir.{alias.name}" for alias in node.names]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "memoir":
                yield rest.split(".")[0]
            elif top in OUTSIDE:
                yield top


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_lies_further_in(path: Path) -> None:
    part = part_of(path)
    if part != "__init__":
        assert set(imported(path)) <= MAY_IMPORT[part]


@pytest.mark.parametrize("path", APPS, ids=lambda path: path.parent.name)
def test_a_function_imports_no_sdk_and_reads_no_environment(path: Path) -> None:
    assert set(imported(path)) <= APP_MAY_IMPORT
    assert "environ" not in path.read_text()


@pytest.mark.parametrize("path", MODULES + APPS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short_and_so_are_its_functions(path: Path) -> None:
    source = path.read_text()
    assert len(source.splitlines()) <= 300
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            lines = (node.end_lineno or 0) - first.lineno + 1
            assert lines <= 40, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("path", MODULES + APPS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_public_name_says_what_it_promises(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if tree.body:
        assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name


def _leaves(kind: type[errors.MemoirError]) -> list[type[errors.MemoirError]]:
    return [kind] + [leaf for child in kind.__subclasses__() for leaf in _leaves(child)]


@pytest.mark.parametrize(
    "kind", [k for k in _leaves(errors.MemoirError) if k not in (errors.MemoirError, errors.RequestRefused)]
)
def test_each_error_class_has_a_status(kind: type[errors.MemoirError]) -> None:
    assert kind in STATUS
