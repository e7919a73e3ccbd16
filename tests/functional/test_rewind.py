"""Rewinds over the real handlers on moto: what is answered, what it costs, what a fault leaves."""

from typing import Any

import pytest

from memoir.domain.rewind import RewindRequest
from memoir.domain.write_token import random_token
from memoir.errors import StoreUnavailable, WriteOutcomeUnknown
from memoir.usecases.rewind import rewind
from tests.fakes.records import nothing
from tests.functional.test_context import context, put_diary, put_memory, put_table
from tests.handlers import Answered, call
from tests.history.world import World, fresh, left_after


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


@pytest.fixture
def requests(client: Any) -> list[str]:
    """The names of the requests that the store was asked."""
    asked: list[str] = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: asked.append(model.name))
    return asked


def say(number: int, **members: Any) -> Answered:
    texts = {"user": {"text": "问"}, "assistant": {"text": f"答{number}"}}
    answer = call("POST …/turns", {"turnId": f"t{number}", **texts, **members})
    assert answer.status == 202, answer.text
    return answer


def rewound(**body: Any) -> Any:
    key = body.pop("idempotency_key", None)
    answer = call("POST …/rewind", body, **({"idempotency_key": key} if key else {}))
    assert answer.status == 200, answer.text
    return answer.json


def seven_rounds() -> None:
    for number in range(1, 8):
        seen = context()
        put_memory({"round": number}, revision=number - 1)
        say(number, recalled={**seen["revisions"], "context": seen["context"]}, accepted=number < 6)
        put_table(f"place-{number}", revision=number - 1)
        state = {"text": f"scene {number}", "records": {}}
        assert call("PUT …/state", {"expectedRevision": number - 1, "state": state}).status == 200
        story = {"world": {"round": number}, "events": [], "narrative": f"night {number}"}
        assert call("PUT …/story", {"expectedRevision": number - 1, "story": story}).status == 200


def test_every_kind_is_what_it_was_and_the_next_context_has_it() -> None:
    seven_rounds()
    told = rewound(toRound=4, expectedGeneration=0)
    assert told["discarded"] == {"firstRound": 5, "lastRound": 7}
    assert (told["generation"], told["lastRound"], told["lastTurnId"]) == (1, 4, "t4")
    assert told["kinds"]["memory"] == {"before": 7, "after": 8, "asOf": 4, "exact": True}
    assert [told["kinds"][kind]["asOf"] for kind in ("table", "state", "story")] == [4, 4, 4]
    assert told["notRewound"] == ["profile", "hinosMemory"]
    assert call("GET …/memory").json == {"revision": 8, "memory": {"round": 4}}
    assert "place-4" in call("GET …/table").json["memoryTable"]
    assert call("GET …/state").json["state"]["text"] == "scene 4"
    assert call("GET …/story").json["narrative"] == "night 4"
    turns = call("GET …/turns").json["turns"]
    assert [turn["turnId"] for turn in turns] == ["t4", "t3", "t2", "t1"]
    seen = context()
    assert (seen["generation"], seen["revisions"]["memory"]) == (1, 8)
    told = "".join(message["content"] for message in seen["messages"])
    assert '"round":4' in told and "place-4" in told and "place-7" not in told


def test_revisions_that_matter_can_be_read_and_others_are_told(client: Any) -> None:
    seven_rounds()
    rewound(toRound=4)
    assert call("GET …/memory", query={"revision": "6"}).json == {"revision": 6, "memory": {"round": 6}}
    assert "place-7" in call("GET …/table", query={"revision": "7"}).json["memoryTable"]
    assert call("GET …/state", query={"revision": "2"}).json["state"]["text"] == "scene 2"
    assert call("GET …/story", query={"revision": "3"}).json["narrative"] == "night 3"
    put_memory({"n": 1}, revision=8)
    put_memory({"n": 2}, revision=9)
    gone = call("GET …/memory", query={"revision": "9"})  # no turn and no context ever had it
    assert (gone.status, gone.code, gone.json["kind"]) == (410, "history_expired", "memory")
    assert call("GET …/memory", query={"revision": "99"}).status == 404
    assert call("GET …/memory", query={"revision": "0"}).code == "revision_invalid"


def test_the_same_again_changes_nothing_and_rings_again() -> None:
    seven_rounds()
    first = rewound(toRound=4)
    again = rewound(toRound=4)
    assert (again["generation"], again["discarded"]) == (1, None)
    assert first["scheduled"] == again["scheduled"] == ["table", "diary"]
    assert call("GET …/memory").json["revision"] == 8


def test_the_same_key_gets_the_same_answer() -> None:
    seven_rounds()
    first = rewound(toRound=4, idempotency_key="k1")
    assert rewound(toRound=4, idempotency_key="k1") == first
    reused = call("POST …/rewind", {"toRound": 3}, idempotency_key="k1")
    assert reused.code == "idempotency_key_reused"
    assert call("GET …/rewinds").json["rewinds"][0]["generation"] == 1


def test_a_rewind_is_undone_and_logged() -> None:
    seven_rounds()
    rewound(toRound=4)
    undone = rewound(undo=1)
    assert (undone["generation"], undone["lastRound"], undone["lastTurnId"]) == (2, 7, "t7")
    assert call("GET …/memory").json == {"revision": 9, "memory": {"round": 7}}
    assert call("GET …/turns").json["turns"][0]["turnId"] == "t7"
    log = call("GET …/rewinds").json["rewinds"]
    assert [(one["generation"], one["toRound"], one["undone"], one["undoes"]) for one in log] == [
        (2, 7, False, 1),
        (1, 4, True, None),
    ]
    assert say(8).json["generation"] == 2
    refused = call("POST …/rewind", {"undo": 2})
    assert (refused.status, refused.code) == (409, "generation_conflict")
    page = call("GET …/rewinds", query={"limit": "1"}).json
    following = call("GET …/rewinds", query={"limit": "1", "before": page["next"]}).json
    assert [one["generation"] for one in following["rewinds"]] == [1]


def test_a_reply_that_was_made_before_the_rewind_is_refused() -> None:
    seven_rounds()
    late = context()
    rewound(toRound=4)
    texts = {"user": {"text": "问"}, "assistant": {"text": "late"}}
    refused = call("POST …/turns", {"turnId": "t8", **texts, "recalled": {"context": late["context"]}})
    assert (refused.status, refused.code) == (409, "conversation_rewound")
    discarded = call("POST …/turns", {"turnId": "t6", "user": {"text": "问"}, "assistant": {"text": "答6"}})
    assert (discarded.status, discarded.code) == (409, "turn_discarded")
    assert len(call("GET …/turns").json["turns"]) == 4


def test_a_swipe_without_a_rewind_says_what_it_leaves() -> None:
    seen = context()
    put_memory({"n": 1})
    say(1, recalled={"memory": 0, "context": seen["context"]})
    put_memory({"n": 2}, revision=1)
    told = say(2, replaces="t1").json
    assert told["notUndone"] == {"memory": {"since": 0, "now": 2}}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "request_invalid"),
        ({"toRound": 1, "undo": 1}, 400, "request_invalid"),
        ({"toRound": -1}, 400, "number_invalid"),
        ({"toRound": 8}, 404, "not_found"),
        ({"undo": 1}, 409, "generation_conflict"),
        ({"toRound": 1, "expectedGeneration": 5}, 409, "generation_conflict"),
        ({"toRound": 1, "revisions": {"profile": 1}}, 400, "unknown_member"),
        ({"toRound": 1, "revisions": {"memory": 99}}, 410, "history_expired"),
    ],
)
def test_bad_input_names_the_place_and_changes_nothing(body: Any, status: int, code: str) -> None:
    seven_rounds()
    answer = call("POST …/rewind", body)
    assert (answer.status, answer.code) == (status, code)
    assert call("GET …/memory").json["revision"] == 7
    assert call("GET …/rewinds").json == {"rewinds": []}


def test_a_memory_that_nobody_told_of_is_asked_for() -> None:
    put_memory({"n": 1})
    say(1)
    refused = call("POST …/rewind", {"toRound": 0})
    assert (refused.status, refused.code, refused.json["kind"]) == (422, "boundary_unknown", "memory")
    told = rewound(toRound=0, revisions={"memory": 1})
    assert told["kinds"]["memory"]["asOf"] == 1


def test_its_requests_do_not_grow_with_the_rounds_that_are_taken_back(requests: list[str]) -> None:
    for number in range(1, 41):
        say(number)
        put_table(f"place-{number}", revision=number - 1)
        if number % 10 == 0:
            put_diary(f"summary {number}", first=number - 9, last=number)
    del requests[:]
    rewound(toRound=38)
    near = len(requests)
    del requests[:]
    rewound(toRound=2)
    assert len(requests) <= near + 2 <= 10
    assert requests.count("TransactWriteItems") == 1
    assert call("GET …/diary").json["entries"] == []


POINTS = range(12)


@pytest.mark.parametrize("when", ["before_read", "before_write", "after_write"])
@pytest.mark.parametrize("point", POINTS)
def test_who_dies_at_any_point_and_asks_again_gets_the_same_end(point: int, when: str) -> None:
    world = World()
    for number in range(1, 8):
        world.do("memory", 10 * number)
        world.do("say", number)
        world.do("state", 100 * number)
    wanted = fresh(left_after(world.log, 4))
    left = [point]

    def die(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            left[0] = 1_000
            raise (
                WriteOutcomeUnknown(detail="died")
                if when == "after_write"
                else StoreUnavailable(detail="died")
            )

    setattr(world.chat.records, when, die)
    asked = {"doorbell": world.chat.doorbell, "scope": world.chat.scope}
    for _ in range(2):
        try:
            rewind(world.chat.engine, request=RewindRequest(to_round=4), token=random_token(), **asked)
            break
        except (StoreUnavailable, WriteOutcomeUnknown):
            setattr(world.chat.records, when, nothing)
    setattr(world.chat.records, when, nothing)
    assert world.seen() == wanted
    assert world.chat.head().generation == 1
