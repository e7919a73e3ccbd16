"""How many requests to the store an answer costs, counted under botocore."""

import time
from collections.abc import Callable
from typing import Any

from memoir.adapters.record_store import DynamoDbRecords
from memoir.domain.json_document import json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.errors import RevisionConflict
from memoir.usecases.documents import memory_key, read_json_document, replace_json_document
from memoir.usecases.engine import Engine
from tests.bench.client import local_client
from tests.tables import TABLE_NAME

KEY = memory_key(Scope(product="p", user="u", conversation="c"))


def main() -> None:
    """Print the counts."""
    print("\nrequests to the store (targets: 1 each)")
    with local_client() as client:
        if client is not None:
            _count(client)


def _count(client: Any) -> None:
    records = DynamoDbRecords(client=client, table_name=TABLE_NAME)
    engine = Engine(records=records, clock=time.time, receipt_days=30)
    sends: list[Any] = []
    client.meta.events.register("before-send.dynamodb", lambda request, **_: sends.append(request))

    def counted(name: str, call: Callable[[], object]) -> None:
        sends.clear()
        try:
            call()
        except RevisionConflict:
            name += " (a conflict)"
        print(f"  {name}: {len(sends)}")

    def put(expected: int) -> Callable[[], object]:
        document = json_document({"a": 1}, name="memory")
        return lambda: replace_json_document(engine, KEY, expected=Revision(expected), document=document)

    counted("PUT, the first", put(0))
    counted("PUT", put(1))
    counted("PUT", put(1))
    counted("GET", lambda: read_json_document(engine, KEY))


if __name__ == "__main__":
    main()
