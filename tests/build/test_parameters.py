"""What a deployment refuses, and that every setting of the functions has one source in the template."""

import dataclasses
import re
import warnings
from collections import UserDict
from typing import Any

import pytest

from memoir import settings as settings_module
from memoir.settings import MAX_HINOS_TIMEOUT_MS, Settings, SettingsInvalid
from tests.build.template import FUNCTIONS, TEMPLATE

PARAMETERS: dict[str, dict[str, Any]] = TEMPLATE["Parameters"]
ISSUER = "https://login.example/"


def refusals(**given: str) -> list[str]:
    """Return what the template's rules say against a deployment with these parameters."""
    values = {name: str(declared.get("Default", "")) for name, declared in PARAMETERS.items()} | given

    def holds(condition: dict[str, Any]) -> bool:
        ((function, arguments),) = condition.items()
        if function == "Fn::Equals":
            left, right = (values[a["Ref"]] if isinstance(a, dict) else a for a in arguments)
            return bool(left == right)
        judged = [holds(argument) for argument in arguments]
        return {"Fn::Not": not judged[0], "Fn::And": all(judged), "Fn::Or": any(judged)}[function]

    return [
        assertion["AssertDescription"]
        for rule in TEMPLATE["Rules"].values()
        if "RuleCondition" not in rule or holds(rule["RuleCondition"])
        for assertion in rule["Assertions"]
        if not holds(assertion["Assert"])
    ]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"JwtIssuer": ISSUER, "JwtAudience": "one,two"},
        {"RefinementUrl": "https://refine.example/", "RefinementSecretArn": "arn"},
    ],
)
def test_a_whole_configuration_is_deployed(given: dict[str, str]) -> None:
    assert refusals(**given) == []


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"JwtIssuer": ISSUER}, "JwtAudience is not"),
        ({"JwtAudience": "one"}, "JwtIssuer is not"),
        ({"RefinementUrl": "https://refine.example/"}, "RefinementSecretArn is not"),
    ],
)
def test_half_a_configuration_is_refused(given: dict[str, str], missing: str) -> None:
    (refusal,) = refusals(**given)
    assert missing in refusal


def admitted(parameter: str, value: str) -> bool:
    return re.fullmatch(PARAMETERS[parameter]["AllowedPattern"], value) is not None


@pytest.mark.parametrize(
    ("parameter", "variable"), [("HinosMemoryUrl", "HINOS_MEMORY_URL"), ("ModelUrl", "MEMOIR_MODEL_URL")]
)
@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://model.example/v1",
        "https://user:word@model.example",
        "http://localhost:8080/v1",
        "http://127.0.0.1:1",
        "http://user:word@10.1.2.3/v1",
        "http://172.16.0.1",
        "http://172.32.0.1",
        "http://192.168.1.1?x",
        "http://[::1]:80/",
        "http://model.internal/v1",
        "http://model.example/v1",
        "http://8.8.8.8",
        "http://10.0.0.1:80@model.example/",
        "http://10.0.0.1.model.example/",
        "https://",
        "ftp://10.0.0.1/",
        "model",
    ],
)
def test_a_deployment_and_the_functions_admit_the_same_addresses(
    parameter: str, variable: str, url: str
) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Settings.from_env({"MEMOIR_TABLE_NAME": "t", variable: url})
        by_functions = True
    except SettingsInvalid:
        by_functions = False
    assert admitted(parameter, url) == by_functions


@pytest.mark.parametrize(
    ("audience", "good"), [("", True), ("a", True), ("a,b", True), ("a, b", False), (",", False)]
)
def test_audiences_are_divided_by_commas_alone(audience: str, good: bool) -> None:
    assert admitted("JwtAudience", audience) == good


# ---- Settings ----


class Recording(UserDict[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__({"MEMOIR_TABLE_NAME": "t"})
        self.asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def documented() -> dict[str, tuple[str, str]]:
    """Return the table of the settings: field → its variable and its default."""
    lines = (settings_module.__doc__ or "").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {field: (variable, default) for field, variable, _, default in rows[1:]}


def sources() -> dict[str, list[Any]]:
    """Return the distinct sources that the template gives to each variable, for all functions or for some."""
    blocks = [TEMPLATE["Globals"]["Function"], *FUNCTIONS.values()]
    found: dict[str, list[Any]] = {}
    for block in blocks:
        for variable, source in block.get("Environment", {}).get("Variables", {}).items():
            if source not in found.setdefault(variable, []):
                found[variable].append(source)
    return found


def test_the_table_of_the_settings_names_each_field_and_each_variable_that_is_read() -> None:
    assert list(documented()) == [field.name for field in dataclasses.fields(Settings)]
    environment = Recording()
    Settings.from_env(environment)
    assert {variable for variable, _ in documented().values()} == environment.asked


def test_every_setting_comes_from_the_template_and_nothing_else_does() -> None:
    assert set(sources()) == {variable for variable, _ in documented().values()}


@pytest.mark.parametrize("variable", sorted(set(sources()) - {"MEMOIR_EVENT_BUS"}))
def test_a_setting_has_one_source(variable: str) -> None:
    (source,) = sources()[variable]
    assert isinstance(source, str) or list(source) == ["Ref"]


def test_the_event_bus_is_one_name_that_each_function_is_given_or_not() -> None:
    for source in sources()["MEMOIR_EVENT_BUS"]:
        assert source == "default" or source["Fn::If"][1:] == ["default", ""]


def deployed_by_default() -> dict[str, str]:
    """Return what a deployment gives to each variable by default, where that is no resource and no switch."""
    found = {}
    for variable, (source, *_) in sources().items():
        if isinstance(source, str):
            found[variable] = source
        elif source.get("Ref") in PARAMETERS:
            found[variable] = str(PARAMETERS[source["Ref"]]["Default"])
    return found


def test_a_setting_is_by_default_what_it_is_by_default_in_a_deployment() -> None:
    told = {variable: re.sub("^empty.*", "", default) for variable, default in documented().values()}
    for elsewhere in ("MEMOIR_TABLE_NAME", "MEMOIR_TOPIC_ARN", "MEMOIR_EVENT_BUS"):
        del told[elsewhere]
    deployed = deployed_by_default()
    assert {variable: deployed[variable] for variable in told} == told


@pytest.mark.parametrize("variable", sources())
def test_the_functions_start_with_every_value_that_a_deployment_lets_one_choose(variable: str) -> None:
    for source in sources()[variable]:
        declared = PARAMETERS.get(source.get("Ref", ""), {}) if isinstance(source, dict) else {}
        for value in [*declared.get("AllowedValues", []), *filter(None, [declared.get("MaxValue")])]:
            Settings.from_env({"MEMOIR_TABLE_NAME": "t", variable: str(value)})


def test_the_budget_of_hinos_ends_where_a_deployment_says() -> None:
    assert PARAMETERS["HinosMemoryTimeoutMs"]["MaxValue"] == MAX_HINOS_TIMEOUT_MS
