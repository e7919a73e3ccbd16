"""What can happen to one request of the SDK's: nothing, an answer that is lost, a refusal, the caller's end.

A fault is called instead of the send, with the client that asked and the send itself. `note` calls the
handlers of `needs-retry` as botocore does after each send that may be repeated.
"""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Protocol

from botocore.exceptions import ClientError, ConnectionClosedError, EndpointConnectionError

from tests.simulation.answers import aws_error

URL = "https://aws.invalid/"
Send = Callable[[], dict[str, Any]]


class Crash(BaseException):
    """The function's process ends here. Nothing catches it."""


class Asker(Protocol):
    """A client in the middle of a request."""

    operation: str

    def note(self, *, response: Any = None, caught_exception: Exception | None = None) -> None:
        """Tell the handlers of `needs-retry` how a send ended."""


Fault = Callable[[Asker, Send], dict[str, Any]]


def _executed(send: Send) -> None:
    try:
        send()
    except ClientError:
        return  # an answer too, and nobody hears it


def _lose(asker: Asker) -> ConnectionClosedError:
    error = ConnectionClosedError(endpoint_url=URL)
    asker.note(caught_exception=error)
    return error


def _answer_500(asker: Asker) -> ClientError:
    asker.note(response=(SimpleNamespace(status_code=500), {}))
    return aws_error("InternalServerError", asker.operation, status=500)


def lost(asker: Asker, send: Send) -> dict[str, Any]:
    """Execute it; the answer is lost, and so are the SDK's further tries."""
    _executed(send)
    raise _lose(asker)


def lost_then_repeated(asker: Asker, send: Send) -> dict[str, Any]:
    """Execute it; the answer is lost, and the SDK sends it again."""
    _executed(send)
    _lose(asker)
    return send()


def answered_500(asker: Asker, send: Send) -> dict[str, Any]:
    """Execute it and answer 500, to the SDK's further tries as well."""
    _executed(send)
    raise _answer_500(asker)


def answered_500_then_repeated(asker: Asker, send: Send) -> dict[str, Any]:
    """Execute it and answer 500; the SDK sends it again."""
    _executed(send)
    _answer_500(asker)
    return send()


def refused_500(asker: Asker, send: Send) -> dict[str, Any]:
    """Answer 500 without executing it, which the caller cannot know."""
    raise _answer_500(asker)


def throttled(asker: Asker, send: Send) -> dict[str, Any]:
    """Refuse it, as often as the SDK tries."""
    asker.note(response=(SimpleNamespace(status_code=400), {}))
    raise aws_error("ThrottlingException", asker.operation)


def throttled_then_sent(asker: Asker, send: Send) -> dict[str, Any]:
    """Refuse it once."""
    asker.note(response=(SimpleNamespace(status_code=400), {}))
    return send()


def unreached(asker: Asker, send: Send) -> dict[str, Any]:
    """No connection comes about."""
    error = EndpointConnectionError(endpoint_url=URL)
    asker.note(caught_exception=error)
    raise error


def conflict(asker: Asker, send: Send) -> dict[str, Any]:
    """Another transaction holds an item. Reads that are no transactions meet none: they are refused."""
    if asker.operation == "transact_write_items":
        reasons = [{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}]
        raise aws_error("TransactionCanceledException", asker.operation, CancellationReasons=reasons)
    if asker.operation in ("put_item", "update_item", "delete_item"):
        raise aws_error("TransactionConflictException", asker.operation)
    return throttled(asker, send)


def unprocessed(asker: Asker, send: Send) -> dict[str, Any]:
    """Answer a batch but for one key; anything else in full."""
    answer = send()
    for table_name, items in answer.get("Responses", {}).items() if "UnprocessedKeys" in answer else ():
        if items:
            left = items.pop()
            key = {"pk": left["pk"], "sk": left["sk"]} if "pk" in left else None
            if key is None:  # a projection without the partition key: give it back
                items.append(left)
            else:
                answer["UnprocessedKeys"] = {table_name: {"Keys": [key], "ConsistentRead": True}}
    return answer


def crash_before(asker: Asker, send: Send) -> dict[str, Any]:
    """The caller ends before the request."""
    raise Crash


def crash_after(asker: Asker, send: Send) -> dict[str, Any]:
    """The caller ends while the request is executed."""
    _executed(send)
    raise Crash


FAULTS: Mapping[str, Fault] = {
    fault.__name__: fault
    for fault in (
        lost,
        lost_then_repeated,
        answered_500,
        answered_500_then_repeated,
        refused_500,
        throttled,
        throttled_then_sent,
        unreached,
        conflict,
        unprocessed,
        crash_before,
        crash_after,
    )
}

SILENT = frozenset({"lost_then_repeated", "answered_500_then_repeated", "throttled_then_sent", "unprocessed"})
"""Faults that the SDK or a careful caller makes good: no answer of ours may show them."""
