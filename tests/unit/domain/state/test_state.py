"""The state: what may be stored, what is a change, and who may see what of it."""

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoir.domain.json_document import JsonDocument
from memoir.domain.scenario.reading import read_scenario
from memoir.domain.state.candidate import judge_candidate
from memoir.domain.state.document import state_document
from memoir.domain.state.projection import audience_text, project_state
from memoir.domain.state.settings import Audience, StateSettings, Visibility
from memoir.errors import (
    CandidateStale,
    LimitExceeded,
    MemoirError,
    RequestInvalid,
    ScenarioForbids,
    ScenarioInvalid,
    TooLarge,
)

SETTINGS = StateSettings(
    categories=("people", "secrets"), visibility=MappingProxyType({"secrets": Visibility.DIRECTOR})
)


def state(text: str = "", **records: list[Any]) -> dict[str, Any]:
    return {"text": text, "records": records}


def document(value: dict[str, Any], settings: StateSettings = SETTINGS) -> JsonDocument:
    return state_document(value, settings=settings)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "kind", "code", "path"),
    [
        ([], RequestInvalid, "not_an_object", "/state"),
        ({"text": ""}, RequestInvalid, "member_missing", "/state/records"),
        ({"records": {}}, RequestInvalid, "member_missing", "/state/text"),
        ({"text": "", "records": {}, "x": 1}, RequestInvalid, "unknown_member", "/state"),
        ({"text": 1, "records": {}}, RequestInvalid, "state_invalid", "/state/text"),
        ({"text": "", "records": []}, RequestInvalid, "state_invalid", "/state/records"),
        (state(people={}), RequestInvalid, "state_invalid", "/state/records/people"),  # type: ignore[arg-type]
        (state(people=["x"]), RequestInvalid, "state_invalid", "/state/records/people/0"),
        (state(places=[]), ScenarioForbids, "category_unknown", "/state/records/places"),
        (state(people=[{"visibility": "all"}]), ScenarioForbids, "visibility_unknown", None),
        (state(people=[{"visibility": []}]), ScenarioForbids, "visibility_unknown", None),
        (state(people=[{"a": deep(29)}]), LimitExceeded, "json_too_deep", "/state/records/people/0"),
    ],
)
def test_what_is_no_state_of_the_scenario_is_refused_by_its_place(
    value: Any, kind: type[MemoirError], code: str, path: str | None
) -> None:
    with pytest.raises(kind) as refusal:
        document(value)
    assert refusal.value.code == code
    assert refusal.value.facts()["path"] == path or path is None


def test_a_state_may_have_32_levels_and_65_536_bytes() -> None:
    document(state(people=[{"a": deep(28)}]))
    around = len('{"text":"","records":{}}')
    assert document(state("x" * (65_536 - around))).size_bytes == 65_536
    with pytest.raises(TooLarge) as refusal:
        document(state("x" * (65_537 - around)))
    assert (refusal.value.code, refusal.value.size_bytes) == ("state_too_large", 65_537)


def judged(candidate: Any, *, based_on: int | None = 5, stored: dict[str, Any] | None = None) -> Any:
    return judge_candidate(
        document(stored or state("now", people=[{"name": "A", "hp": 1}])),
        candidate,
        stored_round=5,
        based_on_round=based_on,
        settings=SETTINGS,
    )


def test_null_and_an_equal_state_are_no_update() -> None:
    assert judged(None, based_on=1) is None
    assert judged({"records": {"people": [{"hp": 1, "name": "A"}]}, "text": "now"}) is None


def test_a_number_of_another_type_or_value_is_a_change() -> None:
    for hp in (1.0, 2, True, "1"):
        changed = judged(state("now", people=[{"name": "A", "hp": hp}]))
        assert changed.value["records"]["people"][0]["hp"] == hp


def test_a_candidate_of_an_older_round_is_stale_and_of_the_same_one_is_not() -> None:
    with pytest.raises(CandidateStale) as refusal:
        judged(state("then"), based_on=4)
    assert refusal.value.facts() == {"based_on_round": 4, "stored_round": 5}
    assert judged(state("then"), based_on=5) is not None
    assert judged(state("then"), based_on=None) is not None


def test_the_first_candidate_is_a_change_even_if_it_is_empty() -> None:
    found = judge_candidate(None, state(), stored_round=0, based_on_round=None, settings=SETTINGS)
    assert found is not None


MIXED = state(
    "夜色 {{x}}\n第二行",
    secrets=[{"who": "凶手"}, {"who": "众所周知", "visibility": "both"}],
    people=[{"名": "A\n-B", "b": {"z": 1, "a": 1.0}}, {"n": "导演", "visibility": "director"}],
)


def test_each_audience_gets_its_own_text() -> None:
    stored = document(MIXED)
    assert audience_text(stored, audience=Audience.ACTOR, settings=SETTINGS) == (
        '夜色 { {x} }\n第二行\n\n[people]\n- b: {"a":1.0,"z":1}; 名: A -B\n\n[secrets]\n- who: 众所周知'
    )
    director = audience_text(stored, audience=Audience.DIRECTOR, settings=SETTINGS)
    assert "凶手" in director
    assert "导演" in director
    assert audience_text(None, audience=Audience.ACTOR, settings=SETTINGS) == ""


def test_the_text_can_be_the_directors() -> None:
    settings = StateSettings(visibility=MappingProxyType({"text": Visibility.DIRECTOR}))
    stored = document(state("plan"), settings)
    assert audience_text(stored, audience=Audience.ACTOR, settings=settings) == ""
    assert audience_text(stored, audience=Audience.DIRECTOR, settings=settings) == "plan"


def test_member_order_does_not_change_the_text() -> None:
    turned = {"records": dict(reversed(MIXED["records"].items())), "text": MIXED["text"]}
    for audience in Audience:
        first, second = (
            audience_text(document(value), audience=audience, settings=SETTINGS) for value in (MIXED, turned)
        )
        assert first == second


def test_a_category_that_the_scenario_dropped_is_the_directors_alone() -> None:
    stored = document(state(people=[{"name": "A", "visibility": "both"}]))
    now = StateSettings(categories=("secrets",))
    projected = project_state(stored, audience=Audience.ACTOR, settings=now)
    assert projected.value == {"text": "", "records": {}}


CANARY = "canary-7f3a"
names = st.sampled_from(["people", "secrets", "places", "log"])
whom = st.sampled_from(list(Visibility))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
settings_strategy = st.builds(
    lambda categories, visibility: StateSettings(
        categories=tuple(categories),
        visibility={name: seen for name, seen in visibility.items() if name in (*categories, "text")},
    ),
    st.lists(names, unique=True),
    st.dictionaries(names | st.just("text"), whom),
)
records = st.fixed_dictionaries({"a": plain}, optional={"visibility": whom.map(str) | st.just("nobody")})
states = st.fixed_dictionaries(
    {
        "text": st.text(max_size=10),
        "records": st.dictionaries(names, st.lists(records, max_size=3), max_size=4),
    }
)


def planted(value: dict[str, Any], scenario: StateSettings) -> dict[str, Any]:
    """Put the canary into everything that is the director's alone."""
    value = json.loads(json.dumps(value))
    if scenario.of_text() is Visibility.DIRECTOR:
        value["text"] = CANARY
    for category, listed in value["records"].items():
        for record in listed:
            if scenario.of_record(category, record) is Visibility.DIRECTOR:
                record |= {CANARY: [CANARY], "b": {CANARY: CANARY}}
    return value


@settings(max_examples=60)
@given(states, settings_strategy, plain)
def test_no_text_of_the_directors_reaches_an_actor_or_an_error(
    value: dict[str, Any], scenario: StateSettings, odd: Any
) -> None:
    value = planted(value, scenario)
    text = json.dumps(value, ensure_ascii=False)
    stored = JsonDocument(text=text, value=value, size_bytes=len(text.encode()))
    projected = project_state(stored, audience=Audience.ACTOR, settings=scenario)
    assert CANARY not in projected.text
    assert CANARY not in audience_text(stored, audience=Audience.ACTOR, settings=scenario)
    for broken in (value, {**value, "text": odd}, {**value, "extra": CANARY}):
        try:
            state_document(broken, settings=scenario)
        except MemoirError as error:
            assert CANARY not in f"{error.code} {error} {error.facts()}"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], "/state"),
        ({"categories": "x"}, "/state/categories"),
        ({"categories": ["a", "a"]}, "/state/categories/1"),
        ({"categories": ["text"]}, "/state/categories/0"),
        ({"categories": [" a"]}, "/state/categories/0"),
        ({"categories": ["a"], "visibility": {"b": "both"}}, "/state/visibility/b"),
        ({"categories": ["a"], "visibility": {"a": "all"}}, "/state/visibility/a"),
        ({"instruction": 1}, "/state/instruction"),
        ({"instruction": "x" * 8_001}, "/state/instruction"),
        ({"categories": [f"c{i}" for i in range(51)]}, "/state/categories"),
        ({"other": 1}, "/state/other"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_their_place(value: Any, path: str) -> None:
    with pytest.raises(ScenarioInvalid) as refusal:
        read_scenario({"state": value}, scenario_id="s")
    assert [problem["path"] for problem in refusal.value.problems] == [path]


def test_settings_are_read() -> None:
    value = {"categories": ["a"], "visibility": {"a": "director", "text": "actor"}, "instruction": "keep"}
    found = read_scenario({"state": value}, scenario_id="s").state
    assert (found.categories, found.instruction) == (("a",), "keep")
    assert (found.of_text(), found.of_record("a", {})) == (Visibility.ACTOR, Visibility.DIRECTOR)


def test_a_scenario_that_names_no_category_allows_any_and_may_still_hide_some() -> None:
    found = read_scenario({"state": {"visibility": {"secrets": "director"}}}, scenario_id="s").state
    stored = state_document(
        {"text": "", "records": {"secrets": [{"a": 1}], "people": [{"b": 2}]}}, settings=found
    )
    seen = project_state(stored, audience=Audience.ACTOR, settings=found)
    assert (found.categories, seen.value["records"]) == (None, {"people": [{"b": 2}]})
