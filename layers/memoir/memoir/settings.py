"""Every setting of the service, read once from the environment.

| field        | environment          | unit | default |
|--------------|----------------------|------|---------|
| table_name   | MEMOIR_TABLE_NAME    | text | none: it must be set |
| endpoint_url | MEMOIR_ENDPOINT_URL  | URL  | empty: AWS itself    |

Powertools reads its own: POWERTOOLS_LOG_LEVEL, POWERTOOLS_SERVICE_NAME, POWERTOOLS_METRICS_NAMESPACE.
"""

from collections.abc import Mapping
from dataclasses import dataclass


class SettingsInvalid(Exception):
    """A setting is missing or not acceptable. Raised at start, before any request is served."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one running function."""

    table_name: str
    endpoint_url: str | None

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> "Settings":
        """Return the settings that *environment* gives. Raises SettingsInvalid naming the variable."""
        table_name = environment.get("MEMOIR_TABLE_NAME", "")
        if not table_name:
            raise SettingsInvalid("MEMOIR_TABLE_NAME is not set")
        return cls(table_name=table_name, endpoint_url=environment.get("MEMOIR_ENDPOINT_URL") or None)
