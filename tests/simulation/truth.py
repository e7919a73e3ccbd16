"""What has to hold of a conversation: all that was acknowledged is read back, and faults changed nothing."""

import re
from itertools import pairwise
from typing import Any

from tests.simulation.host import HOSTS_SHEET, Host, Said

_MARK = re.compile(r"甲(\d+)乙")


def mark(number: int) -> str:
    """Return what a reply says that no other one says."""
    return f"甲{number}乙"


def check_read_back(host: Host) -> None:
    """Read back every kind of thing that was acknowledged."""
    truth = host.truth
    memory = host.calls.http("GET", "/memory")
    assert memory.status == 200, memory
    assert (memory.json["revision"], memory.json["memory"]) == truth.memory, (memory, truth.memory)
    assert _turns(host) == [
        (said.turn_id, number, said.user, said.assistant, number <= truth.accepted_through)
        for number, said in enumerate((versions[-1] for versions in truth.rounds), start=1)
    ]
    assert sorted(host.rows(HOSTS_SHEET)) == sorted(truth.host_rows)
    for path in ("/diary/recall", "/receipts"):
        answer = host.calls.http("GET", path, limit="20")
        assert answer.status == 200, answer
    told = {entry["lastRound"]: entry for entry in host.entries()}
    for end, summary in truth.diary.items():
        assert (told[end]["summary"] if end in told else None) == summary, (end, told.get(end))


def _turns(host: Host) -> list[Any]:
    found: list[Any] = []
    query: dict[str, str] = {}
    while True:
        answer = host.calls.http("GET", "/turns", limit="100", **query)
        assert answer.status == 200, answer
        found += answer.json["turns"]
        if "next" not in answer.json:
            break
        query = {"before": answer.json["next"]}
    return [
        (
            turn["turnId"],
            turn["round"],
            turn["user"]["text"],
            turn["assistant"]["text"],
            turn["status"] == "accepted",
        )
        for turn in reversed(found)
    ]


def outcome(host: Host) -> dict[str, Any]:
    """Return what has to be the same with and without faults: cells, through round, what the diary tells."""
    table = host.table()
    sheets = {sheet["name"]: sheet["rows"] for sheet in (table["table"] or {"sheets": []})["sheets"]}
    return {
        "table": {**sheets, HOSTS_SHEET: sorted(sheets.get(HOSTS_SHEET, []))},
        "throughRound": table["throughRound"],
        "diary": [
            (entry["firstRound"], entry["lastRound"], entry["edited"], *_source_rounds(host, entry))
            for entry in host.entries()
        ],
    }


def _source_rounds(host: Host, entry: Any) -> list[int]:
    """Return the rounds of its own range that an entry tells of; empty for the user's own text.

    Where the user changed an entry, the next one was written from the old or the new summary, as the two
    came; which rounds it tells, beside that it tells its own, follows from that and is no fault.
    """
    if entry["edited"]:
        return []
    rounds = rounds_of_marks(host)
    told = [rounds[number] for number in _marks(entry["summary"]) if number in rounds]
    own = [number for number in told if entry["firstRound"] <= number <= entry["lastRound"]]
    assert own, entry
    return [] if host.truth.diary else own


def rounds_of_marks(host: Host) -> dict[int, int]:
    """Return the round in which each mark of a current reply was said."""
    found: dict[int, int] = {}
    for number, versions in enumerate(host.truth.rounds, start=1):
        found.update(dict.fromkeys(_marks(versions[-1].assistant), number))
    return found


def check_no_discarded_reply(host: Host) -> None:
    """No entry tells what only a discarded reply said. What the user wrote is the user's."""
    current = rounds_of_marks(host)
    for entry in host.entries():
        if not entry["edited"]:
            stale = [number for number in _marks(entry["summary"]) if number not in current]
            assert not stale, ("tells a discarded reply", stale, entry)


def check_ranges(host: Host) -> None:
    """Entries and what the user deleted cover the rounds from the first on, each once and without a gap."""
    covered = [(entry["firstRound"], entry["lastRound"]) for entry in host.entries()]
    for (_, last), (first, _) in pairwise(covered):
        deleted = any(last < end < first for end, text in host.truth.diary.items() if text is None)
        assert first == last + 1 or (first > last and deleted), covered


def _marks(text: str) -> list[int]:
    return [int(number) for number in _MARK.findall(text)]


def reply(number: int, *, edit: str = "", more: str = "") -> str:
    """Return a reply with its mark in a sentence that diaries like, and perhaps with an edit of the table."""
    block = f"<tableEdit>{edit}</tableEdit>" if edit else ""
    return f"答应{mark(number)}。{more}{block}"


def inserted(number: int, cell: str = "剑") -> str:
    """Return the edit that inserts a row named by *number*."""
    return f'insertRow(0, {{"0": "{number}", "1": "{cell}"}})'


def say_rounds(host: Host, first: int, last: int) -> None:
    """Say rounds that insert a row each, numbered by themselves."""
    for number in range(first, last + 1):
        said = Said(turn_id=f"t{number}", user="嗯", assistant=reply(number, edit=inserted(number)))
        assert host.say(said)
