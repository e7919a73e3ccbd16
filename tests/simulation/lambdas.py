"""The deployed functions without AWS: their real handlers in modules of their own, under a clock of ours.

The handlers are imported anew while `time.time` is the clock's, since modules keep what they find at import.
What other tests have imported stays as it was, and is put back afterwards.
"""

import importlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import botocore.session
import urllib3.util.connection

from tests.simulation.aws import TABLE_NAME, TOPIC_ARN, Aws, Session
from tests.simulation.hinos import URL, ScriptedHinos

FUNCTIONS = (
    *("memory", "turns", "table", "diary", "hinos", "receipts", "state", "story", "compact", "scenarios"),
    *("edit_table", "write_diary"),
)
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:hinos"
START = 1_800_000_000.0

_ENVIRONMENT = {
    "MEMOIR_TABLE_NAME": TABLE_NAME,
    "MEMOIR_TOPIC_ARN": TOPIC_ARN,
    "MEMOIR_EVENT_BUS": "memoir",
    "MEMOIR_MODEL": "extractive",
    "MEMOIR_QUEUE_URL": "https://sqs.invalid/queue.fifo",
    "HINOS_MEMORY_URL": URL,
    "MEMOIR_HINOS_SECRET_ARN": SECRET,
    "POWERTOOLS_LOG_LEVEL": "CRITICAL",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


class Clock:
    """The time of day of everything that runs here. It moves only when it is told to."""

    def __init__(self) -> None:
        """Begin at a fixed time."""
        self.now = START

    def __call__(self) -> float:
        """Return the time, a little later at each call."""
        self.now += 0.000_1
        return self.now


class Lambdas:
    """The handlers, and the outside world that they were wired to."""

    def __init__(self, clock: Clock) -> None:
        """Hold a world with nothing in it yet."""
        self.clock = clock
        self.aws = Aws()
        self.hinos = ScriptedHinos()
        self.handlers: dict[str, Any] = {}
        self._wiring: Any = None

    def load(self) -> None:
        """Import every handler."""
        self._wiring = importlib.import_module("memoir.wiring")
        for name in FUNCTIONS:
            self.handlers[name] = importlib.import_module(f"functions.{name}.app").handler

    def reset(self) -> None:
        """Begin a world anew: an empty store, empty queues, processes that have served nothing."""
        self.aws.__init__()  # type: ignore[misc]
        self.aws.secrets[SECRET] = "credential"
        self.hinos.__init__()  # type: ignore[misc]
        self.clock.now = START
        self.restart()

    def restart(self) -> None:
        """Begin with fresh processes: what a function had cached is gone."""
        for value in vars(self._wiring).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@contextmanager
def lambdas() -> Iterator[Lambdas]:
    """Yield the handlers in modules of their own, wired to a world in memory."""
    world = Lambdas(Clock())
    seen, real = dict(os.environ), (time.time, botocore.session.get_session)
    connect = urllib3.util.connection.create_connection
    others = {name: module for name, module in sys.modules.items() if _is_ours(name)}
    for name in others:
        del sys.modules[name]
    os.environ.update(_ENVIRONMENT)
    time.time = world.clock
    botocore.session.get_session = lambda *_, **__: Session(world.aws)  # type: ignore[assignment]
    urllib3.util.connection.create_connection = world.hinos.connect  # type: ignore[assignment]
    try:
        world.load()
        world.reset()
        yield world
    finally:
        time.time, botocore.session.get_session = real
        urllib3.util.connection.create_connection = connect
        os.environ.clear()
        os.environ.update(seen)
        for name in [name for name in sys.modules if _is_ours(name)]:
            del sys.modules[name]
        sys.modules.update(others)


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in ("memoir", "functions")
