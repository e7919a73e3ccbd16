"""A session as botocore's, whose clients speak to an AWS in memory. Each request can meet a fault."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.simulation.answers import aws_error
from tests.simulation.dynamodb import InMemoryDynamoDb
from tests.simulation.faults import FAULTS

TABLE_NAME = "memoir-simulated"
TOPIC_ARN = "arn:aws:sns:eu-central-1:123456789012:turns.fifo"
WORKERS = ("table", "diary")


@dataclass
class Weather:
    """What the requests of one call meet. `faults`: by the number of the request, from 0.

    `hooks`: called before the request of that number. `met`: the faults that were met.
    """

    faults: dict[int, str] = field(default_factory=dict)
    hooks: dict[int, Callable[[], None]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    met: list[str] = field(default_factory=list)


@dataclass
class Aws:
    """All of AWS: the store, queues by worker, published events, secrets; and the weather of the calls."""

    dynamodb: InMemoryDynamoDb = field(default_factory=lambda: InMemoryDynamoDb(table_name=TABLE_NAME))
    queues: dict[str, list[str]] = field(default_factory=lambda: {worker: [] for worker in WORKERS})
    events: list[dict[str, Any]] = field(default_factory=list)
    visibility_changes: list[dict[str, Any]] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    weather: list[Weather] = field(default_factory=lambda: [Weather()])
    tokens: int = 0

    def execute(self, service: str, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Run one request of any service."""
        if service == "dynamodb":
            return self.dynamodb.execute(operation, request)
        answer: dict[str, Any] = getattr(self, f"_{operation}")(request)
        return answer

    def _publish(self, request: dict[str, Any]) -> dict[str, Any]:
        wanted = json.loads(request["MessageAttributes"]["workers"]["StringValue"])
        for worker, queue in self.queues.items():
            if worker in wanted:
                queue.append(request["Message"])
        return {"MessageId": "m"}

    def _put_events(self, request: dict[str, Any]) -> dict[str, Any]:
        self.events += request["Entries"]
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "e"} for _ in request["Entries"]]}

    def _change_message_visibility(self, request: dict[str, Any]) -> dict[str, Any]:
        self.visibility_changes.append(request)
        return {}

    def _change_message_visibility_batch(self, request: dict[str, Any]) -> dict[str, Any]:
        self.visibility_changes += request["Entries"]
        return {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]], "Failed": []}

    def _get_secret_value(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["SecretId"] not in self.secrets:
            raise aws_error("ResourceNotFoundException", "GetSecretValue")
        return {"ARN": request["SecretId"], "SecretString": self.secrets[request["SecretId"]]}


class Client:
    """A client of one service. Like botocore's, it repeats a transaction under one request token."""

    def __init__(self, aws: Aws, service: str) -> None:
        """Speak to *service* of *aws*."""
        self._aws = aws
        self._service = service
        self._handlers: list[Callable[..., Any]] = []
        self.operation = ""
        events = SimpleNamespace(register=self._register)
        self.meta = SimpleNamespace(events=events, region_name="eu-central-1")

    def _register(self, name: str, handler: Callable[..., Any], **_: Any) -> None:
        if name.startswith("needs-retry"):
            self._handlers.append(handler)

    def note(self, *, response: Any = None, caught_exception: Exception | None = None) -> None:
        """See `faults.Asker`."""
        for handler in self._handlers:
            handler(
                event_name=f"needs-retry.{self._service}",
                response=response,
                caught_exception=caught_exception,
                attempts=1,
            )

    def __getattr__(self, operation: str) -> Callable[..., dict[str, Any]]:
        if operation.startswith("_"):
            raise AttributeError(operation)
        return lambda **request: self._ask(operation, request)

    def _ask(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        weather = self._aws.weather[-1]
        number = len(weather.requests)
        weather.requests.append(operation)
        if operation == "transact_write_items":
            self._aws.tokens += 1
            request.setdefault("ClientRequestToken", str(self._aws.tokens))

        def send() -> dict[str, Any]:
            return self._aws.execute(self._service, operation, request)

        if hook := weather.hooks.get(number):
            hook()
        fault = weather.faults.get(number)
        if fault is None:
            return send()
        weather.met.append(fault)
        self.operation = operation
        return FAULTS[fault](self, send)


class Session:
    """What `botocore.session.get_session` gives, as far as it is used."""

    def __init__(self, aws: Aws) -> None:
        """Make clients of *aws*."""
        self._aws = aws

    def create_client(self, service: str, **_: Any) -> Client:
        """Return a client of *service*."""
        return Client(self._aws, service)
