"""Hinos over HTTP: each request within one budget of time."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from memoir.adapters.bounded_http import BrokenOff, HttpAnswer, NotReached, TooMuch, post
from memoir.errors import HinosBadReply, HinosTimeout, HinosUnavailable, MemoirError
from memoir.strict_json import read_json

MAX_REPLY_BYTES = 1024 * 1024


class HinosHttp:
    """The Hinos port over HTTP."""

    def __init__(
        self, *, base_url: str, timeout_ms: int, credential: Callable[[], str | None] = lambda: None
    ) -> None:
        """Call the service at *base_url*; *timeout_ms* is the budget of a whole call, connecting included."""
        self._url = base_url.rstrip("/")
        self._port = urlsplit(base_url).port
        self._budget_seconds = timeout_ms / 1000
        self._credential = credential

    def ready(self) -> None:
        """See `Hinos.ready`."""
        self._credential()

    def call(self, path: str, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> Any:
        """See `Hinos.call`. Where the connection is refused, nothing was sent: it is tried once more."""
        deadline = time.monotonic() + self._budget_seconds
        sent = {"content-type": "application/json", "accept": "application/json", **headers}
        if credential := self._credential():
            sent["authorization"] = f"Bearer {credential}"
        raw = json.dumps(body, ensure_ascii=False).encode()
        try:
            return self._once(path, raw, sent, deadline)
        except HinosUnavailable as failure:
            if failure.sent or time.monotonic() >= deadline:
                raise
            return self._once(path, raw, sent, deadline)

    def _once(self, path: str, raw: bytes, headers: Mapping[str, str], deadline: float) -> Any:
        try:
            answer = post(
                self._url + path, raw, headers, deadline=deadline, max_bytes=MAX_REPLY_BYTES, port=self._port
            )
        except NotReached as failure:
            if failure.late:
                raise HinosTimeout(detail="Hinos could not be reached in time", sent=False) from failure
            raise HinosUnavailable(detail="Hinos could not be reached", sent=False) from failure
        except BrokenOff as failure:
            if failure.late:
                raise HinosTimeout(detail="Hinos did not answer within its budget", sent=True) from failure
            raise HinosUnavailable(detail="the connection to Hinos broke", sent=True) from failure
        except TooMuch as failure:
            raise HinosBadReply(detail=f"Hinos answered more than {MAX_REPLY_BYTES} bytes") from failure
        return _parsed(answer)


def _parsed(answer: HttpAnswer) -> Any:
    if answer.status >= 500:
        raise HinosUnavailable(detail=f"Hinos answered status {answer.status}", sent=True)
    if answer.status != 200:
        raise HinosBadReply(detail=f"Hinos answered status {answer.status}")
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind.strip().lower() != "application/json":
        raise HinosBadReply(detail="Hinos answered something that is not application/json")
    try:
        return read_json(answer.body)
    except MemoirError as error:
        raise HinosBadReply(detail="Hinos answered something that is not strict JSON") from error
