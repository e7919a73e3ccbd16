"""SQS FIFO queues on the one side, workers on the other.

After a failure in a message group, the rest of that group goes back too: its order is part of its meaning.
Other groups go on. What stays in the queue comes again, at most `maxReceiveCount` times, then goes to the
dead-letter queue.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from memoir import errors
from memoir.contracts.jobs import Ring, read_ring
from memoir.edge import observe

Treatment = Literal["retry", "drop"]

TREATMENT: dict[type[errors.MemoirError], Treatment] = {
    # A message that cannot be read, or that meets a record that cannot: kept in the dead-letter queue, to be
    # looked at, mended and moved back.
    errors.JsonMalformed: "retry",
    errors.RequestInvalid: "retry",
    errors.TooLarge: "retry",
    errors.LimitExceeded: "retry",
    errors.RecordCorrupt: "retry",
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
    errors.TurnConflict: "drop",
    errors.RoundClosed: "drop",
    # Answers to a caller; no worker meets them. Kept, should it happen.
    errors.MediaTypeUnsupported: "retry",
    errors.NotAuthenticated: "retry",
    errors.Forbidden: "retry",
    errors.UpdateRefused: "retry",
    errors.ScenarioInvalid: "retry",
    errors.MessagesRefused: "retry",
    errors.ClaimConflict: "retry",
    errors.ClaimExpired: "retry",
    errors.HinosFailed: "retry",
    errors.HinosUnavailable: "retry",
    errors.HinosBadReply: "retry",
    errors.HinosNotConfigured: "retry",
    errors.HinosTimeout: "retry",
    errors.IdempotencyKeyReused: "retry",
}

Work = Callable[[Ring], Mapping[str, observe.Fact]]
"""What a worker does for one ring. It returns what the log line says of it."""


def serve_batch(event: Mapping[str, Any], work: Work, *, worker: str) -> dict[str, Any]:
    """Run *work* for each message of the batch in order; return those that must come again. Never raises."""
    failed_groups: set[str] = set()
    failures: list[dict[str, str]] = []
    for record in event.get("Records", []):
        group = record.get("attributes", {}).get("MessageGroupId", "")
        if group in failed_groups or not _run(record, work, worker=worker):
            failed_groups.add(group)
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}


def _run(record: Mapping[str, Any], work: Work, *, worker: str) -> bool:
    """Return whether the message may leave the queue."""
    started = time.perf_counter()
    message_id = str(record["messageId"])
    event, facts, done = f"{worker}.worked", dict[str, observe.Fact](), True
    try:
        facts.update(work(read_ring(record["body"])))
    except errors.MemoirError as error:
        done = TREATMENT.get(type(error), "retry") == "drop"
        event = f"{worker}.dropped" if done else f"{worker}.failed"
        facts["error_code"] = error.code
    except Exception as error:
        observe.crashed(error, request_id=message_id)
        event, done = f"{worker}.failed", False
        facts["error_code"] = "internal_error"
    observe.finished(
        event,
        request_id=message_id,
        duration_ms=(time.perf_counter() - started) * 1000,
        facts={
            "receive_count": record.get("attributes", {}).get("ApproximateReceiveCount", ""),
            **facts,
        },
    )
    return done
