"""Events for others, on an EventBridge bus; none where no bus is configured."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from memoir.errors import StoreUnavailable

SOURCE = "memoir"


class EventBridgeBus:
    """The EventBus port on EventBridge."""

    def __init__(self, *, client: Any, bus_name: str) -> None:
        """Publish to *bus_name* through *client*, a low-level EventBridge client."""
        self._client = client
        self._bus_name = bus_name

    def publish(self, kind: str, detail: Mapping[str, Any]) -> None:
        """See `EventBus.publish`. One PutEvents."""
        entry = {
            "EventBusName": self._bus_name,
            "Source": SOURCE,
            "DetailType": kind,
            "Detail": json.dumps(detail, ensure_ascii=False),
        }
        try:
            answer = self._client.put_events(Entries=[entry])
        except (ClientError, BotoCoreError) as error:
            raise StoreUnavailable(detail="the event was not published") from error
        if answer.get("FailedEntryCount"):
            raise StoreUnavailable(detail="the event was not published")


class NoEvents:
    """The EventBus port where nobody listens."""

    def publish(self, kind: str, detail: Mapping[str, Any]) -> None:
        """Do nothing."""
