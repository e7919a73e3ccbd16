"""A process that reads and writes a few memories by compare-and-set, and notes what it was answered."""

import random
import time
from typing import Any

from memoir.adapters.aws import make_client
from memoir.adapters.document_store import DynamoDbDocumentStore
from memoir.domain.json_document import json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken, random_token
from memoir.errors import RevisionConflict, StoreUnavailable, WriteOutcomeUnknown
from memoir.ports import DocumentKey
from tests.concurrency.faults import answer_lost, answer_replaced_by_500, inject, sent_as_usual
from tests.concurrency.history import Operation
from tests.tables import TABLE_NAME


def key(number: int) -> DocumentKey:
    """Return the key of the memory of that number."""
    return DocumentKey(scope=Scope(product="p", user="u", conversation=f"c{number}"), kind="memory")


def run_writer(job: dict[str, Any]) -> dict[int, list[Operation]]:
    """Do `operations` rounds of read and write on `keys` memories at `url`; return the history by key.

    `lost_share` of the writes lose their answer. `tokens` False: no write is recognised when it comes again,
    as in a store without tokens.
    """
    chance = random.Random(job["seed"])
    client = make_client("dynamodb", endpoint_url=job["url"])
    store = DynamoDbDocumentStore(client=client, table_name=TABLE_NAME)
    if not job["tokens"]:
        store = _Forgetful(client=client, table_name=TABLE_NAME)

    def fault_of(operation: str) -> Any:
        if operation in ("PutItem", "UpdateItem") and chance.random() < job["lost_share"]:
            return chance.choice([answer_lost, answer_replaced_by_500])
        return sent_as_usual

    inject(client, fault_of)
    histories: dict[int, list[Operation]] = {number: [] for number in range(job["keys"])}
    for count in range(job["operations"]):
        number = chance.randrange(job["keys"])
        called = time.monotonic()
        stored = store.read(key(number))
        revision = stored.revision if stored else Revision(0)
        value = stored.document.value["by"] if stored else None
        histories[number].append(
            Operation(kind="read", called=called, returned=time.monotonic(), revision=revision, value=value)
        )
        histories[number].append(_write(store, key(number), revision, f"{job['seed']}-{count}"))
    return histories


def _write(store: DynamoDbDocumentStore, where: DocumentKey, expected: Revision, value: str) -> Operation:
    outcome, revision = "ok", 0
    called = time.monotonic()
    try:
        revision = store.replace(
            where,
            expected=expected,
            document=json_document({"by": value}, name="memory"),
            token=random_token(),
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


class _Forgetful(DynamoDbDocumentStore):
    """The store as it would be without tokens: its own writes look like somebody else's."""

    def _settle(self, failure: Any, *, expected: Revision, token: WriteToken) -> Revision:
        return super()._settle(failure, expected=expected, token=random_token())
