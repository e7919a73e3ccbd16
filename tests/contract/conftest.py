"""The stores that every suite here runs on: the fake, and the adapter on moto and on DynamoDB Local."""

from typing import Any

import pytest

from memoir.adapters.record_store import DynamoDbRecords
from memoir.ports.records import Records
from memoir.usecases.engine import Engine
from tests.fakes.records import InMemoryRecords
from tests.tables import TABLE_NAME

NOW = 1_000_000.0


class Store:
    """A store, the time that it believes in, and an engine on it. `client`: None for the fake."""

    def __init__(self, client: Any = None) -> None:
        self.now = NOW
        self.client = client
        self.records: Records = InMemoryRecords(clock=self.clock)
        if client is not None:
            self.records = DynamoDbRecords(client=client, table_name=TABLE_NAME, clock=self.clock)
        self.engine = Engine(records=self.records, clock=self.clock, receipt_days=30)

    def clock(self) -> float:
        """Return the time that the store believes in."""
        return self.now


@pytest.fixture(params=["fake", "moto", "dynamodb_local"])
def store(request: pytest.FixtureRequest) -> Store:
    """Each of the three stores, empty."""
    if request.param == "fake":
        return Store()
    return Store(request.getfixturevalue(f"{request.param}_client"))
