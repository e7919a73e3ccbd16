"""Events for others."""

from collections.abc import Mapping
from typing import Any, Protocol


class EventBus(Protocol):
    """Tells others of what happened. It never decides whether it happened."""

    def publish(self, kind: str, detail: Mapping[str, Any]) -> None:
        """Publish an event. Raises StoreUnavailable: it was not, or nobody knows."""
