"""AWS clients: one session a process, botocore's own retries pinned, and what they may have done told.

A retry by the SDK can follow a first try that was executed and whose answer was lost.
`Attempts.maybe_executed` says, after a call, whether that can have happened.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError

# Three sends within 15 s, the timeout of a function that answers over HTTP: botocore's defaults are 60 s each
# for connecting and reading, and its retry defaults changed in 1.44.
_CONNECT_SECONDS = 1
_READ_SECONDS = 3
_SENDS = 3

_NEVER_SENT = (ConnectTimeoutError, EndpointConnectionError)

_ambiguous: ContextVar[list[str] | None] = ContextVar("ambiguous", default=None)


class Attempts:
    """What is known of the sends of one call."""

    def __init__(self, ambiguous: list[str]) -> None:
        self._ambiguous = ambiguous

    @property
    def maybe_executed(self) -> bool:
        """True where a send had no answer, or one of 5xx: the service may have done what was asked."""
        return bool(self._ambiguous)


@contextmanager
def watched_attempts() -> Iterator[Attempts]:
    """Watch the sends of the one call made inside the block."""
    ambiguous: list[str] = []
    token = _ambiguous.set(ambiguous)
    try:
        yield Attempts(ambiguous)
    finally:
        _ambiguous.reset(token)


@cache
def _session() -> Any:
    return botocore.session.get_session()


def make_client(
    service: str,
    *,
    endpoint_url: str | None,
    read_timeout_seconds: float = _READ_SECONDS,
    sends: int = _SENDS,
) -> Any:
    """Return a client of *service* that sends a request *sends* times at most.

    *endpoint_url* replaces AWS's own address (local use).
    """
    config = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=read_timeout_seconds,
        retries={"mode": "standard", "total_max_attempts": sends},
        parameter_validation=False,
        tcp_keepalive=True,
    )
    client = _session().create_client(service, endpoint_url=endpoint_url, config=config)
    client.meta.events.register(f"needs-retry.{service}", _note_attempt)
    return client


def _note_attempt(response: Any = None, caught_exception: Any = None, **_: Any) -> None:
    noted = _ambiguous.get()
    if noted is None:
        return
    if caught_exception is not None:
        if not isinstance(caught_exception, _NEVER_SENT):
            noted.append(type(caught_exception).__name__)
    elif response is not None and response[0].status_code >= 500:
        noted.append(str(response[0].status_code))
