"""A process that reads and writes a few memories by compare-and-set, and notes what it was answered."""

import random
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memoir.adapters.aws import make_client
from memoir.adapters.record_store import DynamoDbRecords
from memoir.domain.json_document import json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import random_token
from memoir.errors import RevisionConflict, StoreUnavailable, WriteOutcomeUnknown
from memoir.ports.records import Fact, RecordKey, Refused, Write
from memoir.records.documents import Change, read_document
from memoir.usecases.engine import Engine
from tests.concurrency.faults import answer_lost, answer_replaced_by_500, inject, sent_as_usual
from tests.concurrency.history import Operation
from tests.tables import TABLE_NAME


def key(number: int) -> RecordKey:
    """Return the key of the memory of that number."""
    return RecordKey(owner=Scope(product="p", user="u", conversation=f"c{number}"), kind="memory")


def run_writer(job: dict[str, Any]) -> dict[int, list[Operation]]:
    """Do `operations` rounds of read and write on `keys` memories at `url`; return the history by key.

    `lost_share` of the writes lose their answer. `tokens` False: no write is recognised when it comes again,
    as in a store without tokens.
    """
    chance = random.Random(job["seed"])
    client = make_client("dynamodb", endpoint_url=job["url"])
    adapter = DynamoDbRecords if job["tokens"] else _Forgetful
    records = adapter(client=client, table_name=TABLE_NAME)
    engine = Engine(records=records, clock=time.time, receipt_days=30)

    def fault_of(operation: str) -> Any:
        if operation in ("TransactWriteItems", "UpdateItem") and chance.random() < job["lost_share"]:
            return chance.choice([answer_lost, answer_replaced_by_500])
        return sent_as_usual

    inject(client, fault_of)
    histories: dict[int, list[Operation]] = {number: [] for number in range(job["keys"])}
    for count in range(job["operations"]):
        number = chance.randrange(job["keys"])
        called = time.monotonic()
        stored = read_document(records.read(key(number)).get(key(number)))
        revision = stored.revision if stored else Revision(0)
        value = stored.document.value["by"] if stored and stored.document else None
        histories[number].append(
            Operation(kind="read", called=called, returned=time.monotonic(), revision=revision, value=value)
        )
        histories[number].append(_write(engine, key(number), revision, f"{job['seed']}-{count}"))
    return histories


def _write(engine: Engine, where: RecordKey, expected: Revision, value: str) -> Operation:
    outcome, revision = "ok", 0
    called = time.monotonic()
    try:
        revision = engine.change(
            Change(
                key=where,
                expected=expected,
                document=json_document({"by": value}, name="memory"),
                token=random_token(),
            )
        )
    except RevisionConflict as conflict:
        outcome, revision = "conflict", conflict.current_revision
    except (WriteOutcomeUnknown, StoreUnavailable):
        outcome = "unknown"
    return Operation(
        kind="write",
        called=called,
        returned=time.monotonic(),
        outcome=outcome,  # type: ignore[arg-type]
        expected=expected,
        revision=revision,
        value=value,
    )


class _Forgetful(DynamoDbRecords):
    """The store as it would be without tokens: its own writes look like somebody else's."""

    def write(self, *writes: Write) -> None:
        """See the port, and let every refusal show a record that names no write."""
        try:
            super().write(*writes)
        except Refused as refused:
            held = {
                name: record and replace(record, facts=_unsigned(record.facts))
                for name, record in refused.held.items()
            }
            raise Refused(held) from refused


def _unsigned(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    return {name: value for name, value in facts.items() if name == "revision"}
