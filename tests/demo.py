"""`make demo`: what the service promises, run over HTTP on the deployed local stack, printed for a person.

Memory: read the old value, make one clear change and see its receipt, read the new value; then a conflict, a
refused write, and that neither changed anything. Then the table that replies edit, and diaries of two real
dialogues. Ends non-zero at the first thing that is not as promised.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.api import Answer, Api
from tests.localcloud.cloud import local_cloud
from tests.localcloud.emulator import CannotStart

DATA = Path(__file__).resolve().parent / "data"


class Broken(Exception):
    """The service did not do what this demo says it does."""


def say(text: str = "") -> None:
    """Print one line at once."""
    print(text, flush=True)


def step(title: str, answer: Answer, *, status: int, holds: Callable[[Any], bool] = lambda body: True) -> Any:
    """Print one request's outcome and check it. Raises Broken."""
    body = answer.json
    say(f"  {title}")
    say(f"      {answer.status}  {json.dumps(body, ensure_ascii=False)[:300]}")
    if answer.status != status or not holds(body):
        raise Broken(f"expected status {status} and the promised body")
    return body


def show_memory(api: Api) -> None:
    """The JSON memory of a conversation: read, replace by compare-and-set, read again, conflict, refusal."""
    path = "/v1/conversations/demo/memory"
    gate = {"scene": "城门", "keyHolder": "用户"}
    handed_over = {"scene": "城门", "keyHolder": "守卫"}
    say("\nJSON memory: replaced whole, by compare-and-set on a revision")
    old = step(
        "read the old value: none yet is revision 0, memory null",
        api.call("GET", path),
        status=200,
        holds=lambda body: body == {"revision": 0, "memory": None},
    )
    first = step(
        "write the first memory, based on revision 0",
        api.call("PUT", path, {"expectedRevision": old["revision"], "memory": gate}),
        status=200,
        holds=lambda body: body == {"revision": 1},
    )
    step(
        "one clear change: the guard takes the key. The receipt is the new revision",
        api.call("PUT", path, {"expectedRevision": first["revision"], "memory": handed_over}),
        status=200,
        holds=lambda body: body == {"revision": 2},
    )
    step(
        "a new request reads the new value",
        api.call("GET", path),
        status=200,
        holds=lambda body: body == {"revision": 2, "memory": handed_over},
    )
    step(
        "a write based on the old revision: refused, and told the current one",
        api.call("PUT", path, {"expectedRevision": 1, "memory": {"scene": "酒馆"}}),
        status=409,
        holds=lambda body: body["code"] == "revision_conflict" and body["currentRevision"] == 2,
    )
    step(
        "a write that is not acceptable: a list is no memory",
        api.call("PUT", path, {"expectedRevision": 2, "memory": ["城门"]}),
        status=400,
        holds=lambda body: body["path"] == "/memory",
    )
    step(
        "neither changed anything",
        api.call("GET", path),
        status=200,
        holds=lambda body: body == {"revision": 2, "memory": handed_over},
    )
    step(
        "another product sees nothing of it",
        Api(api.stack, client="otherClient").call("GET", path),
        status=200,
        holds=lambda body: body["revision"] == 0,
    )


def show_table(api: Api) -> None:
    """Turns and the memory table: a reply edits the table in the background, once."""
    base = "/v1/conversations/demo"
    say("\nMemory table: the model edits it in its replies, the background applies the edits once")
    sheet = {"name": "人物表", "columns": ["名", "物"], "rows": [["守卫", "长枪"]]}
    step(
        "set the sheets",
        api.call("PUT", f"{base}/table", {"expectedRevision": 0, "table": {"sheets": [sheet]}}),
        status=200,
        holds=lambda body: body == {"revision": 1},
    )
    reply = '守卫接过钥匙。<tableEdit>updateRow(0, 0, {"1":"铜钥匙"})</tableEdit>'
    for duplicate in (False, True):
        step(
            "a completed reply" + (", sent twice by mistake" if duplicate else " with an edit in it"),
            api.call("POST", f"{base}/turns", turn("demo-1", "给你钥匙。", reply)),
            status=202,
            holds=lambda body, twice=duplicate: (body["round"], body["duplicate"]) == (1, twice),
        )
    step(
        "within seconds the table shows it, once",
        api.wait_for(f"{base}/table", lambda answer: answer.json["throughRound"] == 1),
        status=200,
        holds=lambda body: body["revision"] == 2 and "0,守卫,铜钥匙" in body["memoryTable"],
    )
    api.call("POST", f"{base}/turns", turn("demo-2", "谢谢。", "守卫点头。"))
    step(
        "a reply without edits writes nothing",
        api.wait_for(f"{base}/table", lambda answer: answer.json["throughRound"] == 2),
        status=200,
        holds=lambda body: body["revision"] == 2,
    )
    step(
        "the receipts say what was done and why not",
        api.call("GET", f"{base}/receipts?limit=4"),
        status=200,
        holds=lambda body: {"saved", "no_block"} <= {receipt["reason"] for receipt in body["receipts"]},
    )


def show_diary(api: Api) -> None:
    """Diaries: none for 19 rounds, then one at 20, 30 and 40 of a dialogue of 45, recalled by tier."""
    for name, language in (("demo-zh", "a Chinese"), ("demo-en", "an English")):
        base = f"/v1/conversations/{name}"
        say(f"\nDiary of {language} dialogue of 45 rounds, by the extractive writer that needs no model")
        for number, (said, answered) in enumerate(dialogue(name), start=1):
            posted = api.call("POST", f"{base}/turns", turn(f"{name}-{number}", said, answered))
            if posted.status != 202:
                raise Broken(f"a turn was refused: {posted.text}")
            if number == 19:
                seen = api.wait_for(f"{base}/receipts?limit=2", lambda got: reasons(got, 19))
                say(f"  after 19 rounds: {reasons(seen, 19)[0]}, nothing was written")
        api.wait_for(f"{base}/receipts?limit=10", lambda got: reasons(got, 45))
        listed = step(
            "after 45 rounds there are three entries",
            api.call("GET", f"{base}/diary"),
            status=200,
            holds=lambda body: [entry["lastRound"] for entry in body["entries"]] == [40, 30, 20],
        )
        for tier, count in (("default", 1), ("plus", 2), ("ultra", 3), ("max", 3)):
            recalled = api.call("GET", f"{base}/diary/recall?subscriptionCategory={tier}").json
            if len(recalled["entries"]) != count:
                raise Broken(f"{tier} recalls {len(recalled['entries'])} entries, not {count}")
        say("  recalled by tier: default 1, plus 2, ultra 3, max 3 of its 5")
        say(f"  what the next turn gets back (default): {listed['entries'][0]['summary'][:240]}")


def turn(turn_id: str, said: str, answered: str) -> dict[str, Any]:
    """Return a completed reply as a host reports it."""
    return {"turnId": turn_id, "user": {"text": said}, "assistant": {"text": answered}}


def reasons(answer: Answer, turn_round: int) -> list[str]:
    """Return what the diary's worker said of that round."""
    listed = answer.json["receipts"]
    return [r["reason"] for r in listed if (r["worker"], r["round"]) == ("diary", turn_round)]


def dialogue(name: str) -> list[tuple[str, str]]:
    """Return the dialogue of that name from tests/data: a line for the user, a line for the character."""
    lines = (DATA / f"{name}.txt").read_text().strip().splitlines()
    return list(zip(lines[::2], lines[1::2], strict=True))


def main() -> int:
    """Bring the local stack up, show what it does, take it down. Returns the exit code."""
    try:
        with local_cloud() as stack:
            api = Api(stack)
            show_memory(api)
            show_table(api)
            show_diary(api)
    except Broken as broken:
        say(f"\nNOT AS PROMISED: {broken}")
        return 1
    except CannotStart as reason:
        say(f"\nCannot start: {reason}")
        return 1
    say("\nAll as promised.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
