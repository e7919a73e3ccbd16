"""Every setting of the service, read once from the environment.

| field        | environment          | unit | default |
|--------------|----------------------|------|---------|
| table_name   | MEMOIR_TABLE_NAME    | text | none: it must be set |
| topic_arn    | MEMOIR_TOPIC_ARN     | ARN  | empty: this function rings no one |
| receipt_days | MEMOIR_RECEIPT_DAYS  | days | 30      |
| endpoint_url | MEMOIR_ENDPOINT_URL  | URL  | empty: AWS itself    |

Powertools reads its own POWERTOOLS_LOG_LEVEL.
"""

from collections.abc import Mapping
from dataclasses import dataclass


class SettingsInvalid(Exception):
    """A setting is missing or not acceptable. Raised at start, before any request is served."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one running function."""

    table_name: str
    topic_arn: str
    receipt_days: int
    endpoint_url: str | None

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> "Settings":
        """Return the settings that *environment* gives. Raises SettingsInvalid naming the variable."""
        table_name = environment.get("MEMOIR_TABLE_NAME", "")
        if not table_name:
            raise SettingsInvalid("MEMOIR_TABLE_NAME is not set")
        return cls(
            table_name=table_name,
            topic_arn=environment.get("MEMOIR_TOPIC_ARN", ""),
            receipt_days=_positive(environment, "MEMOIR_RECEIPT_DAYS", default=30),
            endpoint_url=environment.get("MEMOIR_ENDPOINT_URL") or None,
        )


def _positive(environment: Mapping[str, str], name: str, *, default: int) -> int:
    text = environment.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise SettingsInvalid(f"{name} is {text!r}: it must be a whole number above 0")
    return int(text)
