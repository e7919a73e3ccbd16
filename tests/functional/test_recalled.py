"""A turn that says what its model was given: `recalled` with the revisions and the context of the call."""

from typing import Any

import pytest

from memoir import wiring
from memoir.domain.scope import Scope
from memoir.domain.turns import Position
from memoir.records.turns import read_turn, turn_key
from tests.functional.test_context import PROFILE_TEMPLATE, SHADOW, context, put_table, save
from tests.handlers import call

SCOPE = Scope(product="p", user="u", conversation="c1")


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


def post(turn_id: str, recalled: Any, **members: Any) -> Any:
    texts = {"user": {"text": "问"}, "assistant": {"text": "答"}}
    return call("POST …/turns", {"turnId": turn_id, "recalled": recalled, **texts, **members})


def test_a_turn_keeps_the_context_that_its_reply_was_made_from() -> None:
    put_table("harbour", revision=0)
    answer = context()
    told = post("t1", {**answer["revisions"], "context": answer["context"]})
    assert (told.status, told.json["generation"]) == (202, 0)
    key = turn_key(SCOPE, Position(round=1, version=1))
    turn = read_turn(key.name, wiring.engine().records.read(key)[key])
    assert (turn.context, turn.table_revision) == (answer["context"], 1)


def test_every_member_of_revisions_may_come_back() -> None:
    names = ("memory", "memoryTable", "compassMemory", "personalization", "actorState", "directorState")
    assert post("t1", dict.fromkeys((*names, "storyWorld", "storyNarrative"), 3)).status == 202


@pytest.mark.parametrize(
    ("recalled", "code", "path"),
    [
        ({"context": "x"}, "context_invalid", "/recalled/context"),
        ({"context": "A" * 2_049}, "context_invalid", "/recalled/context"),
        ({"context": 1}, "request_invalid", "/recalled/context"),
        ({"memory": -1}, "revision_invalid", "/recalled/memory"),
        ({"memoryTable": "1"}, "revision_invalid", "/recalled/memoryTable"),
        ({"surprise": 1}, "unknown_member", "/recalled/surprise"),
    ],
)
def test_what_no_context_call_gave_is_refused(recalled: Any, code: str, path: str) -> None:
    answer = post("t1", recalled)
    assert (answer.status, answer.code, answer.json["path"]) == (400, code, path)
    assert call("GET …/turns").json["turns"] == []


def test_the_largest_turn_keeps_its_context_too() -> None:
    answer = context()
    longest = {"user": {"text": "\x01" * 131_072}, "assistant": {"text": "\x02" * 131_072}}
    assert post("t1", {"context": answer["context"]}, **longest).status == 202
    assert len(call("GET …/turns").json["turns"][0]["user"]["text"]) == 131_072


def test_what_a_shadow_found_is_in_the_receipt_of_its_turn() -> None:
    save("shadow", memoryRuntime="axon_shadow", memorySources=SHADOW, template=PROFILE_TEMPLATE)
    assert call("PUT /v1/profile", {"expectedRevision": 0, "profile": {"likes": "tea"}}).status == 200
    put_table("harbour", revision=0)
    answer = context(scenarioId="shadow")
    assert post("t1", {"context": answer["context"]}, scenarioId="shadow").status == 202
    (receipt,) = call("GET …/receipts").json["receipts"]
    assert (receipt["worker"], receipt["turnId"], receipt["reason"]) == ("shadow", "t1", "different")
    assert 0 <= receipt["similarity"] < 1 and receipt["bytesThere"] > 0
