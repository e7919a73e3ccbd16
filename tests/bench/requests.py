"""How many requests to the store an answer costs, counted under botocore."""

from collections.abc import Callable
from typing import Any

from memoir.adapters.document_store import DynamoDbDocumentStore

from memoir.domain.json_document import json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import random_token
from memoir.errors import RevisionConflict
from memoir.ports import DocumentKey
from tests.bench.client import local_client
from tests.tables import TABLE_NAME

KEY = DocumentKey(scope=Scope(product="p", user="u", conversation="c"), kind="memory")


def main() -> None:
    """Print the counts."""
    print("\nrequests to the store (targets: 1 each)")
    with local_client() as client:
        if client is not None:
            _count(client)


def _count(client: Any) -> None:
    store = DynamoDbDocumentStore(client=client, table_name=TABLE_NAME)
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
        return lambda: store.replace(
            KEY, expected=Revision(expected), document=document, token=random_token()
        )

    counted("PUT, the first", put(0))
    counted("PUT", put(1))
    counted("PUT", put(1))
    counted("GET", lambda: store.read(KEY))


if __name__ == "__main__":
    main()
