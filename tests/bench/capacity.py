"""Write units of role-play memories: as we store them, and as plain JSON text under the same keys."""

import time
from typing import Any

from memoir.adapters.packing import pack
from memoir.adapters.record_store import DynamoDbRecords
from memoir.domain.json_document import json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import random_token
from memoir.ports.records import RecordKey
from memoir.records.documents import Change
from memoir.usecases.engine import Engine
from tests.bench.client import local_client
from tests.bench.texts import memory, text_of
from tests.tables import TABLE_NAME

# As long as the ids that Cognito and hosts make.
SCOPE = Scope(
    product="4exampleclientid0123456789", user="0f8fad5b-d9cb-469f-a165-70867728950e", conversation="c" * 36
)


def main() -> None:
    """Print write units, the ratio, and what compressing costs."""
    print("\ncapacity: write units of the 17th write of a memory (target: 0.5 of plain text)")
    with local_client() as client:
        if client is not None:
            _measure(client)


def _measure(client: Any) -> None:
    records = DynamoDbRecords(client=client, table_name=TABLE_NAME)
    engine = Engine(records=records, clock=time.time, receipt_days=30)
    units: list[float] = []
    client.meta.events.register(
        "before-parameter-build.dynamodb",
        lambda params, **_: params.setdefault("ReturnConsumedCapacity", "TOTAL"),
    )
    client.meta.events.register(
        "after-call.dynamodb",
        lambda parsed, **_: units.append(_units(parsed.get("ConsumedCapacity", {}))),
    )
    for language in ("zh", "en"):
        for size in (4096, 16_384, 65_536):
            value = memory(language, size)
            document = json_document(value, name="memory")
            key = RecordKey(owner=SCOPE, kind="memory", name=(language, str(size)))
            for expected in range(17):  # all 16 tokens are there
                change = Change(key=key, expected=Revision(expected), document=document, token=random_token())
                engine.change(change)
            ours = units[-1]
            client.put_item(
                TableName=TABLE_NAME,
                Item={
                    "pk": {"S": f"P#{SCOPE.product}#U#{SCOPE.user}#C#{SCOPE.conversation}"},
                    "sk": {"S": f"plain{language}{size}"},
                    "revision": {"N": "17"},
                    "body": {"S": text_of(value)},
                },
            )
            plain = units[-1]
            microseconds = _cost_of_packing(document.text)
            print(
                f"  {language} {document.size_bytes:6} bytes: ours {ours:4.0f}, plain {plain:4.0f}, "
                f"ratio {ours / plain:.2f}, compressing {microseconds:5.0f} µs of CPU"
            )


def _units(consumed: Any) -> float:
    """Return the units of a request; a transaction, which makes a document, has a list and is not asked."""
    return 0 if isinstance(consumed, list) else float(consumed.get("CapacityUnits", 0))


def _cost_of_packing(text: str) -> float:
    best = float("inf")
    for _ in range(20):
        started = time.process_time()
        pack(text, beside_bytes=400)
        best = min(best, time.process_time() - started)
    return best * 1e6


if __name__ == "__main__":
    main()
