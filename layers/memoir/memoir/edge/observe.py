"""One log line and one metric for each outcome. Never a memory, a chat text, a prompt or a header.

Event names are in the past tense: `memory.updated`, `request.rejected`. Rejected is INFO; failed and unknown
are ERROR. The user stands in the log as a hash.
"""

import hashlib
import traceback
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import orjson

from memoir.domain.scope import Scope

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger, Metrics

Fact = str | int | float | bool | None

_ERRORS = ("failed", "unknown")


def _as_json(line: dict[str, Any]) -> str:
    return orjson.dumps(line, default=str).decode()


@cache
def _logger() -> "Logger":
    from aws_lambda_powertools.logging import Logger

    return Logger(
        service="memoir",
        location=None,
        json_serializer=_as_json,
        # A message is an event's name, never JSON: without `str` each would be tried as JSON first.
        json_deserializer=str,
        # Lambda takes a line's own level and time only where the time is as RFC 3339 has it.
        use_rfc3339=True,
        utc=True,
    )


@cache
def _metrics() -> "Metrics":
    from aws_lambda_powertools.metrics import Metrics

    return Metrics(service="memoir", namespace="Memoir")


def scope_facts(scope: Scope) -> dict[str, Fact]:
    """Return how a log line names *scope*: the conversation's id and a hash of product and user."""
    owner = hashlib.sha256(f"{scope.product}\0{scope.user}".encode()).hexdigest()
    return {"conversation_id": scope.conversation, "user_ref": owner[:16]}


def finished(
    event: str,
    *,
    request_id: str,
    duration_ms: float,
    facts: Mapping[str, Fact],
    measures: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """Log the outcome of one request or message, and measure it: one metric of the event's name.

    Its values are durations in ms; their sample count is how often the event happened. *measures*: further
    metrics by their names, without a unit.
    """
    log = _logger().error if event.endswith(_ERRORS) else _logger().info
    log(event, extra={"request_id": request_id, "duration_ms": round(duration_ms, 2), **facts})
    metrics = _metrics()
    metrics.add_metric(name=event, unit="Milliseconds", value=duration_ms)
    for name, value in measures.items():
        metrics.add_metric(name=name, unit="None", value=value)
    metrics.flush_metrics()


def count(name: str, **dimensions: str) -> None:
    """Count one more *name*, apart for each value of *dimensions*."""
    from aws_lambda_powertools.metrics import MetricUnit, single_metric

    with single_metric(name=name, unit=MetricUnit.Count, value=1, namespace="Memoir") as metric:
        for dimension, value in dimensions.items():
            metric.add_dimension(name=dimension, value=value)


def crashed(error: BaseException, *, request_id: str) -> None:
    """Log an error that nobody foresaw: its type and place, not its text, which may quote a memory."""
    frames = traceback.extract_tb(error.__traceback__)
    _logger().error(
        "request.crashed",
        extra={
            "request_id": request_id,
            "error_type": type(error).__name__,
            "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        },
    )
