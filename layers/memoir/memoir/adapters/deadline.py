"""Calls that nothing else bounds: run in a thread that is left behind when its time is over."""

import threading
from collections.abc import Callable
from queue import Empty, Queue
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def within(seconds: float, call: Callable[[], Answer]) -> Answer:
    """Return what *call* returns, or raise what it raises. Raises TimeoutError where it takes longer."""
    done: Queue[tuple[bool, Any]] = Queue()

    def run() -> None:
        try:
            done.put((True, call()))
        except Exception as error:
            done.put((False, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        returned, outcome = done.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if not returned:
        raise outcome
    answer: Answer = outcome
    return answer
