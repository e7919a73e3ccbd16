"""Faults under botocore: the store executes a request and its answer is lost, or refuses it."""

import json
from collections.abc import Callable
from typing import Any

from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.exceptions import ConnectionClosedError

Fault = Callable[[Any, AWSRequest], AWSResponse | None]
"""Called instead of a send with the client and the request. None sends it as usual; it may also raise."""


def answer_lost(client: Any, request: AWSRequest) -> AWSResponse | None:
    """Let the store execute the request, then lose the connection."""
    client._endpoint.http_session.send(request)
    raise ConnectionClosedError(endpoint_url=request.url)


def answer_replaced_by_500(client: Any, request: AWSRequest) -> AWSResponse | None:
    """Let the store execute the request, then answer 500."""
    client._endpoint.http_session.send(request)
    return _response(request, 500, "InternalServerError")


def throttled(client: Any, request: AWSRequest) -> AWSResponse | None:
    """Refuse the request; the store does not see it."""
    return _response(request, 400, "ThrottlingException")


def sent_as_usual(client: Any, request: AWSRequest) -> AWSResponse | None:
    """No fault."""
    return None


def inject(client: Any, fault_of: Callable[[str], Fault]) -> None:
    """Ask *fault_of* for each send of *client*, by the operation's name, what becomes of it."""

    def before_send(request: AWSRequest, **_: Any) -> AWSResponse | None:
        target = request.headers["X-Amz-Target"]
        operation = (target.decode() if isinstance(target, bytes) else target).split(".")[1]
        return fault_of(operation)(client, request)

    client.meta.events.register("before-send.dynamodb", before_send)


def _response(request: AWSRequest, status: int, code: str) -> AWSResponse:
    body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": code}).encode()

    class Raw:
        """The little that botocore asks of a response body."""

        def stream(self, *_: Any, **__: Any) -> Any:
            yield body

        def read(self, *_: Any, **__: Any) -> bytes:
            return body

    return AWSResponse(request.url, status, {"content-type": "application/x-amz-json-1.0"}, Raw())
