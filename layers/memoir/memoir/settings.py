"""Every setting of the service, read once from the environment.

| field        | environment          | unit | default |
|--------------|----------------------|------|---------|
| table_name   | MEMOIR_TABLE_NAME    | text | none: it must be set |
| topic_arn    | MEMOIR_TOPIC_ARN     | ARN  | empty: this function rings no one |
| event_bus    | MEMOIR_EVENT_BUS     | name of an EventBridge bus | empty: no events |
| jwt_audiences | MEMOIR_JWT_AUDIENCES | client ids, separated by commas | empty |
| receipt_days | MEMOIR_RECEIPT_DAYS  | days | 30      |
| history_days | MEMOIR_HISTORY_DAYS  | days, 0: as long as the conversation | 30 |
| hinos_url    | HINOS_MEMORY_URL     | https URL, or http for loopback and private hosts | empty: no Hinos |
| hinos_timeout_ms | HINOS_MEMORY_TIMEOUT_MS | ms for a whole call, at most 20000 | 10000 |
| hinos_secret_arn | MEMOIR_HINOS_SECRET_ARN | ARN of the secret that is its bearer credential | empty: none |
| memory_ingest | MEMOIR_MEMORY_INGEST | best_effort, required: what a failed commit answers | best_effort |
| model        | MEMOIR_MODEL         | extractive, bedrock:<model id>, openai:<name> | extractive |
| model_url    | MEMOIR_MODEL_URL     | base URL of an OpenAI-compatible server, as hinos_url | empty |
| model_secret_arn | MEMOIR_MODEL_SECRET_ARN | ARN of the secret that is its key | empty: no key |
| model_timeout_ms | MEMOIR_MODEL_TIMEOUT_MS | ms | 120000 |
| model_temperature | MEMOIR_MODEL_TEMPERATURE | 0 to 1, `none`: not sent, for models that refuse it | 0.3 |
| model_reasons | MEMOIR_MODEL_REASONS | true, false: its reasoning counts into its answer | false |
| diary_monthly_quota | MEMOIR_DIARY_MONTHLY_QUOTA | diaries of a user in a month, 0 is no limit | 0 |
| lease_seconds | MEMOIR_LEASE_SECONDS | s, longer than the worker may run | 330 |
| endpoint_url | MEMOIR_ENDPOINT_URL  | URL  | empty: AWS itself    |

The logger takes its level from AWS_LAMBDA_LOG_LEVEL, which Lambda sets.
"""

import ipaddress
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar
from urllib.parse import urlsplit

# The function has 28 s, the API 30 s.
MAX_HINOS_TIMEOUT_MS = 20_000


Choice = TypeVar("Choice", bound=str)


class SettingsInvalid(Exception):
    """A setting is missing or not acceptable. Raised at start, before any request is served."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one running function."""

    table_name: str
    topic_arn: str
    event_bus: str
    jwt_audiences: tuple[str, ...]
    receipt_days: int
    history_days: int
    hinos_url: str
    hinos_timeout_ms: int
    hinos_secret_arn: str
    memory_ingest: Literal["best_effort", "required"]
    model: str
    model_url: str
    model_secret_arn: str
    model_timeout_ms: int
    model_temperature: float | None
    model_reasons: bool
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
            jwt_audiences=tuple(filter(None, environment.get("MEMOIR_JWT_AUDIENCES", "").split(","))),
            receipt_days=_whole(environment, "MEMOIR_RECEIPT_DAYS", default=30, at_least=1),
            history_days=_whole(environment, "MEMOIR_HISTORY_DAYS", default=30, at_least=0),
            hinos_url=_url(environment, "HINOS_MEMORY_URL"),
            hinos_timeout_ms=_hinos_timeout_ms(environment),
            hinos_secret_arn=environment.get("MEMOIR_HINOS_SECRET_ARN", ""),
            memory_ingest=_one_of(environment, "MEMOIR_MEMORY_INGEST", ("best_effort", "required")),
            model=_model(environment),
            model_url=_url(environment, "MEMOIR_MODEL_URL"),
            model_secret_arn=environment.get("MEMOIR_MODEL_SECRET_ARN", ""),
            model_timeout_ms=_whole(environment, "MEMOIR_MODEL_TIMEOUT_MS", default=120_000, at_least=1),
            model_temperature=_temperature(environment),
            model_reasons=_one_of(environment, "MEMOIR_MODEL_REASONS", ("false", "true")) == "true",
            diary_monthly_quota=_whole(environment, "MEMOIR_DIARY_MONTHLY_QUOTA", default=0, at_least=0),
            lease_seconds=_whole(environment, "MEMOIR_LEASE_SECONDS", default=330, at_least=1),
            endpoint_url=environment.get("MEMOIR_ENDPOINT_URL") or None,
        )


def _whole(environment: Mapping[str, str], name: str, *, default: int, at_least: int) -> int:
    text = environment.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and int(text) >= at_least):
        raise SettingsInvalid(f"{name} is {text!r}: it must be a whole number, at least {at_least}")
    return int(text)


def _url(environment: Mapping[str, str], name: str) -> str:
    """Return the address, to which chats and a key are sent. A URL's user part is never told."""
    url = environment.get(name, "")
    if not url:
        return ""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "https" and host:
        return url
    if parts.scheme == "http" and _is_private(host):
        warnings.warn(f"{name} is plain http; only a private network may carry it", stacklevel=2)
        return url
    raise SettingsInvalid(f"{name} must be https, or http for a loopback or private address")


def _is_private(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".internal", ".local"))


def _hinos_timeout_ms(environment: Mapping[str, str]) -> int:
    timeout_ms = _whole(environment, "HINOS_MEMORY_TIMEOUT_MS", default=10_000, at_least=1)
    if timeout_ms > MAX_HINOS_TIMEOUT_MS:
        raise SettingsInvalid(
            f"HINOS_MEMORY_TIMEOUT_MS is {timeout_ms}: at most {MAX_HINOS_TIMEOUT_MS}, below the function's "
            "and the API's own limits"
        )
    return timeout_ms


def _one_of(environment: Mapping[str, str], name: str, values: tuple[Choice, ...]) -> Choice:
    """Return the setting, the first of *values* where it is not given."""
    text = environment.get(name) or values[0]
    for value in values:
        if value == text:
            return value
    raise SettingsInvalid(f"{name} is {text!r}: use {' or '.join(values)}")


def _temperature(environment: Mapping[str, str]) -> float | None:
    text = environment.get("MEMOIR_MODEL_TEMPERATURE") or "0.3"
    if text == "none":
        return None
    if not re.fullmatch(r"0(\.[0-9]+)?|1(\.0+)?", text):
        raise SettingsInvalid(f"MEMOIR_MODEL_TEMPERATURE is {text!r}: use a number from 0 to 1, or none")
    return float(text)


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
