"""The present."""

from typing import Protocol


class Clock(Protocol):
    """The present."""

    def __call__(self) -> float:
        """Return seconds since 1970 UTC."""
