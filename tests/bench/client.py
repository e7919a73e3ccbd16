"""A client of ours on DynamoDB Local, for benchmarks that count what a store does."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memoir.adapters.aws import make_client
from tests.dynamodb_local.server import NotHere, start_server
from tests.tables import create_table


@contextmanager
def local_client() -> Iterator[Any]:
    """Yield the client with an empty table; None, with the reason printed, where it cannot run."""
    import os

    os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
    try:
        server = start_server()
    except NotHere as reason:
        print(f"  skipped: {reason}")
        yield None
        return
    try:
        client = make_client("dynamodb", endpoint_url=server.url)
        create_table(client)
        yield client
    finally:
        server.stop()
