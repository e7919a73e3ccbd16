"""Faults that were found once, each in the smallest history that shows it."""

import uuid
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.simulation.aws import Weather
from tests.simulation.calls import Answer, Calls, Faults
from tests.simulation.faults import FAULTS
from tests.simulation.host import SHEETS, Host, Said
from tests.simulation.lambdas import SECRET
from tests.simulation.truth import check_no_discarded_reply, inserted, mark, reply, say_rounds

pytestmark = pytest.mark.filterwarnings("ignore:HINOS_MEMORY_URL")


@pytest.fixture
def host(calls: Calls) -> Host:
    """A host whose conversation has its sheets."""
    found = Host(calls)
    answer = calls.http("PUT", "/table", {"expectedRevision": 0, "table": {"sheets": list(SHEETS)}})
    assert answer.status == 200, answer
    return found


def deliver_all(host: Host) -> None:
    """Deliver every ring, in order, without faults."""
    for worker, queue in host.calls.world.aws.queues.items():
        while queue:
            host.calls.deliver_until_taken(worker, queue.pop(0))


def newest_ring(host: Host, worker: str) -> str:
    """Take all rings of a worker and return the last."""
    queue = host.calls.world.aws.queues[worker]
    ring = queue[-1]
    queue.clear()
    return ring


# A legal document stays readable


def test_a_table_of_many_rows_with_long_ids_stays_readable_through_many_edits(calls: Calls) -> None:
    name = uuid.UUID("12345678-1234-5678-1234-567812345678")
    sheets = [
        {
            "name": f"表{sheet}",
            "columns": ["a"],
            "rows": [["x"]] * 200,
            "rowIds": [str(uuid.uuid5(name, f"{sheet}-{row}")) for row in range(200)],
        }
        for sheet in range(4)
    ]
    assert calls.http("PUT", "/table", {"expectedRevision": 0, "table": {"sheets": sheets}}).status == 200
    for revision in range(1, 31):
        edits = [{"op": "update", "table": "表0", "row": 0, "set": {"a": f"y{revision}"}}]
        answer = calls.http("POST", "/table/edits", {"expectedRevision": revision, "edits": edits})
        assert answer.status == 200, (revision, answer)
        seen = calls.http("GET", "/table")
        assert (seen.status, seen.json.get("revision")) == (200, revision + 1), (revision, seen.text[:300])


@pytest.mark.parametrize(
    "text",
    ["\x01" * 90_000, "\n" * 131_072, '"' * 131_072, "\\" * 131_072, "\x01\x02" * 65_536],
    ids=["control", "newlines", "quotes", "backslashes", "two controls"],
)
def test_a_text_that_was_taken_is_read_back(calls: Calls, text: str) -> None:
    said = Said(turn_id="t1", user=text, assistant=text)
    assert calls.http("POST", "/turns", said.body()).status == 202
    seen = calls.http("GET", "/turns")
    assert seen.status == 200, seen.text[:300]
    assert seen.json["turns"][0]["user"]["text"] == seen.json["turns"][0]["assistant"]["text"] == text
    for worker, queue in calls.world.aws.queues.items():
        assert calls.deliver_alone(worker, queue[0]), worker


# A damaged diary entry harms nothing but itself


@pytest.fixture
def damaged(host: Host) -> Host:
    """A host whose diary has the entries 1-20, damaged, and 21-30."""
    say_rounds(host, 1, 30)
    deliver_all(host)
    assert [(entry["firstRound"], entry["lastRound"]) for entry in host.entries()] == [(1, 20), (21, 30)]
    _damage(host, host.entries()[0]["summary"])
    return host


def _damage(host: Host, summary: str) -> None:
    """Cut short the one stored entry that holds *summary*; the diary's head has a copy of its own."""
    store = host.calls.world.aws.dynamodb
    found = [
        (place, name)
        for place, item in store.items.items()
        for name, value in item.items()
        if not place[1].endswith("#~") and summary.split("\n")[0] in _plain(value)
    ]
    assert len(found) == 1, found
    place, name = found[0]
    kind, raw = next(iter(store.items[place][name].items()))
    store.items[place] = {**store.items[place], name: {kind: raw[: len(raw) // 2]}}


def _plain(value: dict[str, Any]) -> str:
    if "B" not in value:
        return str(value.get("S", ""))
    try:
        return zlib.decompress(value["B"]).decode()
    except (zlib.error, UnicodeDecodeError):
        return ""


def test_recall_answers_the_good_entries_and_warns_of_a_damaged_one(damaged: Host) -> None:
    answer = damaged.calls.http("GET", "/diary/recall", subscriptionCategory="max")
    assert answer.status == 200, answer
    assert [entry["lastRound"] for entry in answer.json["entries"]] == [30]
    assert answer.json["warnings"]


def test_the_list_answers_the_good_entries_beside_a_damaged_one(damaged: Host) -> None:
    assert damaged.entries()[-1]["lastRound"] == 30


def test_another_entry_can_be_edited_beside_a_damaged_one(damaged: Host) -> None:
    damaged.put_diary(30, "我的。")


def test_the_next_diary_is_written_behind_a_damaged_one(damaged: Host) -> None:
    say_rounds(damaged, 31, 40)
    deliver_all(damaged)
    assert damaged.entries()[-1]["lastRound"] == 40


def test_deleting_a_damaged_entry_mends_the_diary(damaged: Host) -> None:
    damaged.delete_diary(20)
    assert [entry["lastRound"] for entry in damaged.entries()] == [30]
    answer = damaged.calls.http("GET", "/diary/recall", subscriptionCategory="max")
    assert (answer.status, answer.json.get("warnings", [])) == (200, []), answer


# A regenerated reply takes effect whatever rings


def test_a_regenerated_reply_whose_ring_was_lost_takes_effect_with_the_next_round(host: Host) -> None:
    host.say(Said(turn_id="t1", user="", assistant=reply(1, edit=inserted(1))))
    deliver_all(host)
    host.say(Said(turn_id="t1b", user="", assistant=reply(11, edit=inserted(11)), replaces="t1"))
    host.say(Said(turn_id="t2", user="", assistant=reply(2, edit=inserted(2))))
    host.calls.deliver_until_taken("table", newest_ring(host, "table"))
    assert host.rows("人物") == ["11", "2"]


def _requests_of_the_diary(host: Host) -> int:
    """Say 20 rounds, deliver all but the last ring to the diary, and return what the last one asks."""
    say_rounds(host, 1, 20)
    weather = Weather()
    host.calls.world.aws.weather.append(weather)
    host.calls.deliver_until_taken("diary", newest_ring(host, "diary"))
    host.calls.world.aws.weather.remove(weather)
    return len(weather.requests)


def test_a_reply_regenerated_while_its_diary_is_written_is_noticed_by_the_next_ring(host: Host) -> None:
    for number in range(_requests_of_the_diary(host)):
        host.calls.world.reset()
        host = Host(host.calls)
        say_rounds(host, 1, 20)

        def meanwhile(host: Host = host) -> None:
            host.say(Said(turn_id="t20b", user="嗯", assistant=reply(99), replaces="t20"))
            host.say(Said(turn_id="t21", user="嗯", assistant=reply(21)))

        host.calls.deliver("diary", newest_ring(host, "diary"), faults=Faults(hooks={number: meanwhile}))
        host.calls.deliver_until_taken("diary", newest_ring(host, "diary"))
        check_no_discarded_reply(host)
        recalled = host.calls.http("GET", "/diary/recall").json["compassMemory"]
        assert mark(99) in recalled and mark(20) not in recalled, (number, recalled)


# A claim of Hinos's is committed once, and what became of it is told truly

COMMIT = {"claim_id": "claim-1", "user": "u", "assistant": "a"}
CHAT = {"system": "s", "messages": [{"role": "user", "content": "u"}]}
MEETS = sorted({*FAULTS} - {"unprocessed"})


@pytest.fixture
def claim(calls: Calls) -> Calls:
    """A conversation with the claim `claim-1`."""
    assert calls.http("POST", "/hinos/prepare", CHAT).json["claim_id"] == "claim-1"
    return calls


def _commit(calls: Calls, faults: dict[int, str] | None = None) -> Answer:
    return calls.http("POST", "/hinos/commit", COMMIT, faults=Faults(faults=faults or {}))


def _repeated(calls: Calls, answer: Answer) -> Any:
    """Return what a caller is told who repeats a commit whose outcome is unknown."""
    for _ in range(3):
        if answer.status < 500:
            break
        answer = _commit(calls)
    assert answer.status == 200, answer
    return answer.json


@pytest.mark.parametrize("fault", MEETS)
@pytest.mark.parametrize("number", range(4))
def test_a_commit_whose_claim_meets_a_fault_is_sent_once_and_told_truly(
    claim: Calls, number: int, fault: str
) -> None:
    hinos, aws = claim.world.hinos, claim.world.aws
    told = _repeated(claim, _commit(claim, {number: fault}))
    assert hinos.sent["claim-1"] <= 1
    again = _repeated(claim, _commit(claim))
    if told["committed"] or "crash" not in fault:
        assert again["committed"] == ("claim-1" in hinos.committed), (told, again, hinos)
    if not again["committed"]:
        assert again["error"] == "hinos_outcome_unknown" or any(
            "MemoryWriteFailed" in event["DetailType"] for event in aws.events
        ), (told, again)
    if "crash" not in fault:
        assert again["committed"], (told, again)


@pytest.mark.parametrize("how", ["refused", "secret"])
def test_a_commit_that_was_never_sent_can_be_sent_again(claim: Calls, how: str) -> None:
    if how == "refused":
        claim.world.hinos.script = ["refused", "refused"]
    else:
        claim.world.aws.secrets.clear()
        claim.world.restart()
    assert _commit(claim).json.get("committed") is not True
    claim.world.aws.secrets[SECRET] = "credential"
    assert _repeated(claim, _commit(claim)) == {"committed": True}
    assert claim.world.hinos.sent["claim-1"] == 1


# An idempotency key stands for its first answer


def test_a_diary_edit_repeated_with_its_key_leaves_a_newer_one_alone(host: Host) -> None:
    say_rounds(host, 1, 20)
    deliver_all(host)
    first = host.calls.http("PUT", "/diary/{endRound}", {"summary": "旧的。"}, key="k1", endRound="20")
    host.put_diary(20, "新的。")
    again = host.calls.http("PUT", "/diary/{endRound}", {"summary": "旧的。"}, key="k1", endRound="20")
    assert (again.status, again.json) == (200, first.json)
    assert host.entries()[0]["summary"] == "新的。"


@pytest.mark.parametrize(
    "edit",
    [
        {"op": "update", "table": "主", "match": {"记": "a"}, "set": {"记": "a"}},
        {"op": "update", "table": "主", "match": {"记": "b"}, "set": {"记": "c"}},
    ],
    ids=["changes nothing", "is rejected"],
)
def test_a_key_of_edits_that_had_no_effect_is_remembered(host: Host, edit: dict[str, Any]) -> None:
    host.edit_table("a")
    post: Callable[..., Answer] = host.calls.http
    revision = host.table()["revision"]
    body = {"expectedRevision": revision, "edits": [edit]}
    first = post("POST", "/table/edits", body, key="k1")
    assert (first.status, first.json["changed"]) == (200, False)
    host.edit_table("b")
    again = post("POST", "/table/edits", body, key="k1")
    assert (again.status, again.json) == (200, first.json), again
    other = post("POST", "/table/edits", {**body, "edits": []}, key="k1")
    assert (other.status, other.code) == (422, "idempotency_key_reused")
