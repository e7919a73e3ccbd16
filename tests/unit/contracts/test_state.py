import json
from typing import Any

import pytest

from memoir.contracts.state import read_post_candidate, read_put_state
from memoir.domain.state.settings import read_audience
from memoir.errors import RequestInvalid

PUT: dict[str, Any] = {"expectedRevision": 2, "state": {"text": "", "records": {}}}
CANDIDATE: dict[str, Any] = {"expectedRevision": 2, "candidate": None}


def test_a_state_keeps_the_spelling_of_its_numbers() -> None:
    body = (
        b'{ "state": {"text":"","records":{"a":[{"n":1.50, "m":9007199254740993}]}}, "expectedRevision": 7.0}'
    )
    read = read_put_state(body)
    assert (read.expected_revision, read.scenario_id) == (7, None)
    assert read.state_text == '{"text":"","records":{"a":[{"n":1.50,"m":9007199254740993}]}}'


def test_a_candidate_may_be_null_and_must_be_there() -> None:
    read = read_post_candidate(json.dumps({**CANDIDATE, "basedOn": {"round": 5}, "scenarioId": "s"}).encode())
    assert (read.candidate, read.candidate_text, read.based_on_round, read.scenario_id) == (
        None,
        "null",
        5,
        "s",
    )
    with pytest.raises(RequestInvalid) as refusal:
        read_post_candidate(b'{"expectedRevision": 2}')
    assert (refusal.value.code, refusal.value.path) == ("member_missing", "/candidate")


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"expectedRevision": "2"}, "/expectedRevision"),
        ({"scenarioId": ""}, "/scenarioId"),
        ({"basedOn": 5}, "/basedOn"),
        ({"basedOn": {}}, "/basedOn/round"),
        ({"basedOn": {"round": -1}}, "/basedOn/round"),
        ({"basedOn": {"round": True}}, "/basedOn/round"),
        ({"other": 1}, "/other"),
    ],
)
def test_what_is_not_as_agreed_is_refused_by_its_place(members: dict[str, Any], path: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_post_candidate(json.dumps({**CANDIDATE, **members}).encode())
    assert refusal.value.path == path


@pytest.mark.parametrize("query", [{}, {"audience": ""}, {"audience": "both"}, {"audience": "Actor"}])
def test_an_audience_is_actor_or_director(query: dict[str, str]) -> None:
    with pytest.raises(RequestInvalid):
        read_audience(query)
    assert [read_audience({"audience": name}) for name in ("actor", "director")] == ["actor", "director"]
