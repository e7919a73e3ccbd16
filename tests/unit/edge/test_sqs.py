import json
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


def nobody(record: Any, seconds: int) -> None:
    """Postpone nothing."""


def failed(worker: Worker, *records: dict[str, Any]) -> list[str]:
    answer = serve_batch(
        {"Records": list(records)}, worker, worker="table", postpone=nobody, sleep=lambda _: None
    )
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


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


def postponed(worker: Any, *records: dict[str, Any], **options: Any) -> list[tuple[str, int]]:
    """Return which messages come again, and after how many seconds."""
    waits: list[tuple[str, int]] = []
    serve_batch(
        {"Records": list(records)},
        worker,
        worker="table",
        postpone=lambda record, seconds: waits.append((record["messageId"], seconds)),
        **{"sleep": lambda _: None, **options},
    )
    return waits


def received(times: int) -> dict[str, Any]:
    found = message("1", "a")
    found["attributes"]["ApproximateReceiveCount"] = str(times)
    return found


def test_what_stays_in_the_queue_comes_again_later_each_time_and_within_a_minute() -> None:
    worker = Worker(a=errors.StoreUnavailable(detail="down"))
    waits = [postponed(worker, received(times))[0][1] for times in (1, 2, 3, 5, 6, 50)]
    assert waits == [2, 4, 8, 32, 60, 60]


def test_a_lease_says_itself_when_to_come_again_and_is_not_waited_for() -> None:
    pauses: list[float] = []
    worker = Worker(a=errors.LeaseHeld(detail="held", retry_after_seconds=17))
    records = (message("1", "a"), message("2", "a"), message("3", "b"))
    assert postponed(worker, *records, sleep=pauses.append) == [("1", 17), ("2", 17)]
    assert (pauses, worker.done) == ([], ["b"])


class Passing:
    """A worker that fails for a while."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.runs = 0

    def __call__(self, ring: Ring) -> dict[str, Any]:
        self.runs += 1
        if self.failures:
            raise self.failures.pop(0)
        return {}


DOWN = errors.StoreUnavailable(detail="down")


def test_what_passes_is_tried_again_at_once_and_leaves_the_queue() -> None:
    pauses: list[float] = []
    worker = Passing(DOWN, errors.WriteOutcomeUnknown(detail="lost"))
    assert postponed(worker, message("1", "a"), sleep=pauses.append) == []
    assert (worker.runs, len(pauses)) == (3, 2)


def test_what_does_not_pass_is_tried_three_times() -> None:
    worker = Passing(*[DOWN] * 9)
    assert postponed(worker, message("1", "a")) == [("1", 2)]
    assert worker.runs == 3


def test_without_time_nothing_is_tried_again() -> None:
    worker = Passing(DOWN)
    assert postponed(worker, message("1", "a"), has_time=lambda: False) == [("1", 2)]
    assert worker.runs == 1


def test_what_has_to_be_mended_first_is_not_tried_again() -> None:
    worker = Passing(errors.RecordCorrupt(detail="broken"))
    assert postponed(worker, message("1", "a")) == [("1", 2)]
    assert worker.runs == 1


def _leaves(kind: type[errors.MemoirError]) -> list[type[errors.MemoirError]]:
    return [kind] + [leaf for child in kind.__subclasses__() for leaf in _leaves(child)]


@pytest.mark.parametrize(
    "kind", [k for k in _leaves(errors.MemoirError) if k not in (errors.MemoirError, errors.RequestRefused)]
)
def test_each_error_class_is_retried_or_dropped_on_purpose(kind: type[errors.MemoirError]) -> None:
    assert kind in TREATMENT
