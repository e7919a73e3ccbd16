"""The story over its real handlers on moto: claims, settlements, pages, and the next context."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.handlers import HOST, Answered, call

ADMIN = {**HOST, "scope": f"{HOST['scope']} memory/admin"}


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


@pytest.fixture
def requests(client: Any) -> list[str]:
    """The names of the requests that the store was asked."""
    asked: list[str] = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: asked.append(model.name))
    return asked


def say(turn_id: str, *, replaces: str | None = None, accepted: bool = True) -> None:
    body = {"turnId": turn_id, "scenarioId": "default", "user": {"text": "问"}, "assistant": {"text": "答"}}
    answer = call("POST …/turns", body | ({"replaces": replaces} if replaces else {"accepted": accepted}))
    assert answer.status == 202, answer.text


def accept(turn_id: str) -> None:
    answer = call("POST /v1/conversations/{id}/turns/{turnId}/accept", {}, path={"turnId": turn_id})
    assert answer.status == 202, answer.text


def prepare() -> str:
    answer = call("POST …/story/prepare", {})
    assert answer.status == 200, answer.text
    claim: str = answer.json["claim"]
    return claim


def event(number: int, text: str = "门开了。") -> dict[str, Any]:
    return {"id": f"e{number}", "text": text}


def settle(claim: str, *events: dict[str, Any], **members: Any) -> Answered:
    sent = {name: members.pop(name) for name in ("user", "idempotency_key") if name in members}
    return call("POST …/story/settle", {"claim": claim, "events": list(events), **members}, **sent)


def put(story: dict[str, Any], expected: int = 0) -> Answered:
    full = {"world": {}, "events": [], "narrative": "", **story}
    return call("PUT …/story", {"expectedRevision": expected, "story": full})


def stored() -> Any:
    return call("GET …/story").json


def test_none_yet_is_revision_0() -> None:
    nothing = {"revision": 0, "anchor": None, "world": {}, "events": [], "narrative": "", "pagedEvents": 0}
    assert stored() == nothing


def test_what_was_put_comes_back_number_by_number() -> None:
    events = '[{"id":"e","text":"","at":1e2}]'
    story = f'{{"anchor":{{"turnId":"t1"}},"world":{{"n":1.50}},"events":{events},"narrative":"x"}}'
    answer = call("PUT …/story", f'{{"expectedRevision":0,"story":{story}}}')
    assert (answer.status, answer.json) == (200, {"revision": 1})
    assert call("GET …/story").text == f'{{"revision":1,"pagedEvents":0,{story[1:]}'
    assert call("GET …/story", if_none_match='"1"').status == 304
    conflict = put({}, expected=0)
    assert (conflict.code, conflict.json["currentRevision"]) == ("revision_conflict", 1)


def test_a_story_is_settled_on_the_accepted_turn_in_two_requests(requests: list[str]) -> None:
    say("t1")
    requests.clear()
    prepared = call("POST …/story/prepare", {}).json
    assert (prepared["revision"], prepared["anchor"]) == (0, {"turnId": "t1"})
    assert len(requests) == 1
    requests.clear()
    first = settle(prepared["claim"], event(1), world={"城门": "关着", "n": 1.5}, narrative="夜。")
    assert (first.json, len(requests)) == ({"revision": 1}, 2)
    assert settle(prepare(), event(2), world={"城门": None, "雨": True}).json == {"revision": 2}
    assert stored() == {
        "revision": 2,
        "anchor": {"turnId": "t1"},
        "world": {"n": 1.5, "雨": True},
        "events": [event(1), event(2)],
        "narrative": "夜。",
        "pagedEvents": 0,
    }
    told = [(one["worker"], one["turnId"], one["reason"]) for one in call("GET …/receipts").json["receipts"]]
    assert told == [("story", "t1", "settled")]


def test_the_same_settlement_again_is_no_second_one() -> None:
    say("t1")
    claim = prepare()
    for _ in range(3):
        assert settle(claim, event(1), narrative="夜。").json == {"revision": 1}
    assert stored()["events"] == [event(1)]


def test_a_claim_that_was_settled_with_other_content_is_told() -> None:
    say("t1")
    claim = prepare()
    assert settle(claim, event(1)).status == 200
    other = settle(claim, event(2))
    assert (other.status, other.code, other.json["moved"]) == (409, "story_conflict", "claim")
    assert stored()["events"] == [event(1)]


def test_a_revision_that_moved_is_told() -> None:
    say("t1")
    claim = prepare()
    assert put({"narrative": "x"}).status == 200
    moved = settle(claim, event(1))
    assert (moved.code, moved.json["moved"], moved.json["currentRevision"]) == (
        "story_conflict",
        "revision",
        1,
    )


def test_a_turn_that_was_accepted_since_moves_the_anchor() -> None:
    say("t1")
    claim = prepare()
    say("t2", accepted=False)
    accept("t2")
    moved = settle(claim, event(1))
    assert (moved.code, moved.json["moved"], moved.json["currentTurnId"]) == (
        "story_conflict",
        "anchor",
        "t2",
    )


def test_a_conversation_without_an_accepted_turn_has_nothing_to_anchor_to() -> None:
    say("t1", accepted=False)
    answer = call("POST …/story/prepare", {})
    assert (answer.status, answer.code, answer.json["moved"]) == (409, "story_conflict", "anchor")


def test_a_regenerated_turn_makes_the_claim_of_the_old_one_unusable() -> None:
    say("t1")
    say("t2", accepted=False)
    accept("t2")
    claim = prepare()
    say("t2b", replaces="t2")
    moved = settle(claim, event(1))
    assert (moved.code, moved.json["moved"], moved.json["currentTurnId"]) == (
        "story_conflict",
        "anchor",
        "t1",
    )
    assert stored()["revision"] == 0
    assert settle(prepare(), event(1)).status == 200
    assert stored()["anchor"] == {"turnId": "t1"}


@pytest.mark.parametrize("claim", ["x", "a.b", "W10.0", "é.x"])
def test_what_is_no_claim_of_this_conversation_is_refused(claim: str) -> None:
    say("t1")
    assert (settle(claim, event(1)).status, settle(claim, event(1)).code) == (400, "claim_invalid")


def test_another_users_claim_is_no_claim_here() -> None:
    say("t1")
    assert settle(prepare(), event(1), user="other").code == "claim_invalid"


def test_the_same_key_gets_the_same_answer_also_after_another_writer() -> None:
    say("t1")
    claim = prepare()
    first = settle(claim, event(1), idempotency_key="k1")
    assert put({"narrative": "x"}, expected=1).json == {"revision": 2}
    assert settle(claim, event(1), idempotency_key="k1").json == first.json
    assert settle(claim, event(2), idempotency_key="k1").code == "idempotency_key_reused"


@pytest.mark.parametrize(
    ("members", "status", "code", "path"),
    [
        ({"events": [{"id": "e"}]}, 400, "story_invalid", "/events/0/text"),
        ({"events": [{"id": "e", "text": "x" * 4_001}]}, 422, "event_too_long", "/events/0/text"),
        ({"world": {" ": 1}}, 400, "story_invalid", "/world"),
        ({"narrative": "x" * 8_001}, 422, "narrative_too_long", "/narrative"),
        ({"events": [{"id": "e1", "text": "another"}]}, 400, "event_conflict", "/events/0/id"),
        ({"surprise": 1}, 400, "unknown_member", "/surprise"),
    ],
)
def test_a_bad_settlement_names_the_place_and_writes_nothing(
    members: dict[str, Any], status: int, code: str, path: str
) -> None:
    say("t1")
    assert settle(prepare(), event(1)).status == 200
    body = {"claim": prepare(), "events": [], **members}
    answer = call("POST …/story/settle", body)
    assert (answer.status, answer.code) == (status, code), answer.text
    assert answer.json["path"] == path
    assert stored()["revision"] == 1


def test_events_that_no_longer_fit_move_into_pages_and_stay_readable() -> None:
    say("t1")
    for number in range(60):
        answer = settle(prepare(), event(number, "门" * 1_000), world={"n": number})
        assert answer.json == {"revision": number + 1}, answer.text
    story = stored()
    assert story["pagedEvents"] > 0
    assert story["pagedEvents"] + len(story["events"]) == 60
    pages: list[Any] = []
    query: dict[str, str] = {}
    while True:
        page = call("GET …/story/events", query=query).json
        pages = page["events"] + pages
        if "next" not in page:
            break
        query = {"before": page["next"]}
    assert [one["id"] for one in pages + story["events"]] == [f"e{number}" for number in range(60)]
    again = settle(prepare(), event(0, "门" * 1_000))  # it stands in a page: the same event, no second one
    assert again.status == 200
    assert "e0" not in [one["id"] for one in stored()["events"]]
    assert settle(prepare(), event(0, "other")).code == "event_conflict"
    assert call("GET …/story/events", query={"before": "7"}).code == "before_invalid"


def test_two_hosts_settling_one_claim_one_wins_and_the_other_learns_why() -> None:
    say("t1")
    for number in range(0, 10, 2):
        claim = prepare()
        with ThreadPoolExecutor(2) as hosts:
            answers = list(hosts.map(settle, [claim] * 2, [event(number), event(number + 1)]))
        assert sorted(answer.status for answer in answers) == [200, 409]
        loser = next(answer for answer in answers if answer.status == 409)
        assert (loser.code, loser.json["moved"]) == ("story_conflict", "claim")
    assert len(stored()["events"]) == 5
