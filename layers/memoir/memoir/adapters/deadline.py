"""Calls that nothing else bounds: run in a thread that is left behind when its time is over."""

import threading
from collections.abc import Callable
from queue import Empty, Queue
from typing import Any, TypeVar

from memoir.domain.language_model import ModelAnswer, Prompt
from memoir.errors import ModelFailed
from memoir.ports.models import LanguageModel

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


def answers_within(model: LanguageModel) -> Callable[[Prompt, float], ModelAnswer]:
    """Return how *model* is asked with so many seconds for its answer, whatever its own limit is."""

    def ask(prompt: Prompt, seconds: float) -> ModelAnswer:
        try:
            return within(seconds, lambda: model.answer(prompt))
        except TimeoutError as error:
            raise ModelFailed(code="model_timeout", detail="the model did not answer in time") from error

    return ask
