"""The request for a context: strict, each limit with its place."""

import json
from typing import Any

import pytest

from memoir.contracts.context import read_post_context
from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.request import check_request
from memoir.domain.scenario import DEFAULT
from memoir.errors import LimitExceeded, MemoirError, RequestInvalid, TooLarge

SAID = {"role": "user", "content": "x"}


def read(**members: Any) -> Any:
    return read_post_context(json.dumps(members).encode())


def test_an_empty_request_is_the_actors_of_the_default_scenario() -> None:
    request = read()
    assert (request.scenario_id, request.audience, request.history, request.token_budget) == (
        None,
        "actor",
        (),
        None,
    )


def test_every_member_is_read() -> None:
    request = read(
        scenarioId="s",
        audience="director",
        subscriptionCategory="max",
        values={"character": "A"},
        history=[
            {**SAID, "tokens": 3, "turnId": "t1"},
            {"role": "assistant", "content": "", "toolCalls": [{"id": "c", "n": 1}]},
            {"role": "tool", "content": "r", "toolCallId": "c"},
        ],
        tokenBudget=4000,
        tokenizer="gpt4o",
        hinos={"claim_id": "k", "memory": ""},
    )
    assert request.history == (
        HistoryMessage(role="user", content="x", tokens=3, turn_id="t1"),
        HistoryMessage(role="assistant", content="", tool_calls='[{"id":"c","n":1}]'),
        HistoryMessage(role="tool", content="r", tool_call_id="c"),
    )
    assert (request.scenario_id, request.audience, request.subscription_category) == ("s", "director", "max")
    assert (request.values, request.token_budget, request.tokenizer) == ({"character": "A"}, 4000, "gpt4o")
    assert (request.hinos.claim_id, request.hinos.memory, request.hinos.prepare) == ("k", "", False)


def test_a_history_may_be_a_number_of_turns_and_hinos_be_prepared_now() -> None:
    request = read(history={"turns": 12}, hinos={"prepare": True})
    assert (request.history, request.history_turns, request.hinos.prepare) == ((), 12, True)


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"nope": 1}, "/nope"),
        ({"audience": "narrator"}, "/audience"),
        ({"scenarioId": ""}, "/scenarioId"),
        ({"scenarioId": 5}, "/scenarioId"),
        ({"values": {"a": 1}}, "/values/a"),
        ({"values": []}, "/values"),
        ({"values": {"audience": "director"}}, "/values/audience"),
        ({"history": "x"}, "/history"),
        ({"history": [5]}, "/history/0"),
        ({"history": [SAID, {"role": "narrator", "content": ""}]}, "/history/1/role"),
        ({"history": [{"role": "user"}]}, "/history/0/content"),
        ({"history": [{**SAID, "content": None}]}, "/history/0/content"),
        ({"history": [{**SAID, "name": "x"}]}, "/history/0/name"),
        ({"history": [{**SAID, "tokens": -1}]}, "/history/0/tokens"),
        ({"history": [{**SAID, "tokens": True}]}, "/history/0/tokens"),
        ({"history": [{**SAID, "toolCalls": []}]}, "/history/0/toolCalls"),
        ({"history": [{"role": "tool", "content": "x"}]}, "/history/0/toolCallId"),
        ({"history": [{**SAID, "toolCallId": "c"}]}, "/history/0/toolCallId"),
        ({"history": {"turns": 201}}, "/history/turns"),
        ({"history": {"turns": -1}}, "/history/turns"),
        ({"history": {"turns": 1, "x": 1}}, "/history/x"),
        ({"tokenBudget": 0}, "/tokenBudget"),
        ({"tokenBudget": 1.5}, "/tokenBudget"),
        ({"tokenBudget": "9"}, "/tokenBudget"),
        ({"tokenizer": "gpt-17"}, "/tokenizer"),
        ({"hinos": {}}, "/hinos"),
        ({"hinos": {"claim_id": "k"}}, "/hinos"),
        ({"hinos": {"prepare": False}}, "/hinos"),
        ({"hinos": {"prepare": True, "claim_id": "k", "memory": ""}}, "/hinos"),
        ({"hinos": {"claim_id": "", "memory": ""}}, "/hinos/claim_id"),
    ],
)
def test_what_is_not_as_agreed_is_refused_by_its_place(members: dict[str, Any], path: str) -> None:
    with pytest.raises(RequestInvalid) as caught:
        read(**members)
    assert caught.value.path == path
    assert path in caught.value.detail


@pytest.mark.parametrize(
    ("members", "fits"),
    [
        ({"history": [SAID] * 2_000}, True),
        ({"history": [SAID] * 2_001}, False),
        ({"history": [{**SAID, "content": "x" * 1024 * 1024}]}, True),
        ({"history": [{**SAID, "content": "x" * (1024 * 1024 + 1)}]}, False),
        ({"values": {"character": "x" * (8 * 1024 - 16)}}, True),
        ({"values": {"character": "x" * (8 * 1024 - 15)}}, False),
        ({"hinos": {"claim_id": "k", "memory": "x" * 65_536}}, True),
        ({"hinos": {"claim_id": "k", "memory": "x" * 65_537}}, False),
        ({"history": {"turns": 200}}, True),
    ],
)
def test_limits_hold_to_the_byte(members: dict[str, Any], fits: bool) -> None:
    if fits:
        assert read(**members)
        return
    with pytest.raises(MemoirError) as caught:
        read(**members)
    assert isinstance(caught.value, TooLarge | LimitExceeded)
    assert caught.value.path == ("/hinos/memory" if "hinos" in members else f"/{next(iter(members))}")


def test_a_value_that_the_scenario_does_not_name_is_refused() -> None:
    check_request(read(values={"character": "A", "round": "3"}), DEFAULT)
    with pytest.raises(RequestInvalid) as caught:
        check_request(read(values={"weather": "rain"}), DEFAULT)
    assert (caught.value.code, caught.value.path) == ("value_unknown", "/values/weather")
