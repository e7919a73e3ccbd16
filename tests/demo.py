"""`make demo`: what the service promises, run over HTTP on the deployed local stack, printed for a person.

Read the old value, make one clear change and see its receipt, read the new value; then a conflict, a refused
write, and that neither changed anything. Ends non-zero at the first thing that is not as promised.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from tests.api import Answer, Api
from tests.localcloud.cloud import local_cloud


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


def main() -> int:
    """Bring the local stack up, show what it does, take it down. Returns the exit code."""
    with local_cloud() as stack:
        api = Api(stack)
        try:
            show_memory(api)
        except Broken as broken:
            say(f"\nNOT AS PROMISED: {broken}")
            return 1
    say("\nAll as promised.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
