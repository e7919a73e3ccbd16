"""Times as they are stored and answered: ISO 8601 in UTC, whole seconds, ending in Z."""

from datetime import UTC, datetime


def utc_text(seconds: float) -> str:
    """Return *seconds* since 1970 UTC as `2026-01-02T03:04:05Z`."""
    return datetime.fromtimestamp(int(seconds), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
