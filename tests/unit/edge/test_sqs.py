import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from memoir import errors
from memoir.contracts.jobs import Ring
from memoir.edge.sqs import TREATMENT, serve_batch


def message(message_id: str, group: str, body: str | None = None) -> dict[str, Any]:
    ring = {
        "product": "p",
        "user": "u",
        "conversation": group,
        "round": 1,
        "version": 1,
        "turnId": "t",
        "scenarioId": "default",
        "subscriptionCategory": None,
    }
    return {
        "messageId": message_id,
        "body": json.dumps(ring) if body is None else body,
        "attributes": {"MessageGroupId": group, "ApproximateReceiveCount": "1"},
    }


class Worker:
    """A worker that fails for some conversations and notes what it did."""

    def __init__(self, **failures: BaseException) -> None:
        self.failures = failures
        self.done: list[str] = []

    def __call__(self, ring: Ring) -> dict[str, Any]:
        if ring.scope.conversation in self.failures:
            raise self.failures[ring.scope.conversation]
        self.done.append(ring.scope.conversation)
        return {}


@dataclass
class Queue:
    """What becomes of a batch: which messages stay, how long each waits, and the pauses between tries."""

    waits: dict[str, int] = field(default_factory=dict)
    pauses: list[float] = field(default_factory=list)
    time_left: bool = True

    def serve(self, work: Any, *records: dict[str, Any]) -> list[str]:
        answer = serve_batch(
            {"Records": list(records)},
            work,
            worker="table",
            postpone=lambda record, seconds: self.waits.update({record["messageId"]: seconds}),
            has_time=lambda: self.time_left,
            sleep=self.pauses.append,
        )
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def failed(worker: Worker, *records: dict[str, Any]) -> list[str]:
    return Queue().serve(worker, *records)


def test_a_batch_that_works_leaves_nothing_in_the_queue() -> None:
    worker = Worker()
    assert failed(worker, message("1", "a"), message("2", "b")) == []
    assert worker.done == ["a", "b"]


def test_after_a_failure_the_rest_of_its_group_goes_back_and_other_groups_go_on() -> None:
    worker = Worker(a=errors.StoreUnavailable(detail="down"))
    records = [message("1", "a"), message("2", "b"), message("3", "a"), message("4", "b")]
    assert failed(worker, *records) == ["1", "3"]
    assert worker.done == ["b", "b"]


def test_a_message_that_cannot_be_read_goes_back_for_the_dead_letter_queue() -> None:
    for body in ("", "[]", "{", '{"product":"p"}', '{"product":1}', "\ufffe"):
        assert failed(Worker(), message("1", "a", body)) == ["1"]


def test_a_message_about_what_is_gone_leaves_the_queue() -> None:
    assert failed(Worker(a=errors.NotFound(detail="gone")), message("1", "a")) == []


def test_an_error_that_nobody_foresaw_goes_back_and_tells_no_text(caplog: pytest.LogCaptureFixture) -> None:
    assert failed(Worker(a=ZeroDivisionError("the secret text")), message("1", "a")) == ["1"]
    logged = str([vars(record) for record in caplog.records])
    assert "ZeroDivisionError" in logged
    assert "the secret text" not in logged


class Passing:
    """A worker that fails so many times, then works."""

    def __init__(self, error: errors.MemoirError, times: int) -> None:
        self.error = error
        self.left = times
        self.tries = 0

    def __call__(self, ring: Ring) -> dict[str, Any]:
        self.tries += 1
        if self.left:
            self.left -= 1
            raise self.error
        return {}


@pytest.mark.parametrize("times", [1, 2])
def test_a_fault_that_passes_is_tried_again_at_once(times: int) -> None:
    queue, worker = Queue(), Passing(errors.StoreUnavailable(detail="busy"), times)
    assert queue.serve(worker, message("1", "a")) == []
    assert (worker.tries, len(queue.pauses)) == (times + 1, times)


def test_a_fault_that_does_not_pass_waits_seconds_and_longer_each_time() -> None:
    queue = Queue()
    for received in (1, 2, 3, 9):
        again = message(str(received), "a")
        again["attributes"]["ApproximateReceiveCount"] = str(received)
        queue.serve(Worker(a=errors.StoreUnavailable(detail="down")), again)
    assert list(queue.waits.values()) == [2, 4, 8, 60]


def test_without_time_left_nothing_is_tried_again() -> None:
    queue, worker = Queue(time_left=False), Passing(errors.StoreUnavailable(detail="busy"), 1)
    assert queue.serve(worker, message("1", "a")) == ["1"]
    assert (worker.tries, queue.pauses) == (1, [])


def test_a_lease_is_waited_for_as_long_as_it_is_held_and_not_in_process() -> None:
    queue, worker = Queue(), Passing(errors.LeaseHeld(detail="held", retry_after_seconds=117), 1)
    assert queue.serve(worker, message("1", "a")) == ["1"]
    assert (queue.waits, worker.tries) == ({"1": 117}, 1)


def test_what_waits_behind_a_failure_of_its_group_waits_as_long() -> None:
    queue = Queue()
    worker = Worker(a=errors.LeaseHeld(detail="held", retry_after_seconds=30))
    queue.serve(worker, message("1", "a"), message("2", "a"))
    assert queue.waits == {"1": 30, "2": 30}


def test_a_wait_that_cannot_be_set_leaves_the_message_to_the_queue() -> None:
    def broken(record: Any, seconds: int) -> None:
        raise ZeroDivisionError

    answer = serve_batch(
        {"Records": [message("1", "a")]},
        Worker(a=errors.RecordCorrupt(detail="broken")),
        worker="table",
        postpone=broken,
    )
    assert answer == {"batchItemFailures": [{"itemIdentifier": "1"}]}


def test_what_nobody_can_mend_in_process_is_not_tried_again() -> None:
    worker = Passing(errors.RecordCorrupt(detail="broken"), 1)
    assert Queue().serve(worker, message("1", "a")) == ["1"]
    assert worker.tries == 1


def _leaves(kind: type[errors.MemoirError]) -> list[type[errors.MemoirError]]:
    return [kind] + [leaf for child in kind.__subclasses__() for leaf in _leaves(child)]


@pytest.mark.parametrize(
    "kind", [k for k in _leaves(errors.MemoirError) if k not in (errors.MemoirError, errors.RequestRefused)]
)
def test_each_error_class_is_retried_or_dropped_on_purpose(kind: type[errors.MemoirError]) -> None:
    assert kind in TREATMENT
