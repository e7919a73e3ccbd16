"""Fixtures that several tiers use."""

from collections.abc import Iterator
from typing import Any

import pytest
from moto import mock_aws
from moto.server import ThreadedMotoServer

from memoir import wiring
from memoir.adapters.aws import make_client
from tests.dynamodb_local.server import NotHere, Server, start_server
from tests.tables import TABLE_NAME, create_table

# What builds, deploys and starts the one stack of this machine: in one process, while others test the rest.
_ON_THE_STACK = ("tests/local/", "tests/docker/", "tests/build/test_layers.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep together what must not run side by side."""
    for item in items:
        if item.nodeid.startswith(_ON_THE_STACK):
            item.add_marker(pytest.mark.xdist_group("stack"))


@pytest.fixture
def aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment in which no request can reach AWS with anybody's credentials."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def moto_client(aws_environment: None) -> Iterator[Any]:
    """A DynamoDB client of ours on moto, with the table."""
    with mock_aws():
        client = make_client("dynamodb", endpoint_url=None)
        create_table(client)
        yield client


@pytest.fixture
def moto_server_client(aws_environment: None) -> Iterator[Any]:
    """A DynamoDB client of ours on moto's server, over a real socket, with the table."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = make_client("dynamodb", endpoint_url=f"http://{host}:{port}")
    create_table(client)
    yield client
    client.delete_table(TableName=TABLE_NAME)
    server.stop()


@pytest.fixture
def wired(moto_client: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The functions' own wiring, on moto; the table and the topic are there. Yields the DynamoDB client."""
    topic = make_client("sns", endpoint_url=None).create_topic(
        Name="turns.fifo", Attributes={"FifoTopic": "true"}
    )
    monkeypatch.setenv("MEMOIR_TABLE_NAME", TABLE_NAME)
    monkeypatch.setenv("MEMOIR_TOPIC_ARN", topic["TopicArn"])
    factories = [value for value in vars(wiring).values() if hasattr(value, "cache_clear")]
    for factory in factories:
        factory.cache_clear()
    yield wiring.dynamodb()
    for factory in factories:
        factory.cache_clear()


@pytest.fixture(scope="session")
def dynamodb_local() -> Iterator[Server]:
    """Amazon's DynamoDB Local, for the whole run."""
    try:
        server = start_server()
    except NotHere as reason:
        pytest.skip(str(reason))
    yield server
    server.stop()


@pytest.fixture
def dynamodb_local_client(dynamodb_local: Server, aws_environment: None) -> Iterator[Any]:
    """A client of ours on DynamoDB Local, with a table of its own."""
    client = make_client("dynamodb", endpoint_url=dynamodb_local.url)
    create_table(client)
    yield client
    client.delete_table(TableName=TABLE_NAME)
