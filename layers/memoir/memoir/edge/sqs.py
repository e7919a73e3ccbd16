"""SQS FIFO queues on the one side, workers on the other.

After a failure in a message group, the rest of that group goes back too: its order is part of its meaning.
Other groups go on. What passes soon is tried again at once, while there is time; what stays in the queue
comes again after seconds, not after the queue's whole visibility timeout, at most `maxReceiveCount` times,
then goes to the dead-letter queue.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from memoir import errors
from memoir.contracts.jobs import Ring, read_ring
from memoir.edge import observe

Treatment = Literal["retry", "keep", "drop"]
"""retry: it passes. keep: it stays until somebody mends it. drop: nothing is left to do."""

TREATMENT: dict[type[errors.MemoirError], Treatment] = {
    # A message that cannot be read, or that meets a record that cannot: kept in the dead-letter queue, to be
    # looked at, mended and moved back.
    errors.JsonMalformed: "keep",
    errors.RequestInvalid: "keep",
    errors.TooLarge: "keep",
    errors.LimitExceeded: "keep",
    errors.RecordCorrupt: "keep",
    errors.StoreMisused: "keep",
    # The store, or another writer.
    errors.RevisionConflict: "retry",
    errors.StoreUnavailable: "retry",
    errors.WriteOutcomeUnknown: "retry",
    errors.DoorbellFailed: "retry",
    errors.LeaseHeld: "retry",
    errors.WorkLeft: "retry",
    errors.ModelFailed: "retry",
    # What the message is about is no longer there, or no longer the current version.
    errors.NotFound: "drop",
    errors.ScenarioUnknown: "drop",
    errors.TurnConflict: "drop",
    errors.RoundClosed: "drop",
    errors.CandidateStale: "drop",
    # Answers to a caller; no worker meets them. Kept, should it happen.
    errors.MediaTypeUnsupported: "keep",
    errors.NotAuthenticated: "keep",
    errors.Forbidden: "keep",
    errors.PreconditionFailed: "keep",
    errors.UpdateRefused: "keep",
    errors.ScenarioInvalid: "keep",
    errors.ScenarioForbids: "keep",
    errors.StoryConflict: "keep",
    errors.ConversationRewound: "keep",
    errors.GenerationConflict: "keep",
    errors.TurnDiscarded: "keep",
    errors.HistoryExpired: "keep",
    errors.BoundaryUnknown: "keep",
    errors.MessagesRefused: "keep",
    errors.ClaimConflict: "keep",
    errors.ClaimExpired: "keep",
    errors.HinosFailed: "keep",
    errors.HinosUnavailable: "keep",
    errors.HinosBadReply: "keep",
    errors.HinosNotConfigured: "keep",
    errors.HinosTimeout: "keep",
    errors.HinosUncertain: "keep",
    errors.IdempotencyKeyReused: "keep",
}

_TRIES = 3
_PAUSE_SECONDS = 0.2
_LONGEST_WAIT_SECONDS = 60

Work = Callable[[Ring], Mapping[str, observe.Fact]]
"""What a worker does for one ring. It returns what the log line says of it."""

Postpone = Callable[[Mapping[str, Any], int], None]
"""Lets a message come again after so many seconds."""


def serve_batch(
    event: Mapping[str, Any],
    work: Work,
    *,
    worker: str,
    postpone: Postpone,
    has_time: Callable[[], bool] = lambda: True,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Run *work* for each message of the batch in order; return those that must come again. Never raises.

    *has_time*: whether there is time for another try.
    """
    waits: dict[str, int] = {}
    failures: list[dict[str, str]] = []
    for record in event.get("Records", []):
        group = record.get("attributes", {}).get("MessageGroupId", "")
        if group not in waits:
            wait = _Message(record, worker=worker, has_time=has_time, sleep=sleep).run(work)
            if wait is None:
                continue
            waits[group] = wait
        failures.append({"itemIdentifier": record["messageId"]})
        try:
            postpone(record, waits[group])
        except Exception as error:  # then the queue's own visibility timeout decides
            observe.crashed(error, request_id=str(record["messageId"]))
    return {"batchItemFailures": failures}


class _Message:
    def __init__(
        self,
        record: Mapping[str, Any],
        *,
        worker: str,
        has_time: Callable[[], bool],
        sleep: Callable[[float], None],
    ) -> None:
        self.record = record
        self.worker = worker
        self.has_time = has_time
        self.sleep = sleep
        count = str(record.get("attributes", {}).get("ApproximateReceiveCount", "1"))
        self.received = int(count) if count.isdigit() else 1

    def run(self, work: Work) -> int | None:
        """Return after how many seconds the message must come again, None where it may leave the queue."""
        started = time.perf_counter()
        message_id = str(self.record["messageId"])
        facts: dict[str, observe.Fact] = {"receive_count": self.received}
        event, wait = f"{self.worker}.worked", None
        try:
            facts.update(self.tried(work))
        except errors.MemoirError as error:
            event = f"{self.worker}.failed"
            facts["error_code"] = error.code
            if TREATMENT.get(type(error), "keep") == "drop":
                event = f"{self.worker}.dropped"
            else:
                wait = self.wait(error)
        except Exception as error:
            observe.crashed(error, request_id=message_id)
            event, wait = f"{self.worker}.failed", self.wait(error)
            facts["error_code"] = "internal_error"
        observe.finished(
            event, request_id=message_id, duration_ms=(time.perf_counter() - started) * 1000, facts=facts
        )
        return wait

    def tried(self, work: Work) -> Mapping[str, observe.Fact]:
        ring = read_ring(self.record["body"])
        for attempt in range(1, _TRIES):
            try:
                return work(ring)
            except errors.LeaseHeld:
                raise  # it is held for longer than we should wait
            except errors.MemoirError as error:
                if TREATMENT.get(type(error)) != "retry" or not self.has_time():
                    raise
                self.sleep(_PAUSE_SECONDS * attempt)
        return work(ring)

    def wait(self, error: Exception) -> int:
        """Return how long to wait: as long as the error knows, else longer with every receive."""
        known = getattr(error, "retry_after_seconds", None)
        return int(known) if known else min(2**self.received, _LONGEST_WAIT_SECONDS)
