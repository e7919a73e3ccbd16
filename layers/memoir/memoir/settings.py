"""Every setting of the service, read once from the environment.

| field        | environment          | unit | default |
|--------------|----------------------|------|---------|
| table_name   | MEMOIR_TABLE_NAME    | text | none: it must be set |
| topic_arn    | MEMOIR_TOPIC_ARN     | ARN  | empty: this function rings no one |
| event_bus    | MEMOIR_EVENT_BUS     | name of an EventBridge bus | empty: no events |
| receipt_days | MEMOIR_RECEIPT_DAYS  | days | 30      |
| model        | MEMOIR_MODEL         | extractive, bedrock:<model id>, openai:<name> | extractive |
| model_url    | MEMOIR_MODEL_URL     | base URL of an OpenAI-compatible server | empty |
| model_secret_arn | MEMOIR_MODEL_SECRET_ARN | ARN of the secret that is its key | empty: no key |
| model_timeout_ms | MEMOIR_MODEL_TIMEOUT_MS | ms | 120000 |
| diary_monthly_quota | MEMOIR_DIARY_MONTHLY_QUOTA | diaries of a user in a month, 0 is no limit | 0 |
| lease_seconds | MEMOIR_LEASE_SECONDS | s, longer than the worker may run | 330 |
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
    event_bus: str
    receipt_days: int
    model: str
    model_url: str
    model_secret_arn: str
    model_timeout_ms: int
    diary_monthly_quota: int
    lease_seconds: int
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
            event_bus=environment.get("MEMOIR_EVENT_BUS", ""),
            receipt_days=_whole(environment, "MEMOIR_RECEIPT_DAYS", default=30, at_least=1),
            model=_model(environment),
            model_url=environment.get("MEMOIR_MODEL_URL", ""),
            model_secret_arn=environment.get("MEMOIR_MODEL_SECRET_ARN", ""),
            model_timeout_ms=_whole(environment, "MEMOIR_MODEL_TIMEOUT_MS", default=120_000, at_least=1),
            diary_monthly_quota=_whole(environment, "MEMOIR_DIARY_MONTHLY_QUOTA", default=0, at_least=0),
            lease_seconds=_whole(environment, "MEMOIR_LEASE_SECONDS", default=330, at_least=1),
            endpoint_url=environment.get("MEMOIR_ENDPOINT_URL") or None,
        )


def _whole(environment: Mapping[str, str], name: str, *, default: int, at_least: int) -> int:
    text = environment.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and int(text) >= at_least):
        raise SettingsInvalid(f"{name} is {text!r}: it must be a whole number, at least {at_least}")
    return int(text)


def _model(environment: Mapping[str, str]) -> str:
    model = environment.get("MEMOIR_MODEL") or "extractive"
    provider, _, name = model.partition(":")
    if model != "extractive" and (provider not in ("bedrock", "openai") or not name):
        raise SettingsInvalid(
            f"MEMOIR_MODEL is {model!r}: use extractive, bedrock:<model id> or openai:<name>"
        )
    if provider == "openai" and not environment.get("MEMOIR_MODEL_URL"):
        raise SettingsInvalid("MEMOIR_MODEL_URL is not set, and an openai model needs it")
    return model
