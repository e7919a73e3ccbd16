"""Calls as AWS makes them: API Gateway's HTTP events and SQS batches, each with the faults it shall meet."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.aws import Weather
from tests.simulation.faults import SILENT, Crash
from tests.simulation.lambdas import Lambdas

CONVERSATION = "c1"
_PATH = "/v1/conversations/{id}"
_FUNCTION_OF_WORKER = {"table": "edit_table", "diary": "write_diary"}
_ASKS = 6
"""How often a caller that is told to try again does so."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a caller got. `faults`: what the call met that may show; `crashed`: the function died in it."""

    status: int
    text: str
    faults: tuple[str, ...] = ()
    crashed: bool = False

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.text)

    @property
    def code(self) -> str:
        """The code of an error; empty for a success."""
        return str(self.json.get("code", ""))


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What one call shall meet: faults and hooks by the number of the request that it makes."""

    faults: dict[int, str] = field(default_factory=dict)
    hooks: dict[int, Callable[[], None]] = field(default_factory=dict)


FINE = Faults()


class Context:
    """What a handler sees of its Lambda."""

    aws_request_id = "7f2f6c1e-0000-4000-8000-000000000000"
    function_name = "memoir"

    def get_remaining_time_in_millis(self) -> int:
        """There is time."""
        return 600_000


class Calls:
    """Calls functions of one conversation."""

    def __init__(self, world: Lambdas) -> None:
        """Call the functions of *world*."""
        self.world = world

    def http(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        faults: Faults = FINE,
        **parameters: str,
    ) -> Answer:
        """Send one request; *path* is the route behind the conversation, with its parameters in braces."""
        event = _http_event(method, path, body, key=key, parameters=parameters)
        function = path.split("/")[1]
        with self._under(faults) as weather:
            try:
                answer = self._run(function, event)
            except Crash:
                self.world.restart()
                return Answer(
                    status=500, text='{"message":"Internal Server Error"}', faults=("crash",), crashed=True
                )
        return Answer(status=answer["statusCode"], text=answer["body"] or "null", faults=_shown(weather))

    def admin(self, method: str, route: str, body: Any, **parameters: str) -> Answer:
        """Send one request to a route of the product, with the admin scope, without faults."""
        event = _http_event(method, "", body, key=None, parameters={})
        event["routeKey"] = event["requestContext"]["routeKey"] = f"{method} {route}"
        event["pathParameters"] = parameters
        event["requestContext"]["authorizer"]["jwt"]["claims"]["scope"] = "memory/admin"
        answer = self._run(route.split("/")[2], event)
        return Answer(status=answer["statusCode"], text=answer["body"])

    def deliver(
        self, worker: str, *messages: str, faults: Faults = FINE, may_fail: bool = False
    ) -> list[str] | None:
        """Deliver *messages* as one batch; return those that must come again, None where the function died.

        Without faults, and with nothing else happening meanwhile, none must, unless it *may_fail*.
        """
        event = {"Records": [_record(number, message, worker) for number, message in enumerate(messages)]}
        with self._under(faults) as weather:
            try:
                answer = self._run(_FUNCTION_OF_WORKER[worker], event)
            except Crash:
                self.world.restart()
                return None
        failed = [messages[int(item["itemIdentifier"])] for item in answer["batchItemFailures"]]
        assert not failed or may_fail or faults.hooks or weather.met, (worker, failed)
        return failed

    def deliver_until_taken(self, worker: str, message: str) -> None:
        """Deliver a message until it needs not come again, each time after the queue's visibility timeout."""
        for _ in range(_ASKS):
            if self.deliver_alone(worker, message):
                return
        raise AssertionError(f"the {worker} worker never takes {message}")

    def deliver_alone(self, worker: str, message: str) -> bool:
        """Deliver one message without faults; return whether it was taken. Leases run out before it comes."""
        self.world.clock.now += 1_000
        event = {"Records": [_record(0, message, worker)]}
        answer = self._run(_FUNCTION_OF_WORKER[worker], event)
        return not answer["batchItemFailures"]

    def _run(self, function: str, event: dict[str, Any]) -> Any:
        """Run a handler; its logs and metrics go nowhere. What a hook finds wrong, no handler may catch."""
        with redirect_stdout(io.StringIO()):
            try:
                return self.world.handlers[function](event, Context())
            except _Escaped as escaped:
                raise escaped.error from None

    @contextmanager
    def _under(self, faults: Faults) -> Iterator[Weather]:
        hooks = {number: _escaping(hook) for number, hook in faults.hooks.items()}
        weather = Weather(faults=dict(faults.faults), hooks=hooks)
        self.world.aws.weather.append(weather)
        try:
            yield weather
        finally:
            self.world.aws.weather.remove(weather)


class _Escaped(BaseException):
    """Carries an error of a test's own through the code under test."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _escaping(hook: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        try:
            hook()
        except Exception as error:
            raise _Escaped(error) from error

    return run


def _shown(weather: Weather) -> tuple[str, ...]:
    return tuple(fault for fault in weather.met if fault not in SILENT)


def _http_event(method: str, path: str, body: Any, *, key: str | None, parameters: dict[str, str]) -> Any:
    route = f"{method} {_PATH}{path}"
    query = {name: value for name, value in parameters.items() if f"{{{name}}}" not in path}
    path_parameters = {name: value for name, value in parameters.items() if name not in query}
    headers = {"host": "api.example.com", "user-agent": "simulation"}
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": f"/v1/conversations/{CONVERSATION}",
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "http": {"method": method, "path": f"/v1/conversations/{CONVERSATION}"},
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": route,
            "stage": "$default",
            "authorizer": {"jwt": {"claims": {"client_id": "product", "sub": "user"}, "scopes": None}},
        },
        "isBase64Encoded": False,
        "pathParameters": {"id": CONVERSATION, **path_parameters},
    }
    if query:
        event["queryStringParameters"] = query
    if key is not None:
        headers["idempotency-key"] = key
    if body is not None:
        event["body"] = json.dumps(body, ensure_ascii=False)
        headers["content-type"] = "application/json"
        headers["content-length"] = str(len(event["body"].encode()))
    return event


def _record(number: int, message: str, worker: str) -> dict[str, Any]:
    return {
        "messageId": str(number),
        "receiptHandle": f"handle-{number}",
        "body": message,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1796126400000",
            "SequenceNumber": str(18849496460467696128 + number),
            "MessageGroupId": "g1",
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "MessageDeduplicationId": str(number),
            "ApproximateFirstReceiveTimestamp": "1796126400001",
        },
        "messageAttributes": {},
        "md5OfBody": "",
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:eu-central-1:123456789012:memoir-{_FUNCTION_OF_WORKER[worker]}.fifo",
        "awsRegion": "eu-central-1",
    }
